/** Totals of the ledger by month, pool, kind, party and token, updated with each entry, and sums of them. */
import { type SqlBool, sql } from 'kysely'
import { addedColumn, addedParts, amountOfParts, highAndLow } from '../queries/amount-parts.ts'
import { decodeTextCursor, encodeTextCursor, filteredList, type PageRequest } from '../queries/paging.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import type { NewLedgerEntry } from './ledger.ts'

type LedgerTotal = Row<'ledger_totals'>
type TotalKey = Pick<LedgerTotal, 'genesis' | 'month' | 'pool' | 'kind' | 'party' | 'token'>

/** Adds entries to the totals, so that sums of a long ledger need few rows. */
export async function addToTotals(tx: Tx, entries: readonly NewLedgerEntry[]): Promise<void> {
  const totals = new Map<string, { row: TotalKey & Pick<LedgerTotal, 'symbol' | 'decimals'>; amounts: bigint[] }>()
  for (const { genesis, month, pool, kind, party, token, symbol, decimals, amount } of entries) {
    const key = { genesis, month, pool: pool ?? '', kind, party, token }
    const name = Object.values(key).join(' ')
    const total = totals.get(name) ?? { row: { ...key, symbol: symbol ?? null, decimals }, amounts: [] }
    total.amounts.push(BigInt(amount))
    totals.set(name, total)
  }
  // The order is always the same, so that two processes never wait for each other.
  const ordered = [...totals].sort(([one], [other]) => (one < other ? -1 : 1))
  for (const [, { row, amounts }] of ordered) await addTotal(tx, row, amounts)
}

async function addTotal(
  tx: Tx,
  row: TotalKey & Pick<LedgerTotal, 'symbol' | 'decimals'>,
  amounts: readonly bigint[],
): Promise<void> {
  const sumOf = (isReceived: boolean) =>
    highAndLow(amounts.reduce((sum, amount) => (amount > 0n === isReceived ? sum + amount : sum), 0n))
  const [received, paid] = [sumOf(true), sumOf(false)]
  await tx
    .insertInto('ledger_totals')
    .values({
      ...row,
      entries: amounts.length,
      received_high: received.high,
      received_low: received.low,
      paid_high: -paid.high,
      paid_low: -paid.low,
    })
    .onConflict((conflict) =>
      conflict.columns(['genesis', 'month', 'pool', 'kind', 'party', 'token']).doUpdateSet((of) => {
        const [received, paid] = [addedParts('ledger_totals', 'received'), addedParts('ledger_totals', 'paid')]
        return {
          symbol: of.ref('excluded.symbol'),
          entries: addedColumn('ledger_totals', 'entries'),
          received_high: received.high,
          received_low: received.low,
          paid_high: paid.high,
          paid_low: paid.low,
        }
      }),
    )
    .execute()
}

const GROUP_COLUMNS = { pool: 'pool', mint: 'token', party: 'party', month: 'month', kind: 'kind' } as const
type LedgerGroupName = keyof typeof GROUP_COLUMNS

interface TotalFilters {
  genesis: string
  pool?: string | undefined
  /** Empty for SOL. */
  token?: string | undefined
  party?: string | undefined
  kind?: string | undefined
  month?: string | undefined
}

interface LedgerSumRow {
  key: string | null
  party: string
  token: string
  symbol: string | null
  decimals: number
  entries: number
  received: bigint
  paid: bigint
}

/** Separates the parts of a place in the sums. No part contains it. */
const BETWEEN = '\t'

/**
 * Returns a page of sums by a column, party and token, in order. Received and paid amounts are separate, because
 * together they are always zero.
 */
export async function pageSums(
  reader: Reader,
  { by, limit, cursor, ...filters }: PageRequest & TotalFilters & { by: LedgerGroupName },
): Promise<{ rows: LedgerSumRow[]; next_cursor: string | null }> {
  const column = GROUP_COLUMNS[by]
  const place = sql<string>`${sql.ref(column)} || ${sql.lit(BETWEEN)} || party || ${sql.lit(BETWEEN)} || token`
  const sumOf = (name: 'received_high' | 'received_low' | 'paid_high' | 'paid_low' | 'entries') =>
    sql<string>`cast(sum(${sql.ref(name)}) as text)`.as(name)
  let query = reader
    .selectFrom('ledger_totals')
    .select([
      place.as('place'),
      sql<string>`min(${sql.ref(column)})`.as('key'),
      sql<string>`min(party)`.as('party'),
      sql<string>`min(token)`.as('token'),
      sql<string | null>`max(symbol)`.as('symbol'),
      sql<number>`max(decimals)`.as('decimals'),
      sumOf('entries'),
      sumOf('received_high'),
      sumOf('received_low'),
      sumOf('paid_high'),
      sumOf('paid_low'),
    ])
    .where('genesis', '=', filters.genesis)
  for (const name of ['pool', 'token', 'party', 'kind', 'month'] as const) {
    const value = filters[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  const list = filteredList(`ledger_totals:${by}`, filters)
  if (cursor !== undefined) query = query.where(sql<SqlBool>`${place} > ${decodeTextCursor(list, cursor)}`)
  const rows = await query
    .groupBy(place)
    .orderBy(place)
    .limit(limit + 1)
    .execute()
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map((row) => ({
      key: row.key === '' && by === 'pool' ? null : row.key,
      party: row.party,
      token: row.token,
      symbol: row.symbol,
      decimals: Number(row.decimals),
      entries: Number(row.entries),
      received: amountOfParts({ high: row.received_high, low: row.received_low }),
      paid: amountOfParts({ high: row.paid_high, low: row.paid_low }),
    })),
    next_cursor: rows.length > limit && last !== undefined ? encodeTextCursor(list, last.place) : null,
  }
}
