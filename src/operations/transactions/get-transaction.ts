/** One transaction by its signature; a signature that nobody submitted here reads as `unknown`. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findTransaction } from '../../store/transactions.ts'
import { transactionRecord } from '../records.ts'

type Route = Api['transactions']['get']

export async function getTransaction({ store }: Context, { signature }: Input<Route>): Promise<Result<Route>> {
  const row = await findTransaction(store.db, signature)
  return row === null
    ? { signature, lifecycle: 'unknown', confirmation_status: null, err: null, slot: 0, confirmations: 0 }
    : transactionRecord(row)
}
