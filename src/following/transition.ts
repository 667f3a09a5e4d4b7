/** What a look at the chain says about one transaction: the next state, and the events that report it. Pure. */
import type { ConfirmationStatus, TransactionLifecycle } from '../api/index.ts'
import type { SignatureStatus } from '../chain/statuses.ts'
import type { Followed } from '../store/transactions.ts'

/** Slots after which what is still missing from a node's chain was dropped with a fork: by then it would be final. */
const FORK_SLOTS = 32
/** A finalized status has no count: what is rooted has at least so many. */
const FINAL_CONFIRMATIONS = 32

const RANK: Record<ConfirmationStatus, number> = { processed: 1, confirmed: 2, finalized: 3 }
const LIFECYCLE: Record<ConfirmationStatus, Exclude<TransactionLifecycle, 'unknown'>> = {
  processed: 'processing',
  confirmed: 'confirmed',
  finalized: 'finalized',
}

export interface Look {
  /** Null where the node does not know the signature. */
  status: SignatureStatus | null
  /** Slot that the node had reached. */
  slot: number
  /** First slot of the history that it searched; null where it looked only at recent ones. */
  since: number | null
}

export type TransactionEvent = 'transaction.confirmed' | 'transaction.finalized' | 'transaction.failed'
export type State = Pick<Followed, 'lifecycle' | 'confirmation_status' | 'err_json' | 'slot' | 'confirmations'>

export interface Step {
  state: State
  events: readonly TransactionEvent[]
  /** `landed`: it is confirmed without an error; `dropped`: the fork that it was on is gone; `final`: nothing more can happen. */
  landed: boolean
  dropped: boolean
  final: boolean
}

/**
 * The step that a look leads to, or null where it says nothing new. A node that lags behind is never believed: an older
 * state of the same slot counts for nothing, and a missing one only where the node is far past the slot it was seen in.
 */
export function stepOf(row: State, { status, slot, since }: Look): Step | null {
  const seen = rankOf(row)
  if (status === null) return isMissing(row, slot) && since !== null && since <= row.slot ? dropped() : null
  const level = status.confirmationStatus ?? (status.confirmations === null ? 'finalized' : 'processed')
  const rank = RANK[level]
  const failed = status.err !== null && status.err !== undefined
  const state: State = {
    lifecycle: failed && rank >= RANK.confirmed ? 'failed' : LIFECYCLE[level],
    confirmation_status: level,
    // Below that it may yet be undone, and a client that sees an error signs anew.
    err_json: failed && rank >= RANK.confirmed ? JSON.stringify(status.err) : null,
    slot: status.slot,
    confirmations: status.confirmations ?? FINAL_CONFIRMATIONS,
  }
  if (rank < seen || isSame(row, state)) return null
  // Another fork, another outcome: what was told of the first does not stand for the second.
  const told = (row.lifecycle === 'failed') === failed ? seen : 0
  const confirmedNow = rank >= RANK.confirmed && told < RANK.confirmed
  const finalizedNow = rank === RANK.finalized && told < RANK.finalized
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

/** Whether one that was seen should be there by now, if its fork is still the chain. */
export const isMissing = (row: State, slot: number): boolean => rankOf(row) > 0 && slot >= row.slot + FORK_SLOTS

const NOT_SEEN = { confirmation_status: null, slot: 0, confirmations: 0 } as const

/** The end of one that can land no more: `reason` becomes its `err`. */
export function expiredStep(reason: 'BlockhashExpired' | 'NonceAdvanced'): Step {
  const state: State = { ...NOT_SEEN, lifecycle: 'failed', err_json: JSON.stringify(reason) }
  return { state, events: ['transaction.failed'], landed: false, dropped: false, final: true }
}

/** The relay has given it up. Still looked for: only its blockhash or nonce proves that it cannot land. */
export function bundleFailedStep(): Step {
  const state: State = { ...NOT_SEEN, lifecycle: 'failed', err_json: JSON.stringify('BundleFailed') }
  return { state, events: ['transaction.failed'], landed: false, dropped: false, final: false }
}

function dropped(): Step {
  const state: State = { ...NOT_SEEN, lifecycle: 'submitted', err_json: null }
  return { state, events: [], landed: false, dropped: true, final: false }
}

const rankOf = ({ confirmation_status: level }: State) => (level === null ? 0 : RANK[level as ConfirmationStatus])

const isSame = (a: State, b: State) =>
  a.lifecycle === b.lifecycle &&
  a.confirmation_status === b.confirmation_status &&
  a.slot === b.slot &&
  a.confirmations === b.confirmations &&
  a.err_json === b.err_json
