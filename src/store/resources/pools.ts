/** Storage of pools and their scheduled checks. */
import { anyDue, dueRows, finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertPool = insertingOnce('pools')
export const findPool = finding('pools', 'address')
export const updatePool = updating('pools', 'address')
export const isAnyPoolDue = anyDue('pools')
export const duePools = dueRows('pools')
export const pagePools = listing('pools', ['status', 'type', 'creator', 'base_mint', 'symbol'], {
  weights: { metadata_json: 1 },
  narrow: ['base_mint', 'symbol'],
  caseless: ['symbol'],
})

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

/** Moves the pool to its next state; false if another process has moved it since it was read. */
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

/** Schedules the next check of pools, except of those whose check is due after `dueBy`. */
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

/** Returns the launches that are not on chain yet and whose mint or config is one of the keys, at most a hundred. */
export function launchesOfKeys(reader: Reader, keys: readonly string[]): Promise<Row<'pools'>[]> {
  return reader
    .selectFrom('pools')
    .selectAll()
    .where((pool) => pool.or([pool('base_mint', 'in', keys), pool('config', 'in', keys)]))
    .where('status', 'in', ['pending', 'failed'])
    .limit(100)
    .execute()
}

/**
 * Returns the latest transaction that tracks the pool. While it may still land or has landed, the pool must not be
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

/** Makes migrations that the platform wallet has failed to send due at once, because its signer may sign them now. */
export async function retryCranks(tx: Tx, now: number): Promise<void> {
  await tx
    .updateTable('pools')
    .set({ next_check_at: now, crank_failures: 0, crank_error: null })
    .where('status', '=', 'migration_triggered')
    .where('crank_failures', '>', 0)
    .where('next_check_at', 'is not', null)
    .execute()
}

/**
 * Sets or clears (`to` is null) the signing of a pool's migration, and clears its signature. Returns false if another
 * process has set a different one since.
 */
export async function replaceCrank(tx: Tx, address: string, from: string | null, to: string | null): Promise<boolean> {
  const updates = tx
    .updateTable('pools')
    .set({ crank_signing: to, crank_signature: null })
    .where('address', '=', address)
  const linked = from === null ? updates.where('crank_signing', 'is', null) : updates.where('crank_signing', '=', from)
  return (await linked.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Returns the creator by pool address, for those of the addresses that are pools with a known creator. */
export async function poolCreators(reader: Reader, addresses: readonly string[]): Promise<Map<string, string>> {
  if (addresses.length === 0) return new Map()
  const rows = reader.selectFrom('pools').select(['address', 'creator']).where('address', 'in', addresses)
  return new Map(
    (await rows.execute()).flatMap(({ address, creator }) => (creator === null ? [] : [[address, creator]])),
  )
}

/**
 * Returns the symbols of tokens launched here, by mint. A token with several pools has the symbol of the latest pool
 * with one.
 */
export async function symbolsOfMints(reader: Reader, mints: readonly string[]): Promise<Map<string, string>> {
  if (mints.length === 0) return new Map()
  const rows = reader.selectFrom('pools').select(['base_mint', 'symbol']).where('base_mint', 'in', mints)
  const named = (await rows.orderBy('seq').execute()).flatMap(({ base_mint, symbol }) =>
    symbol === null ? [] : [[base_mint, symbol] as const],
  )
  return new Map(named)
}
