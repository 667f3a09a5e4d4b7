/** The errors for events that may have been removed. Each names the first stored event. */
import { type ApiError, badRequest, type ErrorExtras, notFound } from '../../platform/errors.ts'
import { type RemovedEvents, removedEvents } from '../../store/events/retention.ts'
import type { Reader } from '../../store/store.ts'

const detailsOf = ({ first, since }: RemovedEvents) => ({
  first_sequence: first,
  first_created: new Date(since).toISOString(),
})

const firstEventText = ({ first, since }: RemovedEvents): string =>
  `the first stored event has the sequence ${first}, from ${new Date(since).toISOString()} (retention.events-days)`

/** Returns not_found. If events were removed, it names the first stored one. */
export async function eventMissing(reader: Reader, id: string, extras: ErrorExtras = {}): Promise<ApiError> {
  const removed = await removedEvents(reader)
  if (removed === null) return notFound(`There is no event ${id}`, extras)
  const message = `There is no event ${id}; earlier events were removed: ${firstEventText(removed)}`
  return notFound(message, { ...extras, details: detailsOf(removed) })
}

/** Returns bad_request for a request that would have to start with removed events. */
export const eventsRemoved = (what: string, removed: RemovedEvents, next: string, param: string): ApiError =>
  badRequest(`${what}: ${firstEventText(removed)}; ${next}`, { param, details: detailsOf(removed) })
