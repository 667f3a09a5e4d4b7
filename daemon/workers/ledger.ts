/** Writes the ledger: what final transactions moved, read from the chain. */
import { LEDGER_ROUND_MS, writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import type { WorkerDefinition } from './definition.ts'

export const ledgerWorker: WorkerDefinition = {
  name: 'ledger',
  schedule: { everyMs: LEDGER_ROUND_MS },
  leaseMs: 60_000,
  async tick(context) {
    await writeLedger(context, { signal: context.signal })
  },
}
