/** Reads the program's accounts: the distributor of an airdrop, and the claim status of a wallet. */

import { base58 } from '@scure/base'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { readingOf } from '../../sending/runs.ts'
import { DISTRIBUTOR_ACCOUNTS } from './layout.ts'

/** The program's MerkleDistributor, with amounts in raw units and times in Unix seconds. */
export interface Distributor {
  version: bigint
  /** Merkle root in hex without a prefix. */
  root: string
  mint: string
  vault: string
  maxTotal: bigint
  maxNodes: bigint
  claimedTotal: bigint
  claimedNodes: bigint
  /** Time at which locked amounts start to vest. Unlocked amounts are paid even before it. */
  startsAt: bigint
  endsAt: bigint
  /** The time from which anyone can send the remainder to the receiver. */
  clawbackAt: bigint
  clawbackReceiver: string
  admin: string
  isClawedBack: boolean
}

/** The program's ClaimStatus, which proves that a wallet has claimed. */
export interface ClaimStatus {
  claimant: string
  locked: bigint
  lockedWithdrawn: bigint
  unlocked: bigint
}

const DISTRIBUTOR_BYTES = 234
/** Bytes of a claim status. */
export const CLAIM_STATUS_BYTES = 64

/** Returns null for an account that is not a distributor of the program. */
export function decodeDistributor(account: ChainAccount | null): Distributor | null {
  const data = distributorDataOf(account, DISTRIBUTOR_ACCOUNTS.distributor, DISTRIBUTOR_BYTES)
  if (data === null) return null
  const key = (at: number) => base58.encode(data.subarray(at, at + 32))
  return {
    version: data.readBigUInt64LE(9),
    root: data.toString('hex', 17, 49),
    mint: key(49),
    vault: key(81),
    maxTotal: data.readBigUInt64LE(113),
    maxNodes: data.readBigUInt64LE(121),
    claimedTotal: data.readBigUInt64LE(129),
    claimedNodes: data.readBigUInt64LE(137),
    startsAt: data.readBigInt64LE(145),
    endsAt: data.readBigInt64LE(153),
    clawbackAt: data.readBigInt64LE(161),
    clawbackReceiver: key(169),
    admin: key(201),
    isClawedBack: data[233] === 1,
  }
}

/** Returns null for an account that is not a claim status of the program. */
export function decodeClaimStatus(account: ChainAccount | null): ClaimStatus | null {
  const data = distributorDataOf(account, DISTRIBUTOR_ACCOUNTS.claimStatus, CLAIM_STATUS_BYTES)
  if (data === null) return null
  return {
    claimant: base58.encode(data.subarray(8, 40)),
    locked: data.readBigUInt64LE(40),
    lockedWithdrawn: data.readBigUInt64LE(48),
    unlocked: data.readBigUInt64LE(56),
  }
}

/**
 * Returns distributors in the order of the addresses with the slot of the reading, a hundred per call, with null for an
 * address without one. Throws internal_error when the node fails.
 */
export async function readDistributors(
  node: NodeCalls,
  addresses: readonly string[],
): Promise<{ slot: number; distributors: (Distributor | null)[] }> {
  const { accounts, newest } = await readingOf(node, addresses)
  return { slot: newest, distributors: accounts.map(decodeDistributor) }
}

function distributorDataOf(account: ChainAccount | null, discriminator: Buffer, least: number): Buffer | null {
  if (account?.owner !== PROGRAMS.distributor.id || account.data.length < least) return null
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return discriminator.equals(data.subarray(0, 8)) ? data : null
}
