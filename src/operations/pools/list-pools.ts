/** Lists pools, newest first, with their state on the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import type { Context } from '../../context.ts'
import { pagePools } from '../../store/resources/pools.ts'
import { readPoolsIfTimely, storedPoolWithChain } from './on-chain.ts'

type ListPoolsRoute = Api['pools']['list']

/** Pages that one request reads, if all their pools are of other chains. */
const MOST_PAGES = 20

/**
 * Each chain has its own pools, as it has its own ledger. The list works without a node: if it fails or is slow, fields
 * that only the chain has are null, and if it never said which chain this is, the pools of all chains are listed.
 */
export async function listPools(context: Context, input: Input<ListPoolsRoute>): Promise<Result<ListPoolsRoute>> {
  const { rows, next_cursor } = await pageOfChain(context, input)
  const addresses = rows.map(({ address }) => address)
  const onChain = await readPoolsIfTimely(context, addresses)
  return { items: rows.map((row, i) => storedPoolWithChain(row, onChain[i] ?? null)), next_cursor }
}

async function pageOfChain({ store, chain, log }: Context, input: Input<ListPoolsRoute>) {
  let page = await pagePools(store.db, input)
  // A new installation does not open its embedded chain.
  if (page.rows.length === 0) return page
  const genesis = await optionalRead(log, 'pools of all chains were listed', () => chain.genesisHash())
  if (genesis === null) return page
  const ofChain = () => page.rows.filter((row) => row.genesis === genesis)
  // A page that has pools stays as it is, because its size is bounded.
  for (let pages = 1; pages < MOST_PAGES && ofChain().length === 0 && page.next_cursor !== null; pages++) {
    page = await pagePools(store.db, { ...input, cursor: page.next_cursor })
  }
  return { rows: ofChain(), next_cursor: page.next_cursor }
}
