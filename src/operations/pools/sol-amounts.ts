/** Converts amounts of SOL or of another quote, as JSON numbers, to raw units. */
import { badRequest } from '../../platform/errors.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { MAX_U64 } from '../../solana/u64.ts'

/** Returns the exact amount of the number's text. Throws bad_request for more than nine fractional digits. */
export const lamportsOfSol = (sol: number, param: string): bigint =>
  rawUnitsOf(sol, { decimals: SOL_DECIMALS, unit: 'SOL' }, param)

/**
 * Returns the exact amount of the number's text. Throws bad_request for more fractional digits than `decimals`, or
 * beyond 64 bits.
 */
export function rawUnitsOf(amount: number, { decimals, unit }: { decimals: number; unit: string }, param: string) {
  const [, whole = '0', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(amount)) ?? []
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  const divisor = 10n ** BigInt(Math.max(0, places - decimals))
  if (digits % divisor !== 0n) {
    throw badRequest(`${param}: ${unit} has at most ${decimals} fractional digits, ${amount} has more`, { param })
  }
  const raw = places > decimals ? digits / divisor : digits * 10n ** BigInt(decimals - places)
  if (raw > MAX_U64) throw badRequest(`${param}: ${amount} in raw units does not fit in 64 bits`, { param })
  return raw
}
