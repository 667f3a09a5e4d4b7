/** Derives the addresses of a pool's and a position's accounts in cp_amm, without its SDK. */
import { addressBytes } from '../../../solana/addresses.ts'
import { utf8 } from '../../../solana/bytes.ts'
import { deriveAddress } from '../../../solana/program-addresses.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'

const derive = (seed: string, ...addresses: readonly string[]): string =>
  deriveAddress(DAMM_V2.id, utf8(seed), ...addresses.map(addressBytes)).address

/** Returns the address of the one customizable pool of a mint against its quote, which is SOL by default. */
export function dammV2PoolAddress({ mint, quote = WRAPPED_SOL }: { mint: string; quote?: string }): string {
  // The program requires the greater of the two mints first.
  const mints = [mint, quote].sort((a, b) => Buffer.compare(addressBytes(b), addressBytes(a)))
  return derive('cpool', ...mints)
}

/** Returns the position of a position NFT, and the token account that the NFT is minted into. */
export const positionAddresses = (nftMint: string): { position: string; positionNftAccount: string } => ({
  position: derive('position', nftMint),
  positionNftAccount: derive('position_nft_account', nftMint),
})

/** Returns the vault of a pool for one of its two tokens. */
export const vaultAddress = (mint: string, pool: string): string => derive('token_vault', mint, pool)
