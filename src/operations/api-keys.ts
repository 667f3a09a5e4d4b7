/** API keys: create, list and revoke, each with its entry in the audit log. */
import { hash } from 'node:crypto'
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { newId, randomText } from '../store/id.ts'
import { addApiKey, findApiKey, pageApiKeys, revokeApiKey } from '../store/requests/api-keys.ts'
import { deleteConsoleSessionsOfKey } from '../store/requests/console-sessions.ts'
import type { Row } from '../store/schema.ts'
import type { Tx } from '../store/store.ts'
import { apiKeyRecord, listOf, requireRecord } from './api-records.ts'
import { cancelOfKey } from './proposals/rule/end.ts'
import { audit } from './signing/audit.ts'
import { lockPolicyState } from './signing/policy-state.ts'
import { trySigner } from './signing/require-signer.ts'

type Routes = Api['apiKeys']

/** Creates an API key. Only this answer shows the key itself. */
export function createApiKey(context: Context, input: Input<Routes['create']>): Promise<Result<Routes['create']>> {
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

/** Returns `svc_live_<32 base62>` or `svc_test_…` with 190 bits of randomness. Only its SHA-256 is stored. */
export function mintApiKey(kind: 'live' | 'test', key?: string) {
  const minted = key ?? `svc_${kind}_${randomText(32)}`
  return {
    key: minted,
    row: {
      id: newId('key'),
      hash: hash('sha256', minted, 'hex'),
      preview: `${minted.slice(0, 9)}…${minted.slice(-4)}`,
      status: 'active' as const,
      revoked_at: null,
    },
  }
}

type Auditing = Pick<Context, 'actor' | 'requestId' | 'clock' | 'vault'>

/** The fields of a key in the log. The hash is of 190 random bits, so it reveals nothing. */
export const apiKeyTerms = (row: Pick<Row<'api_keys'>, 'id' | 'name' | 'hash' | 'scopes_json'> & KeyLimits) => ({
  key: row.id,
  name: row.name,
  scopes: JSON.parse(row.scopes_json) as string[],
  rate_limit_per_minute: row.per_minute,
  rate_limit_per_day: row.per_day,
  sha256: row.hash,
})

type KeyLimits = Pick<Row<'api_keys'>, 'per_minute' | 'per_day'>

export async function addAuditedKey(context: Auditing, tx: Tx, row: Omit<Row<'api_keys'>, 'seq'>): Promise<void> {
  await addApiKey(tx, row)
  await audit(context, tx, 'api_key.created', null, apiKeyTerms(row))
}

export const listApiKeys = listOf<Routes['list'], Row<'api_keys'>>(pageApiKeys, apiKeyRecord)

/** Revokes an API key permanently, and cancels what waits for approvals because it asked. */
export async function revokeApiKeyById(
  context: Context,
  { id }: Input<Routes['revoke']>,
): Promise<Result<Routes['revoke']>> {
  const signer = await trySigner(context)
  return context.commit(async (tx) => {
    // A proposal of the key that is being stored is either seen here or refused.
    if (signer !== null) await lockPolicyState(tx, context.clock, signer.address)
    const { name, status } = requireRecord(await findApiKey(tx, id), 'API key', id)
    await revokeApiKey(tx, id, context.clock.now())
    if (status === 'active') await audit(context, tx, 'api_key.revoked', null, { key: id, name })
    await cancelOfKey(context, tx, id)
    await deleteConsoleSessionsOfKey(tx, id)
    return { id, deleted: true as const }
  })
}
