/** Pools, newest first, with what the chain says of them. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pagePools } from '../../store/pools.ts'
import { joined, readPools } from './on-chain.ts'

type Route = Api['pools']['list']

/** The list itself needs no node: while that fails, what only the chain knows is null. */
export async function listPools({ store, chain, log }: Context, input: Input<Route>): Promise<Result<Route>> {
  const { rows, next_cursor } = await pagePools(store.db, input)
  const addresses = rows.map(({ address }) => address)
  const onChain = await readPools(chain, addresses).catch((error) => {
    log.warn({ err: error }, 'pools were listed without their chain state')
    return []
  })
  return { items: rows.map((row, i) => joined(row, onChain[i] ?? null)), next_cursor }
}
