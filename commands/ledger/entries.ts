/** Shows entries and sums of the ledger: amounts in whole tokens, values at the stored price. */
import type { LedgerEntry, LedgerSum } from '../../src/api/ledger.ts'
import { Amount, decimalOf } from '../cli/amounts.ts'
import { usage } from '../ui/problem.ts'

/** The filters that select exactly one month in UTC. Throws a usage problem for text that is not a month. */
export function monthRange(month: string): { created_after: string; created_before: string } {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === undefined) throw usage(`--month must be a month like 2026-11, not "${month}"`, { param: '--month' })
  const start = Date.UTC(Number(year), Number(number) - 1)
  const end = Date.UTC(Number(year), Number(number))
  return { created_after: new Date(start - 1).toISOString(), created_before: new Date(end).toISOString() }
}

/** The filter of a month, or of two moments. */
export function rangeOf<
  F extends { month?: string | undefined; created_after?: string | undefined; created_before?: string | undefined },
>({ month, ...filters }: F): Omit<F, 'month'> {
  if (month === undefined) return filters
  return { ...filters, ...monthRange(month) }
}

export const wholeAmount = ({ amount, decimals }: Pick<LedgerEntry, 'amount' | 'decimals'>): string =>
  decimalOf(BigInt(amount), decimals)

/** Amount times price, to the last digit; null without a price. */
export function pricedValue({
  amount,
  decimals,
  price,
}: Pick<LedgerEntry, 'amount' | 'decimals' | 'price'>): string | null {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(price ?? '') ?? []
  if (whole === undefined) return null
  return decimalOf(BigInt(amount) * BigInt(whole + fraction), decimals + fraction.length)
}

const nameOf = ({ symbol, token }: Pick<LedgerEntry, 'symbol' | 'token'>) => symbol ?? token

/** An entry for a terminal. */
export const shownEntry = (entry: LedgerEntry): unknown[] => [
  ...[entry.occurred_at, entry.kind, entry.party, new Amount(entry.amount, entry.decimals)],
  ...[nameOf(entry), entry.owner, entry.signature],
]

/** A sum for a terminal, and for CSV after its raw amounts. */
export const shownSum = (sum: LedgerSum): (string | number | Amount | null)[] => {
  const whole = (amount: string) => new Amount(amount, sum.decimals)
  return [sum.key, sum.party, nameOf(sum), whole(sum.received), whole(sum.paid), whole(sum.net), sum.entries]
}
