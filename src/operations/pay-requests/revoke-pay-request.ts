/** Revokes a pay request of the caller, so that wallets get no further transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { lockPayRequest, updatePayRequest } from '../../store/resources/pay-requests.ts'
import { ownPayRequest } from './own-pay-request.ts'

type RevokePayRequestRoute = Api['payRequests']['revoke']

export async function revokePayRequest(
  context: Context,
  { id }: Input<RevokePayRequestRoute>,
): Promise<Result<RevokePayRequestRoute>> {
  return context.commit(async (tx) => {
    await lockPayRequest(tx, id)
    const { state, signature } = await ownPayRequest(context, tx, id)
    if (state === 'paid') {
      throw badRequest(`${id} is paid already, by ${signature}`, { param: 'id', details: { signature } })
    }
    await updatePayRequest(tx, id, { state: 'revoked' })
    return { id, deleted: true as const }
  })
}
