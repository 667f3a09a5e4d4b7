/** Storage of the ledger: final transactions that wait to be read, their entries, and pages of them. */
import { type SelectQueryBuilder, sql } from 'kysely'
import { highAndLow } from '../queries/amount-parts.ts'
import { filteredList, type PageRequest, readPage, type StoredPage } from '../queries/paging.ts'
import type { NewRow, Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type LedgerEntryRow = Row<'ledger_entries'>
type LedgerTransactionRow = Row<'ledger_transactions'>
export type NewLedgerEntry = NewRow<'ledger_entries'>

/** A final transaction that the ledger has not read. */
interface LedgerSource {
  signature: string
  /** Null if unknown. */
  slot: number | null
  created_at: number
  /** Whether it was found on a fork that may be gone, so the chain may not have it. */
  mayBeGone: boolean
}

interface UnledgeredQuery {
  genesis: string
  /** Only transactions stored since this time (Unix milliseconds), newest first. Without it all, oldest first. */
  since?: number | undefined
  limit: number
}

/** Rows of one insert, below SQLite's limit of variables. */
const ENTRIES_PER_INSERT = 100
/** The row of `counters` that writers of entries lock. */
const COUNTER = 'ledger'

/**
 * Returns unread transactions of one chain that are final, each once, and those that have ended without reaching a
 * chain. They are in the order in which they were stored, up to `limit` from each of three places.
 */
export async function unledgered(reader: Reader, { genesis, since, limit }: UnledgeredQuery): Promise<LedgerSource[]> {
  const order = since === undefined ? 'asc' : 'desc'
  const sources: LedgerSource[] = []
  for (const chain of ['', genesis]) {
    const ended = reader.selectFrom('transactions').select(['signature', 'slot', 'created_at'])
    const rows = ended.where('genesis', '=', chain).where('ledger_at', 'is', null).where('next_check_at', 'is', null)
    const own = await rows.orderBy('seq', order).limit(limit).execute()
    sources.push(...own.map((row) => ({ ...row, slot: row.slot || null, mayBeGone: false })))
  }
  // A transaction that was found has no next check only when it is final or dropped.
  const found = await reader
    .selectFrom('chain_transactions')
    .select(['signature', 'slot', 'state', 'created_at'])
    .where('genesis', '=', genesis)
    .where('ledger_at', 'is', null)
    .where('next_check_at', 'is', null)
    .orderBy('seq', order)
    .limit(limit)
    .execute()
  const known = new Set(sources.map(({ signature }) => signature))
  const past = found.filter(({ signature }) => !known.has(signature))
  sources.push(...past.map(({ state, ...row }) => ({ ...row, mayBeGone: state === 'dropped' })))
  // The query has no condition on the time, because it would scan all old rows for new ones.
  const wanted = sources.filter(({ created_at }) => created_at >= (since ?? 0))
  return wanted.sort((one, other) =>
    order === 'asc' ? one.created_at - other.created_at : other.created_at - one.created_at,
  )
}

/** Whether anything waits for the ledger, on any chain. */
export async function isAnyUnledgered(reader: Reader, now: number): Promise<boolean> {
  const own = reader.selectFrom('transactions').select('seq').where('ledger_at', 'is', null)
  if ((await own.where('next_check_at', 'is', null).limit(1).executeTakeFirst()) !== undefined) return true
  const found = reader.selectFrom('chain_transactions').select('seq').where('ledger_at', 'is', null)
  if ((await found.where('next_check_at', 'is', null).limit(1).executeTakeFirst()) !== undefined) return true
  const unread = reader.selectFrom('ledger_transactions').select('seq').where('next_try_at', '<=', now)
  return (await unread.limit(1).executeTakeFirst()) !== undefined
}

/** Returns transactions of one chain that could not be read and are due again, the longest overdue first. */
export function dueUnread(
  reader: Reader,
  { genesis, now, limit }: { genesis: string; now: number; limit: number },
): Promise<LedgerTransactionRow[]> {
  const due = reader.selectFrom('ledger_transactions').selectAll().where('next_try_at', '<=', now)
  return due.where('genesis', '=', genesis).orderBy('next_try_at').limit(limit).execute()
}

/**
 * Returns those of the transactions that were submitted here and ended without reaching the chain: expired, or refused
 * with their bundle.
 */
export async function neverLanded(reader: Reader, signatures: readonly string[]): Promise<Set<string>> {
  if (signatures.length === 0) return new Set()
  const rows = await reader
    .selectFrom('transactions')
    .select('signature')
    .where('signature', 'in', signatures)
    .where('confirmation_status', 'is', null)
    .execute()
  return new Set(rows.map(({ signature }) => signature))
}

/** Marks these transactions as read by the ledger, wherever they are stored. */
export async function noteLedgered(
  tx: Tx,
  { genesis, signatures, now }: { genesis: string; signatures: readonly string[]; now: number },
): Promise<void> {
  if (signatures.length === 0) return
  await tx.updateTable('transactions').set({ ledger_at: now }).where('signature', 'in', signatures).execute()
  await tx
    .updateTable('chain_transactions')
    .set({ ledger_at: now })
    .where('genesis', '=', genesis)
    .where('signature', 'in', signatures)
    .where('state', 'in', ['finalized', 'dropped'])
    .execute()
}

type ReadLedgerTransaction = Pick<
  LedgerTransactionRow,
  'genesis' | 'signature' | 'slot' | 'occurred_at' | 'failed' | 'created_at'
>

/** Stores that a transaction was read. Returns false if it was read before and its entries are already stored. */
export async function addLedgerTransaction(tx: Tx, row: ReadLedgerTransaction): Promise<boolean> {
  const written = { ...row, status: 'written' as const, reason: null, next_try_at: null }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('ledger_transactions')
    .values(written)
    .onConflict((conflict) =>
      conflict
        .columns(['genesis', 'signature'])
        .doUpdateSet(written)
        .where('ledger_transactions.status', '=', 'unread'),
    )
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/**
 * Stores that a transaction could not be read, the reason, and the time of the next attempt. A transaction that was
 * read is unchanged.
 */
export async function addUnread(
  tx: Tx,
  row: Pick<LedgerTransactionRow, 'genesis' | 'signature' | 'slot' | 'reason' | 'tries' | 'next_try_at' | 'created_at'>,
): Promise<void> {
  const { reason, tries, next_try_at } = row
  await tx
    .insertInto('ledger_transactions')
    .values({ ...row, status: 'unread', occurred_at: null, failed: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(['genesis', 'signature'])
        .doUpdateSet({ reason, tries, next_try_at })
        .where('ledger_transactions.status', '=', 'unread'),
    )
    .execute()
}

/** An amount in the parts in which it is stored, so that the database can add it up. */
export function amountParts(amount: bigint) {
  const { high, low } = highAndLow(amount)
  return { amount: String(amount), amount_high: high, amount_low: low }
}

/** Blocks other writers of entries until the commit, so that `latest_at` never decreases along the sequence. */
export async function lockLedger(tx: Tx): Promise<void> {
  await tx.updateTable('counters').set({ name: COUNTER }).where('name', '=', COUNTER).execute()
}

/** The latest time of any entry so far; 0 before the first. */
export async function latestEntryAt(reader: Reader): Promise<number> {
  const latest = reader.selectFrom('ledger_entries').select('latest_at').orderBy('seq', 'desc').limit(1)
  return (await latest.executeTakeFirst())?.latest_at ?? 0
}

export async function insertEntries(tx: Tx, entries: readonly NewLedgerEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ENTRIES_PER_INSERT) {
    await tx
      .insertInto('ledger_entries')
      .values(entries.slice(at, at + ENTRIES_PER_INSERT))
      .execute()
  }
}

/** Returns the entries of these transactions of one chain, in the order in which they were written. */
export async function readEntries(
  reader: Reader,
  genesis: string,
  signatures: readonly string[],
): Promise<LedgerEntryRow[]> {
  if (signatures.length === 0) return []
  const rows = reader.selectFrom('ledger_entries').selectAll().where('signature', 'in', signatures)
  return rows.where('genesis', '=', genesis).orderBy('seq').execute()
}

export interface LedgerFilters {
  genesis: string
  pool?: string | undefined
  /** Empty for SOL. */
  token?: string | undefined
  party?: string | undefined
  kind?: string | undefined
  owner?: string | undefined
  signature?: string | undefined
  /** Unix milliseconds, exclusive. */
  after?: number | undefined
  before?: number | undefined
}

type Entries<O> = SelectQueryBuilder<Tables, 'ledger_entries', O>

/** `latest_at` never decreases along the sequence, so it leads to the first entry after a given time. */
async function filtered<O>(reader: Reader, query: Entries<O>, filters: LedgerFilters): Promise<Entries<O>> {
  let rows = query
  for (const column of ['pool', 'token', 'party', 'kind', 'owner', 'signature'] as const) {
    const value = filters[column]
    if (value !== undefined) rows = rows.where(column, '=', value)
  }
  const { after, before, genesis } = filters
  rows = rows.where('genesis', '=', genesis)
  if (after !== undefined) {
    const later = reader.selectFrom('ledger_entries').select('seq').where('latest_at', '>', after)
    const first = await later.orderBy('latest_at').orderBy('seq').limit(1).executeTakeFirst()
    rows = rows.where('seq', '>=', first?.seq ?? Number.MAX_SAFE_INTEGER).where('occurred_at', '>', after)
  }
  return before === undefined ? rows : rows.where('occurred_at', '<', before)
}

/** Returns a page of entries, newest first. */
export async function pageEntries(
  reader: Reader,
  { limit, cursor, ...filters }: PageRequest & LedgerFilters,
): Promise<StoredPage<LedgerEntryRow>> {
  const query = await filtered(reader, reader.selectFrom('ledger_entries').selectAll(), filters)
  return readPage({
    query,
    list: filteredList('ledger', filters),
    place: 'seq',
    weights: { counterparty: 1 },
    limit,
    cursor,
  })
}

/** Returns transactions of one chain after a place, in the order in which the ledger read them. */
export function ledgerTransactionsAfter(
  reader: Reader,
  { genesis, after, limit }: { genesis: string; after: number; limit: number },
): Promise<LedgerTransactionRow[]> {
  const rows = reader.selectFrom('ledger_transactions').selectAll().where('seq', '>', after)
  return rows.where('genesis', '=', genesis).orderBy('seq').limit(limit).execute()
}

/** Returns transactions of one chain that could not be read, after a place, in the order in which they were found. */
export function unreadAfter(
  reader: Reader,
  { genesis, after, limit }: { genesis: string; after: number; limit: number },
): Promise<LedgerTransactionRow[]> {
  const rows = reader.selectFrom('ledger_transactions').selectAll().where('seq', '>', after)
  return rows.where('genesis', '=', genesis).where('status', '=', 'unread').orderBy('seq').limit(limit).execute()
}

/** Returns those of the signatures that the ledger has on one chain: all, or only those whose entries are written. */
export async function ledgered(
  reader: Reader,
  genesis: string,
  signatures: readonly string[],
  status?: 'written',
): Promise<Set<string>> {
  if (signatures.length === 0) return new Set()
  const all = reader.selectFrom('ledger_transactions').select('signature').where('genesis', '=', genesis)
  const rows = status === undefined ? all : all.where('status', '=', status)
  return new Set((await rows.where('signature', 'in', signatures).execute()).map(({ signature }) => signature))
}

/** Returns those of the signatures that are stored here, on one chain, and that the ledger has not read. */
export async function waitingAmong(
  reader: Reader,
  genesis: string,
  signatures: readonly string[],
): Promise<Set<string>> {
  if (signatures.length === 0) return new Set()
  const own = reader.selectFrom('transactions').select('signature').where('signature', 'in', signatures)
  const found = reader.selectFrom('chain_transactions').select('signature').where('signature', 'in', signatures)
  const rows = await Promise.all([
    own.where('genesis', 'in', ['', genesis]).where('ledger_at', 'is', null).execute(),
    found.where('genesis', '=', genesis).where('ledger_at', 'is', null).execute(),
  ])
  return new Set(rows.flat().map(({ signature }) => signature))
}

/**
 * Returns the balance of an account after each transaction after a slot, with the sum of its entries, in the order of
 * slots. Transactions of one slot are in no particular order.
 */
export function balancesAfter(
  reader: Reader,
  {
    genesis,
    account,
    token,
    slot,
    limit,
  }: { genesis: string; account: string; token: string; slot: number; limit: number },
): Promise<{ signature: string; slot: number; balance_after: string; high: string; low: string }[]> {
  return reader
    .selectFrom('ledger_entries')
    .select([
      'signature',
      'slot',
      sql<string>`max(balance_after)`.as('balance_after'),
      sql<string>`cast(sum(amount_high) as text)`.as('high'),
      sql<string>`cast(sum(amount_low) as text)`.as('low'),
    ])
    .where('account', '=', account)
    .where('slot', '>', slot)
    .where('token', '=', token)
    .where('genesis', '=', genesis)
    .groupBy(['slot', 'signature'])
    .orderBy('slot')
    .orderBy('signature')
    .limit(limit)
    .execute()
}

/** Returns the tokens for which an account has entries. */
export async function tokensOfAccount(reader: Reader, genesis: string, account: string): Promise<string[]> {
  const rows = reader.selectFrom('ledger_entries').select('token').distinct().where('genesis', '=', genesis)
  return (await rows.where('account', '=', account).execute()).map(({ token }) => token)
}

/** Counts final transactions of one chain that the ledger has not read, at most `most` of each kind. */
export async function countUnledgered(reader: Reader, genesis: string, most: number): Promise<number> {
  return (await unledgered(reader, { genesis, limit: most })).length
}
