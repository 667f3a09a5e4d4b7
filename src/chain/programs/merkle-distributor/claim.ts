/** Builds a wallet's claim, which pays the amount of its leaf into its own token account. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../unsigned.ts'
import { claimStatusAddress, tokenAccountAddress } from './addresses.ts'
import { DISTRIBUTOR_INSTRUCTIONS, u32, u64Bytes } from './layout.ts'

export interface DistributorClaim extends Envelope {
  distributor: string
  mint: string
  /** Amount in raw units. */
  amount: bigint
  /** Sibling hashes of 32 bytes, from leaf to root. */
  proof: readonly Uint8Array[]
  /** Whether the claimer's token account is opened too, at the claimer's cost. */
  opensAccount: boolean
}

/** Compute limit for a claim that cannot be simulated: half more than the largest run used. */
export const AIRDROP_CLAIM_UNITS = 90_000
/** Siblings that fit beside a new token account, a platform fee and the compute budget, by version. */
export const [MOST_SIBLINGS, MOST_V1_SIBLINGS] = [20, 64]

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
  const claim = new web3.TransactionInstruction({
    programId: key(PROGRAMS.distributor.id),
    keys: [
      { pubkey: key(input.distributor), isSigner: false, isWritable: true },
      { pubkey: key(await claimStatusAddress(input.distributor, claimer)), isSigner: false, isWritable: true },
      { pubkey: key(await tokenAccountAddress(input.mint, input.distributor)), isSigner: false, isWritable: true },
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: claimant, isSigner: true, isWritable: true },
      { pubkey: spl.TOKEN_PROGRAM_ID, isSigner: false, isWritable: false },
      { pubkey: web3.SystemProgram.programId, isSigner: false, isWritable: false },
    ],
    data: claimData(input),
  })
  const opening = input.opensAccount
    ? [spl.createAssociatedTokenAccountIdempotentInstruction(key(input.payer), account, claimant, mint)]
    : []
  return [...opening, claim]
}

/** Encodes the unlocked amount, the locked amount (always 0 here), then the proof with its length. */
function claimData({ amount, proof }: Pick<DistributorClaim, 'amount' | 'proof'>): Buffer {
  return Buffer.concat([DISTRIBUTOR_INSTRUCTIONS.newClaim, u64Bytes(amount), u64Bytes(0n), u32(proof.length), ...proof])
}
