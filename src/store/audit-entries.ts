/** The audit log: numbered without gaps, each entry's SHA-256 over itself and the hash before it. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Order, type Page, type PageRequest, page, rowsWithin } from './paging.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

type Entry = Row<'audit_entries'>
export type NewAuditEntry = Omit<Entry, 'sequence' | 'previous_hash' | 'hash'>

/** What stands before the first entry. */
export const FIRST_HASH = '0'.repeat(64)
const COUNTER = 'audit'

/** SHA-256 in hex over the JSON array of the entry's fields in this order; docs/signer.md shows it for other languages. */
export function auditHash({
  sequence,
  previous_hash,
  at,
  action,
  signer,
  api_key_id,
  request_id,
  details_json,
}: Omit<Entry, 'hash'>) {
  const fields = [sequence, previous_hash, at, action, signer, api_key_id, request_id, details_json]
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

/** Appends in the transaction of what it reports; the counter's row is locked until the commit, so that the chain has one end. */
export async function appendAudit(tx: Tx, entry: NewAuditEntry): Promise<Entry> {
  const { value: sequence } = await tx
    .updateTable('counters')
    .set((row) => ({ value: row('value', '+', 1) }))
    .where('name', '=', COUNTER)
    .returning('value')
    .executeTakeFirstOrThrow()
  const last = await lastAudit(tx)
  const chained = { ...entry, sequence, previous_hash: last?.hash ?? FIRST_HASH }
  return tx
    .insertInto('audit_entries')
    .values({ ...chained, hash: auditHash(chained) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function lastAudit(reader: Reader): Promise<Entry | null> {
  const rows = reader.selectFrom('audit_entries').selectAll()
  return (await rows.orderBy('sequence', 'desc').limit(1).executeTakeFirst()) ?? null
}

export function pageAudit(
  reader: Reader,
  request: PageRequest & { action?: string | undefined; order?: Order | undefined },
): Promise<Page<Entry>> {
  let query = reader.selectFrom('audit_entries').selectAll()
  if (request.action !== undefined) query = query.where('action', '=', request.action)
  const { limit, cursor, order } = request
  // The details are answered twice, once as text in which every quote is escaped.
  const weights = { details_json: 3 }
  return page({ query, list: 'audit_entries', place: 'sequence', weights, limit, cursor, order })
}

export interface AuditVerdict {
  /** Entries that hold. */
  entries: number
  /** Hash of the last entry that holds. */
  head: string
  /** First entry that does not hold; null where all do. */
  broken: { sequence: number; why: string } | null
}

const ENTRIES_PER_READ = 1_000

/** Recomputes every hash from the first entry on, in pieces; where `wanted` is given, one of them must be it. */
export async function verifyAudit(reader: Reader, wanted?: string): Promise<AuditVerdict> {
  let [entries, head, found] = [0, FIRST_HASH, wanted === undefined || wanted === FIRST_HASH]
  const broken = (sequence: number, why: string) => ({ entries, head, broken: { sequence, why } })
  const odd = reader.selectFrom('audit_entries').select('sequence').where('sequence', '<', 1)
  const before = await odd.limit(1).executeTakeFirst()
  if (before !== undefined) return broken(before.sequence, 'no entry was ever written there')
  for (;;) {
    const next = reader
      .selectFrom('audit_entries')
      .selectAll()
      .where('sequence', '>', entries)
      .orderBy('sequence')
      .limit(ENTRIES_PER_READ)
    const { rows, cut } = await rowsWithin(next, 'sequence', { details_json: 1 })
    for (const row of rows) {
      if (row.sequence !== entries + 1) return broken(entries + 1, 'the entry is missing')
      if (row.previous_hash !== head) return broken(row.sequence, 'it does not continue the entry before it')
      if (row.hash !== auditHash(row)) return broken(row.sequence, 'its fields are not those that were hashed')
      ;[entries, head, found] = [row.sequence, row.hash, found || row.hash === wanted]
    }
    if (!cut && rows.length < ENTRIES_PER_READ) break
    // On SQLite nothing else makes room for other requests.
    await nextTurn()
  }
  const counter = await reader.selectFrom('counters').select('value').where('name', '=', COUNTER).executeTakeFirst()
  if (counter === undefined) return broken(entries + 1, 'the count of entries is missing')
  // Entries that were added since the last read are not missing.
  if (counter.value < entries) return broken(counter.value + 1, 'it was added past the count')
  const last = (await lastAudit(reader))?.sequence ?? 0
  if (counter.value > last) return broken(last + 1, 'the entry is missing')
  if (!found) return broken(entries + 1, `no entry has the hash ${wanted}: entries were cut off or written anew`)
  return { entries, head, broken: null }
}
