/** The steps of a gold lock's life, each with the event that its caller writes in the same transaction; taken once, whoever notices first. */
import type { EventType } from '../../api/envelope.ts'
import { moveGoldLock } from '../../store/gold-locks.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { goldLockRecord } from '../api-records.ts'
import type { LateEmission } from '../emit.ts'

type GoldLockRow = Row<'gold_locks'>

/** What was seen on the chain; without a signature where no transaction is known for it. */
export interface Seen {
  slot: number
  signature?: string | undefined
}

/** `next_check_at` is when to look whether it is still there, in Unix milliseconds. */
export function markUnlockable(tx: Tx, row: GoldLockRow, seen: Seen, next_check_at: number): Promise<LateEmission[]> {
  return move(tx, row, { status: 'unlockable', next_check_at }, (now) => [eligible(now, seen)])
}

/** Of a lock that can be unlocked: the time has come without a transaction. */
const eligible = (row: GoldLockRow, { slot }: Seen): LateEmission =>
  goldLockEvent('gold.unlock_eligible', { ...row, status: 'unlockable' }, { slot }, row.signature)

/**
 * An unlocking has one event, whether its transaction was followed or found: its signature tells that it is the same.
 * `of` is where it originates: the submit of its transaction, else of the lock. That it could be unlocked is told before it.
 */
export function markUnlocked(
  tx: Tx,
  row: GoldLockRow,
  seen: Seen,
  of: LateEmission['of'] = row,
): Promise<LateEmission[]> {
  const occasion = seen.signature ?? `after ${row.signature}`
  return move(tx, row, { status: 'unlocked', next_check_at: null }, (now) => [
    ...(row.status === 'locked' ? [eligible(row, seen)] : []),
    { ...goldLockEvent('gold.unlocked', now, seen, occasion), of },
  ])
}

async function move(
  tx: Tx,
  row: GoldLockRow,
  changes: Pick<GoldLockRow, 'status' | 'next_check_at'>,
  eventsOf: (now: GoldLockRow) => LateEmission[],
): Promise<LateEmission[]> {
  if (row.status === changes.status || !(await moveGoldLock(tx, row, changes))) return []
  return eventsOf({ ...row, ...changes })
}

/** Events are about the wallet, as GET /v2/gold-locks/{user} is. */
export function goldLockEvent(
  type: EventType,
  row: GoldLockRow,
  { slot, signature }: Seen,
  occasion: string,
): LateEmission {
  const object = {
    ...goldLockRecord(row),
    slot,
    ...(signature === undefined ? {} : { signature }),
    source: 'chain',
  }
  return { type, resource_type: 'gold_lock', resource_id: row.user, object, occasion, of: row }
}
