/** Storage of tickers: the latest pool of each, and whether it blocks other launches. */
import { sql } from 'kysely'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { findPool } from './pools.ts'

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

/** The chain of a launch, and the times in Unix milliseconds before which earlier launches do not block it. */
export interface TickerTerms {
  genesis: string
  /** Time before which an assignment of the ticker has expired. */
  since: number
  /** Time before which a submission that has not landed is given up. */
  submittedSince: number
}

/** A pool that is to have a ticker. */
interface TickerRequest extends TickerTerms {
  symbol: string
  /** Address of the pool. */
  pool: string
  /** Unix milliseconds. */
  now: number
}

/** Returns the assignment of a ticker, ignoring case, that blocks other launches; null if it is free. */
export async function blockingTicker(
  reader: Reader,
  symbol: string,
  terms: TickerTerms,
): Promise<Row<'tickers'> | null> {
  const held = await reader
    .selectFrom('tickers')
    .selectAll()
    .where('symbol', '=', symbol.toUpperCase())
    .executeTakeFirst()
  return held !== undefined && (await isBlocking(reader, held, terms)) ? held : null
}

/** A pool that is not on chain yet has its ticker only while the transaction that was submitted for it can still land. */
async function isBlocking(
  reader: Reader,
  { pool_address, taken_at }: Row<'tickers'>,
  { genesis, since, submittedSince }: TickerTerms,
): Promise<boolean> {
  if (taken_at <= since) return false
  const pool = await findPool(reader, pool_address)
  if (pool === null || pool.status === 'failed' || pool.genesis !== genesis) return false
  return pool.status !== 'pending' || isUnderWay(reader, pool, submittedSince)
}

/** Whether a pool that is not on chain yet was submitted with a transaction that can still land. */
export async function isUnderWay(
  reader: Reader,
  { submitted_at, submitted_signature }: Pick<Row<'pools'>, 'submitted_at' | 'submitted_signature'>,
  submittedSince: number,
): Promise<boolean> {
  if (submitted_at === null || submitted_at <= submittedSince) return false
  return submitted_signature === null || !(await hasFailed(reader, submitted_signature))
}

/** Whether a transaction has failed or expired for good. */
async function hasFailed(reader: Reader, signature: string): Promise<boolean> {
  const failed = reader
    .selectFrom('transactions')
    .select('seq')
    .where('signature', '=', signature)
    .where('lifecycle', '=', 'failed')
    .where('next_check_at', 'is', null)
  return (await failed.executeTakeFirst()) !== undefined
}

/**
 * Assigns a ticker to a pool, ignoring case, and returns null. If another pool of the same chain blocks it, returns that
 * assignment. Locks the ticker until the commit.
 */
export async function takeTicker(
  tx: Tx,
  { symbol, pool, now, ...terms }: TickerRequest,
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
  if (await isBlocking(tx, held, terms)) return held
  await tx.updateTable('tickers').set(row).where('symbol', '=', upper).execute()
  return null
}
