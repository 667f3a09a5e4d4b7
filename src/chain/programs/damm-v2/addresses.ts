/** Derives the addresses of a pool's and a position's accounts in cp_amm, without its SDK. */
import type { PublicKey } from '@solana/web3.js'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { openDeriver } from '../derived-addresses.ts'

async function derive(...seeds: (string | PublicKey)[]): Promise<PublicKey> {
  const [{ PublicKey }, { find }] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  const bytes = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed.toBuffer()))
  return find(bytes, new PublicKey(PROGRAMS.dammV2.id))[0]
}

/** Returns the address of the one customizable pool of a mint against SOL. */
export async function dammV2PoolAddress({ mint }: { mint: string }): Promise<string> {
  return (await poolKey(mint)).toBase58()
}

export async function poolKey(mint: string): Promise<PublicKey> {
  const { PublicKey } = await import('@solana/web3.js')
  // The program requires the greater of the two mints first.
  const mints = [new PublicKey(mint), new PublicKey(WRAPPED_SOL)].sort((a, b) => b.toBuffer().compare(a.toBuffer()))
  return derive('cpool', ...mints)
}

/** Returns the position of a position NFT, and the token account that the NFT is minted into. */
export async function positionAddresses(nftMint: string): Promise<{ position: string; positionNftAccount: string }> {
  const { PublicKey } = await import('@solana/web3.js')
  const { position, positionNftAccount } = await positionKeys(new PublicKey(nftMint))
  return { position: position.toBase58(), positionNftAccount: positionNftAccount.toBase58() }
}

export async function positionKeys(
  nftMint: PublicKey,
): Promise<{ position: PublicKey; positionNftAccount: PublicKey }> {
  return {
    position: await derive('position', nftMint),
    positionNftAccount: await derive('position_nft_account', nftMint),
  }
}

/** Returns the vault of a pool for one of its two tokens. */
export const vaultKey = (mint: PublicKey, pool: PublicKey): Promise<PublicKey> => derive('token_vault', mint, pool)

/** Returns the accounts that the program's instructions require for every pool. */
export async function fixedKeys(): Promise<{
  poolAuthority: PublicKey
  eventAuthority: PublicKey
  program: PublicKey
}> {
  const { PublicKey } = await import('@solana/web3.js')
  return {
    poolAuthority: await derive('pool_authority'),
    eventAuthority: await derive('__event_authority'),
    program: new PublicKey(PROGRAMS.dammV2.id),
  }
}
