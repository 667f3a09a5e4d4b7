/** Lists stored events, in either direction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { eventPlace, pageEvents } from '../../store/events/events.ts'
import { removedEvents } from '../../store/events/retention.ts'
import type { Reader } from '../../store/store.ts'
import { eventRecord, recordPage } from '../api-records.ts'
import { eventsRemoved } from './removed-events.ts'

type ListEventsRoute = Api['events']['list']

export async function listEvents(
  { store }: Pick<Context, 'store'>,
  input: Input<ListEventsRoute>,
): Promise<Result<ListEventsRoute>> {
  const { order, cursor } = input
  const page = await pageEvents(store.db, input)
  // This is read after the page, because events may be removed between the two reads.
  if (order === 'asc' && cursor !== undefined) await requireNoneMissed(store.db, eventPlace(cursor, input))
  return recordPage(page, eventRecord)
}

/** If a follower's next events were removed, it must not continue as if it had them all. */
async function requireNoneMissed(reader: Reader, place: number): Promise<void> {
  const removed = await removedEvents(reader)
  if (removed === null || place >= removed.first - 1) return
  const what = `The events ${place + 1} to ${removed.first - 1} after this cursor were removed`
  throw eventsRemoved(what, removed, 'leave out the cursor to start there', 'cursor')
}
