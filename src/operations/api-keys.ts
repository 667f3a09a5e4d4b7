/** API keys: create, list, change, rotate and revoke, each change with its entry in the audit log. */
import { hash } from 'node:crypto'
import type { KeyRefusal } from '../api/api-keys.ts'
import type { Api, ApiKey } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import { HOUR_MS, isoTime, SECOND_MS } from '../platform/timing.ts'
import { newId, randomText } from '../store/id.ts'
import {
  addApiKey,
  addPreviousApiKey,
  apiKeyUses,
  endPreviousApiKeys,
  findApiKey,
  forgetPreviousApiKey,
  lockApiKey,
  type PresentedKey,
  type PreviousKey,
  pageApiKeys,
  previousApiKeys,
  revokeApiKey,
  updateApiKey,
} from '../store/requests/api-keys.ts'
import { deleteConsoleSessionsOfKey } from '../store/requests/console-sessions.ts'
import type { Row } from '../store/schema.ts'
import type { Reader, Tx } from '../store/store.ts'
import { apiKeyRecord, requireRecord } from './api-records.ts'
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
    const now = context.clock.now()
    const row = {
      ...minted,
      name: input.name,
      scopes_json: JSON.stringify([...new Set(input.scopes)]),
      per_minute: input.rate_limit_per_minute ?? values['rate-per-minute'],
      per_day: input.rate_limit_per_day ?? values['rate-per-day'],
      created_at: now,
      expires_at: input.expires_in === undefined ? null : now + input.expires_in * SECOND_MS,
      allow_ips_json: rangesJson(input.allow_ips),
    }
    await addAuditedKey(context, tx, row)
    return { ...apiKeyRecord(row), key }
  })
}

const rangesJson = (ranges: readonly string[]): string | null =>
  ranges.length === 0 ? null : JSON.stringify([...new Set(ranges)])

/** Returns `svc_live_<32 base62>` or `svc_test_…` with 190 bits of randomness. Only its SHA-256 is stored. */
export function mintApiKey(kind: 'live' | 'test', key?: string) {
  const minted = key ?? `svc_${kind}_${randomText(32)}`
  return {
    key: minted,
    row: {
      id: newId('key'),
      ...textOf(minted),
      status: 'active' as const,
      revoked_at: null,
      expires_at: null as number | null,
      allow_ips_json: null as string | null,
    },
  }
}

/** What is stored of the text of a key. */
const textOf = (key: string) => ({
  hash: hash('sha256', key, 'hex'),
  preview: `${key.slice(0, 9)}…${key.slice(-4)}`,
})

/** Why a key is refused at this time; null if it is accepted. */
export function keyFault(
  { status, text_until, expires_at }: Pick<PresentedKey, 'status' | 'text_until' | 'expires_at'>,
  now: number,
): 'revoked' | KeyRefusal | null {
  if (status !== 'active') return 'revoked'
  if (text_until !== undefined && now >= text_until) return 'rotated'
  return expires_at !== null && now >= expires_at ? 'expired' : null
}

type Auditing = Pick<Context, 'actor' | 'requestId' | 'clock' | 'vault'>
type KeyRow = Row<'api_keys'>

/**
 * The fields of a key in the log, without those that are not set, which earlier entries do not have. A hash is of 190
 * random bits, so it reveals nothing.
 */
export const apiKeyTerms = (row: Omit<KeyRow, 'seq'>, previous: readonly PreviousKey[] = []) => ({
  key: row.id,
  name: row.name,
  scopes: JSON.parse(row.scopes_json) as string[],
  rate_limit_per_minute: row.per_minute,
  rate_limit_per_day: row.per_day,
  sha256: row.hash,
  ...(row.expires_at === null ? {} : { expires_at: isoTime(row.expires_at) }),
  ...(row.allow_ips_json === null ? {} : { allow_ips: JSON.parse(row.allow_ips_json) as string[] }),
  ...(previous.length === 0 ? {} : { previous: previous.map(previousTerms) }),
})

const previousTerms = ({ hash, expires_at }: PreviousKey) => ({ sha256: hash, expires_at: isoTime(expires_at) })

export async function addAuditedKey(context: Auditing, tx: Tx, row: Omit<KeyRow, 'seq'>): Promise<void> {
  await addApiKey(tx, row)
  await audit(context, tx, 'api_key.created', null, apiKeyTerms(row))
}

