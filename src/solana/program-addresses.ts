/** Addresses that a program signs for, derived from seeds. */
import { createHash } from 'node:crypto'
import { addressBytes, addressOf } from './addresses.ts'
import { isEd25519Point } from './curve.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from './program-ids.ts'

/** A program address, and the bump that moves it off the curve; programs store both. */
export interface ProgramAddress {
  address: string
  bump: number
}

const MAX_BUMP = 255
const DERIVED = Buffer.from('ProgramDerivedAddress')

/** The address with the highest bump that is off the curve. */
export function deriveAddress(program: string, ...seeds: readonly Uint8Array[]): ProgramAddress {
  const programBytes = addressBytes(program)
  for (let bump = MAX_BUMP; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of [...seeds, Buffer.of(bump), programBytes, DERIVED]) hash.update(seed)
    const address = hash.digest()
    if (!isEd25519Point(address)) return { address: addressOf(address), bump }
  }
  throw new Error('no bump leads off the curve')
}

/** The token account that every wallet has by default for a mint. */
export const associatedTokenAddress = (owner: string, mint: string, tokenProgram: string): string =>
  deriveAddress(ASSOCIATED_TOKEN_PROGRAM, addressBytes(owner), addressBytes(tokenProgram), addressBytes(mint)).address
