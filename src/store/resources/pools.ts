/** Storage of pools, their scheduled checks and their tickers. */
import { sql } from 'kysely'
import { rowsWithin } from '../queries/paging.ts'
import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertPool = insertingOnce('pools')
export const findPool = finding('pools', 'address')
export const updatePool = updating('pools', 'address')
export const pagePools = listing('pools', ['status', 'type', 'creator'], { weights: { metadata_json: 1 } })

/** Returns the addresses of a token's pools on one chain, newest first, without failed pools. */
export async function poolsOfMint(reader: Reader, mint: string, genesis: string): Promise<string[]> {
  const rows = await reader
    .selectFrom('pools')
    .select('address')
    .where('base_mint', '=', mint)
    .where('genesis', '=', genesis)
    .where('status', '!=', 'failed')
    .orderBy('seq', 'desc')
    .limit(100)
    .execute()
  return rows.map(({ address }) => address)
}

/** Returns the pools of one chain whose check is due, the longest overdue first. */
export async function duePools(reader: Reader, genesis: string, now: number, limit: number): Promise<Row<'pools'>[]> {
  const due = reader
    .selectFrom('pools')
    .selectAll()
    .where('next_check_at', '<=', now)
    .where('genesis', '=', genesis)
    .orderBy('next_check_at')
    .orderBy('seq')
  return (await rowsWithin(due, { limit, place: 'seq', weights: { metadata_json: 1 } })).rows
}

/** Whether any chain has a pool whose check is due. */
export async function isAnyPoolDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader.selectFrom('pools').select('seq').where('next_check_at', '<=', now).limit(1)
  return (await due.executeTakeFirst()) !== undefined
}

/** Moves the pool to its next state; false when another process has moved it since it was read. */
export async function movePool(
  tx: Tx,
  { address, status }: Pick<Row<'pools'>, 'address' | 'status'>,
  changes: Partial<Omit<Row<'pools'>, 'seq' | 'address'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('pools')
    .set(changes)
    .where('address', '=', address)
    .where('status', '=', status)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Schedules the next check of pools, except those whose check is due after `dueBy`. */
export async function planPoolCheck(
  tx: Tx,
  addresses: readonly string[],
  next: number,
  dueBy = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  if (addresses.length === 0) return
  await tx
    .updateTable('pools')
    .set({ next_check_at: next })
    .where('address', 'in', addresses)
    .where('next_check_at', 'is not', null)
    .where('next_check_at', '<=', dueBy)
    .execute()
}

/**
 * Returns up to a hundred pending launches with the same ticker, ignoring case, created after `since`, newest first.
 */
export function pendingWithTicker(
  reader: Reader,
  { symbol, address, genesis, since }: { symbol: string; address: string; genesis: string; since: number },
): Promise<Row<'pools'>[]> {
  return reader
    .selectFrom('pools')
    .selectAll()
    .where(sql`upper(symbol)`, '=', symbol.toUpperCase())
    .where('status', '=', 'pending')
    .where('genesis', '=', genesis)
    .where('address', '!=', address)
    .where('created_at', '>', since)
    .orderBy('seq', 'desc')
    .limit(100)
    .execute()
}

export interface Ticker {
  symbol: string
  pool: string
  creator: string | null
  genesis: string
  now: number
  /** Time before which an assignment of the ticker has expired. */
  since: number
}

/**
 * Whether a pool's ticker blocks others: yes unless the pool failed or is on another chain. It blocks its own creator
 * only once submitted with the creator's signature, because anybody can build and track a pool in a creator's name.
 */
export function isHeldAgainst(
  holder: Row<'pools'> | null,
  { creator, genesis }: Pick<Ticker, 'creator' | 'genesis'>,
): boolean {
  if (holder === null || holder.status === 'failed' || holder.genesis !== genesis) return false
  return holder.status !== 'pending' || holder.creator !== creator || holder.submitted_at !== null
}

/** Returns the current assignment of a ticker, ignoring case. */
export async function findTicker(reader: Reader, symbol: string): Promise<Row<'tickers'> | null> {
  const held = reader.selectFrom('tickers').selectAll().where('symbol', '=', symbol.toUpperCase())
  return (await held.executeTakeFirst()) ?? null
}

/**
 * Assigns a ticker to a pool, ignoring case, and returns null. If a pool on the same chain has held it since after
 * `since` and did not fail, returns that assignment. Locks the ticker until the commit.
 */
export async function takeTicker(
  tx: Tx,
  { symbol, pool, creator, genesis, now, since }: Ticker,
): Promise<Row<'tickers'> | null> {
  const upper = symbol.toUpperCase()
  const row = { symbol: upper, pool_address: pool, taken_at: now }
  const inserted = await tx
    .insertInto('tickers')
    .values(row)
    .onConflict((conflict) => conflict.column('symbol').doNothing())
    .returning('symbol')
    .executeTakeFirst()
  if (inserted !== undefined) return null
  const held = await tx
    .updateTable('tickers')
    .set({ symbol: upper })
    .where('symbol', '=', upper)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (held.pool_address === pool) return null
  const holder = await findPool(tx, held.pool_address)
  if (held.taken_at > since && isHeldAgainst(holder, { creator, genesis })) return held
  await tx.updateTable('tickers').set(row).where('symbol', '=', upper).execute()
  return null
}

/**
 * Returns the latest transaction that tracks the pool; while it may still land or has landed, the pool must not be
 * marked as failed.
 */
export async function lastTracked(
  reader: Reader,
  address: string,
): Promise<Pick<Row<'transactions'>, 'lifecycle' | 'checked_at' | 'created_at' | 'next_check_at'> | null> {
  const row = await reader
    .selectFrom('transactions')
    .select(['lifecycle', 'checked_at', 'created_at', 'next_check_at'])
    .where('tracked_id', '=', address)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/** Links a migration's signing to its pool; false when another process has linked a different one since. */
export async function linkCrank(tx: Tx, address: string, from: string | null, to: string | null): Promise<boolean> {
  const updates = tx
    .updateTable('pools')
    .set({ crank_signing: to, crank_signature: null })
    .where('address', '=', address)
  const linked = from === null ? updates.where('crank_signing', 'is', null) : updates.where('crank_signing', '=', from)
  return (await linked.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Returns the creators of those of these addresses that are pools with a known one, by the pool's address. */
export async function poolCreators(reader: Reader, addresses: readonly string[]): Promise<Map<string, string>> {
  if (addresses.length === 0) return new Map()
  const rows = reader.selectFrom('pools').select(['address', 'creator']).where('address', 'in', addresses)
  return new Map(
    (await rows.execute()).flatMap(({ address, creator }) => (creator === null ? [] : [[address, creator]])),
  )
}

/** Returns the symbols of tokens that were launched here, by mint; of a token with several pools the latest that has one. */
export async function symbolsOfMints(reader: Reader, mints: readonly string[]): Promise<Map<string, string>> {
  if (mints.length === 0) return new Map()
  const rows = reader.selectFrom('pools').select(['base_mint', 'symbol']).where('base_mint', 'in', mints)
  const named = (await rows.orderBy('seq').execute()).flatMap(({ base_mint, symbol }) =>
    symbol === null ? [] : [[base_mint, symbol] as const],
  )
  return new Map(named)
}
