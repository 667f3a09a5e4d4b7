/** Writes the events that a transaction's request named, unless an event proven by the chain already reports them. */
import type { TrackedResource } from '../api/index.ts'
import { type EventDraft, isEventWritten } from '../store/events/drafts.ts'
import type { Tx } from '../store/store.ts'
import { findTransaction } from '../store/transactions/transactions.ts'
import type { Effects, Projection, RequestedEvent, SourceTransaction } from './projection.ts'
import { transactionRecord } from './transaction-record.ts'

interface TrackedTransaction {
  transaction: SourceTransaction
  slot: number
  tracked: TrackedResource
  projections: readonly Projection[]
  effects: readonly { projection: Projection; effects: Effects<unknown, unknown> }[]
  /** The drafts of the events that the chain proves for this transaction, in the order of writing. */
  drafts: readonly EventDraft[]
}

/** Returns one event per type, resource and signature. `source: "hint"` is used only when nothing else reports it. */
export async function trackedEvents(tx: Tx, followed: TrackedTransaction): Promise<EventDraft[]> {
  const { transaction, slot, tracked, projections } = followed
  for (const { keepsHints } of projections) if (await keepsHints?.(tx, tracked)) return []
  const { resource_type, resource_id, related_events } = tracked
  const { signature } = transaction
  const object = { ...(await fieldsOf(tx, followed)), slot, signature, source: 'hint' }
  const requested: EventDraft[] = []
  for (const type of related_events) {
    const event = { type, resource_type, resource_id }
    if (await isReported(tx, event, followed)) continue
    requested.push({ ...event, object, dedupe_by: signature, origin: transaction })
  }
  return requested
}

/** The fields of the tracked resource's record. A resource without a record, such as a client's own, has none. */
async function fieldsOf(tx: Tx, { tracked, projections, transaction }: TrackedTransaction): Promise<object> {
  if (tracked.resource_type === 'transaction') {
    const row = await findTransaction(tx, tracked.resource_id)
    return row === null ? {} : transactionRecord(row)
  }
  for (const { fieldsOf: fields } of projections) {
    const known = await fields?.(tx, tracked, transaction.genesis)
    if (known != null) return known
  }
  return {}
}

async function isReported(tx: Tx, requested: RequestedEvent, followed: TrackedTransaction): Promise<boolean> {
  const { drafts, transaction, effects, projections } = followed
  const { type, resource_type, resource_id } = requested
  const own = drafts.filter(
    (draft) => draft.type === type && draft.resource_type === resource_type && draft.resource_id === resource_id,
  )
  for (const draft of own) {
    // With another dedupe key, the stored event may be of an earlier transaction.
    if (draft.dedupe_by === transaction.signature || !(await isEventWritten(tx, draft))) return true
  }
  for (const projection of projections) {
    const changed = effects.find((each) => each.projection === projection)?.effects ?? null
    if (await projection.isAlreadyReported?.(tx, requested, changed)) return true
  }
  return false
}
