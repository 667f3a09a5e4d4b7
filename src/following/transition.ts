/** What a status on the chain makes of one transaction: its next state, and the events that report it. Pure. */
import type { ConfirmationStatus, TransactionLifecycle } from '../api/index.ts'
import type { SignatureStatus } from '../chain/statuses.ts'
import type { FollowedTransaction } from '../store/transactions.ts'

/** A transaction that a node still lacks after so many slots was dropped with a fork: by then it would be final. */
const FORK_SLOTS = 32
/** The least confirmations of a finalized transaction, whose status has no count of them. */
const FINAL_CONFIRMATIONS = 32

const RANK: Record<ConfirmationStatus, number> = { processed: 1, confirmed: 2, finalized: 3 }
const LIFECYCLE: Record<ConfirmationStatus, Exclude<TransactionLifecycle, 'unknown'>> = {
  processed: 'processing',
  confirmed: 'confirmed',
  finalized: 'finalized',
}

/** What a node says of one transaction at one moment. */
export interface StatusSnapshot {
  /** Null where the node does not know the signature. */
  status: SignatureStatus | null
  /** Slot that the node had reached. */
  slot: number
  /** First slot of the history that it searched; null where it looked only at recent ones. */
  since: number | null
}

export type TransactionEvent = 'transaction.confirmed' | 'transaction.finalized' | 'transaction.failed'
export type TransactionState = Pick<
  FollowedTransaction,
  'lifecycle' | 'confirmation_status' | 'err_json' | 'slot' | 'confirmations'
>

export interface Transition {
  state: TransactionState
  events: readonly TransactionEvent[]
  /** It is confirmed by this, without an error: what it did can be written. */
  landed: boolean
  /** The fork that it was on is gone. */
  dropped: boolean
  /** Nothing more can happen to it. */
  final: boolean
}

/**
 * The transition that a snapshot leads to, or null where it says nothing new. A node that lags behind is never believed:
 * an older state counts for nothing, and a missing one only where the node is far past the slot it was last shown in.
 */
export function transitionOf(row: TransactionState, { status, slot, since }: StatusSnapshot): Transition | null {
  const rankBefore = rankOf(row)
  if (status === null) return isOverdue(row, slot) && since !== null && since <= row.slot ? droppedTransition() : null
  const level = status.confirmationStatus ?? (status.confirmations === null ? 'finalized' : 'processed')
  const rank = RANK[level]
  const failed = status.err !== null && status.err !== undefined
  const state: TransactionState = {
    lifecycle: failed && rank >= RANK.confirmed ? 'failed' : LIFECYCLE[level],
    confirmation_status: level,
    // Below `confirmed` an error may yet be undone, and a client that reads one signs anew.
    err_json: failed && rank >= RANK.confirmed ? JSON.stringify(status.err) : null,
    slot: status.slot,
    confirmations: status.confirmations ?? FINAL_CONFIRMATIONS,
  }
  if (rank < rankBefore || isSameState(row, state)) return null
  // On another fork it may end otherwise: the events of the first outcome do not stand for the second.
  const reportedRank = (row.lifecycle === 'failed') === failed ? rankBefore : 0
  const confirmedNow = rank >= RANK.confirmed && reportedRank < RANK.confirmed
  const finalizedNow = rank === RANK.finalized && reportedRank < RANK.finalized
  const events: TransactionEvent[] = failed
    ? confirmedNow
      ? ['transaction.failed']
      : []
    : [
        ...(confirmedNow ? (['transaction.confirmed'] as const) : []),
        ...(finalizedNow ? (['transaction.finalized'] as const) : []),
      ]
  return { state, events, landed: confirmedNow && !failed, dropped: false, final: rank === RANK.finalized }
}

/** Whether a transaction that a node has shown should be there by now, if its fork is still the chain. */
export const isOverdue = (row: TransactionState, slot: number): boolean =>
  rankOf(row) > 0 && slot >= row.slot + FORK_SLOTS

const NOT_ON_CHAIN = { confirmation_status: null, slot: 0, confirmations: 0 } as const

/** The end of a transaction that can land no more: `reason` becomes its `err`. */
export function expiredTransition(reason: 'BlockhashExpired' | 'NonceAdvanced'): Transition {
  const state: TransactionState = { ...NOT_ON_CHAIN, lifecycle: 'failed', err_json: JSON.stringify(reason) }
  return { state, events: ['transaction.failed'], landed: false, dropped: false, final: true }
}

/** The relay has given its bundle up. It is still looked for: only its blockhash or nonce proves that it cannot land. */
export function bundleFailedTransition(): Transition {
  const state: TransactionState = { ...NOT_ON_CHAIN, lifecycle: 'failed', err_json: JSON.stringify('BundleFailed') }
  return { state, events: ['transaction.failed'], landed: false, dropped: false, final: false }
}

function droppedTransition(): Transition {
  const state: TransactionState = { ...NOT_ON_CHAIN, lifecycle: 'submitted', err_json: null }
  return { state, events: [], landed: false, dropped: true, final: false }
}

const rankOf = ({ confirmation_status: level }: TransactionState) =>
  level === null ? 0 : RANK[level as ConfirmationStatus]

const isSameState = (a: TransactionState, b: TransactionState) =>
  a.lifecycle === b.lifecycle &&
  a.confirmation_status === b.confirmation_status &&
  a.slot === b.slot &&
  a.confirmations === b.confirmations &&
  a.err_json === b.err_json
