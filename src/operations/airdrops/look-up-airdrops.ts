/** Lists the stored airdrops of a wallet and whether it can claim from each. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { ApiError } from '../../platform/errors.ts'
import { scanTrees } from '../../store/airdrops/airdrops.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import type { Row } from '../../store/schema.ts'
import { keyBytesOf, withRow } from '../merkle-trees/open-tree.ts'
import { type Entitled, readEntitlements } from './entitlements.ts'

type LookUpAirdropsRoute = Api['airdrops']['lookup']

/** Trees that one page searches, at about two milliseconds each. */
const TREES_PER_PAGE = 250

export async function lookUpAirdrops(
  context: Context,
  input: Input<LookUpAirdropsRoute>,
): Promise<Result<LookUpAirdropsRoute>> {
  const { wallet, mint, limit, cursor } = input
  const list = `wallet_airdrops:${wallet}:${mint ?? ''}`
  const before = cursor === undefined ? undefined : decodeCursor(list, cursor)
  const { rows, end } = await scanTrees(context.store.db, { mint, before, limit: TREES_PER_PAGE })
  const entitled: Entitled[] = []
  let looked = 0
  for (const row of rows) {
    if (entitled.length === limit) break
    looked++
    const leaf = await leafOfWallet(context, row, wallet)
    if (leaf !== null) entitled.push(leaf)
  }
  const last = looked < rows.length ? (rows[looked - 1]?.seq ?? end) : end
  const next_cursor = last === null ? null : encodeCursor(list, last)
  return { items: await readEntitlements(context, wallet, entitled), next_cursor }
}

/** Returns null when the wallet is not in the tree, or its leaves were removed. A damaged tree is logged, and does not hide the others. */
async function leafOfWallet(context: Context, row: Row<'merkle_trees'>, wallet: string): Promise<Entitled | null> {
  if (row.leaves_removed_at !== null) return null
  try {
    return await withRow(context, row, async ({ head, read }) => {
      const leaf = await lookUpProof(head, keyBytesOf(wallet), read)
      return leaf === undefined ? null : { row, amount: leaf.amount, locked: leaf.locked }
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'bad_request')) throw error
    context.log.error({ err: error, tree: row.id }, 'a stored tree is damaged')
    return null
  }
}
