/** Simulates a transaction, signed or not. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { simulateDecoded as simulate } from '../../chain/sending/simulations.ts'
import { decodeTransaction } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'

type SimulateTransactionRoute = Api['transactions']['simulate']

export async function simulateTransaction(
  { chain }: Context,
  { transaction }: Input<SimulateTransactionRoute>,
): Promise<Result<SimulateTransactionRoute>> {
  const decoded = decodeTransaction(transaction)
  return simulate(chain, decoded)
}
