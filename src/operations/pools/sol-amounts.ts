/** Converts SOL as a JSON number to lamports. */
import { badRequest } from '../../errors.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'

/** Returns exactly the amount in the number's text. Throws bad_request for more than nine fractional digits. */
export function lamportsOfSol(sol: number, param: string): bigint {
  const [, whole = '0', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(sol)) ?? []
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  if (places <= SOL_DECIMALS) return digits * 10n ** BigInt(SOL_DECIMALS - places)
  const divisor = 10n ** BigInt(places - SOL_DECIMALS)
  if (digits % divisor === 0n) return digits / divisor
  throw badRequest(`${param}: SOL has at most ${SOL_DECIMALS} fractional digits, ${sol} has more`, { param })
}
