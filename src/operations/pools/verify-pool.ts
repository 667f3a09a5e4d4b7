/** Checks on the chain whether a pool is live. The legacy flow submits its transactions first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { decodeSigned } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { writeEvents } from '../../store/events/drafts.ts'
import { findPool } from '../../store/resources/pools.ts'
import { requireRecord } from '../api-records.ts'
import { submitEach } from '../transactions/submit-each.ts'
import { foreignPool, readPools, storedPoolWithChain } from './on-chain.ts'
import { firstSeen } from './take-steps.ts'
import { markPoolLive } from './transitions.ts'

type VerifyPoolRoute = Api['pools']['verify']

/**
 * `verified` is false while the pool is not on chain. Throws not_found if neither the store nor the chain has the
 * pool.
 */
export async function verifyPool(
  context: Context,
  { address, transactions = [] }: Input<VerifyPoolRoute>,
): Promise<Result<VerifyPoolRoute>> {
  const { store, chain } = context
  const decoded = transactions.map((text, i) => decodeSigned(text, `transactions.${i}`))
  if ((await findPool(store.db, address)) === null)
    requireRecord((await readPools(chain, [address]))[0] ?? null, 'pool', address)
  await submitEach(context, decoded, { resource_type: 'pool', resource_id: address, related_events: [] })
  const [row, [onChain = null]] = await Promise.all([findPool(store.db, address), readPools(chain, [address])])
  if (row === null) return { pool: await foreignPool(chain, requireRecord(onChain, 'pool', address)), verified: true }
  if (onChain === null) return { pool: storedPoolWithChain(row, null), verified: false }
  const evidence = row.status === 'pending' || row.status === 'failed' ? await firstSeen(chain, address) : {}
  return context.commit(async (tx) => {
    const { row: now, drafts } = await markPoolLive(context, tx, row, evidence)
    await writeEvents(tx, context.clock, drafts)
    return { pool: storedPoolWithChain(now, onChain), verified: now.status !== 'failed' }
  })
}
