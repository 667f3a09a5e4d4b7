/** Reads the history of accounts: the signatures of their transactions, and transactions with the calls inside them. */

import { SECOND_MS } from '../../platform/timing.ts'
import { isAddress } from '../../solana/addresses.ts'
import type { CompiledInstruction, DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeBase58 } from '../../solana/long-base58.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { type NodeCalls, NodeRefusal } from '../nodes/node-call.ts'
import { askNode, nodeReason } from '../nodes/rpc-faults.ts'
import { isSignature } from './statuses.ts'

type HistoryNode = NodeCalls

/** Signatures in one getSignaturesForAddress, the most that a node answers. */
export const SIGNATURES_PER_CALL = 1_000
/** A transaction runs at most 64 instructions, those inside it included (SIMD-0160); later limits may be higher. */
const MOST_INSTRUCTIONS = 256

export interface ListedSignature {
  signature: string
  slot: number
  /** Unix milliseconds by the chain's clock, or null if the node has none. */
  at: number | null
  isFinal: boolean
  /** Whether the transaction failed, so that it changed nothing. */
  isFailed: boolean
  /** Its error as the node answers it, or null. */
  err: unknown
}

export interface ListOptions {
  /** Lists what is older than this signature. */
  before?: string | undefined
  /** Ends before this signature, unless the node does not know it. */
  until?: string | undefined
  /** Slot that the node must have reached, because a lagging node would leave out newer transactions. */
  minSlot?: number | undefined
  limit?: number
}

/**
 * Returns confirmed signatures of an account, newest first. A page may be shorter than `limit` before the history ends;
 * only an empty one is its end. Throws internal_error when the node fails or lags.
 */
export function listSignatures(
  node: HistoryNode,
  address: string,
  { before, until, minSlot, limit = SIGNATURES_PER_CALL }: ListOptions = {},
): Promise<ListedSignature[]> {
  const options = { limit, commitment: 'confirmed', before, until, minContextSlot: minSlot }
  return askNode('Listing the transactions of an account', async () => {
    const listed = await node.call<unknown>('getSignaturesForAddress', [address, options])
    if (!Array.isArray(listed) || listed.length > limit) throw new Error('its answer is incomplete')
    return listed.map(listedSignature)
  })
}

function listedSignature(row: unknown): ListedSignature {
  const { signature, slot, err, confirmationStatus, blockTime } = (row ?? {}) as Record<string, unknown>
  if (typeof signature !== 'string' || !isSignature(signature) || !Number.isSafeInteger(slot)) {
    throw new Error('its answer is incomplete')
  }
  const isFinal = confirmationStatus === 'finalized' || confirmationStatus === null || confirmationStatus === undefined
  const at = millisecondsOf(blockTime)
  const isFailed = err !== null && err !== undefined
  return { signature, slot: slot as number, at, isFinal, isFailed, err: err ?? null }
}

/** The chain's time of a block in Unix milliseconds, or null if the node has none. */
const millisecondsOf = (blockTime: unknown): number | null =>
  Number.isSafeInteger(blockTime) ? (blockTime as number) * SECOND_MS : null

/** A transaction as the chain executed it. */
export interface HistoricTransaction {
  slot: number
  /** Unix milliseconds by the chain's clock, or null if the node has none. */
  at: number | null
  isFailed: boolean
  /** The message with the accounts of its lookup tables behind its own keys. */
  message: DecodedMessage
  /** Calls between programs by the index of the instruction that made them, in order. */
  inner: ReadonlyMap<number, readonly CompiledInstruction[]>
}

/** The answer for one transaction cannot be read here; those for others may be readable. */
export class UnreadableTransaction extends Error {
  override readonly name = 'UnreadableTransaction'
}

/**
 * The transaction has a version that was not requested (Agave,
 * JSON_RPC_SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION).
 */
const UNSUPPORTED_VERSION = -32015

/**
 * Returns null for a transaction that the node does not have. Every version is accepted (SIMD-0385: version 1 is live).
 * Throws internal_error when the node fails, and UnreadableTransaction for an answer that is not this transaction or
 * that cannot be decoded.
 */
export async function readExecuted(node: HistoryNode, signature: string): Promise<HistoricTransaction | null> {
  return readAnswer(node, signature, 'confirmed', (answer) => executedOf(answer, signature))
}

/**
 * Reads one transaction at a commitment with `decode`; null if the node does not have it. Throws as above.
 */
