/** Finds records that are new since the last look, by which accounts are followed. */
import type { Reader } from './store.ts'

interface Newcomer {
  seq: number
}

const ROWS_PER_LOOK = 1_000

/** Returns rows of one chain behind the one numbered `after`, oldest first. */
export interface NewcomerQuery {
  genesis: string
  after: number
}

/** Looks at a table from its beginning again after this time, in case rows were not followed when they were new. */
const RESCAN_MS = 600_000

/**
 * Makes a look that returns each row twice and then no more: a row that another process has numbered earlier may become
 * visible later.
 */
export function lookingForNewcomers<R extends Newcomer>(
  read: (reader: Reader, query: NewcomerQuery) => { limit(rows: number): { execute(): Promise<R[]> } },
) {
  const places = new WeakMap<object, Map<string, { before: number; last: number; rescanAt: number }>>()
  return async (reader: Reader, { genesis, now }: { genesis: string; now: number }): Promise<R[]> => {
    const byChain = places.get(reader) ?? new Map()
    places.set(reader, byChain)
    const known = byChain.get(genesis)
    const isRescan = known === undefined || now >= known.rescanAt
    const found: R[] = []
    for (let after = isRescan ? 0 : known.before; ; after = found.at(-1)?.seq ?? after) {
      const rows = await read(reader, { genesis, after }).limit(ROWS_PER_LOOK).execute()
      found.push(...rows)
      if (rows.length < ROWS_PER_LOOK) break
    }
    const last = Math.max(known?.last ?? 0, found.at(-1)?.seq ?? 0)
    byChain.set(genesis, {
      before: isRescan ? last : known.last,
      last,
      rescanAt: isRescan ? now + RESCAN_MS : known.rescanAt,
    })
    return found
  }
}

export const newTrees = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('merkle_trees')
    .select(['seq', 'distributor'])
    .where('seq', '>', after)
    .where('genesis', 'in', ['', genesis])
    .where('distributor', 'is not', null)
    .orderBy('seq'),
)

export const newTokens = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('tokens')
    .select(['seq', 'mint'])
    .where('seq', '>', after)
    .where('status', '!=', 'fully_immutable')
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('followed_accounts')
            .select('followed_accounts.seq')
            .where('followed_accounts.genesis', '=', genesis)
            .whereRef('followed_accounts.address', '=', 'tokens.mint')
            .where('followed_accounts.kind', '=', 'mint'),
        ),
      ),
    )
    .orderBy('seq'),
)

export const newPools = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('pools')
    .select(['seq', 'address', 'type'])
    .where('seq', '>', after)
    .where('genesis', '=', genesis)
    .orderBy('seq'),
)

export const newNfts = lookingForNewcomers((reader, { after }) =>
  reader.selectFrom('nfts').select(['seq', 'collection']).where('seq', '>', after).orderBy('seq'),
)

export const newStakes = lookingForNewcomers((reader, { after }) =>
  reader.selectFrom('stakes').select(['seq', 'collection']).where('seq', '>', after).orderBy('seq'),
)

export const newGoldLocks = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('gold_locks')
    .select(['seq', 'escrow'])
    .where('seq', '>', after)
    .where('genesis', '=', genesis)
    .where('status', '!=', 'unlocked')
    .orderBy('seq'),
)
