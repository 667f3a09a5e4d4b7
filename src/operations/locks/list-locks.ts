/** Lists locks of a mint, a recipient or a creator from the chain, in the order of their addresses. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { findLocks, LOCKS_PER_CALL, readLocks } from '../../chain/programs/jupiter-lock/index.ts'
import { readingOf } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { decodeAddressCursor, encodeAddressCursor, filteredList } from '../../store/queries/paging.ts'
import { trySigner } from '../signing/require-signer.ts'
import { lockRecord } from './lock-record.ts'

type ListLocksRoute = Api['locks']['list']

/** A lock that was closed since the search is left out, so that a page can have fewer than `limit`. */
export async function listLocks(
  context: Context,
  { mint, recipient, creator, limit, cursor }: Input<ListLocksRoute>,
): Promise<Result<ListLocksRoute>> {
  const isFiltered = mint !== undefined || recipient !== undefined || creator !== undefined
  // There are too many locks to list all of them.
  const platform = isFiltered ? undefined : (await trySigner(context))?.address
  const filter = { mint, recipient, creator: creator ?? platform }
  const list = filteredList('locks', filter)
  const after = cursor === undefined ? null : addressOf(decodeAddressCursor(list, cursor))
  if (!isFiltered && platform === undefined) return { items: [], next_cursor: null }
  const found = await findLocks(context.chain, filter, (await readingOf(context.chain, [CLOCK_SYSVAR])).oldest)
  const rest = after === null ? found : found.filter((address) => address > after)
  const page = rest.slice(0, limit)
  const items: Result<ListLocksRoute>['items'] = []
  for (let from = 0; from < page.length; from += LOCKS_PER_CALL) {
    const { at, escrows } = await readLocks(context.chain, page.slice(from, from + LOCKS_PER_CALL))
    items.push(...escrows.flatMap((escrow) => (escrow === null ? [] : [lockRecord(context, escrow, at)])))
  }
  const last = page.at(-1)
  const isMore = last !== undefined && rest.length > page.length
  return { items, next_cursor: isMore ? encodeAddressCursor(list, addressBytes(last)) : null }
}
