/** Lists pay requests, newest first: those of the caller's key, or all of them with the scope `*`. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pagePayRequests } from '../../store/resources/pay-requests.ts'
import { recordPage } from '../api-records.ts'
import { payRequestRecord } from './pay-request-record.ts'

type ListPayRequestsRoute = Api['payRequests']['list']

export async function listPayRequests(
  { store, clock, actor }: Context,
  page: Input<ListPayRequestsRoute>,
): Promise<Result<ListPayRequestsRoute>> {
  const filters = actor.scopes.includes('*') ? {} : { api_key_id: actor.apiKeyId }
  const now = clock.now()
  return recordPage(await pagePayRequests(store.db, { ...page, ...filters }), (row) => payRequestRecord(row, now))
}
