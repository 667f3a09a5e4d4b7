/** Event drafts: the content of an event before it gets a number. They are written in the database transaction of the change that they report. */
import type { EventType } from '../../api/event-types.ts'
import { newId } from '../id.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { type AppendedEvent, appendEvent, appendEvents, isAppended, type NewEvent } from './events.ts'

/** Fields of the originating request that the event repeats. */
export type EventOrigin = Pick<Row<'events'>, 'external_uid' | 'metadata_json'>

export interface EventDraft {
  type: EventType
  resource_type: string
  resource_id: string
  /**
   * The resource's fields as the API returns them. An event that the chain proves adds its slot, signature and
   * `source`.
   */
  object: object
  /**
   * Last part of the dedupe key: a signature, a genesis hash or another text that distinguishes events of the same
   * type and resource.
   */
  dedupe_by?: string
  origin: EventOrigin
}

/** Clock for the creation time of events. */
interface EventClock {
  now(): number
}

/** Writes the event once per dedupe key. Returns null when it is already stored. */
export const writeEvent = (tx: Tx, clock: EventClock, draft: EventDraft): Promise<AppendedEvent | null> =>
  appendEvent(tx, eventOfDraft(clock, draft))

/** Writes many events in order, each once per dedupe key; events that are already stored are skipped. */
export const writeEvents = (tx: Tx, clock: EventClock, drafts: readonly EventDraft[]): Promise<void> =>
  appendEvents(
    tx,
    drafts.map((draft) => eventOfDraft(clock, draft)),
  )

type DedupeParts = Pick<EventDraft, 'type' | 'resource_type' | 'resource_id' | 'dedupe_by'>

/** Whether an event with the dedupe key of this draft is stored. */
export const isEventWritten = (reader: Reader, draft: DedupeParts): Promise<boolean> =>
  isAppended(reader, dedupeKeyOf(draft))

const dedupeKeyOf = ({ type, resource_type, resource_id, dedupe_by }: DedupeParts): string =>
  JSON.stringify([type, resource_type, resource_id, dedupe_by ?? ''])

function eventOfDraft(clock: EventClock, draft: EventDraft): NewEvent {
  const { external_uid, metadata_json } = draft.origin
  return {
    id: newId('evt'),
    type: draft.type,
    resource_type: draft.resource_type,
    resource_id: draft.resource_id,
    object_json: JSON.stringify(draft.object),
    external_uid,
    metadata_json,
    dedupe_key: dedupeKeyOf(draft),
    created_at: clock.now(),
  }
}
