/** Builds the transactions of an airdrop: its creation, the claims of wallets, and the withdrawal of the rest. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { bytesOfHex } from '../../../solana/bytes.ts'
import { TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { CLAIM_STATUS_BYTES, MERKLE_DISTRIBUTOR } from '../../../solana/programs/merkle-distributor.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../../solana/token-accounts.ts'
import { openingInstruction } from '../../../solana/token-acts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import type { MaybeAccount } from '../../reads/node-reads.ts'
import { rentFor } from '../../reads/rpc-reads.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { transferInstruction } from '../sol-transfers.ts'
import { type AirdropKey, claimStatusAddress, distributorAddress, tokenAccountAddress } from './addresses.ts'

export interface Creation extends Envelope, AirdropKey {
  /** Merkle root in hex without a prefix. */
  root: string
  /** Most raw units that can be claimed; `maxNodes` limits the wallets. */
  maxTotal: bigint
  maxNodes: bigint
  /**
   * Unix seconds. The start must be in the future when the transaction lands, the end after it, and the clawback a day
   * after the end.
   */
  startsAt: bigint
  endsAt: bigint
  clawbackAt: bigint
  /** Decimals of the mint, which must belong to SPL Token. */
  decimals: number
  /** Raw units that move from the payer's token account into the vault, or 0n for none. */
  deposit: bigint
  /** Whether the payer's token account, which receives the clawback, is opened too. */
  opensReceiver: boolean
}

/** A wallet's part of an airdrop, with amounts in raw units. */
export interface DistributorLeaf {
  /** Paid by the first claim. */
  amount: bigint
  /** Vests from the distributor's start to its end. */
  locked: bigint
  /** Sibling hashes of 32 bytes, from leaf to root. */
  proof: readonly Uint8Array[]
}

/** It pays the unlocked amount of a wallet's leaf, and what has vested of the locked one. */
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

/** A claim for which the payer pays fee and rent. Apart from the tokens, the claimer's wallet does not change. */
export interface SponsoredDistributorClaim extends DistributorClaim {
  claimer: string
  /** Lamports that the claimer lacks for the rent of its claim status, which the program takes from its wallet. */
  lent: bigint
}

export interface Clawback extends Envelope {
  distributor: string
  mint: string
  /** Token account that the distributor names as receiver. */
  receiver: string
  /** Owner for whom the receiver, its associated token account, is opened again first, or null if it is open. */
  opensReceiverFor: string | null
}

/** Compute limits for transactions that cannot be simulated: half more than the largest run used. */
export const CREATION_UNITS = 140_000
export const AIRDROP_CLAIM_UNITS = 90_000
export const CLAWBACK_UNITS = 45_000
/** Siblings that fit beside a new token account, a platform fee and the compute budget, by version. */
export const MOST_SIBLINGS = 20
export const MOST_V1_SIBLINGS = 64
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

/** Opens the associated token account of an owner if it is missing; the payer pays its rent. */
const opening = (payer: string, account: string, wallet: string, mint: string) =>
  openingInstruction({ payer, account, wallet, mint, program: TOKEN_PROGRAM })

/** The payer becomes the admin, and its associated token account the receiver of the clawback. */
export async function buildCreation(input: Creation): Promise<UnsignedTransaction> {
  const { payer, mint, decimals, deposit: amount } = input
  const sdk = await sdkInstructions()
  const distributor = distributorAddress(input)
  const vault = tokenAccountAddress(mint, distributor)
  const receiver = tokenAccountAddress(mint, payer)
  const deposit = { source: receiver, mint, destination: vault, authority: payer, signers: [] }
  const creation = MERKLE_DISTRIBUTOR.instruction(
    'new_distributor',
    { distributor, clawback_receiver: receiver, mint, token_vault: vault, admin: payer },
    {
      version: BigInt(input.airdropCount),
      root: bytesOfHex(input.root),
      max_total_claim: input.maxTotal,
      max_num_nodes: input.maxNodes,
      start_vesting_ts: input.startsAt,
      end_vesting_ts: input.endsAt,
      clawback_start_ts: input.clawbackAt,
    },
  )
  return compileUnsigned(
    input,
    [
      ...(input.opensReceiver ? [opening(payer, receiver, payer, mint)] : []),
      creation,
      ...(amount > 0n ? [TOKEN.instruction('transferChecked', deposit, { amount, decimals })] : []),
    ].map(sdk),
  )
}

