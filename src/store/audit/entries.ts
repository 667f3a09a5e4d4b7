/** The audit log: entries numbered without gaps, each hashed with SHA-256 together with the previous hash and sealed with the vault's key. */
import { hash as hashOf } from 'node:crypto'
import { sql } from 'kysely'
import type { Vault } from '../installation/vault.ts'
import { filteredList, type ListOrder, type PageRequest, readPage, type StoredPage } from '../queries/paging.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

type AuditEntryRow = Row<'audit_entries'>
type NewAuditEntry = Omit<AuditEntryRow, 'sequence' | 'previous_hash' | 'hash' | 'seal'>

/** Previous hash of the first entry. */
export const FIRST_HASH = '0'.repeat(64)
export const COUNTER = 'audit'
export type Sealing = Pick<Vault, 'mac'>

/**
 * SHA-256 in hex over the JSON array of the entry's fields in this order. docs/signer.md documents it for other
 * languages.
 */
export function auditHash({
  sequence,
  previous_hash,
  at,
  action,
  signer,
  api_key_id,
  request_id,
  details_json,
}: Omit<AuditEntryRow, 'hash' | 'seal'>) {
  const fields = [sequence, previous_hash, at, action, signer, api_key_id, request_id, details_json]
  return hashOf('sha256', JSON.stringify(fields), 'hex')
}

/**
 * Computes the seal from the hash, which covers all earlier entries. Write access to the database alone does not
 * suffice to forge it.
 */
export const auditSeal = (vault: Sealing, { hash }: Pick<AuditEntryRow, 'hash'>): string =>
  vault.mac(hash, 'audit entry')

/**
 * Appends an entry in the transaction of the change that it reports. The counter's row stays locked until the commit, so
 * that the chain cannot fork.
 */
export async function appendAudit(tx: Tx, vault: Sealing, entry: NewAuditEntry): Promise<AuditEntryRow> {
  const sequence = await nextSequence(tx)
  const row = chained(vault, entry, sequence, await hashBefore(tx, sequence))
  await insertEntry.run(tx, row)
  appended.set(tx, row)
  return row
}

/** The entry with its place in the chain. */
function chained(vault: Sealing, entry: NewAuditEntry, sequence: number, previous_hash: string): AuditEntryRow {
  const row: AuditEntryRow = {
    sequence,
    previous_hash,
    hash: '',
    seal: '',
    at: entry.at,
    action: entry.action,
    signer: entry.signer,
    api_key_id: entry.api_key_id,
    request_id: entry.request_id,
    details_json: entry.details_json,
  }
  row.hash = auditHash(row)
  row.seal = auditSeal(vault, row)
  return row
}

/** The last entry that each open transaction has appended. */
const appended = new WeakMap<Tx, Pick<AuditEntryRow, 'sequence' | 'hash'>>()

/**
 * Moves the counter to the number of the next entry. If this transaction has appended the last one, its number is known
 * and not read back: for an update with `returning`, SQLite copies every page that it changes.
 */
async function nextSequence(tx: Tx): Promise<number> {
  const last = appended.get(tx)?.sequence
  if (last !== undefined && (await countAfter.run(tx, { last })) > 0) return last + 1
  const counted = await countEntry.first(tx, {})
  if (counted === undefined) throw new Error('the counter of the audit log is missing')
  return counted.value
}

/**
 * Hash of the entry before this one. If this transaction has just appended that entry, it need not be read. Undoing an
 * entry also undoes the counter, so the number shows whether it is still valid.
 */
async function hashBefore(tx: Tx, sequence: number): Promise<string> {
  const before = appended.get(tx)
  if (before?.sequence === sequence - 1) return before.hash
  return (await lastHash.first(tx, {}))?.hash ?? FIRST_HASH
}

const countEntry = prepared((db) =>
  db
    .updateTable('counters')
    .set((row) => ({ value: row('value', '+', 1) }))
    .where('name', '=', COUNTER)
    .returning('value'),
)
const countAfter = prepared((db, { last }: Placeholders<{ last: number }>) =>
  db
    .updateTable('counters')
    .set((row) => ({ value: row('value', '+', 1) }))
    .where('name', '=', COUNTER)
    .where('value', '=', last),
)
/** The limit is part of the text, because SQLite prepares the statement again whenever a limit is bound. */
const lastHash = prepared((db) =>
  db.selectFrom('audit_entries').select('hash').orderBy('sequence', 'desc').limit(sql.lit(1)),
)
const insertEntry = prepared((db, row: Placeholders<AuditEntryRow>) =>
  db.insertInto('audit_entries').values({
    sequence: row.sequence,
    previous_hash: row.previous_hash,
    hash: row.hash,
    seal: row.seal,
    at: row.at,
    action: row.action,
    signer: row.signer,
    api_key_id: row.api_key_id,
    request_id: row.request_id,
    details_json: row.details_json,
  }),
)

/** Blocks other appends until the commit. */
export async function lockAudit(tx: Tx): Promise<void> {
  await tx.updateTable('counters').set({ name: COUNTER }).where('name', '=', COUNTER).execute()
}

export async function lastAudit(reader: Reader): Promise<AuditEntryRow | null> {
  const rows = reader.selectFrom('audit_entries').selectAll()
  return (await rows.orderBy('sequence', 'desc').limit(1).executeTakeFirst()) ?? null
}

export function pageAudit(
  reader: Reader,
  request: PageRequest & { action?: string | undefined; order?: ListOrder | undefined },
): Promise<StoredPage<AuditEntryRow>> {
  let query = reader.selectFrom('audit_entries').selectAll()
  if (request.action !== undefined) query = query.where('action', '=', request.action)
  const { limit, cursor, order } = request
  // The response contains the details twice, once as text in which every quote is escaped.
  const weights = { details_json: 3 }
  const list = filteredList('audit_entries', { action: request.action })
  return readPage({ query, list, place: 'sequence', weights, limit, cursor, order })
}
