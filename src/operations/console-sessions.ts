/** Sessions of the console: a link opens one, and each request of a browser finds its own again. */
import { hash } from 'node:crypto'
import type { ConsoleRole } from '../api/console-roles.ts'
import type { ConsoleSession } from '../api/console-sessions.ts'
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { forbidden } from '../platform/errors.ts'
import { HOUR_MS, isoTime, MINUTE_MS } from '../platform/timing.ts'
import { publicRoot } from '../settings/config.ts'
import { newId, randomText } from '../store/id.ts'
import { findApiKey, type PresentedKey } from '../store/requests/api-keys.ts'
import {
  addConsoleSession,
  deleteConsoleSession,
  findConsoleSession,
  findConsoleSessionBySecret,
  pageConsoleSessions,
  updateConsoleSession,
  useConsoleLink,
} from '../store/requests/console-sessions.ts'
import type { Row } from '../store/schema.ts'
import { recordPage, requireRecord } from './api-records.ts'
import { audit } from './signing/audit.ts'

type Routes = Api['consoleSessions']

const LINK_MS = MINUTE_MS
export const SESSION_MS = 12 * HOUR_MS
/** How often a session's last use is written. */
const SEEN_EVERY_MS = MINUTE_MS
const SECRET_LENGTH = 32

const hashOf = (secret: string) => hash('sha256', secret, 'hex')

/** Makes a link for the key of the request. Only this answer shows it. */
export function createConsoleLink(context: Context, { role }: Input<Routes['link']>): Promise<Result<Routes['link']>> {
  const { actor, clock, config } = context
  const secret = randomText(SECRET_LENGTH)
  const path = `/console/enter/${secret}`
  const root = publicRoot(config)
  const now = clock.now()
  const id = newId('cse')
  return context.commit(async (tx) => {
    await addConsoleSession(tx, {
      id,
      secret_hash: hashOf(secret),
      role,
      api_key_id: actor.apiKeyId,
      opened_at: null,
      seen_at: null,
      seen_from: null,
      expires_at: now + LINK_MS,
      created_at: now,
    })
    await audit(context, tx, 'console_link.created', null, { session: id, role })
    const url = root === undefined ? null : root + path
    return { id, role, path, url, expires_at: isoTime(now + LINK_MS) }
  })
}

export async function listConsoleSessions(
  { store, clock }: Context,
  input: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  return recordPage(await pageConsoleSessions(store.db, clock.now(), input), consoleSessionRecord)
}

export function endConsoleSession(context: Context, { id }: Input<Routes['end']>): Promise<Result<Routes['end']>> {
  return context.commit(async (tx) => {
    const row = requireRecord(await findConsoleSession(tx, id), 'session', id)
    await deleteConsoleSession(tx, id)
    await audit(context, tx, 'console_session.ended', null, { session: id, of_key: row.api_key_id })
    return { id, deleted: true as const }
  })
}

const consoleSessionRecord = (row: Row<'console_sessions'>): ConsoleSession => ({
  id: row.id,
  role: row.role,
  api_key_id: row.api_key_id,
  created_at: isoTime(row.opened_at ?? row.created_at),
  last_seen_at: isoTime(row.seen_at ?? row.created_at),
  last_seen_from: row.seen_from ?? '',
  expires_at: isoTime(row.expires_at),
})

// What the console itself asks, for browsers; no route leads here.

type Services = Pick<Context, 'store' | 'clock' | 'vault' | 'requestId'>
type KeyRow = Row<'api_keys'>

/** A session that was just opened; `secret` is for its cookie alone. */
interface Opened {
  id: string
  secret: string
}

/** Uses a link; throws forbidden if it was used, has expired or never existed. */
export async function openConsoleByLink(services: Services, link: string, from: string): Promise<Opened> {
  const { store, clock } = services
  const secret = randomText(SECRET_LENGTH)
  const now = clock.now()
  return store.write(async (tx) => {
    const opened = { ...seen(now, from), secret_hash: hashOf(secret), opened_at: now, expires_at: now + SESSION_MS }
    const row = await useConsoleLink(tx, hashOf(link), now, opened)
    if (row === null) {
      throw forbidden('This link was used or has expired: it is valid once, for 60 seconds. Run `svc console` again')
    }
    await auditOpened(services, tx, row, from)
    return { id: row.id, secret }
  })
}

/** Opens a session for a key that was checked. That of a rotated text ends no later than the text. */
export function openConsoleByKey(services: Services, key: PresentedKey, from: string): Promise<Opened> {
  const { store, clock } = services
  const secret = randomText(SECRET_LENGTH)
  const now = clock.now()
  const row = {
    id: newId('cse'),
    secret_hash: hashOf(secret),
    role: (isUnlimited(key) ? 'operator' : 'viewer') as ConsoleRole,
    api_key_id: key.id,
    opened_at: now,
    ...seen(now, from),
    expires_at: Math.min(now + SESSION_MS, key.text_until ?? Number.POSITIVE_INFINITY),
    created_at: now,
  }
  return store.write(async (tx) => {
    await addConsoleSession(tx, row)
    await auditOpened(services, tx, row, from)
    return { id: row.id, secret }
  })
}

const seen = (now: number, from: string) => ({ seen_at: now, seen_from: from })

type Tx = Parameters<Parameters<Context['store']['write']>[0]>[0]

function auditOpened(
  { clock, vault, requestId }: Services,
  tx: Tx,
  { id, role, api_key_id }: Pick<Row<'console_sessions'>, 'id' | 'role' | 'api_key_id'>,
  from: string,
): Promise<void> {
  const auditing = { clock, vault, requestId, actor: { apiKeyId: api_key_id, scopes: [] } }
  return audit(auditing, tx, 'console_session.opened', null, { session: id, role, from })
}

const isUnlimited = ({ scopes_json }: KeyRow) => (JSON.parse(scopes_json) as string[]).includes('*')

/** A session as a request finds it. */
export interface FoundSession {
  id: string
  role: ConsoleRole
  /** The key with whose rights the session acts: a viewer of an unlimited key has no scopes. */
  key: KeyRow
  expiresAt: number
}

/** Returns the open session of a cookie with its key as it is now; null if it has ended. Notes its use. */
export async function findOpenSession(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  secret: string,
  from: string,
): Promise<FoundSession | null> {
  const now = clock.now()
  const row = await findConsoleSessionBySecret(store.db, hashOf(secret))
  if (row === null || row.opened_at === null || row.expires_at <= now) return null
  const key = await findApiKey(store.db, row.api_key_id)
  if (key === null) return null
  if (now - (row.seen_at ?? 0) >= SEEN_EVERY_MS || row.seen_from !== from) {
    await store.write((tx) => updateConsoleSession(tx, row.id, seen(now, from)), { isUnseen: true })
  }
  const role = row.role === 'operator' && isUnlimited(key) ? 'operator' : 'viewer'
  const isNarrowed = role === 'viewer' && isUnlimited(key)
  return { id: row.id, role, key: isNarrowed ? { ...key, scopes_json: '[]' } : key, expiresAt: row.expires_at }
}
