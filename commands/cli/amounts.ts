/** Converts amounts between decimal text and raw units, exactly. */

import { usage } from '../ui/problem.ts'

export const LAMPORT_DECIMALS = 9

/** Converts decimal text to raw units; throws a usage problem that names `shown` and what is wrong. */
export function rawUnits(text: string, digits: number, shown: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,40})(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) throw usage(`${shown} must be an amount like 1.5, not "${text}"`, { param: shown })
  if (fraction.length > digits) throw usage(`${shown} has more than ${digits} fractional digits`, { param: shown })
  return BigInt(whole + fraction.padEnd(digits, '0'))
}

/** Raw units as decimal text without trailing zeros. */
export function decimalOf(raw: bigint, digits: number): string {
  if (raw < 0n) return `-${decimalOf(-raw, digits)}`
  const text = raw.toString().padStart(digits + 1, '0')
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return `${text.slice(0, text.length - digits)}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * Raw units of an answer as decimal text. Any other value is returned unchanged, because a foreign server can answer
 * anything.
 */
export const wholeOf = (value: unknown, decimals: number): unknown =>
  typeof value === 'string' && /^\d+$/.test(value) ? decimalOf(BigInt(value), decimals) : value

/** Fields for a terminal: those named in `decimals` are raw units, and are converted to decimal text. */
export function inWhole(
  fields: Readonly<Record<string, unknown>>,
  decimals: Readonly<Record<string, number>>,
): Record<string, unknown> {
  const shown = ([name, value]: [string, unknown]) => [
    name,
    decimals[name] === undefined ? value : wholeOf(value, decimals[name]),
  ]
  return Object.fromEntries(Object.entries(fields).map(shown))
}

/** Lamports as decimal SOL. */
export const solOf = (lamports: bigint): string => decimalOf(lamports, LAMPORT_DECIMALS)

const RATIO_STEPS = 1_000_000n

/** From 0 to 1; only for drawings. */
export const ratioOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * RATIO_STEPS) / whole) / Number(RATIO_STEPS)
