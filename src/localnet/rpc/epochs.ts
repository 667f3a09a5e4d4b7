/** Epochs of the chain, and the first block that its JSON-RPC serves. */
import { COMMITMENT_DEPTH } from '../../solana/constants.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../clock.ts'
import type { LocalChain } from '../types.ts'

export const epochOf = (slot: number): number => Math.floor(slot / SLOTS_PER_EPOCH)

/** On a new chain the finalized commitment is still before the first slot, and its block is served. */
export const FIRST_BLOCK = GENESIS_SLOT - COMMITMENT_DEPTH.finalized

/** The node's identity is the genesis hash, the only address that belongs to the chain itself. */
export const identityOf = (chain: LocalChain): string => chain.genesisHash
