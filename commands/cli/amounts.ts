/** Converts amounts between what people type and read and raw units, exactly. */
import { decimalOf, groupedDecimalOf } from '../../src/solana/amounts.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { usage } from '../ui/problem.ts'

export { decimalOf, groupedDecimalOf }
export const LAMPORT_DECIMALS = SOL_DECIMALS

const PLAIN = /^(\d{1,40})(?:\.(\d+))?$/
/** Thousands separators as svc prints them. */
const GROUPED = /^([1-9]\d{0,2}(?:,\d{3}){1,13})(?:\.(\d+))?$/
/** One comma and no point: 1500 in one country, 1.5 in another. */
const AMBIGUOUS = /^\d+,\d{3}$/

/**
 * Converts decimal text to raw units. Thousands separators are accepted where they cannot be decimal points. Throws a
 * usage problem that names `shown` and what is wrong.
 */
export function rawUnits(text: string, digits: number, shown: string): bigint {
  if (AMBIGUOUS.test(text)) {
    const [thousands, decimal] = [text.replace(',', ''), text.replace(',', '.')]
    throw usage(`${shown}: "${text}" can mean ${thousands} or ${decimal}; type one of these`, { param: shown })
  }
  const [, typed, fraction = ''] = PLAIN.exec(text) ?? GROUPED.exec(text) ?? []
  if (typed === undefined) throw usage(`${shown} must be an amount like 1.5, not "${text}"`, { param: shown })
  if (fraction.length > digits) throw usage(`${shown} has more than ${digits} fractional digits`, { param: shown })
  return BigInt(typed.replaceAll(',', '') + fraction.padEnd(digits, '0'))
}

/** Decimals of a token and what it is called beside an amount. */
export interface Unit {
  decimals: number
  unit: string
}

/** An amount in a table or a record: decimal text, which a terminal shows with thousands separators. */
export class Amount {
  readonly raw: bigint
  readonly decimals: number
  /** Shown behind the amount, for people; programs get the number alone. */
  readonly unit: string | null

  constructor(raw: bigint | string, decimals: number, unit: string | null = null) {
    this.raw = BigInt(raw)
    this.decimals = decimals
    this.unit = unit
  }

  get grouped(): string {
    return groupedDecimalOf(this.raw, this.decimals)
  }

  toString(): string {
    return decimalOf(this.raw, this.decimals)
  }

  toJSON(): string {
    return this.toString()
  }
}

/**
 * Raw units of an answer as an amount. Any other value is returned unchanged, because a foreign server can answer
 * anything.
 */
export const wholeOf = (value: unknown, of: number | Unit): unknown => {
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) return value
  return typeof of === 'number' ? new Amount(value, of) : new Amount(value, of.decimals, of.unit)
}

/** A raw amount in whole tokens, or in raw units if the decimals are not known; a dash for none. */
export const tokensText = (raw: string | bigint | null, decimals: number | null): string =>
  raw === null ? '-' : decimals === null ? `${raw} raw units` : groupedDecimalOf(BigInt(raw), decimals)

/** The units of fields in raw units; null if they are not known. */
export type FieldUnits = Readonly<Record<string, number | Unit | null>>

/** The same units for several fields. */
export const unitsOfAll = <U extends number | Unit | null>(names: readonly string[], of: U): Record<string, U> =>
  Object.fromEntries(names.map((name) => [name, of]))

/** Fields for a terminal: those of known units become amounts, and lamports SOL. */
export function inWhole(fields: Readonly<Record<string, unknown>>, units: FieldUnits): Record<string, unknown> {
  const shown = ([name, value]: [string, unknown]) => {
    const digits = units[name] ?? null
    return digits === null ? [name, value] : [name.replace('lamports', 'sol'), wholeOf(value, digits)]
  }
  return Object.fromEntries(Object.entries(fields).map(shown))
}

/** Lamports as a cell of a column or field that names SOL. */
export const solCell = (lamports: bigint | string): Amount => new Amount(lamports, LAMPORT_DECIMALS)

/** Lamports as decimal SOL, for sentences. */
export const solOf = (lamports: bigint): string => groupedDecimalOf(lamports, LAMPORT_DECIMALS)

const RATIO_STEPS = 1_000_000n

/** From 0 to 1; only for drawings. */
export const ratioOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * RATIO_STEPS) / whole) / Number(RATIO_STEPS)
