/** Whether an NFT is in a burn address: nobody can sign for it, so nobody can ever use what the NFT gives a right to. */
import type { ChainAccount } from './accounts.ts'
import { INCINERATOR, SYSTEM_PROGRAM } from './program-ids.ts'
import { DAMM_V2_POOL_AUTHORITY } from './programs.ts'
import { readMint, readTokenAccount } from './token-accounts.ts'
import { readMintExtensions } from './token-extensions.ts'

export const BURN_ADDRESSES: readonly string[] = [INCINERATOR, SYSTEM_PROGRAM]

/** Whether the token account holds the only unit of the mint, and nobody can move it or make another one. */
export function isBurntNft(mint: ChainAccount | null, nftMint: string, tokenAccount: ChainAccount | null): boolean {
  const token = tokenAccount && readTokenAccount(tokenAccount)
  if (token === null || token.mint !== nftMint || token.amount !== 1n || token.delegate !== null) return false
  return BURN_ADDRESSES.includes(token.owner) && isSingle(mint)
}

/** The program of the pools makes these mints, and has no instruction that mints a second unit. */
function isSingle(account: ChainAccount | null): boolean {
  const mint = account && readMint(account)
  if (account === null || mint === null || mint.supply !== 1n) return false
  const isProgram = mint.mintAuthority === null || mint.mintAuthority === DAMM_V2_POOL_AUTHORITY
  return isProgram && readMintExtensions(account.data).permanentDelegate === null
}
