/** Projects confirmed transactions onto gold locks, and advances them through their states with the events that report it. */
import type { EventType } from '../../api/event-types.ts'
import { type GoldLockChange, goldLockChangesIn } from '../../chain/programs/jupiter-lock/index.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import type { Effects, Projection } from '../../following/projection.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { EventDraft, EventOrigin } from '../../store/events/drafts.ts'
import type { NewFollowedAccount } from '../../store/following/followed-accounts.ts'
import { newGoldLocks } from '../../store/following/newcomers.ts'
import {
  findLatestGoldLock,
  findLiveGoldLock,
  type GoldLockRow,
  insertGoldLock,
  moveGoldLock,
  planReplaced,
} from '../../store/resources/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import { goldLockRecord } from '../api-records.ts'

type GoldLockEffects = Effects<readonly GoldLockChange[], never>

export const goldLockProjection: Projection<readonly GoldLockChange[], never> = {
  async changesIn(message, { services }) {
    const changes = goldLockChangesIn(message, services.config.values['gold.mint'])
    return changes.length === 0 ? null : changes
  },
  async accountsToFollow({ store, clock, config }, { genesis }) {
    const mint = config.values['gold.mint']
    const locks = await newGoldLocks(store.db, { genesis, now: clock.now() })
    return [
      ...locks.map(({ escrow }) => ({ address: escrow, kind: 'lock', watch: 'state' }) as const),
      ...(mint === undefined ? [] : newLocksOf(mint)),
    ]
  },
  async fieldsOf(reader, { resource_type, resource_id }, genesis) {
    const lock = resource_type === 'gold_lock' ? await findLatestGoldLock(reader, resource_id, genesis) : null
    return lock && goldLockRecord(lock)
  },
  expectedEvents: (changes) =>
    changes.flatMap((change) =>
      change.kind === 'created'
        ? [[{ type: 'gold.locked', resource_type: 'gold_lock', resource_id: change.base }]]
        : [],
    ),
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    for (const change of effects.changes) {
      if (change.kind === 'created') drafts.push(...(await writeLock(tx, effects, change)))
      else drafts.push(...(await writeUnlocking(tx, effects, change.escrow)))
    }
    return drafts
  },
}

/**
 * The account of a new lock is not known before. Its transaction is in the history of the mint, among transfers, and
 * in that of the program, among other locks. Only transactions in both are read.
 */
const newLocksOf = (mint: string): NewFollowedAccount[] => [
  { address: mint, kind: 'gold_mint', watch: 'history', beside: PROGRAMS.lock.id },
  { address: PROGRAMS.lock.id, kind: 'lock_program', watch: 'history', beside: mint },
]

async function writeLock(
  tx: Tx,
  { services, transaction, slot }: GoldLockEffects,
  { escrow, base: user, mint, cliffAmount, cliffTime }: Extract<GoldLockChange, { kind: 'created' }>,
): Promise<EventDraft[]> {
  const { signature, genesis, external_uid, metadata_json } = transaction
  const now = services.clock.now()
  const lock = await insertGoldLock(tx, {
    escrow,
    user,
    mint,
    amount: String(cliffAmount),
    unlocks_at: Number(cliffTime) * 1000,
    status: 'locked',
    signature,
    slot,
    genesis,
    next_check_at: null,
    external_uid,
    metadata_json,
    created_at: now,
  })
  if (lock === null) return []
  await planReplaced(tx, lock, now)
  return [goldLockDraft('gold.locked', lock, { slot, signature }, signature)]
}

/** A lock of another tool has no record, and an unlock that the worker saw is already reported. */
async function writeUnlocking(tx: Tx, { transaction, slot }: GoldLockEffects, escrow: string): Promise<EventDraft[]> {
  const { signature, genesis } = transaction
  const findLock = () => findLiveGoldLock(tx, { escrow, genesis, before: slot })
  // If the worker has changed the lock since it was read, it is read again.
  for (let lock = await findLock(); lock !== null; lock = await findLock()) {
    const drafts = await markGoldUnlocked(tx, lock, { slot, signature }, transaction)
    if (drafts.length > 0) return drafts
  }
  return []
}

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
const goldLockDraft = (
  type: EventType,
  row: GoldLockRow,
  { slot, signature }: ChainEvidence,
  dedupe_by: string,
): EventDraft =>
  chainDraft(
    { slot, signature },
    { type, resource_type: 'gold_lock', resource_id: row.user, object: goldLockRecord(row), dedupe_by, origin: row },
  )
