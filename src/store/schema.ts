/** The tables of both databases. Times are Unix milliseconds, booleans are 0 or 1, and `*_json` columns are JSON text. */
import type { Insertable, Selectable } from 'kysely'
import type { AirdropTables } from './airdrops/tables.ts'
import type { AuditTables } from './audit/tables.ts'
import type { EventTables } from './events/tables.ts'
import type { FeeTables } from './fees/tables.ts'
import type { FollowingTables } from './following/tables.ts'
import type { InstallationTables } from './installation/tables.ts'
import type { LedgerTables } from './ledger/tables.ts'
import type { RequestTables } from './requests/tables.ts'
import type { ResourceTables } from './resources/tables.ts'
import type { SigningTables } from './signing/tables.ts'
import type { TransactionTables } from './transactions/tables.ts'
import type { WebhookTables } from './webhooks/tables.ts'
import type { WorkerTables } from './workers/tables.ts'

export interface Tables
  extends AirdropTables,
    AuditTables,
    EventTables,
    FeeTables,
    FollowingTables,
    InstallationTables,
    LedgerTables,
    RequestTables,
    ResourceTables,
    SigningTables,
    TransactionTables,
    WebhookTables,
    WorkerTables {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
