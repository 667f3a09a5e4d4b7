/**
 * Builds a wallet's claim, which pays into its own token account: the unlocked amount of its leaf, and what has vested
 * of the locked one.
 */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { claimStatusAddress, tokenAccountAddress } from './addresses.ts'
import { DISTRIBUTOR_INSTRUCTIONS, u32, u64Bytes } from './layout.ts'

/** A wallet's part of an airdrop, with amounts in raw units. */
export interface DistributorLeaf {
  /** Paid by the first claim. */
  amount: bigint
  /** Vests from the distributor's start to its end. */
  locked: bigint
  /** Sibling hashes of 32 bytes, from leaf to root. */
  proof: readonly Uint8Array[]
}

export interface DistributorClaim extends Envelope {
  distributor: string
  mint: string
  /** The leaf, which the first claim of a wallet names; null for a later one. */
  leaf: DistributorLeaf | null
  /** Whether the vested part of the locked amount is paid too; a later claim can pay only that. */
  takesVested: boolean
  /** Whether the claimer's token account is opened too, at the claimer's cost. */
  opensAccount: boolean
}

/** Compute limit for a claim that cannot be simulated: half more than the largest run used. */
export const AIRDROP_CLAIM_UNITS = 90_000
/** Siblings that fit beside a new token account, a platform fee and the compute budget, by version. */
export const [MOST_SIBLINGS, MOST_V1_SIBLINGS] = [20, 64]
/** Most siblings that also leave room for a claim of vested tokens in the same transaction. */
const LEFT_FOR_VESTED = 1

/** Whether a claim of vested tokens fits beside a first claim with this many proof hashes. */
export const hasRoomForVested = (hashes: number, version: 0 | 1): boolean =>
  hashes <= (version === 0 ? MOST_SIBLINGS : MOST_V1_SIBLINGS) - LEFT_FOR_VESTED

/** Throws bad_request for a proof of more hashes than a transaction of the version has room for. */
export function requireRoomForProof(hashes: number, version: 0 | 1): void {
  const most = version === 0 ? MOST_SIBLINGS : MOST_V1_SIBLINGS
  if (hashes <= most) return
  const next = version === 0 ? `: send tx_version 1, which has room for ${MOST_V1_SIBLINGS}` : ''
  throw badRequest(`proof: ${hashes} hashes do not fit into one transaction, at most ${most} do${next}`, {
    param: 'proof',
  })
}

/** The payer is the claimer and the only signer. */
export async function buildAirdropClaim(input: DistributorClaim): Promise<UnsignedTransaction> {
  return compileUnsigned(input, await claimInstructions(input, input.payer))
}

/** Returns the instructions of the claim by `claimer`, whose token account is opened at the cost of the payer. */
export async function claimInstructions(
  input: Omit<DistributorClaim, Exclude<keyof Envelope, 'payer'>>,
  claimer: string,
): Promise<TransactionInstruction[]> {
  const [web3, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const key = (address: string) => new web3.PublicKey(address)
  const [claimant, mint] = [key(claimer), key(input.mint)]
  const account = key(await tokenAccountAddress(input.mint, claimer))
  const accounts = [
    { pubkey: key(input.distributor), isSigner: false, isWritable: true },
    { pubkey: key(await claimStatusAddress(input.distributor, claimer)), isSigner: false, isWritable: true },
    { pubkey: key(await tokenAccountAddress(input.mint, input.distributor)), isSigner: false, isWritable: true },
    { pubkey: account, isSigner: false, isWritable: true },
    { pubkey: claimant, isSigner: true, isWritable: true },
    { pubkey: spl.TOKEN_PROGRAM_ID, isSigner: false, isWritable: false },
  ]
  const systemProgram = { pubkey: web3.SystemProgram.programId, isSigner: false, isWritable: false }
  const programId = key(PROGRAMS.distributor.id)
  const { leaf, takesVested, opensAccount } = input
  return [
    ...(opensAccount
      ? [spl.createAssociatedTokenAccountIdempotentInstruction(key(input.payer), account, claimant, mint)]
      : []),
    ...(leaf === null
      ? []
      : [new web3.TransactionInstruction({ programId, keys: [...accounts, systemProgram], data: newClaimData(leaf) })]),
    ...(takesVested
      ? [new web3.TransactionInstruction({ programId, keys: accounts, data: DISTRIBUTOR_INSTRUCTIONS.claimLocked })]
      : []),
  ]
}

/** Encodes both amounts, then the proof with its length. */
function newClaimData({ amount, locked, proof }: DistributorLeaf): Buffer {
  return Buffer.concat([
    DISTRIBUTOR_INSTRUCTIONS.newClaim,
    u64Bytes(amount),
    u64Bytes(locked),
    u32(proof.length),
    ...proof,
  ])
}
