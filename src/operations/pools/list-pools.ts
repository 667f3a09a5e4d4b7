/** Lists pools, newest first, with their state on the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pagePools } from '../../store/resources/pools.ts'
import { pageOfChain } from '../chain-pages.ts'
import { readPoolsIfTimely, storedPoolWithChain } from './on-chain.ts'

type ListPoolsRoute = Api['pools']['list']

/** The list works without a node: if it fails or is slow, fields that only the chain has are null. */
export async function listPools(context: Context, input: Input<ListPoolsRoute>): Promise<Result<ListPoolsRoute>> {
  const { store } = context
  const { rows, next_cursor } = await pageOfChain(context, 'pools', (cursor = input.cursor) =>
    pagePools(store.db, { ...input, cursor }),
  )
  const addresses = rows.map(({ address }) => address)
  const onChain = await readPoolsIfTimely(context, addresses)
  return { items: rows.map((row, i) => storedPoolWithChain(row, onChain[i] ?? null)), next_cursor }
}
