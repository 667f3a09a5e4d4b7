/** Lists the largest entries of a stored tree of which no claim is recorded. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { type EntryList, entryAt, entrySums } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import { turnsOf } from '../../platform/timing.ts'
import { claimFigures } from '../../store/airdrops/claim-figures.ts'
import { type ClaimedAirdrop, claimedAmong } from '../../store/airdrops/claims.ts'
import type { Reader } from '../../store/store.ts'
import { isoTimeOrNull } from '../api-records.ts'
import { withTree } from '../merkle-trees/open-tree.ts'

type UnclaimedRoute = Api['airdrops']['unclaimed']

/** Milliseconds of work after which other requests get their turn. */
const TURN_MS = 8
/** Entries that are looked up in one query. */
const LOOKED_UP = 500

/** Throws not_found without the stored leaves, internal_error when no node reports which chain this is. */
export async function listUnclaimed(
  context: Context,
  { id, limit }: Input<UnclaimedRoute>,
): Promise<Result<UnclaimedRoute>> {
  const { chain, store } = context
  return withTree(context, id, async ({ row, head, read }) => {
    const of = { genesis: await chain.genesisHash(), airdrop_id: id }
    const list = await readStoredList(head, read, turnsOf(TURN_MS))
    const { claims, wallets, first_at, last_at } = await claimFigures(store.db, of)
    return {
      id,
      mint: row.mint,
      leaf_count: row.leaf_count,
      recorded: { claims, wallets, first_claim_at: isoTimeOrNull(first_at), last_claim_at: isoTimeOrNull(last_at) },
      wallets: await largestUnclaimed(store.db, of, { list, limit }),
    }
  })
}

async function largestUnclaimed(
  reader: Reader,
  of: ClaimedAirdrop,
  { list, limit }: { list: EntryList; limit: number },
): Promise<Result<UnclaimedRoute>['wallets']> {
  const nextTurn = turnsOf(TURN_MS)
  const order = largestFirst(entrySums(list))
  const found: Result<UnclaimedRoute>['wallets'] = []
  while (found.length < limit) {
    const indexes = Array.from({ length: LOOKED_UP }, () => order.next()).flatMap(({ value }) => value ?? [])
    if (indexes.length === 0) break
    const entries = indexes.map((index) => ({ index, ...entryAt(list, index) }))
    const claimed = await claimedAmong(
      reader,
      of,
      entries.map(({ wallet }) => wallet),
    )
    for (const { wallet, amount, locked, index } of entries) {
      if (claimed.has(wallet)) continue
      found.push({ wallet, amount: String(amount), amount_locked: String(locked), index })
    }
    await nextTurn()
  }
  return found.slice(0, limit)
}

/** Entries that are sorted at once: few of 50,000 are asked for, and to sort all of them would block other requests. */
const SORTED = 1_000

/** Yields the indexes of the sums, those of the largest first and of equal ones in their order. */
export function* largestFirst(sums: BigUint64Array): Generator<number, undefined> {
  const ascending = sums.slice().sort()
  let left = sums.length
  let above: bigint | undefined
  while (left > 0) {
    const least = ascending[Math.max(0, left - SORTED)] ?? 0n
    const indexes: number[] = []
    for (const [index, sum] of sums.entries()) {
      if (sum >= least && (above === undefined || sum < above)) indexes.push(index)
    }
    yield* indexes.sort((one, other) => Number((sums[other] ?? 0n) - (sums[one] ?? 0n)))
    left -= indexes.length
    above = least
  }
}
