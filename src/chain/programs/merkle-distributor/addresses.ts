/** Where the merkle distributor keeps an airdrop, its vault and what each wallet has claimed. */
import { derivePdaOf } from '../../pdas.ts'

export { claimStatusAddress } from '../../pdas.ts'

/** Which airdrop: the program knows `airdropCount` as its version. */
export interface AirdropKey {
  mint: string
  /** 0 to 65,535. */
  airdropCount: number
}

export async function distributorAddress({ mint, airdropCount }: AirdropKey): Promise<string> {
  return (await derivePdaOf('merkle_distributor', { mint, airdrop_count: airdropCount })).address
}

/** Associated token account of SPL Token: the vault is that of the distributor. The owner may be off the curve. */
export async function tokenAccountAddress(mint: string, owner: string): Promise<string> {
  return (await derivePdaOf('ata', { owner, mint, token_program: 'spl' })).address
}
