/** Returns one stored event. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findEvent } from '../../store/events.ts'
import { eventRecord } from '../api-records.ts'
import { requireRecord } from '../require-record.ts'

type GetEventRoute = Api['events']['get']

export async function getEvent({ store }: Context, { id }: Input<GetEventRoute>): Promise<Result<GetEventRoute>> {
  return eventRecord(requireRecord(await findEvent(store.db, id), 'event', id))
}
