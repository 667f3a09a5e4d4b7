/** Brings the ledger up to date in a process that has no workers. */
import type { Context } from '../../context.ts'
import { followTransactions } from '../transactions/follow-transactions.ts'
import { reconcileRecords } from '../transactions/reconcile-records.ts'
import { writeLedger } from './write-ledger.ts'

/** Rounds of one request, so that it ends; the next request goes on. */
const MOST_ROUNDS = 25

/**
 * Follows what is due, finds what was done past this service, and reads what is final. In a daemon it does nothing, as
 * the workers do. A node that fails leaves the ledger as it is, and the log says so.
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
