/** Mounts the routes of the ledger, one line per verb. */
import { ledger } from '../../src/api/ledger.ts'
import { listLedger, repairLedger, sumLedger, verifyLedger } from '../../src/operations/ledger/verbs.ts'
import type { Mount } from '../mount.ts'

export function ledgerRoutes(mount: Mount): void {
  mount(ledger.list, listLedger)
  mount(ledger.summary, sumLedger)
  mount(ledger.verify, verifyLedger)
  mount(ledger.repair, repairLedger)
}
