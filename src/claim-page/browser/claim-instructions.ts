/** The instructions of a claim: compute budget, the token account, the first claim, and the vested amount. */

import { joinBytes, utf8 } from '../../solana/bytes.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { digestOf, u32Of, u64Of } from './bytes.ts'
import type { AccountUse, PageInstruction } from './compiled-message.ts'

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

const readable = (address: string): AccountUse => ({ address, signs: false, writable: false })
const writable = (address: string): AccountUse => ({ address, signs: false, writable: true })
const signing = (address: string): AccountUse => ({ address, signs: true, writable: true })

/** Anchor identifies an instruction by the first eight bytes of a hash. */
const nameOf = async (instruction: string) => (await digestOf(utf8(`global:${instruction}`))).subarray(0, 8)

/** Sets the compute units of the transaction and their price in millionths of a lamport. */
export const budgetInstructions = (units: number, price: bigint): PageInstruction[] => [
  { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(2), u32Of(units)]) },
  ...(price > 0n
    ? [{ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(3), u64Of(price)]) }]
    : []),
]

/** Opens the wallet's token account, and does nothing if it is open. */
export const openingInstruction = ({ wallet, tokenAccount, mint }: ClaimAccounts): PageInstruction => ({
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

const claimUses = ({ distributor, claimRecord, vault, tokenAccount, wallet }: ClaimAccounts): AccountUse[] => [
  writable(distributor),
  writable(claimRecord),
  writable(vault),
  writable(tokenAccount),
  signing(wallet),
  readable(TOKEN_PROGRAM),
]

/** A wallet's first claim, which pays the amount that is not locked and records both amounts. */
export async function firstClaimInstruction(
  accounts: ClaimAccounts,
  { amount, locked, proof }: ProvenLeaf,
): Promise<PageInstruction> {
  return {
    program: PROGRAMS.distributor.id,
    accounts: [...claimUses(accounts), readable(SYSTEM_PROGRAM)],
    data: joinBytes([await nameOf('new_claim'), u64Of(amount), u64Of(locked), u32Of(proof.length), ...proof]),
  }
}

/** Pays the vested part of the locked amount that was not paid yet. */
export const vestedClaimInstruction = async (accounts: ClaimAccounts): Promise<PageInstruction> => ({
  program: PROGRAMS.distributor.id,
  accounts: claimUses(accounts),
  data: await nameOf('claim_locked'),
})
