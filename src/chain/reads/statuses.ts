/** Reads the statuses of transactions, and whether those that have not landed still can. */

import { base58 } from '@scure/base'
import type { ConfirmationStatus } from '../../api/index.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { SYSTEM } from '../../solana/programs/system.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'

type StatusNode = NodeCalls

/** Signatures in one getSignatureStatuses. */
export const STATUSES_PER_CALL = 256

export interface SignatureStatus {
  slot: number
  /** Number of confirmations, or null once finalized. */
  confirmations: number | null
  err: unknown
  confirmationStatus: ConfirmationStatus
}

export interface Statuses {
  /** Slot that the node had reached. It has no information on later ones. */
  slot: number
  /** Statuses in the order of the signatures, with null for a signature that the node does not know. */
  statuses: (SignatureStatus | null)[]
}

/** Returns the first slot in the node's history. Throws internal_error. */
export async function readFirstBlock(node: StatusNode): Promise<number> {
  return askNode('Reading the first block', async () => {
    const slot = await node.call<unknown>('getFirstAvailableBlock', [])
    if (!Number.isSafeInteger(slot)) throw new Error('its answer is incomplete')
    return slot as number
  })
}

/** Returns the slot of the block that follows `blocks` others after a slot, or null if it is not known yet. */
export async function readSlotAfter(node: StatusNode, since: number, blocks: number): Promise<number | null> {
  return askNode('Reading the blocks after a slot', async () => {
    const slots = await node.call<unknown>('getBlocksWithLimit', [since, blocks + 1, { commitment: 'finalized' }])
    if (!Array.isArray(slots) || slots.length > blocks + 1) throw new Error('its answer is incomplete')
    const last: unknown = slots.at(-1)
    if (slots.length <= blocks) return null
    if (!isCount(last)) throw new Error('its answer is incomplete')
    return last as number
  })
}

/** Whether a base58 text can be a signature. Nodes refuse a whole call for one that cannot. */
export function isSignature(text: string): boolean {
  try {
    return base58.decode(text).length === 64
  } catch {
    return false
  }
}

/** Reads up to 256 signatures in one call. `history` searches beyond the node's recent ones. Throws internal_error. */
export async function readStatuses(
  node: StatusNode,
  signatures: readonly string[],
  history: boolean,
): Promise<Statuses> {
  const { slot, value } = await askNode('Reading the states of transactions', async () =>
    atSlot<(SignatureStatus | null)[]>(
      await node.call('getSignatureStatuses', [signatures, { searchTransactionHistory: history }]),
      isListOf(signatures, isStatus),
    ),
  )
  return { slot, statuses: value.map((entry) => entry && { ...entry, err: errorOf(entry) }) }
}

/**
 * Returns the error of a status, or null for a transaction that was executed without one. A transaction can be in a
 * block without having been executed, because its payer could not pay (SIMD-0290): its status then has the error, and
 * it moved nothing. Either field counts, so a node that leaves one out confirms nothing.
 */
function errorOf({ err, status }: SignatureStatus & { status?: unknown }): unknown {
  const told = typeof status === 'object' && status !== null && 'Err' in status ? status.Err : null
  return err ?? told ?? null
}

export interface Ended {
  /** Finalized slot of the reading. */
  slot: number
  /** Whether each has ended, in the order of the request. */
  ended: boolean[]
}

/**
 * Whether a blockhash can no longer be used, at the finalized commitment. A blockhash that the node has not seen yet
 * also counts as ended.
 */
export async function readBlockhashEnd(node: StatusNode, blockhash: string): Promise<Ended> {
  const { slot, value } = await askNode('Reading a blockhash', async () =>
    atSlot<boolean>(
      await node.call('isBlockhashValid', [blockhash, { commitment: 'finalized' }]),
      (value) => typeof value === 'boolean',
    ),
  )
  return { slot, ended: [!value] }
}

export interface Nonce {
  account: string
  /** Nonce value that the transaction was built with, base58. */
  value: string
}

/** Whether each nonce has advanced or is gone, at the finalized commitment, for at most 100. */
export async function readNonceEnds(node: StatusNode, nonces: readonly Nonce[]): Promise<Ended> {
  const requested = nonces.slice(0, ACCOUNTS_PER_CALL)
  const { slot, value } = await askNode('Reading nonces', async () =>
    atSlot<({ data: [string, string] } | null)[]>(
      await node.call('getMultipleAccounts', [
        requested.map(({ account }) => account),
        {
          commitment: 'finalized',
          encoding: 'base64',
          dataSlice: { offset: SYSTEM.offsetOf('nonce', 'value'), length: 32 },
        },
      ]),
      isListOf(requested, isAccountData),
    ),
  )
  const ended = requested.map((nonce, i) => {
    const data = value[i]?.data[0]
    return data === undefined || base58.encode(Buffer.from(data, 'base64')) !== nonce.value
  })
  return { slot, ended }
}

/**
 * The list must have the requested length, so that no entry stands for another. Each entry must be null, which means
 * that the node does not know it, or have the expected shape: a malformed one proves nothing.
 */
const isListOf = (requested: readonly unknown[], fits: (entry: object) => boolean) => (value: unknown) =>
  Array.isArray(value) &&
  value.length === requested.length &&
  value.every((entry) => entry === null || (typeof entry === 'object' && fits(entry)))

/** Nodes before 1.5 leave out `confirmationStatus`. */
const LEVELS: readonly unknown[] = ['processed', 'confirmed', 'finalized', null, undefined]

function isStatus({ slot, confirmations, confirmationStatus }: { [name in keyof SignatureStatus]?: unknown }): boolean {
  const hasCount = confirmations === null || confirmations === undefined || isCount(confirmations)
  return isCount(slot) && hasCount && LEVELS.includes(confirmationStatus)
}

function isAccountData({ data }: { data?: unknown }): boolean {
  return Array.isArray(data) && typeof data[0] === 'string' && data[1] === 'base64'
}

// Reads how far the chain has come, and whether a blockhash can still be used.

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

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
