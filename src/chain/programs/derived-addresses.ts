/** Addresses of keys of web3.js, and of the associated token accounts of a mint. */
import type { PublicKey } from '@solana/web3.js'
import { addressOf } from '../../solana/addresses.ts'
import { associatedTokenAddress } from '../../solana/program-addresses.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'
import type { TokenProgram } from './tokens/types.ts'

/** Returns the address of a key. Base58 of the same bytes is computed once. */
export const addressOfKey = (key: Pick<PublicKey, 'toBytes'>): string => addressOf(key.toBytes())

/** Returns the token program of a mint, and what derives the associated token account of a wallet. */
export function associatedAccounts({ mint, tokenProgram }: { mint: string; tokenProgram: TokenProgram }) {
  const program = tokenProgramOf(tokenProgram)
  return { program, accountOf: (wallet: string) => associatedTokenAddress(wallet, mint, program) }
}
