/** Converts amounts of a preset to raw units, exactly, with errors that name the preset's field. */
import { type ApiError, badRequest } from '../../../platform/errors.ts'
import { MAX_U64 } from '../../../solana/u64.ts'

/** Returns bad_request that names the preset's field. */
export const presetFault = (param: string, message: string): ApiError => badRequest(`${param} ${message}`, { param })

/** Converts whole tokens as text to raw units of 64 bits. */
export function rawAmount(text: string, decimals: number, field: string): bigint {
  const [, whole, fraction = ''] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined) throw presetFault(field, 'must be an amount in whole tokens, as text')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) throw presetFault(field, `has more than the ${decimals} fractional digits of the token`)
  const raw = BigInt(whole + digits.padEnd(decimals, '0'))
  if (raw > MAX_U64) {
    const most = MAX_U64 / 10n ** BigInt(decimals)
    throw presetFault(field, `must be at most ${most} whole tokens: with ${decimals} decimals no more fit in 64 bits`)
  }
  return raw
}

/** Converts whole SOL, or whole tokens of another quote, to raw units of 64 bits. */
export function quoteUnits(amount: number, decimals: number, field: string, unit: string): bigint {
  const { digits, places } = decimalParts(amount, field, `must be an amount of ${unit}`)
  const shift = decimals - places
  const power = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % power !== 0n) throw presetFault(field, `must have at most ${decimals} fractional digits`)
  const raw = shift < 0 ? digits / power : digits * power
  if (raw > MAX_U64) throw presetFault(field, `must be at most ${MAX_U64 / 10n ** BigInt(decimals)} ${unit}`)
  return raw
}

/** Returns whole numbers in the same proportion. */
export function wholeWeights(weights: readonly number[], field: string): bigint[] {
  const parts = weights.map((weight, i) => decimalParts(weight, `${field}.${i}`, 'must be a number above 0'))
  const most = Math.max(...parts.map(({ places }) => places))
  return parts.map(({ digits, places }) => digits * 10n ** BigInt(most - places))
}

/** Uses the shortest decimal text of the number, as its author wrote it. */
function decimalParts(amount: number, field: string, fault: string): { digits: bigint; places: number } {
  const [, whole, fraction = '', exponent = '0'] =
    /^([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(amount)) ?? []
  if (whole === undefined) throw presetFault(field, fault)
  return { digits: BigInt(whole + fraction), places: fraction.length - Number(exponent) }
}
