/** Follows submitted transactions: queries their status, resends them, and proves that they landed or expired. */
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import type { WorkerDefinition } from './definition.ts'

export const transactionWatcherWorker: WorkerDefinition = {
  name: 'transaction-watcher',
  schedule: { everyMs: 2_000 },
  leaseMs: 8_000,
  tick: (context) => followTransactions(context, { signal: context.signal }),
}
