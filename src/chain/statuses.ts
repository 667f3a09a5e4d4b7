/** How far transactions have come, and whether those that did not land still can. */

import { base58 } from '@scure/base'
import type { ConfirmationStatus } from '../api/index.ts'
import { ACCOUNTS_PER_CALL } from '../solana/constants.ts'
import type { Chain } from './connection.ts'
import { atSlot } from './node-call.ts'
import { askNode } from './rpc-faults.ts'

type StatusNode = Pick<Chain, 'call'>

/** Signatures of one getSignatureStatuses. */
export const STATUSES_PER_CALL = 256

export interface SignatureStatus {
  slot: number
  /** Null once finalized. */
  confirmations: number | null
  err: unknown
  confirmationStatus: ConfirmationStatus
}

export interface Statuses {
  /** Slot that the node had reached: it knows nothing of later ones. */
  slot: number
  /** In the order asked for; null where the node does not know the signature. */
  statuses: (SignatureStatus | null)[]
}

/** The first slot that the node's history still reaches back to. Throws internal_error. */
export async function readFirstBlock(node: StatusNode): Promise<number> {
  return askNode('Reading the first block', async () => {
    const slot = await node.call<unknown>('getFirstAvailableBlock', [])
    if (!Number.isSafeInteger(slot)) throw new Error('it answers with parts missing')
    return slot as number
  })
}

/** Whether a base58 text can be a signature at all: nodes refuse a whole call for one that cannot. */
export function isSignature(text: string): boolean {
  try {
    return base58.decode(text).length === 64
  } catch {
    return false
  }
}

/** Up to 256 signatures in one call; `history` searches beyond the node's recent ones. Throws internal_error. */
export async function readStatuses(
  node: StatusNode,
  signatures: readonly string[],
  history: boolean,
): Promise<Statuses> {
  const { slot, value } = await askNode('Reading the states of transactions', async () =>
    atSlot<(SignatureStatus | null)[]>(
      await node.call('getSignatureStatuses', [signatures, { searchTransactionHistory: history }]),
      isListOf(signatures),
    ),
  )
  return { slot, statuses: value }
}

export interface Ended {
  /** Finalized slot that it was read at. */
  slot: number
  /** Whether each has ended, in the order asked for. */
  ended: boolean[]
}

/** Whether a blockhash can no longer be used, at the finalized commitment; one that is still to come reads as ended too. */
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
  /** Value that the transaction was built on, base58. */
  value: string
}

/** Where the nonce's value begins in its account (System program: version, state, authority before it). */
const NONCE_OFFSET = 40

/** Whether each nonce has moved on, or is gone, at the finalized commitment. At most 100. */
export async function readNonceEnds(node: StatusNode, nonces: readonly Nonce[]): Promise<Ended> {
  const asked = nonces.slice(0, ACCOUNTS_PER_CALL)
  const { slot, value } = await askNode('Reading nonces', async () =>
    atSlot<({ data: [string, string] } | null)[]>(
      await node.call('getMultipleAccounts', [
        asked.map(({ account }) => account),
        { commitment: 'finalized', encoding: 'base64', dataSlice: { offset: NONCE_OFFSET, length: 32 } },
      ]),
      isListOf(asked),
    ),
  )
  const ended = asked.map((nonce, i) => {
    const data = value[i]?.data[0]
    return data === undefined || base58.encode(Buffer.from(data, 'base64')) !== nonce.value
  })
  return { slot, ended }
}

/** As many as were asked for: none may stand in another's place. */
const isListOf = (asked: readonly unknown[]) => (value: unknown) =>
  Array.isArray(value) && value.length === asked.length
