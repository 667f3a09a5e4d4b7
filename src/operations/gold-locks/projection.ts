/** Projects confirmed transactions onto gold locks: locked and unlocked. */
import { type GoldLockChange, goldLockChangesIn } from '../../chain/programs/jupiter-lock/index.ts'
import type { Effects, Projection } from '../../following/projection.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import type { NewFollowedAccount } from '../../store/following/followed-accounts.ts'
import { newGoldLocks } from '../../store/following/newcomers.ts'
import { findLatestGoldLock, findLiveGoldLock, insertGoldLock, planReplaced } from '../../store/resources/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import { goldLockRecord } from '../api-records.ts'
import { goldLockDraft, markGoldUnlocked } from './transitions.ts'

type GoldLockEffects = Effects<readonly GoldLockChange[], never>

/** Only locks of the configured gold mint are gold locks. */
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
    changes.flatMap(({ kind, user }) =>
      kind === 'locked' ? [[{ type: 'gold.locked', resource_type: 'gold_lock', resource_id: user }]] : [],
    ),
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    for (const change of effects.changes) {
      if (change.kind === 'locked') drafts.push(...(await writeLock(tx, effects, change)))
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
  { escrow, user, mint, amount, unlocksAt }: Extract<GoldLockChange, { kind: 'locked' }>,
): Promise<EventDraft[]> {
  const { signature, genesis, external_uid, metadata_json } = transaction
  const now = services.clock.now()
  const lock = await insertGoldLock(tx, {
    escrow,
    user,
    mint,
    amount: String(amount),
    unlocks_at: unlocksAt * 1000,
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
