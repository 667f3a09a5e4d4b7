/** Advances a gold lock through its states, with the drafts of the events for the same database transaction. Each step is taken once, whoever observes it first. */
import type { EventType } from '../../api/event-types.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import type { EventDraft, EventOrigin } from '../../store/events/drafts.ts'
import { type GoldLockRow, moveGoldLock } from '../../store/resources/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import { goldLockRecord } from '../api-records.ts'

/** `next_check_at` is the time of the next check that the lock still exists, in Unix milliseconds. */
export function markGoldUnlockable(
  tx: Tx,
  row: GoldLockRow,
  evidence: ChainEvidence,
  next_check_at: number,
): Promise<EventDraft[]> {
  return moveLock(tx, row, { status: 'unlockable', next_check_at }, (moved) => [unlockableDraft(moved, evidence)])
}

/** Returns the draft for a lock that can now be unlocked, which happens without a transaction. */
const unlockableDraft = (row: GoldLockRow, { slot }: ChainEvidence): EventDraft =>
  goldLockDraft('gold.unlock_eligible', { ...row, status: 'unlockable' }, { slot }, row.signature)

/**
 * An unlocking has one event with its signature as key, whether its transaction was followed or found. Its origin is
 * the submission of that transaction, else the lock's. The event that the lock can be unlocked comes first.
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

/** Events have the wallet as resource, like GET /v2/gold-locks/{user}. */
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
