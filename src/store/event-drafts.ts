/** Events: written in the transaction of the change that they report. */
import type { EventType } from '../api/envelope.ts'
import type { Clock, Context } from '../context.ts'
import { appendEvent, appendEvents, isAppended, type NewEvent } from './events.ts'
import { newId } from './id.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export interface Emission {
  type: EventType
  resource_type: string
  resource_id: string
  /** The resource's fields as the API returns them; for chain events with slot and signature. */
  object: object
  /** Chain signature, or another word that makes a repeated event of one resource a new one. */
  occasion?: string
}

/** Writes the event once per (type, resource, occasion); null when it was there already. */
export function emit(
  context: Pick<Context, 'clock' | 'externalUid' | 'metadata'>,
  tx: Tx,
  event: Emission,
): Promise<Row<'events'> | null> {
  const { clock, externalUid, metadata } = context
  const metadata_json = metadata === undefined ? null : JSON.stringify(metadata)
  return appendEvent(tx, eventOf(clock, { external_uid: externalUid ?? null, metadata_json }, event))
}

/** An event about a record, with what its own request said along, long after that request. */
export interface LateEmission extends Emission {
  of: Originating
}

/** The same for many; those that are there already are left out. */
export function emitAll(tx: Tx, clock: Clock, events: readonly LateEmission[]): Promise<void> {
  return appendEvents(
    tx,
    events.map(({ of, ...event }) => eventOf(clock, of, event)),
  )
}

type Told = Pick<Emission, 'type' | 'resource_type' | 'resource_id' | 'occasion'>

export const isTold = (reader: Reader, event: Told): Promise<boolean> => isAppended(reader, dedupeKeyOf(event))

const dedupeKeyOf = ({ type, resource_type, resource_id, occasion }: Told): string =>
  JSON.stringify([type, resource_type, resource_id, occasion ?? ''])

type Originating = Pick<Row<'events'>, 'external_uid' | 'metadata_json'>

function eventOf(clock: Clock, { external_uid, metadata_json }: Originating, event: Emission): NewEvent {
  return {
    id: newId('evt'),
    type: event.type,
    resource_type: event.resource_type,
    resource_id: event.resource_id,
    object_json: JSON.stringify(event.object),
    external_uid,
    metadata_json,
    dedupe_key: dedupeKeyOf(event),
    created_at: clock.now(),
  }
}
