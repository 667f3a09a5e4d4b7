/** Finds the transaction that created a pool, so that its event is the same whoever observes it first. */
import type { Chain } from '../../chain/connection.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'

/** Signatures in one call. If an account has this many, the call does not reach its first one. */
const MOST_SIGNATURES = 1000

interface PoolSignature {
  signature: string
  slot: number
  err: unknown
}

/** Returns the slot and signature of the first transaction, or nothing when the node does not report it. */
export async function firstSeen(chain: Chain, address: string): Promise<ChainEvidence> {
  const options = { limit: MOST_SIGNATURES, commitment: 'confirmed' }
  const signatures = await askNode('Reading the first transaction of the pool', () =>
    chain.call<PoolSignature[]>('getSignaturesForAddress', [address, options]),
  ).catch(() => [])
  if (!Array.isArray(signatures) || signatures.length >= MOST_SIGNATURES) return {}
  const first = signatures.findLast(({ err }) => err === null)
  return first === undefined ? {} : { slot: Number(first.slot), signature: first.signature }
}
