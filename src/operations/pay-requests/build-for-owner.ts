/** Builds the transaction of a pay request for the key that made it, which checks it before anybody reads the QR code. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { previewPayment } from './build-payment.ts'
import { ownPayRequest } from './own-pay-request.ts'

type BuildPaymentRoute = Api['payRequests']['build']

export async function buildForOwner(
  context: Context,
  { id, account }: Input<BuildPaymentRoute>,
): Promise<Result<BuildPaymentRoute>> {
  return previewPayment(context, await ownPayRequest(context, context.store.db, id), account)
}
