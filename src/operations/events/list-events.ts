/** Lists stored events, in either direction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageEvents } from '../../store/events.ts'
import { eventRecord, recordPage } from '../api-records.ts'

type ListEventsRoute = Api['events']['list']

export async function listEvents({ store }: Context, input: Input<ListEventsRoute>): Promise<Result<ListEventsRoute>> {
  return recordPage(await pageEvents(store.db, input), eventRecord)
}
