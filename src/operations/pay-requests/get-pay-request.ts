/** Reads one pay request of the caller. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { ownPayRequest } from './own-pay-request.ts'
import { payRequestRecord } from './pay-request-record.ts'

type GetPayRequestRoute = Api['payRequests']['get']

export async function getPayRequest(
  context: Context,
  { id }: Input<GetPayRequestRoute>,
): Promise<Result<GetPayRequestRoute>> {
  return payRequestRecord(await ownPayRequest(context, context.store.db, id), context.clock.now())
}
