/** One pool: what is stored of it, joined with the chain; one that only the chain knows is read there. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findPool } from '../../store/pools.ts'
import { found } from '../found.ts'
import { foreignPool, joined, readPools } from './on-chain.ts'

type Route = Api['pools']['get']

/** A stored pool is answered without its chain state while the node fails. */
export async function getPool({ store, chain, log }: Context, { address }: Input<Route>): Promise<Result<Route>> {
  const row = await findPool(store.db, address)
  const [onChain = null] = await readPools(chain, [address]).catch((error) => {
    if (row === null) throw error
    log.warn({ err: error, address }, 'a pool was read without its chain state')
    return []
  })
  if (row !== null) return joined(row, onChain)
  return foreignPool(chain, found(onChain, 'pool', address))
}
