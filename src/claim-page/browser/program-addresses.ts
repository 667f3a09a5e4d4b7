/** Derives addresses of programs in the browser: base58, and the accounts of a claim. */
import { base58 } from '@scure/base'
import { utf8 } from '../../solana/bytes.ts'
import { isEd25519Point } from '../../solana/curve.ts'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { digestOf } from './bytes.ts'

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

/** The address with the highest bump that is off the curve, as `PublicKey.findProgramAddress` finds it. */
export async function findProgramAddress(program: string, ...seeds: readonly Uint8Array[]): Promise<string> {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = await digestOf(...seeds, Uint8Array.of(bump), requireKey(program), utf8('ProgramDerivedAddress'))
    if (!isEd25519Point(hash)) return base58Of(hash)
  }
  throw new Error('no bump leads off the curve')
}

/** The associated token account; the owner may be a program's address. */
export const associatedAccountOf = (mint: string, owner: string, tokenProgram = TOKEN_PROGRAM): Promise<string> =>
  findProgramAddress(ASSOCIATED_TOKEN_PROGRAM, requireKey(owner), requireKey(tokenProgram), requireKey(mint))

/** The distributor's record of a wallet's claim, which exists once the wallet has claimed. */
export const claimRecordOf = (distributor: string, wallet: string): Promise<string> =>
  findProgramAddress(PROGRAMS.distributor.id, utf8('ClaimStatus'), requireKey(wallet), requireKey(distributor))
