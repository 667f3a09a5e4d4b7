/**
 * Derives program addresses and caches the latest, because the search for one costs more than all other work of a
 * build.
 */
import type { PublicKey } from '@solana/web3.js'
import { addressOf } from '../../solana/addresses.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../../solana/program-ids.ts'

/** An entry takes some 500 bytes. */
const MOST_KEPT = 2_048
const kept = new Map<string, readonly [PublicKey, number]>()
/** Not a byte of any seed, so that it separates seeds in a joined name. */
const SEPARATOR = '\uffff'

/** Returns the address of a key. Base58 of the same bytes is computed once. */
export const addressOfKey = (key: Pick<PublicKey, 'toBytes'>): string => addressOf(key.toBytes())

interface AddressDeriver {
  /** Returns the address, and the bump that moves it off the curve. Throws TypeError for a seed above 32 bytes. */
  find(seeds: readonly Uint8Array[], program: PublicKey): readonly [PublicKey, number]
  /** Returns the associated token account of an owner, which may be off the curve. */
  tokenAccount(mint: PublicKey, owner: PublicKey, tokenProgram: PublicKey): PublicKey
}

let opened: Promise<AddressDeriver> | undefined

export function openDeriver(): Promise<AddressDeriver> {
  opened ??= import('@solana/web3.js').then(({ PublicKey }) => {
    const tokenAccounts = new PublicKey(ASSOCIATED_TOKEN_PROGRAM)
    const find: AddressDeriver['find'] = (seeds, program) => {
      const name = [...seeds, program.toBytes()].map((seed) => Buffer.from(seed).toString('latin1')).join(SEPARATOR)
      const known = kept.get(name)
      if (known !== undefined) return known
      const found = PublicKey.findProgramAddressSync([...seeds], program)
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(name, found)
      return found
    }
    return {
      find,
      tokenAccount: (mint, owner, tokenProgram) =>
        find([owner.toBytes(), tokenProgram.toBytes(), mint.toBytes()], tokenAccounts)[0],
    }
  })
  return opened
}
