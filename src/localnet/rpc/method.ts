/** Types of JSON-RPC methods, and responses with a context. */

import type { Commitment } from '../../solana/constants.ts'
import type { LocalChain } from '../types.ts'
import { minContextSlotNotReached } from './errors.ts'
import { asAmount, commitmentOf, type RpcConfig } from './params.ts'

/** Handles one request, at once or with a promise of the result. Throws RpcError or rejects with it. */
export type RpcMethod = (chain: LocalChain, params: readonly unknown[]) => unknown
export type RpcMethods = Readonly<Record<string, RpcMethod>>

/** API version in responses: that of Agave, whose JSON-RPC these methods follow. */
export const API_VERSION = '4.4.0'
export const FEATURE_SET = 3_640_012_085

interface WithContext<T> {
  context: { slot: number; apiVersion: string }
  value: T
}

/** Wraps a value with the slot at a commitment. */
export function withContext<T>(chain: LocalChain, commitment: Commitment, value: T): WithContext<T> {
  return { context: { slot: chain.slot(commitment), apiVersion: API_VERSION }, value }
}

/** Returns the commitment of a config once its `minContextSlot` is reached. Throws RpcError with -32016. */
export function readableAt(chain: LocalChain, config: RpcConfig, otherwise: Commitment = 'finalized'): Commitment {
  const commitment = commitmentOf(config, otherwise)
  requireMinContextSlot(chain, config, commitment)
  return commitment
}

export function requireMinContextSlot(chain: LocalChain, config: RpcConfig, commitment: Commitment): void {
  if (config.minContextSlot === undefined || config.minContextSlot === null) return
  const slot = chain.slot(commitment)
  if (BigInt(slot) < asAmount(config.minContextSlot)) throw minContextSlotNotReached(slot)
}
