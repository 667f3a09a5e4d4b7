/** Creates an API key. Only this answer shows the key itself. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { apiKeyRecord } from '../api-records.ts'
import { addAuditedKey } from './audit-api-key.ts'
import { mintApiKey } from './mint-api-key.ts'

type CreateApiKeyRoute = Api['apiKeys']['create']

export function createApiKey(context: Context, input: Input<CreateApiKeyRoute>): Promise<Result<CreateApiKeyRoute>> {
  const { key, row: minted } = mintApiKey('live')
  const { values } = context.config
  return context.commit(async (tx) => {
    // Fields are named one by one here and below: V8 copies an object more slowly than SQLite runs a statement.
    const row = {
      id: minted.id,
      hash: minted.hash,
      preview: minted.preview,
      status: minted.status,
      revoked_at: minted.revoked_at,
      name: input.name,
      scopes_json: JSON.stringify([...new Set(input.scopes)]),
      per_minute: input.rate_limit_per_minute ?? values['rate-per-minute'],
      per_day: input.rate_limit_per_day ?? values['rate-per-day'],
      created_at: context.clock.now(),
    }
    const record = apiKeyRecord(row)
    await addAuditedKey(context, tx, row)
    return {
      id: record.id,
      name: record.name,
      preview: record.preview,
      scopes: record.scopes,
      rate_limit_per_minute: record.rate_limit_per_minute,
      rate_limit_per_day: record.rate_limit_per_day,
      status: record.status,
      created_at: record.created_at,
      revoked_at: record.revoked_at,
      key,
    }
  })
}
