/** Mounts the routes of the ledger, one line per verb. */
import { ledger } from '../../src/api/ledger.ts'
import { listLedger } from '../../src/operations/ledger/list-ledger.ts'
import { repairLedger } from '../../src/operations/ledger/repair-ledger.ts'
import { sumLedger } from '../../src/operations/ledger/sum-ledger.ts'
import { verifyLedger } from '../../src/operations/ledger/verify-ledger.ts'
import type { Mount } from '../mount.ts'

export function ledgerRoutes(mount: Mount): void {
  mount(ledger.list, listLedger)
  mount(ledger.summary, sumLedger)
  mount(ledger.verify, verifyLedger)
  mount(ledger.repair, repairLedger)
}
