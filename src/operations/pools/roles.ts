/** Reads who has a role on chain: the creator of a launch curve, and the holder of a position's NFT. */

import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { creatorOf } from '../../chain/programs/dbc/index.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import { internal } from '../../platform/errors.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'

/** Who has a role at a launch curve or at the token account of a position's NFT. */
export interface Role {
  /** The creator of the curve, or the owner of the token account. */
  wallet: string
  /** The delegate of the token account, or null; a curve has none. */
  delegate: string | null
}

/** Calls to the node that reading this many roles takes. */
export const roleReadCalls = (addresses: number): number => Math.ceil(addresses / ACCOUNTS_PER_CALL)

/**
 * Returns roles by the address of their launch curve or token account, at `slot` or later; an address without one is
 * absent. Throws internal_error when the node fails or has not reached the slot.
 */
export async function readRoles(
  node: NodeCalls,
  addresses: readonly string[],
  slot: number,
): Promise<Map<string, Role>> {
  const roles = new Map<string, Role>()
  for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
    const part = addresses.slice(at, at + ACCOUNTS_PER_CALL)
    const { accounts } = await askNode('Reading creators and holders', () => accountsAtSlot(node, part, slot))
    if (accounts.length !== part.length)
      throw internal('Reading creators and holders failed at the RPC node: accounts are missing')
    for (const [i, address] of part.entries()) {
      const account = accounts[i] ?? null
      const creator = creatorOf(account)
      const token = creator !== null || account === null ? null : readTokenAccount(account)
      if (creator !== null) roles.set(address, { wallet: creator, delegate: null })
      else if (token !== null) roles.set(address, { wallet: token.owner, delegate: token.delegate })
    }
  }
  return roles
}
