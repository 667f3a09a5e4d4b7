/** Revokes an API key permanently, and cancels what waits for approvals because it asked. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findApiKey, revokeApiKey } from '../../store/requests/api-keys.ts'
import { cancelOfKey } from '../proposals/rule/end-waiting.ts'
import { requireRecord } from '../require-record.ts'
import { audit } from '../signing/audit.ts'
import { lockPolicyState } from '../signing/policy-state.ts'
import { trySigner } from '../signing/require-signer.ts'

type RevokeApiKeyRoute = Api['apiKeys']['revoke']

export async function revokeApiKeyById(
  context: Context,
  { id }: Input<RevokeApiKeyRoute>,
): Promise<Result<RevokeApiKeyRoute>> {
  const signer = await trySigner(context)
  return context.commit(async (tx) => {
    // A proposal of the key that is being stored is either seen here or refused.
    if (signer !== null) await lockPolicyState(tx, context.clock, signer.address)
    const { name, status } = requireRecord(await findApiKey(tx, id), 'API key', id)
    await revokeApiKey(tx, id, context.clock.now())
    if (status === 'active') await audit(context, tx, 'api_key.revoked', null, { key: id, name })
    await cancelOfKey(context, tx, id)
    return { id, deleted: true as const }
  })
}
