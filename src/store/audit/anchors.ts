/**
 * Anchors of the audit log: the places where it was cut, sealed with the vault's key, so that the remaining log can
 * still be verified.
 */

import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import type { Sealing } from './entries.ts'

export type AuditAnchor = Row<'audit_anchors'>

const anchorSeal = (vault: Sealing, { sequence, hash, at, policies_json, cut_at }: Omit<AuditAnchor, 'seal'>): string =>
  vault.mac(JSON.stringify([sequence, hash, at, policies_json, cut_at]), 'audit anchor')

/** Whether this installation made the anchor. */
export const anchorHolds = (vault: Sealing, anchor: AuditAnchor): boolean => anchor.seal === anchorSeal(vault, anchor)

/** Returns all anchors, the oldest first; each cut adds one. */
export const findAnchors = (reader: Reader): Promise<AuditAnchor[]> =>
  reader.selectFrom('audit_anchors').selectAll().orderBy('sequence').execute()

/** Returns the anchor at which the stored log begins, or null if it was never cut. */
export async function lastAnchor(reader: Reader): Promise<AuditAnchor | null> {
  const anchors = reader.selectFrom('audit_anchors').selectAll().orderBy('sequence', 'desc')
  return (await anchors.limit(1).executeTakeFirst()) ?? null
}

export async function insertAnchor(tx: Tx, vault: Sealing, anchor: Omit<AuditAnchor, 'seal'>): Promise<void> {
  await tx
    .insertInto('audit_anchors')
    .values({ ...anchor, seal: anchorSeal(vault, anchor) })
    .execute()
}

/** Removes up to `limit` entries before the last anchor, if the anchor is valid. Returns their number. */
export async function pruneCutEntries(tx: Tx, vault: Sealing, limit: number): Promise<number> {
  const anchor = await lastAnchor(tx)
  if (anchor === null || !anchorHolds(vault, anchor)) return 0
  const cut = tx.selectFrom('audit_entries').select('sequence').where('sequence', '<=', anchor.sequence)
  const some = tx.deleteFrom('audit_entries').where('sequence', 'in', cut.orderBy('sequence').limit(limit))
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}
