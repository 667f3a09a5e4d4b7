/** Returns one stored event. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findEvent } from '../../store/events/events.ts'
import { eventRecord } from '../api-records.ts'
import { eventMissing } from './removed-events.ts'

type GetEventRoute = Api['events']['get']

export async function getEvent(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetEventRoute>,
): Promise<Result<GetEventRoute>> {
  const event = await findEvent(store.db, id)
  if (event === null) throw await eventMissing(store.db, id)
  return eventRecord(event)
}
