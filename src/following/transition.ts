/** Computes the next state of a transaction from its status on the chain, and the events that report it. The functions are pure. */
import type { ConfirmationStatus, TransactionLifecycle } from '../api/index.ts'
import type { SignatureStatus } from '../chain/reads/statuses.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'

/** After this many slots a transaction would be final. One that the node does not know was dropped with a fork. */
const FORK_SLOTS = 32
/** Confirmations recorded for a finalized transaction, whose status has no count of them. */
const FINAL_CONFIRMATIONS = 32

const RANK: Record<ConfirmationStatus, number> = { processed: 1, confirmed: 2, finalized: 3 }
const LIFECYCLE: Record<ConfirmationStatus, Exclude<TransactionLifecycle, 'unknown'>> = {
  processed: 'processing',
  confirmed: 'confirmed',
  finalized: 'finalized',
}

/** The answer of a node about one transaction at one moment. */
export interface StatusSnapshot {
  /** Status of the signature, or null when the node does not know it. */
  status: SignatureStatus | null
  /** Slot that the node had reached. */
  slot: number
  /** First slot of the history that the node searched, or null when it searched only recent slots. */
  since: number | null
}

type TransactionEvent = 'transaction.confirmed' | 'transaction.finalized' | 'transaction.failed'
export type TransactionState = Pick<
  FollowedTransaction,
  'lifecycle' | 'confirmation_status' | 'err_json' | 'slot' | 'confirmations'
>

export interface Transition {
  state: TransactionState
  events: readonly TransactionEvent[]
  /** Whether this transition confirms the transaction without an error, so its effects can be written. */
  landed: boolean
  /** Whether the fork with the transaction was dropped. */
  dropped: boolean
  /** Whether the state of the transaction can no longer change. */
  final: boolean
}

/**
 * Returns the transition that follows from a snapshot, or null for no change. Nodes may lag: an older state is ignored,
 * and a missing status counts only if the node is far past the slot of the last state.
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
    // An error below `confirmed` may still be undone, and a client that reads one would sign again.
    err_json: failed && rank >= RANK.confirmed ? JSON.stringify(status.err) : null,
    slot: status.slot,
    confirmations: status.confirmations ?? FINAL_CONFIRMATIONS,
  }
  if (rank < rankBefore || isSameState(row, state)) return null
  // The outcome can differ on another fork, and events of the first outcome do not report the second.
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

/** Whether a transaction that a node has shown should be known at `slot`, if its fork is still part of the chain. */
export const isOverdue = (row: TransactionState, slot: number): boolean =>
  rankOf(row) > 0 && slot >= row.slot + FORK_SLOTS

const NOT_ON_CHAIN = { confirmation_status: null, slot: 0, confirmations: 0 } as const

/** Whether the transaction ended without being in a block, as far as the evidence showed. */
export const isExpiry = ({ err_json }: Pick<TransactionState, 'err_json'>): boolean =>
  err_json === JSON.stringify('BlockhashExpired') || err_json === JSON.stringify('NonceAdvanced')

/** Returns the end of a transaction that can no longer land. `reason` becomes its `err`. */
export function expiredTransition(reason: 'BlockhashExpired' | 'NonceAdvanced'): Transition {
  const state: TransactionState = { ...NOT_ON_CHAIN, lifecycle: 'failed', err_json: JSON.stringify(reason) }
  return { state, events: ['transaction.failed'], landed: false, dropped: false, final: true }
}

/**
 * Returns the state after the relay reported a failed bundle. It is still looked for, because only the end of its
 * blockhash or nonce proves that it cannot land.
 */
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
