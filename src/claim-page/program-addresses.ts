/** Derives addresses of programs in the browser: base58, the test for the curve, and the accounts of a claim. */
import { base58 } from '@scure/base'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from '../solana/program-ids.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { digestOf, utf8 } from './bytes.ts'

const PRIME = (1n << 255n) - 19n
/** The constant d of Ed25519's curve (RFC 8032, 5.1). */
const CURVE_D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Bytes of base58 text that has exactly 32 of them; null for any other text. */
export function keyOfAddress(text: string): Uint8Array | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return null
  const bytes = base58.decode(text)
  return bytes.length === 32 ? bytes : null
}

/** Bytes of an address that was checked before. Throws an Error for any other text. */
export function requireKey(address: string): Uint8Array {
  const key = keyOfAddress(address)
  if (key === null) throw new Error('not an address')
  return key
}

export const base58Of = (bytes: Uint8Array): string => base58.encode(bytes)

/** Whether 32 bytes are a point of Ed25519's curve, which no address of a program is: x² = (y² - 1) / (d·y² + 1). */
export function isCurvePoint(bytes: Uint8Array): boolean {
  let y = BigInt((bytes[31] ?? 0) & 0x7f)
  for (let at = 30; at >= 0; at--) y = (y << 8n) | BigInt(bytes[at] ?? 0)
  const square = (y * y) % PRIME
  // A quotient is a square where the product is one; by Euler's criterion its power is then 1, or 0 for zero.
  let base = ((square + PRIME - 1n) * (CURVE_D * square + 1n)) % PRIME
  let power = 1n
  for (let exponent = (PRIME - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) % PRIME
    base = (base * base) % PRIME
  }
  return power <= 1n
}

/** The address with the highest bump that is off the curve, as `PublicKey.findProgramAddress` finds it. */
export async function findProgramAddress(program: string, ...seeds: readonly Uint8Array[]): Promise<string> {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = await digestOf(...seeds, Uint8Array.of(bump), requireKey(program), utf8('ProgramDerivedAddress'))
    if (!isCurvePoint(hash)) return base58Of(hash)
  }
  throw new Error('no bump leads off the curve')
}

/** The associated token account of SPL Token; the owner may be a program's address. */
export const associatedAccountOf = (mint: string, owner: string): Promise<string> =>
  findProgramAddress(ASSOCIATED_TOKEN_PROGRAM, requireKey(owner), requireKey(TOKEN_PROGRAM), requireKey(mint))

/** The distributor's record of a wallet's claim, which exists once the wallet has claimed. */
export const claimRecordOf = (distributor: string, wallet: string): Promise<string> =>
  findProgramAddress(PROGRAMS.distributor.id, utf8('ClaimStatus'), requireKey(wallet), requireKey(distributor))
