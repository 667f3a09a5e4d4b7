/** Reads how far the chain has come, and whether a blockhash can still be used. */
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'

type HeightNode = NodeCalls

interface Heights {
  slot: number
  /** Number of blocks before the present one; skipped slots do not count. */
  block_height: number
}

/** Reads slot and block height of one moment, at the commitment confirmed. Throws internal_error. */
export async function readHeights(node: HeightNode): Promise<Heights> {
  return askNode('Reading the block height', async () => {
    const answer = await node.call<unknown>('getEpochInfo', [{ commitment: 'confirmed' }])
    const { absoluteSlot: slot, blockHeight: block_height } = (answer ?? {}) as Record<string, unknown>
    if (!isCount(slot) || !isCount(block_height)) throw new Error('its answer is incomplete')
    return { slot, block_height }
  })
}

/** Whether a transaction with this blockhash could land now, at the commitment confirmed. Throws internal_error. */
export async function isBlockhashValid(node: HeightNode, blockhash: string): Promise<boolean> {
  return askNode('Reading a blockhash', async () => {
    const answer = await node.call<unknown>('isBlockhashValid', [blockhash, { commitment: 'confirmed' }])
    return atSlot<boolean>(answer, (value) => typeof value === 'boolean').value
  })
}

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
