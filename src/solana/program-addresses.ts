/** Addresses that a program signs for, derived from seeds. */
import { createHash } from 'node:crypto'
import { addressBytes, addressOf, byteKey } from './addresses.ts'
import { isEd25519Point } from './curve.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from './program-ids.ts'

/** A program address, and the bump that moves it off the curve; programs store both. */
export interface ProgramAddress {
  address: string
  bump: number
}

const MAX_BUMP = 255
const MAX_SEED_BYTES = 32
const DERIVED = Buffer.from('ProgramDerivedAddress')

/** An entry takes some 500 bytes. */
const MOST_KEPT = 2_048
const kept = new Map<string, ProgramAddress>()
/** Not a byte of any seed, so that it separates seeds in a joined name. */
const SEPARATOR = '\uffff'

/**
 * The address with the highest bump that is off the curve. The latest ones are kept, because the search for one costs
 * more than all other work of a build. Throws TypeError for a seed above 32 bytes.
 */
export function deriveAddress(program: string, ...seeds: readonly Uint8Array[]): ProgramAddress {
  const name = [program, ...seeds.map(byteKey)].join(SEPARATOR)
  const known = kept.get(name)
  if (known !== undefined) return known
  if (seeds.some(({ length }) => length > MAX_SEED_BYTES)) {
    throw new TypeError(`a seed has more than ${MAX_SEED_BYTES} bytes`)
  }
  const found = searchAddress(addressBytes(program), seeds)
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(name, found)
  return found
}

function searchAddress(program: Uint8Array, seeds: readonly Uint8Array[]): ProgramAddress {
  for (let bump = MAX_BUMP; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of [...seeds, Buffer.of(bump), program, DERIVED]) hash.update(seed)
    const address = hash.digest()
    if (!isEd25519Point(address)) return { address: addressOf(address), bump }
  }
  throw new Error('no bump leads off the curve')
}

/** The token account that every wallet has by default for a mint. */
export const associatedTokenAddress = (owner: string, mint: string, tokenProgram: string): string =>
  deriveAddress(ASSOCIATED_TOKEN_PROGRAM, addressBytes(owner), addressBytes(tokenProgram), addressBytes(mint)).address
