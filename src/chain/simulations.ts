/** Running a transaction without submitting it. */
import type { Connection } from '@solana/web3.js'
import type { Simulation } from '../api/index.ts'
import { ApiError, badRequest } from '../errors.ts'
import type { DecodedTransaction } from './localnet/messages.ts'
import { askNode } from './rpc-faults.ts'

/** How web3.js words a node's refusal of the transaction itself; the code of the error is lost on the way. */
const REFUSED = /^failed to simulate transaction: ((?:invalid|failed to deserialize|.* too large).*)/

/**
 * Signatures are not asked for and a recent blockhash takes the place of the transaction's, so that an unsigned build
 * runs whenever it was built. A failed run is an answer with `err`; throws bad_request when the node refuses to run it.
 */
export async function simulateTransaction(connection: Connection, { raw }: DecodedTransaction): Promise<Simulation> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const { context, value } = await askNode('The simulation', async () => {
    try {
      const options = { sigVerify: false, replaceRecentBlockhash: true }
      return await connection.simulateTransaction(VersionedTransaction.deserialize(raw), options)
    } catch (error) {
      const refusal = error instanceof ApiError ? undefined : REFUSED.exec((error as Error).message)?.[1]
      if (refusal === undefined) throw error
      throw badRequest(`transaction: ${refusal}`, { param: 'transaction', cause: error })
    }
  })
  const { err, logs, unitsConsumed, returnData } = value
  return {
    err,
    logs: logs ?? [],
    units_consumed: unitsConsumed ?? null,
    return_data: returnData ? { program_id: returnData.programId, data: returnData.data[0] } : null,
    slot: context.slot,
  }
}