export async function readAnswer<T>(
  node: HistoryNode,
  signature: string,
  commitment: 'confirmed' | 'finalized',
  decode: (answer: unknown) => T,
): Promise<T | null> {
  const options = { encoding: 'base64', commitment, maxSupportedTransactionVersion: 1 }
  const answer = await askNode('Reading a transaction', async () => {
    try {
      return await node.call<unknown>('getTransaction', [signature, options])
    } catch (error) {
      if (error instanceof NodeRefusal && error.code === UNSUPPORTED_VERSION) return error
      throw error
    }
  })
  if (answer === null) return null
  try {
    if (answer instanceof NodeRefusal) throw answer
    return decode(answer)
  } catch (error) {
    const reason = `The transaction ${signature} cannot be read from the node's answer: ${nodeReason(error)}`
    throw new UnreadableTransaction(reason, { cause: error })
  }
}

/** Decodes a node's answer for one transaction. Throws for another transaction, and if parts are missing. */
export function executedOf(answer: unknown, wanted: string): HistoricTransaction {
  const { slot, transaction, meta, blockTime } = fieldsIn(answer)
  const text = Array.isArray(transaction) ? transaction[0] : undefined
  if (typeof text !== 'string' || !Number.isSafeInteger(slot)) throw new Error('its answer is incomplete')
  const { signature, message } = decodeWireTransaction(Buffer.from(text, 'base64'))
  if (signature !== wanted) throw new Error('it answers with another transaction')
  const { err, loadedAddresses, innerInstructions } = fieldsIn(meta)
  const { writable, readonly } = fieldsIn(loadedAddresses)
  const keys = [...message.keys, ...addressesIn(writable), ...addressesIn(readonly)]
  return {
    slot: slot as number,
    at: millisecondsOf(blockTime),
    isFailed: err !== null && err !== undefined,
    message: { ...message, keys },
    inner: innerIn(innerInstructions, keys.length),
  }
}

function addressesIn(list: unknown): string[] {
  if (list === undefined || list === null) return []
  if (!Array.isArray(list) || list.length > 256 || !list.every((each) => typeof each === 'string' && isAddress(each))) {
    throw new Error('its answer is incomplete')
  }
  return list
}

function innerIn(groups: unknown, keys: number): Map<number, CompiledInstruction[]> {
  const inner = new Map<number, CompiledInstruction[]>()
  if (groups === undefined || groups === null) return inner
  if (!Array.isArray(groups) || groups.length > MOST_INSTRUCTIONS) throw new Error('its answer is incomplete')
  let count = 0
  for (const group of groups) {
    const { index, instructions } = fieldsIn(group)
    if (!Number.isSafeInteger(index) || !Array.isArray(instructions)) throw new Error('its answer is incomplete')
    count += instructions.length
    if (count > MOST_INSTRUCTIONS) throw new Error('it answers with too many instructions')
    const calls = instructions.map((each) => innerInstruction(each, keys))
    inner.set(index as number, [...(inner.get(index as number) ?? []), ...calls])
  }
  return inner
}

function innerInstruction(instruction: unknown, keys: number): CompiledInstruction {
  const { programIdIndex, accounts, data } = fieldsIn(instruction)
  const isIndex = (index: unknown) => Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) < keys
  const areIndexes = Array.isArray(accounts) && accounts.length <= 256 && accounts.every(isIndex)
  if (!isIndex(programIdIndex) || !areIndexes || typeof data !== 'string') {
    throw new Error('its answer is incomplete')
  }
  // Inner instructions have their data in base58 whatever encoding was requested (Agave, UiInnerInstructions).
  const bytes = decodeBase58(data)
  return { programIdIndex: programIdIndex as number, accounts: Uint8Array.from(accounts), data: bytes }
}

/** Returns the message with its calls between programs in the order of execution, as if each were an instruction. */
export function executionOrder({ message, inner }: HistoricTransaction): DecodedMessage {
  const instructions = message.instructions.flatMap((each, i) => [each, ...(inner.get(i) ?? [])])
  return { ...message, instructions }
}

/**
 * Returns the same with the message's own instructions first, in the order of a transaction that is followed by its
 * bytes.
 */
export function ownFirst({ message, inner }: HistoricTransaction): DecodedMessage {
  const calls = [...inner].sort(([one], [other]) => one - other).flatMap(([, each]) => each)
  return { ...message, instructions: [...message.instructions, ...calls] }
}

function fieldsIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
