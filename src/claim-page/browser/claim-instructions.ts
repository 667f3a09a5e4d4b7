/** The instructions of a claim: compute budget, the token account, the first claim, and the vested amount. */

import { joinBytes } from '../../solana/bytes.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { u32Of, u64Of } from './bytes.ts'

type AccountUse = PlainInstruction['accounts'][number]

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

const readable = (address: string): AccountUse => ({ address, isSigner: false, isWritable: false })
const writable = (address: string): AccountUse => ({ address, isSigner: false, isWritable: true })
const signing = (address: string): AccountUse => ({ address, isSigner: true, isWritable: true })

/** Sets the compute units of the transaction and their price in millionths of a lamport. */
export const budgetInstructions = (units: number, price: bigint): PlainInstruction[] => [
  { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(2), u32Of(units)]) },
  ...(price > 0n
    ? [{ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(3), u64Of(price)]) }]
    : []),
]

/** Opens the wallet's token account, and does nothing if it is open. */
export const openingInstruction = ({ wallet, tokenAccount, mint }: ClaimAccounts): PlainInstruction => ({
  program: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [
    signing(wallet),
    writable(tokenAccount),
    readable(wallet),
    readable(mint),
    readable(SYSTEM_PROGRAM),
    readable(TOKEN_PROGRAM),
  ],
  data: Uint8Array.of(1),
})

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
