/** Reads who has the role of creator of launch curves, from their accounts. */

import { internal } from '../../../platform/errors.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { accountsAtSlot } from '../../reads/node-reads.ts'
import { creatorOf } from './claimed-part.ts'

const POOLS_PER_CALL = 100

/** Calls to the node that reading the creators of this many launch curves takes. */
export const creatorReadCalls = (pools: number): number => Math.ceil(pools / POOLS_PER_CALL)

/**
 * Returns creators by the address of their launch curve, at `slot` or later; an address without one is absent. Throws
 * internal_error when the node fails or has not reached the slot.
 */
export async function readPoolCreators(
  node: NodeCalls,
  pools: readonly string[],
  slot: number,
): Promise<Map<string, string>> {
  const creators = new Map<string, string>()
  for (let at = 0; at < pools.length; at += POOLS_PER_CALL) {
    const part = pools.slice(at, at + POOLS_PER_CALL)
    const { accounts } = await askNode('Reading the creators of launch curves', () => accountsAtSlot(node, part, slot))
    if (accounts.length !== part.length)
      throw internal('Reading the creators of launch curves failed at the RPC node: accounts are missing')
    for (const [i, pool] of part.entries()) {
      const creator = creatorOf(accounts[i] ?? null)
      if (creator !== null) creators.set(pool, creator)
    }
  }
  return creators
}
