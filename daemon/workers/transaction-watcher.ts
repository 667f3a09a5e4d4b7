/** Follows proposals and submitted transactions: queries their status, resends them, and proves that they landed or expired. */
import { followProposals } from '../../src/operations/proposals/follow-proposals.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import type { WorkerDefinition } from './definition.ts'

export const transactionWatcherWorker: WorkerDefinition = {
  name: 'transaction-watcher',
  schedule: { everyMs: 2_000 },
  leaseMs: 8_000,
  async tick(context) {
    try {
      await followProposals(context, context.signal)
    } finally {
      // A proposal that cannot be read holds up no transaction.
      await followTransactions(context, { signal: context.signal })
    }
  },
}
