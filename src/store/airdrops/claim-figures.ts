/** Reads the totals and the median of an airdrop's stored claims. Totals are stored by hour, so many claims cost no more. */
import { sql } from 'kysely'
import { HOUR_MS } from '../../platform/timing.ts'
import { amountOfParts } from '../queries/amount-parts.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'
import { type ClaimedAirdrop, claimBeside } from './claims.ts'

/** Totals of the claims of an airdrop. */
interface ClaimSums {
  claims: number
  /** Wallets whose first claim is among them. */
  wallets: number
  amount: bigint
  amount_locked: bigint
}

export interface ClaimFigures extends ClaimSums {
  /** Median of the amounts in raw units, rounded down between two; null without a claim. */
  median: bigint | null
  /** Unix milliseconds of the first and the last claim; null without one. */
  first_at: number | null
  last_at: number | null
}

/** Totals of the claims in one window; `at` is its start in Unix milliseconds. */
export type ClaimWindow = ClaimSums & { at: number }

export async function claimFigures(reader: Reader, of: ClaimedAirdrop): Promise<ClaimFigures> {
  const { genesis, airdrop_id } = of
  const rows = reader.selectFrom('airdrop_claim_figures').selectAll().where('genesis', '=', genesis)
  const figures = await rows.where('airdrop_id', '=', airdrop_id).executeTakeFirst()
  if (figures === undefined) {
    return { claims: 0, wallets: 0, amount: 0n, amount_locked: 0n, median: null, first_at: null, last_at: null }
  }
  const { first_at, last_at } = figures
  return { ...(await sumOfAll(reader, of)), median: await readMedian(reader, figures), first_at, last_at }
}

async function sumOfAll(reader: Reader, { genesis, airdrop_id }: ClaimedAirdrop): Promise<ClaimSums> {
  const sumOf = <C extends string>(column: C) =>
    sql<string>`cast(coalesce(sum(${sql.ref(column)}), 0) as text)`.as(column)
  const row = await reader
    .selectFrom('airdrop_claim_totals')
    .select([sumOf('claims'), sumOf('wallets'), sumOf('amount_high'), sumOf('amount_low')])
    .select([sumOf('locked_high'), sumOf('locked_low')])
    .where('genesis', '=', genesis)
    .where('airdrop_id', '=', airdrop_id)
    .executeTakeFirstOrThrow()
  return {
    claims: Number(row.claims),
    wallets: Number(row.wallets),
    amount: amountOfParts({ high: row.amount_high, low: row.amount_low }),
    amount_locked: amountOfParts({ high: row.locked_high, low: row.locked_low }),
  }
}

async function readMedian(reader: Reader, figures: Row<'airdrop_claim_figures'>): Promise<bigint | null> {
  const { claims, median_size, median_seq } = figures
  if (median_size === null || median_seq === null) return null
  const middle = { size: median_size, seq: median_seq }
  const upper = claims % 2 === 1 ? null : await claimBeside(reader, figures, middle, '>')
  return (BigInt(median_size) + BigInt(upper?.size ?? median_size)) / 2n
}

/**
 * Returns the totals of each window with claims, in order of time. Windows have this many hours, counted from 1970.
 * The first one contains `since` (Unix milliseconds).
 */
export async function claimWindows(
  reader: Reader,
  of: ClaimedAirdrop,
  { since, hours }: { since: number; hours: number },
): Promise<ClaimWindow[]> {
  const length = hours * HOUR_MS
  const windows = new Map<number, ClaimWindow>()
  for (const { hour, ...total } of await totalsSince(reader, of, Math.floor(since / length) * hours)) {
    const at = Math.floor(hour / hours) * length
    const window = windows.get(at) ?? { at, claims: 0, wallets: 0, amount: 0n, amount_locked: 0n }
    windows.set(at, window)
    add(window, total)
  }
  return [...windows.values()].filter(({ claims }) => claims > 0)
}

function add(sums: ClaimSums, { claims, wallets, amount, amount_locked }: ClaimSums): void {
  sums.claims += claims
  sums.wallets += wallets
  sums.amount += amount
  sums.amount_locked += amount_locked
}

/** Returns the totals of each hour from this one on, in order of time. */
async function totalsSince(
  reader: Reader,
  { genesis, airdrop_id }: ClaimedAirdrop,
  since: number,
): Promise<(ClaimSums & { hour: number })[]> {
  const totals = reader.selectFrom('airdrop_claim_totals').selectAll().where('genesis', '=', genesis)
  const rows = await totals.where('airdrop_id', '=', airdrop_id).where('hour', '>=', since).orderBy('hour').execute()
  return rows.map(({ hour, claims, wallets, amount_high, amount_low, locked_high, locked_low }) => ({
    hour,
    claims,
    wallets,
    amount: amountOfParts({ high: amount_high, low: amount_low }),
    amount_locked: amountOfParts({ high: locked_high, low: locked_low }),
  }))
}
