/** Derives the addresses of an airdrop, its vault and its claim records in the merkle distributor. */
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { deriveProgramAddress } from '../pdas.ts'

export { claimStatusAddress } from '../pdas.ts'

/** Identifies an airdrop. `airdropCount` is the version in the program. */
export interface AirdropKey {
  mint: string
  /** Number from 0 to 65,535. */
  airdropCount: number
}

export const distributorAddress = ({ mint, airdropCount }: AirdropKey): string =>
  deriveProgramAddress('merkle_distributor', { mint, airdrop_count: airdropCount }).address

/**
 * Returns the associated token account of SPL Token, which for a distributor is its vault. The owner may be off the
 * curve.
 */
export const tokenAccountAddress = (mint: string, owner: string): string =>
  associatedTokenAddress(owner, mint, TOKEN_PROGRAM)
