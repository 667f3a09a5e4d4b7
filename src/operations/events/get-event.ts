/** One stored event. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findEvent } from '../../store/events.ts'
import { found } from '../found.ts'
import { eventRecord } from '../records.ts'

type GetEventRoute = Api['events']['get']

export async function getEvent({ store }: Context, { id }: Input<GetEventRoute>): Promise<Result<GetEventRoute>> {
  return eventRecord(found(await findEvent(store.db, id), 'event', id))
}
