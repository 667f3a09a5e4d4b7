/** Writes the new state of transactions, the records of their effects and their events in one database transaction. */

import { finalityTime } from '../chain/reads/slot-time.ts'
import type { Services } from '../context.ts'
import { publishTransactionStep } from '../platform/telemetry/transactions.ts'
import { type EventDraft, writeEvents } from '../store/events/drafts.ts'
import type { Tx } from '../store/store.ts'
import { type FollowedTransaction, moveTransaction } from '../store/transactions/transactions.ts'
import { type RowFault, writeEach } from '../store/writing/write-each.ts'
import type { ChainStates } from './chain-states.ts'
import { writeEffects } from './effects.ts'
import type { TransactionChanges } from './projection.ts'
import { lookWaitOf } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { transactionRecord } from './transaction-record.ts'
import type { Transition } from './transition.ts'

/** The next state of a transaction, with its changes when it is confirmed. */
export interface PlannedTransition {
  row: FollowedTransaction
  transition: Transition
  changes?: TransactionChanges
}

type WriteServices = Pick<FollowingServices, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'projections'>

/**
 * Returns the transactions that could not be written. One that another process has changed since it was read is
 * skipped.
 */
export async function writeTransitions(
  services: WriteServices,
  planned: readonly PlannedTransition[],
  { states = new Map(), signal }: { states?: ChainStates; signal?: AbortSignal | undefined } = {},
): Promise<RowFault<FollowedTransaction>[]> {
  const writeAll = async (tx: Tx, part: readonly PlannedTransition[]) => {
    const drafts: EventDraft[] = []
    for (const each of part) {
      const written = await writeTransition(tx, services, each, states)
      if (written === null) moved.delete(each)
      else moved.add(each)
      drafts.push(...(written ?? []))
    }
    return drafts
  }
  const moved = new Set<PlannedTransition>()
  const faults = await writeWithEvents(services, planned, writeAll, signal)
  for (const { row: planned } of faults) moved.delete(planned)
  const now = services.clock.now()
  for (const { row, transition } of moved) {
    if (transition.state.lifecycle === row.lifecycle) continue
    const confirmSeconds = transition.landed ? Math.max(0, now - row.created_at) / 1_000 : undefined
    publishTransactionStep({ state: transition.state.lifecycle, confirmSeconds })
  }
  return faults.map(({ row: planned, error }) => loggedFault(services, planned.row, error))
}

/** Logs the error of a transaction that could not be followed, and returns both. */
export function loggedFault(
  { log }: Pick<Services, 'log'>,
  row: FollowedTransaction,
  error: unknown,
): RowFault<FollowedTransaction> {
  log.error({ err: error, signature: row.signature }, 'a transaction could not be followed')
  return { row, error }
}

/** Returns null where another process has moved the transaction since it was read. */
async function writeTransition(
  tx: Tx,
  services: WriteServices,
  { row, transition, changes }: PlannedTransition,
  states: ChainStates,
): Promise<EventDraft[] | null> {
  const { clock, log, chain } = services
  const { state, events, dropped, final } = transition
  const now = clock.now()
  const isMoved = await moveTransaction(tx, row, {
    ...state,
    checked_at: now,
    next_check_at: final ? null : now + lookWaitOf({ ...row, ...state }, { now, finalityMs: finalityTime(chain) }),
    next_send_at: dropped && row.max_retries > 0 ? now : null,
  })
  if (!isMoved) return null
  if (dropped) log.warn({ signature: row.signature, slot: row.slot }, 'a fork dropped a transaction')
  const object = transactionRecord({ ...row, ...state })
  const about = { resource_type: 'transaction', resource_id: row.signature, object, origin: row }
  const drafts = events.map((type) => ({ type, ...about }))
  if (changes === undefined) return drafts
  return [...drafts, ...(await writeEffects(tx, services, { row, slot: state.slot, states }, changes))]
}

/**
 * Writes rows in few transactions, each with the events that `write` returns, and returns the rows that could not be
 * written. Throws when the database is unavailable or read-only, and between two writes once `signal` is aborted.
 */
export const writeWithEvents = <R>(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<readonly EventDraft[]>,
  signal?: AbortSignal,
): Promise<RowFault<R>[]> =>
  writeEach(store, rows, async (tx, part) => writeEvents(tx, clock, await write(tx, part)), signal)
