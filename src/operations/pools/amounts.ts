/** SOL as a JSON number, in lamports. */
import { badRequest } from '../../errors.ts'

const LAMPORT_DIGITS = 9

/** Exactly what the number's own text says; throws bad_request for more than nine fractional digits. */
export function lamportsOfSol(sol: number, param: string): bigint {
  const [, whole = '0', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(sol)) ?? []
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  if (places <= LAMPORT_DIGITS) return digits * 10n ** BigInt(LAMPORT_DIGITS - places)
  const divisor = 10n ** BigInt(places - LAMPORT_DIGITS)
  if (digits % divisor === 0n) return digits / divisor
  throw badRequest(`${param}: SOL has at most ${LAMPORT_DIGITS} fractional digits, ${sol} has more`, { param })
}
