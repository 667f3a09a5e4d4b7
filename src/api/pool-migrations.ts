/** The migration of a full launch curve: its next transaction, which anybody may pay for, and whether the service sends it. */
import { z } from '@hono/zod-openapi'
import { address, poolAddress } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { proposed, trackedResource, unsignedPayload } from './payloads.ts'
import { timestamp } from './scalars.ts'

export const poolMigrationBuilt = z
  .object({
    pool_address: poolAddress,
    step: z.enum(['create_locker', 'migrate']).meta({
      description:
        '`create_locker` makes the lock of vested tokens, which a curve with vesting needs first; `migrate` makes the pool',
    }),
    damm_pool_address: address.meta({ description: 'The pool that the curve becomes' }),
    tx: unsignedPayload({}),
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('PoolMigrationBuilt')

export type PoolMigrationBuilt = z.output<typeof poolMigrationBuilt>

export const migrationBody = buildBody({ payer: address })

export const waitingMigration = z
  .object({
    sent_here: z.boolean().meta({
      description: 'Whether the platform wallet sends it (setting `pools.crank`); otherwise somebody else must',
    }),
    failures: z.int().min(0).meta({ description: 'Attempts of the platform wallet that failed or were refused' }),
    refusal: z.string().nullable().meta({
      description: 'Why the last attempt failed or was refused, with what lifts it; null if none did',
    }),
    next_try_at: timestamp.nullable().meta({ description: 'When the platform wallet tries next; null if it does not' }),
  })
  .openapi('WaitingMigration')
