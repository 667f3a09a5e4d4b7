/** Compares stored events with src/api/event-catalog.ts, from which docs/events.md is made. */

import { objectOf } from '../../src/api/event-catalog.ts'
import type { EventType } from '../../src/api/event-types.ts'
import { eventRecord } from '../../src/operations/api-records.ts'
import type { Service } from './service.ts'

/**
 * Returns the types of the stored events. Throws if an event has other fields than the catalogue says. A hint has the
 * fields of whatever its sender named, so it is left out.
 */
export async function cataloguedTypes({ services }: Pick<Service, 'services'>): Promise<EventType[]> {
  const rows = await services.store.db.selectFrom('events').selectAll().execute()
  const events = rows.map(eventRecord).filter(({ data }) => data.object.source !== 'hint')
  for (const { type, data } of events) {
    const { error } = objectOf(type).safeParse(data.object)
    if (error) throw new Error(`${type} is not as the catalogue says: ${JSON.stringify(error.issues)}`)
  }
  return [...new Set(events.map(({ type }) => type))].sort()
}
