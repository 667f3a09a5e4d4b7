/** Follows proposals and submitted transactions: queries their status, resends them, and proves that they landed or expired. */
import { followProposals } from '../../src/operations/proposals/follow-proposals.ts'
import { correctTransactions, followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { nextTransactionCheck } from '../../src/store/transactions/transactions.ts'
import type { WorkerDefinition } from './definition.ts'

const EVERY_MS = 2_000
/** Checks within this time, as of a cluster whose blocks are final in less than a second, do not wait for the next tick. */
const SOON_MS = 1_000
/** Least time between two ticks. */
const LEAST_WAIT_MS = 100

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
    const now = context.clock.now()
    if (isFirstOfMinute(now)) await correctTransactions(context)
    const next = await nextTransactionCheck(context.store.db, now)
    if (next !== null && next - now <= SOON_MS) context.again?.(Math.max(LEAST_WAIT_MS, next - now))
  },
}
