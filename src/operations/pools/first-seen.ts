/** The transaction that made an account: the event of it is then the same one, whoever notices first. */
import type { Chain } from '../../chain/connection.ts'
import { askNode } from '../../chain/rpc-faults.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'

/** Signatures of one call; an account with as many is too old for its first to be told by it. */
const MOST = 1000

interface Signature {
  signature: string
  slot: number
  err: unknown
}

/** Empty where the node does not say. */
export async function firstSeen(chain: Chain, address: string): Promise<ChainEvidence> {
  const options = { limit: MOST, commitment: 'confirmed' }
  const found = await askNode('Reading the first transaction of the pool', () =>
    chain.call<Signature[]>('getSignaturesForAddress', [address, options]),
  ).catch(() => [])
  if (!Array.isArray(found) || found.length >= MOST) return {}
  const first = found.findLast(({ err }) => err === null)
  return first === undefined ? {} : { slot: Number(first.slot), signature: first.signature }
}
