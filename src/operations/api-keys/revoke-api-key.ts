/** Revokes an API key permanently. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findApiKey, revokeApiKey } from '../../store/requests/api-keys.ts'
import { requireRecord } from '../require-record.ts'
import { audit } from '../signing/audit.ts'

type RevokeApiKeyRoute = Api['apiKeys']['revoke']

export async function revokeApiKeyById(
  context: Context,
  { id }: Input<RevokeApiKeyRoute>,
): Promise<Result<RevokeApiKeyRoute>> {
  return context.commit(async (tx) => {
    const { name, status } = requireRecord(await findApiKey(tx, id), 'API key', id)
    await revokeApiKey(tx, id, context.clock.now())
    if (status === 'active') await audit(context, tx, 'api_key.revoked', null, { key: id, name })
    return { id, deleted: true as const }
  })
}
