/** Reads the program's accounts: the distributor of an airdrop, and the claim status of a wallet. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { hexOf } from '../../../solana/bytes.ts'
import { MERKLE_DISTRIBUTOR } from '../../../solana/programs/merkle-distributor.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { readWithSlots } from '../../sending/runs.ts'

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

/** Returns null for an account that is not a distributor of the program. */
export function decodeDistributor(account: ChainAccount | null): Distributor | null {
  const fields = MERKLE_DISTRIBUTOR.decode('merkle_distributor', account)
  if (fields === null) return null
  const { version, mint, admin } = fields
  return {
    version,
    mint,
    admin,
    root: hexOf(fields.root),
    vault: fields.token_vault,
    maxTotal: fields.max_total_claim,
    maxNodes: fields.max_num_nodes,
    claimedTotal: fields.total_amount_claimed,
    claimedNodes: fields.num_nodes_claimed,
    startsAt: fields.start_ts,
    endsAt: fields.end_ts,
    clawbackAt: fields.clawback_start_ts,
    clawbackReceiver: fields.clawback_receiver,
    isClawedBack: fields.clawed_back,
  }
}

/** Returns null for an account that is not a claim status of the program. */
export function decodeClaimStatus(account: ChainAccount | null): ClaimStatus | null {
  const fields = MERKLE_DISTRIBUTOR.decode('claim_status', account)
  return (
    fields && {
      claimant: fields.claimant,
      locked: fields.locked_amount,
      lockedWithdrawn: fields.locked_amount_withdrawn,
      unlocked: fields.unlocked_amount,
    }
  )
}

/**
 * Returns distributors in the order of the addresses with the slot of the reading, a hundred per call, with null for an
 * address without one. Throws internal_error when the node fails.
 */
export async function readDistributors(
  node: NodeCalls,
  addresses: readonly string[],
): Promise<{ slot: number; distributors: (Distributor | null)[] }> {
  const { accounts, newest } = await readWithSlots(node, addresses)
  return { slot: newest, distributors: accounts.map(decodeDistributor) }
}
