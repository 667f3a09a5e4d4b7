/** Follows proposals and submitted transactions: queries their status, resends them, and proves that they landed or expired. */
import { followProposals } from '../../src/operations/proposals/follow-proposals.ts'
import { correctTransactions, followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import type { WorkerDefinition } from './definition.ts'

const EVERY_MS = 2_000

const isFirstOfMinute = (now: number) => Math.floor(now / EVERY_MS) % (MINUTE_MS / EVERY_MS) === 0

export const transactionWatcherWorker: WorkerDefinition = {
  name: 'transaction-watcher',
  schedule: { everyMs: EVERY_MS },
  leaseMs: 8_000,
  async tick(context) {
    try {
      await followProposals(context, context.signal)
    } finally {
      // A proposal that cannot be read holds up no transaction.
      await followTransactions(context, { signal: context.signal })
    }
    if (isFirstOfMinute(context.clock.now())) await correctTransactions(context)
  },
}