/** The earlier texts of these keys, or of all, by the key's id. */
export async function previousByKey(reader: Reader, ids?: readonly string[]): Promise<Map<string, PreviousKey[]>> {
  const byKey = new Map<string, PreviousKey[]>()
  for (const row of await previousApiKeys(reader, ids)) {
    byKey.set(row.api_key_id, [...(byKey.get(row.api_key_id) ?? []), row])
  }
  return byKey
}

/** The rows with their history. */
async function recordsOf(reader: Reader, rows: readonly KeyRow[]): Promise<ApiKey[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const previous = await previousByKey(reader, ids)
  const uses = new Map((await apiKeyUses(reader, ids)).map((use) => [use.api_key_id, use]))
  return rows.map((row) => apiKeyRecord(row, { previous: previous.get(row.id), use: uses.get(row.id) }))
}

async function recordOf(tx: Tx, row: KeyRow): Promise<ApiKey> {
  const [record] = await recordsOf(tx, [row])
  return record as ApiKey
}

export async function listApiKeys({ store }: Context, input: Input<Routes['list']>): Promise<Result<Routes['list']>> {
  const { rows, next_cursor } = await pageApiKeys(store.db, input)
  return { items: await recordsOf(store.db, rows), next_cursor }
}

/** Changes when a key expires and from where it may be used. A request without a change writes nothing. */
export function updateApiKeyById(context: Context, input: Input<Routes['update']>): Promise<Result<Routes['update']>> {
  const { id, expires_in, allow_ips } = input
  return context.commit(async (tx) => {
    const before = await activeKey(tx, id)
    if (expires_in === undefined && allow_ips === undefined) return recordOf(tx, before)
    const expires = expires_in == null ? null : context.clock.now() + expires_in * SECOND_MS
    const row = await changedKey(tx, id, {
      ...(expires_in === undefined ? {} : { expires_at: expires }),
      ...(allow_ips === undefined ? {} : { allow_ips_json: rangesJson(allow_ips) }),
    })
    await audit(context, tx, 'api_key.updated', null, apiKeyTerms(row, await previousApiKeys(tx, [id])))
    return recordOf(tx, row)
  })
}

/** Earlier texts that are stored of a key, accepted or not. */
const MOST_PREVIOUS = 5

/** Gives a key a new text, which only this answer shows. The old one is accepted until the overlap ends. */
export function rotateApiKey(context: Context, input: Input<Routes['rotate']>): Promise<Result<Routes['rotate']>> {
  const { id, overlap_hours } = input
  const { key } = mintApiKey('live')
  return context.commit(async (tx) => {
    const { hash: old } = await activeKey(tx, id)
    const now = context.clock.now()
    if (overlap_hours === 0) await endPreviousApiKeys(tx, id, now)
    await makeRoom(tx, id, now)
    await addPreviousApiKey(tx, {
      hash: old,
      api_key_id: id,
      expires_at: now + overlap_hours * HOUR_MS,
      rotated_at: now,
    })
    const row = await changedKey(tx, id, textOf(key))
    // Whoever signed in with the old text signs in again.
    await deleteConsoleSessionsOfKey(tx, id)
    await audit(context, tx, 'api_key.rotated', null, apiKeyTerms(row, await previousApiKeys(tx, [id])))
    return { ...(await recordOf(tx, row)), key }
  })
}

/** Forgets the earlier text that ended first; throws bad_request if all are still accepted. */
async function makeRoom(tx: Tx, id: string, now: number): Promise<void> {
  const [first, ...others] = await previousApiKeys(tx, [id])
  if (first === undefined || others.length + 1 < MOST_PREVIOUS) return
  if (first.expires_at > now) {
    throw badRequest(
      `${MOST_PREVIOUS} earlier texts of this key are still accepted, the first of them until ${isoTime(first.expires_at)}: rotate it then, or send overlap_hours 0 (\`--overlap 0h\`) to refuse them all`,
      { param: 'overlap_hours' },
    )
  }
  await forgetPreviousApiKey(tx, first.hash)
}

/** The key, locked until the commit. */
async function activeKey(tx: Tx, id: string): Promise<KeyRow> {
  const row = requireRecord(await lockApiKey(tx, id), 'API key', id)
  if (row.status === 'active') return row
  throw badRequest(`The API key ${id} was revoked: make another (POST /v2/api-keys, \`svc keys create\`)`)
}

const changedKey = async (tx: Tx, id: string, changes: Partial<KeyRow>): Promise<KeyRow> =>
  requireRecord(await updateApiKey(tx, id, changes), 'API key', id)

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
