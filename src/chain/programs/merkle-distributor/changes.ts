/** Reads the changes that a transaction makes to airdrops, by its own instructions. */
import { hexOf } from '../../../solana/bytes.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { MERKLE_DISTRIBUTOR } from '../../../solana/programs/merkle-distributor.ts'

export type DistributorChange =
  | {
      kind: 'created'
      distributor: string
      mint: string
      /** The program's version, which may exceed the range of an airdrop_count. */
      version: bigint
      /** Merkle root in hex without a prefix. */
      root: string
      admin: string
    }
  | {
      kind: 'claimed'
      distributor: string
      claimer: string
      /** Paid by this instruction, in raw units. */
      amount: bigint
      /** Vests later, in raw units. */
      locked: bigint
      /** Hashes of 32 bytes each, from leaf to root. */
      proof: readonly Uint8Array[]
    }
  /** A wallet takes what has vested. How much, only its claim status (an address) tells afterwards. */
  | { kind: 'vested_claimed'; distributor: string; claimer: string; status: string }
  | { kind: 'clawed_back'; distributor: string; receiver: string }

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are not included.
 */
export function distributorChangesIn(message: DecodedMessage): DistributorChange[] {
  return MERKLE_DISTRIBUTOR.callsIn(message).flatMap((call): DistributorChange[] => {
    const { distributor } = call.accounts
    if (distributor === undefined || call.args === null) return []
    if (call.name === 'new_distributor') {
      const { mint, admin } = call.accounts
      if (mint === undefined || admin === undefined) return []
      const { version, root } = call.args
      return [{ kind: 'created', distributor, mint, version, root: hexOf(root), admin }]
    }
    if (call.name === 'new_claim') {
      const { claimant: claimer } = call.accounts
      if (claimer === undefined) return []
      const { amount_unlocked: amount, amount_locked: locked, proof } = call.args
      return [{ kind: 'claimed', distributor, claimer, amount, locked, proof }]
    }
    if (call.name === 'claim_locked') {
      const { claimant: claimer, claim_status: status } = call.accounts
      return claimer === undefined || status === undefined
        ? []
        : [{ kind: 'vested_claimed', distributor, claimer, status }]
    }
    if (call.name !== 'clawback' || call.accounts.to === undefined) return []
    return [{ kind: 'clawed_back', distributor, receiver: call.accounts.to }]
  })
}
