/** Derives program addresses as the keys of web3.js. */
import type { PublicKey } from '@solana/web3.js'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { associatedTokenAddress, deriveAddress } from '../../solana/program-addresses.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'
import type { TokenProgram } from './tokens/types.ts'

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
      const { address, bump } = deriveAddress(addressOfKey(program), ...seeds)
      return [new PublicKey(addressBytes(address)), bump]
    }
    return {
      find,
      tokenAccount: (mint, owner, tokenProgram) =>
        find([owner.toBytes(), tokenProgram.toBytes(), mint.toBytes()], tokenAccounts)[0],
    }
  })
  return opened
}

/** Returns the token program of a mint, and what derives the associated token account of a wallet. */
export function associatedAccounts({ mint, tokenProgram }: { mint: string; tokenProgram: TokenProgram }) {
  const program = tokenProgramOf(tokenProgram)
  return { program, accountOf: (wallet: string) => associatedTokenAddress(wallet, mint, program) }
}
