/** Epochs of the chain, and the identity of its only node. */
import { SLOTS_PER_EPOCH } from '../clock.ts'
import type { LocalChain } from '../types.ts'

export const epochOf = (slot: number): number => Math.floor(slot / SLOTS_PER_EPOCH)

/** The node's identity is the genesis hash, the only address that belongs to the chain itself. */
export const identityOf = (chain: LocalChain): string => chain.genesisHash
