/** Finds records that are new since the last look and whose accounts must be followed. */
import type { Reader } from '../store.ts'

interface Newcomer {
  seq: number
}

const ROWS_PER_LOOK = 1_000

/** Returns rows of one chain after the one numbered `after`, oldest first. */
interface NewcomerQuery {
  genesis: string
  after: number
}

/** After this time a table is looked at from its beginning again, in case new rows were missed. */
const RESCAN_MS = 600_000

interface FoundRows<R> {
  found: R[]
  /** Highest number of the rows that were looked at, including those left out. */
  newest: number
}

type NewcomerReading<R> = { limit(rows: number): { execute(): Promise<R[]> } }

/**
 * Makes a look that returns each row exactly twice, because a row with a lower number of another process may become
 * visible later.
 */
function lookingForNewcomers<R extends Newcomer>(
  read: (reader: Reader, query: NewcomerQuery) => NewcomerReading<R>,
  readAll?: (reader: Reader, genesis: string) => Promise<FoundRows<R>>,
) {
  const readAfter = async (reader: Reader, query: NewcomerQuery): Promise<FoundRows<R>> => {
    const found = await everyRow(reader, query, read)
    return { found, newest: found.at(-1)?.seq ?? 0 }
  }
  const places = new WeakMap<object, Map<string, { before: number; last: number; rescanAt: number }>>()
  return async (reader: Reader, { genesis, now }: { genesis: string; now: number }): Promise<R[]> => {
    const byChain = places.get(reader) ?? new Map()
    places.set(reader, byChain)
    const known = byChain.get(genesis)
    const isRescan = known === undefined || now >= known.rescanAt
    const { found, newest } = isRescan
      ? await (readAll?.(reader, genesis) ?? readAfter(reader, { genesis, after: 0 }))
      : await readAfter(reader, { genesis, after: known.before })
    const last = Math.max(known?.last ?? 0, newest)
    byChain.set(genesis, {
      before: isRescan ? last : known.last,
      last,
      rescanAt: isRescan ? now + RESCAN_MS : known.rescanAt,
    })
    return found
  }
}

async function everyRow<R extends Newcomer>(
  reader: Reader,
  { genesis, after }: NewcomerQuery,
  read: (reader: Reader, query: NewcomerQuery) => NewcomerReading<R>,
): Promise<R[]> {
  const found: R[] = []
  for (let last = after; ; last = found.at(-1)?.seq ?? last) {
    const rows = await read(reader, { genesis, after: last }).limit(ROWS_PER_LOOK).execute()
    for (const row of rows) found.push(row)
    if (rows.length < ROWS_PER_LOOK) return found
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

async function readNewest(reader: Reader, table: 'tokens' | 'nfts' | 'stakes'): Promise<number> {
  return (await reader.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst())?.seq ?? 0
}

const tokensAfter = (reader: Reader, { after }: NewcomerQuery) =>
  reader
    .selectFrom('tokens')
    .select(['seq', 'mint'])
    .where('seq', '>', after)
    .where('status', '!=', 'fully_immutable')
    .orderBy('seq')

/** The address of a token's metadata is costly to derive, so a look at the whole table skips followed tokens. */
export const newTokens = lookingForNewcomers(tokensAfter, async (reader, genesis) => {
  const newest = await readNewest(reader, 'tokens')
  const unfollowed = (query: NewcomerQuery) =>
    tokensAfter(reader, query).where((is) =>
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
  return { newest, found: await everyRow(reader, { genesis, after: 0 }, (_, query) => unfollowed(query)) }
})

export const newPools = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('pools')
    .select(['seq', 'address', 'type', 'creator'])
    .where('seq', '>', after)
    .where('genesis', '=', genesis)
    .orderBy('seq'),
)

/** There are many assets but few collections, so a look at the whole table reads each collection once by its index. */
const newCollections = (table: 'nfts' | 'stakes') =>
  lookingForNewcomers(
    (reader, { after }) =>
      reader.selectFrom(table).select(['seq', 'collection']).where('seq', '>', after).orderBy('seq'),
    async (reader) => {
      const newest = await readNewest(reader, table)
      const found: { seq: number; collection: string }[] = []
      for (let after = ''; ; ) {
        const rows = reader.selectFrom(table).select(['seq', 'collection']).where('collection', '>', after)
        const next = await rows.orderBy('collection').limit(1).executeTakeFirst()
        if (next === undefined) return { found, newest }
        found.push(next)
        after = next.collection
      }
    },
  )

export const newNfts = newCollections('nfts')
export const newStakes = newCollections('stakes')

export const newGoldLocks = lookingForNewcomers((reader, { genesis, after }) =>
  reader
    .selectFrom('gold_locks')
    .select(['seq', 'escrow'])
    .where('seq', '>', after)
    .where('genesis', '=', genesis)
    .where('status', '!=', 'unlocked')
    .orderBy('seq'),
)
