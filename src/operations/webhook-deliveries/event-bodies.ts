/** Makes the bodies of events as they are sent, once for all subscriptions that get the event. */
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { findOrdinaryEvents } from '../../store/webhooks/events.ts'
import type { Queued } from '../../store/webhooks/queue.ts'
import { eventRecord } from '../api-records.ts'

export const eventBody = (event: Row<'events'>): Buffer => Buffer.from(JSON.stringify(eventRecord(event)))

type BodyOwner = Pick<Queued, 'event_id' | 'sequence'>

/** Caches the bodies of one look for the next, because other subscriptions then get the same events. */
export class EventBodies {
  #bodies = new Map<string, Buffer>()

  /** Returns the bodies by the ids of their events, without those of missing and large events. */
  async read(reader: Reader, queued: readonly BodyOwner[]): Promise<ReadonlyMap<string, Buffer>> {
    const bodies = new Map<string, Buffer>()
    const missing = new Set<number>()
    for (const { event_id, sequence } of queued) {
      const known = this.#bodies.get(event_id)
      if (known === undefined) missing.add(sequence)
      else bodies.set(event_id, known)
    }
    // The query uses sequence numbers, because they are adjacent and ids are not.
    for (const event of await findOrdinaryEvents(reader, [...missing])) bodies.set(event.id, eventBody(event))
    this.#bodies = bodies
    return bodies
  }
}
