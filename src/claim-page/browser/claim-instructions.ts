/** The instructions of a claim: the first claim, and the vested amount. */
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'

/** The accounts that every claim of a wallet from a distributor names. */
export interface ClaimAccounts {
  distributor: string
  claimRecord: string
  vault: string
  tokenAccount: string
  wallet: string
  mint: string
}

/** What a leaf of the tree pays, in raw units, and the hashes from the leaf to the root. */
export interface ProvenLeaf {
  amount: bigint
  locked: bigint
  proof: readonly Uint8Array[]
}

const claimUses = ({ distributor, claimRecord, vault, tokenAccount, wallet }: ClaimAccounts) => ({
  distributor,
  claim_status: claimRecord,
  from: vault,
  to: tokenAccount,
  claimant: wallet,
})

/** A wallet's first claim, which pays the amount that is not locked and records both amounts. */
export const firstClaimInstruction = (accounts: ClaimAccounts, { amount, locked, proof }: ProvenLeaf) =>
  MERKLE_DISTRIBUTOR.instruction('new_claim', claimUses(accounts), {
    amount_unlocked: amount,
    amount_locked: locked,
    proof,
  })

/** Pays the vested part of the locked amount that was not paid yet. */
export const vestedClaimInstruction = (accounts: ClaimAccounts) =>
  MERKLE_DISTRIBUTOR.instruction('claim_locked', claimUses(accounts), {})
