/** Verifies the audit log once a day, and ledger and events step by step, and keeps what does not verify. */
import type { RepeatingServices } from '../../context.ts'
import { printableLine } from '../../platform/printable.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/timing.ts'
import type { Observation } from '../../store/attention/looks.ts'
import { eventGap } from '../../store/events/verification.ts'
import { findSetting, storeSetting } from '../../store/settings.ts'
import { verifyAuditEntries } from '../audit-entries/verbs.ts'
import { verifyEvents } from '../events.ts'
import { verifyLedger } from '../ledger/verbs.ts'
import type { LookAt } from './looks.ts'

const STATE = 'record-check'
/** Events of this time are compared with the chain. What is younger may not be read yet. */
const EVENTS_SINCE_MS = 7 * DAY_MS
const EVENTS_UNTIL_MS = 10 * MINUTE_MS
/** Time between two steps of about a hundred calls to the node. */
export const STEP_EVERY_MS = 10 * MINUTE_MS
const LONGEST_REASON = 200

/** A fault, and the step that found it, which is taken again until it finds none. */
interface StepFault {
  cursor: string
  reason: string
  /** Whether a second look found it, too: what is written at this moment can look like a fault. */
  isSure: boolean
}

/** How far the verification of one list has come; it begins again at its end. */
interface StepState {
  cursor: string | null
  fault: StepFault | null
}

interface CheckState {
  /** Unix milliseconds of the last whole verification, and of the last step. */
  checked_at: number
  stepped_at: number
  audit: string | null
  gap: string | null
  ledger: StepState
  events: StepState
}

/** The first verification comes a day later, so that a start is not slower for it. */
const newState = (now: number): CheckState => ({
  checked_at: now,
  stepped_at: now,
  audit: null,
  gap: null,
  ledger: { cursor: null, fault: null },
  events: { cursor: null, fault: null },
})

/** One step of a verification: what is wrong in it, if anything, and where the next one begins. */
type Step = (cursor: string) => Promise<{ fault: string | null; next: string | null }>

export type CheckServices = RepeatingServices

/** Stores what a round has found; the look below reads it. Throws when the node fails, after it has stored the rest. */
export async function checkRecords(services: CheckServices, signal: AbortSignal): Promise<void> {
  const { store, clock, chain, config } = services
  const now = clock.now()
  const state = (await readState(store.db)) ?? newState(now)
  const save = () => store.write((tx) => storeSetting(tx, STATE, JSON.stringify(state)), { isUnseen: true })
  if (state.stepped_at === now) await save()
  // A restart takes no step before its time.
  if (Math.abs(now - state.stepped_at) < STEP_EVERY_MS / 2) return
  state.stepped_at = now
  if (Math.abs(now - state.checked_at) >= DAY_MS || state.audit !== null || state.gap !== null) {
    const { broken } = await verifyAuditEntries(services, {})
    state.audit = broken === null ? null : `entry ${broken.sequence}: ${broken.why}`
    state.gap = await eventGap(store.db, signal)
    state.checked_at = now
    await save()
  }
  // With 0 nothing is read from the node to find faults, and an unused chain is not opened for it.
  if (config.values['reconciliation.calls-per-minute'] === 0 || chain.isUnused()) return
  try {
    await takeStep(state.ledger, 'transactions.0', (cursor) => ledgerStep(services, cursor))
    signal.throwIfAborted()
    await takeStep(state.events, 'accounts.0', (cursor) => eventStep(services, cursor))
  } finally {
    await save()
  }
}

/** A step that has found a fault is taken again first: it may have been repaired. */
async function takeStep(state: StepState, first: string, step: Step): Promise<void> {
  if (state.fault !== null) {
    const { fault } = await step(state.fault.cursor)
    state.fault = fault === null ? null : { ...state.fault, reason: fault, isSure: true }
    if (fault !== null) return
  }
  const cursor = state.cursor ?? first
  const { fault, next } = await step(cursor)
  state.fault = fault === null ? null : { cursor, reason: fault, isSure: false }
  state.cursor = next
}

async function ledgerStep(services: CheckServices, cursor: string) {
  const { faults, next_cursor } = await verifyLedger({ ...services, role: 'worker' }, { cursor })
  const [first] = faults
  const where = [first?.signature, first?.account].filter((part) => part !== null).join(', ')
  return { fault: first === undefined ? null : `${first.reason} (${where})`, next: next_cursor }
}

async function eventStep(services: CheckServices, cursor: string) {
  const now = services.clock.now()
  const range = { since: now - EVENTS_SINCE_MS, until: now - EVENTS_UNTIL_MS }
  const { missing, extra, next_cursor } = await verifyEvents(services, { ...range, cursor })
  const [absent] = missing
  const [foreign] = extra
  if (absent !== undefined) return { fault: `${absent.type} of ${absent.signature} is missing`, next: next_cursor }
  return { fault: foreign === undefined ? null : `${foreign.id} is not on chain`, next: next_cursor }
}

async function readState(reader: CheckServices['store']['db']): Promise<CheckState | null> {
  const text = await findSetting(reader, STATE)
  return text === null ? null : (JSON.parse(text) as CheckState)
}

const sure = ({ fault }: StepState): string | null => (fault?.isSure ? fault.reason : null)

/** What the last rounds have found. */
export const recordLook: LookAt = {
  kinds: ['records_broken'],
  async look({ store }) {
    const state = await readState(store.db)
    if (state === null) return []
    const { audit, gap, ledger, events } = state
    const found = {
      'audit-log': audit,
      events: gap ?? sure(events),
      ledger: sure(ledger),
    }
    return Object.entries(found).flatMap(([subject, reason]): Observation[] =>
      reason === null
        ? []
        : [{ kind: 'records_broken', subject, facts: { reason: printableLine(reason, LONGEST_REASON) } }],
    )
  },
}
