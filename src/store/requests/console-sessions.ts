/** Storage of the console's links and sessions, by the hash of their secret. A link that is used becomes a session. */

import { type PageRequest, readPage, type StoredPage } from '../queries/paging.ts'
import { adding, finding, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const addConsoleSession = adding('console_sessions')
export const findConsoleSession = finding('console_sessions', 'id')
export const findConsoleSessionBySecret = finding('console_sessions', 'secret_hash')
export const updateConsoleSession = updating('console_sessions', 'id')

type Opened = Pick<Row<'console_sessions'>, 'secret_hash' | 'opened_at' | 'seen_at' | 'seen_from' | 'expires_at'>

/** Makes a session of the link with this hash; null if it was used, has expired or never existed. */
export async function useConsoleLink(
  tx: Tx,
  linkHash: string,
  now: number,
  opened: Opened,
): Promise<Row<'console_sessions'> | null> {
  const used = await tx
    .updateTable('console_sessions')
    .set(opened)
    .where('secret_hash', '=', linkHash)
    .where('opened_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  return used ?? null
}

/** The open sessions, newest first. */
export function pageConsoleSessions(
  reader: Reader,
  now: number,
  { limit, cursor }: PageRequest,
): Promise<StoredPage<Row<'console_sessions'>>> {
  const query = reader
    .selectFrom('console_sessions')
    .selectAll()
    .where('opened_at', 'is not', null)
    .where('expires_at', '>', now)
  return readPage({ query, list: 'console_sessions', place: 'seq', weights: { seen_from: 1 }, limit, cursor })
}

export async function deleteConsoleSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('console_sessions').where('id', '=', id).execute()
}

/** Ends every session and link of an API key. */
export async function deleteConsoleSessionsOfKey(tx: Tx, apiKeyId: string): Promise<void> {
  await tx.deleteFrom('console_sessions').where('api_key_id', '=', apiKeyId).execute()
}

/** Removes sessions and links that have expired; returns how many. */
export async function pruneConsoleSessions(tx: Tx, now: number, limit: number): Promise<number> {
  const old = tx.selectFrom('console_sessions').select('seq').where('expires_at', '<=', now).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('console_sessions').where('seq', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
