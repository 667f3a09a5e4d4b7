/** Where the merkle distributor keeps an airdrop, its vault and what each wallet has claimed. */
import type { PublicKey } from '@solana/web3.js'
import { PROGRAMS } from '../programs.ts'

/** Which airdrop: the program knows `airdropCount` as its version. */
export interface AirdropKey {
  mint: string
  /** 0 to 65,535. */
  airdropCount: number
}

export async function distributorAddress({ mint, airdropCount }: AirdropKey): Promise<string> {
  const { key, derive } = await opened()
  const version = Buffer.alloc(8)
  version.writeBigUInt64LE(BigInt(airdropCount))
  return derive(Buffer.from('MerkleDistributor'), key(mint), version)
}

/** The account that is there once the wallet has claimed. */
export async function claimStatusAddress(distributor: string, claimant: string): Promise<string> {
  const { key, derive } = await opened()
  return derive(Buffer.from('ClaimStatus'), key(claimant), key(distributor))
}

/** Associated token account of SPL Token: the vault is that of the distributor. The owner may be off the curve. */
export async function tokenAccountAddress(mint: string, owner: string): Promise<string> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  return spl.getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true).toBase58()
}

async function opened() {
  const { PublicKey } = await import('@solana/web3.js')
  const program = new PublicKey(PROGRAMS.distributor.id)
  return {
    key: (address: string): Buffer => new PublicKey(address).toBuffer(),
    derive: (...seeds: Buffer[]): string => addressFrom(PublicKey.findProgramAddressSync(seeds, program)),
  }
}

const addressFrom = ([address]: [PublicKey, number]): string => address.toBase58()
