/** The steps of a gold lock's life, each with the drafts of its events for the same database transaction; taken once, whoever notices first. */
import type { EventType } from '../../api/event-types.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import type { EventDraft, EventOrigin } from '../../store/event-drafts.ts'
import { type GoldLockRow, moveGoldLock } from '../../store/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import { goldLockRecord } from '../api-records.ts'

/** `next_check_at` is when to look whether it is still there, in Unix milliseconds. */
export function markGoldUnlockable(
  tx: Tx,
  row: GoldLockRow,
  evidence: ChainEvidence,
  next_check_at: number,
): Promise<EventDraft[]> {
  return moveLock(tx, row, { status: 'unlockable', next_check_at }, (moved) => [unlockableDraft(moved, evidence)])
}

/** Of a lock that can be unlocked: its time has come without a transaction. */
const unlockableDraft = (row: GoldLockRow, { slot }: ChainEvidence): EventDraft =>
  goldLockDraft('gold.unlock_eligible', { ...row, status: 'unlockable' }, { slot }, row.signature)

/**
 * An unlocking has one event, whether its transaction was followed or found: its signature shows that it is the same. Its
 * origin is the submission of that transaction, else the lock's. That the lock could be unlocked is reported before it.
 */
export function markGoldUnlocked(
  tx: Tx,
  row: GoldLockRow,
  evidence: ChainEvidence,
  origin: EventOrigin = row,
): Promise<EventDraft[]> {
  const dedupeBy = evidence.signature ?? `after ${row.signature}`
  return moveLock(tx, row, { status: 'unlocked', next_check_at: null }, (moved) => [
    ...(row.status === 'locked' ? [unlockableDraft(row, evidence)] : []),
    { ...goldLockDraft('gold.unlocked', moved, evidence, dedupeBy), origin },
  ])
}

async function moveLock(
  tx: Tx,
  row: GoldLockRow,
  changes: Pick<GoldLockRow, 'status' | 'next_check_at'>,
  draftsOf: (moved: GoldLockRow) => EventDraft[],
): Promise<EventDraft[]> {
  if (row.status === changes.status || !(await moveGoldLock(tx, row, changes))) return []
  return draftsOf({ ...row, ...changes })
}

/** Events are about the wallet, as GET /v2/gold-locks/{user} is. */
export const goldLockDraft = (
  type: EventType,
  row: GoldLockRow,
  { slot, signature }: ChainEvidence,
  dedupe_by: string,
): EventDraft =>
  chainDraft(
    { slot, signature },
    { type, resource_type: 'gold_lock', resource_id: row.user, object: goldLockRecord(row), dedupe_by, origin: row },
  )