/** The payer is the claimer and the only signer. */
export async function buildAirdropClaim(input: DistributorClaim): Promise<UnsignedTransaction> {
  return compileUnsigned(input, await claimInstructions(input, input.payer))
}

/** The payer signs in addition to the claimer, whose lamports are the same afterwards. */
export async function buildSponsoredClaim(input: SponsoredDistributorClaim): Promise<UnsignedTransaction> {
  const { payer, claimer, lent } = input
  const loan = lent === 0n ? [] : [await transferInstruction(payer, claimer, lent)]
  return compileUnsigned(input, [...loan, ...(await claimInstructions(input, claimer))])
}

/** Returns the instructions of the claim by `claimer`, whose token account is opened at the cost of the payer. */
export async function claimInstructions(
  {
    payer,
    distributor,
    mint,
    leaf,
    takesVested,
    opensAccount,
  }: Omit<DistributorClaim, Exclude<keyof Envelope, 'payer'>>,
  claimer: string,
): Promise<TransactionInstruction[]> {
  const sdk = await sdkInstructions()
  const accounts = {
    distributor,
    claim_status: claimStatusAddress(distributor, claimer),
    from: tokenAccountAddress(mint, distributor),
    to: tokenAccountAddress(mint, claimer),
    claimant: claimer,
  }
  return [
    ...(opensAccount ? [opening(payer, accounts.to, claimer, mint)] : []),
    ...(leaf === null ? [] : [MERKLE_DISTRIBUTOR.instruction('new_claim', accounts, provenAmounts(leaf))]),
    ...(takesVested ? [MERKLE_DISTRIBUTOR.instruction('claim_locked', accounts, {})] : []),
  ].map(sdk)
}

const provenAmounts = ({ amount, locked, proof }: DistributorLeaf) => ({
  amount_unlocked: amount,
  amount_locked: locked,
  proof,
})

/** The payer signs as the caller, which can be anyone after the clawback time. Only the stored receiver gets tokens. */
export async function buildClawback(input: Clawback): Promise<UnsignedTransaction> {
  const { payer, distributor, mint, receiver, opensReceiverFor } = input
  const sdk = await sdkInstructions()
  const from = tokenAccountAddress(mint, distributor)
  const accounts = { distributor, from, to: receiver, claimant: payer }
  return compileUnsigned(
    input,
    [
      ...(opensReceiverFor === null ? [] : [opening(payer, receiver, opensReceiverFor, mint)]),
      MERKLE_DISTRIBUTOR.instruction('clawback', accounts, {}),
    ].map(sdk),
  )
}

/** Returns the lamports that a claim status, and a token account if it is opened, lack for their rent. */
export async function claimRents(
  node: NodeCalls,
  { status, tokens }: { status: MaybeAccount; tokens: MaybeAccount | undefined },
): Promise<{ lent: bigint; accountRent: bigint }> {
  const [statusRent, accountRent] = await Promise.all([
    rentFor(node, CLAIM_STATUS_BYTES),
    tokens === undefined ? 0n : rentFor(node, TOKEN_ACCOUNT_SIZE),
  ])
  return { lent: lacking(statusRent, status), accountRent: lacking(accountRent, tokens ?? null) }
}

/** Anyone can send lamports to an address before its account exists, and the programs take only the missing part. */
function lacking(rent: bigint, account: MaybeAccount): bigint {
  const held = account?.lamports ?? 0n
  return held < rent ? rent - held : 0n
}
