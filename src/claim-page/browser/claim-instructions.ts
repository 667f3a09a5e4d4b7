/** The instructions of a claim: the opening of the token account, the first claim, and the vested amount. */
import { TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import { openingInstruction } from '../../solana/token-acts.ts'

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

/** Opens the wallet's token account, and does nothing if it is open. */
export const claimOpening = ({ wallet, tokenAccount: account, mint }: ClaimAccounts) =>
  openingInstruction({ wallet, account, mint, program: TOKEN_PROGRAM })

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
