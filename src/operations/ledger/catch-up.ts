/** Brings the ledger up to date in a process that has no workers. */
import type { Context } from '../../context.ts'
import { followTransactions } from '../transactions/follow-transactions.ts'
import { reconcileRecords } from '../transactions/reconcile-records.ts'
import { writeLedger } from './write-ledger.ts'

/** Most rounds of one request. The next request continues. */
const MOST_ROUNDS = 25

/**
 * Follows due transactions, finds those of other tools, and reads those that are final. In a daemon it does nothing,
 * because the workers do this. If the node fails, the ledger stays as it is and the error is logged.
 */
export async function catchUp(context: Context): Promise<void> {
  if (context.role !== null) return
  try {
    await followTransactions(context)
    await reconcileRecords(context)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if ((await writeLedger(context, { signal: context.ending })) === 0) return
    }
  } catch (error) {
    if (context.ending.aborted) throw error
    context.log.warn({ err: error }, 'the ledger was not brought up to date')
  }
}
