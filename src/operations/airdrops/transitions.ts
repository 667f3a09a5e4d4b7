/** Advances an airdrop through its states, with the drafts of the events for the same database transaction. Each state is reported once, whoever observes it first. */
import type { AirdropStatus } from '../../api/airdrops.ts'
import { AIRDROP_STATUSES } from '../../api/airdrops.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import { findAirdrop, moveAirdrop } from '../../store/airdrops/airdrops.ts'
import { type EventDraft, type EventOrigin, isEventWritten } from '../../store/events/drafts.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { storedAirdrop } from '../api-records.ts'

export type AirdropRow = Row<'merkle_trees'>

export const airdropRank = (status: AirdropStatus): number => AIRDROP_STATUSES.indexOf(status)

/**
 * Returns the stored status on the chain with this genesis hash. States of another chain, or of one that was reset,
 * are ignored.
 */
export const airdropStatusOn = (
  { status, genesis }: Pick<AirdropRow, 'status' | 'genesis'>,
  here: string,
): AirdropStatus => (genesis === '' || genesis === here ? status : 'tree_built')

/** The facts about a distributor whose root is the tree's. */
export interface AirdropFacts {
  isClaimed?: boolean
  isFull?: boolean
  isDrained?: boolean
}

/** The source of the facts: a transaction, or the distributor's account. */
export interface AirdropEvidence extends ChainEvidence {
  /** Genesis hash of the chain. */
  genesis: string
  /** Time of the next look in Unix milliseconds, or null for none. */
  next: number | null
  slot: number
  /** Admin of the distributor, if known. */
  admin?: string
  /** Origin of the submission, if any. Its events carry that request's fields instead of the tree's. */
  origin?: EventOrigin
}

/** Returns the updated row, and a draft for every newly passed state that was not reported before. */
export async function advanceAirdrop(
  tx: Tx,
  tree: AirdropRow,
  distributor: string,
  facts: AirdropFacts,
  { genesis, next, slot, signature, admin, origin = tree }: AirdropEvidence,
): Promise<{ row: AirdropRow; drafts: EventDraft[] }> {
  for (let row = tree; ; ) {
    const before = airdropStatusOn(row, genesis)
    const status = statusOfFacts(facts)
    if (airdropRank(status) <= airdropRank(before)) return { row, drafts: [] }
    const next_check_at = status === 'vault_drained' ? null : next
    const changes = { status, genesis, distributor, next_check_at }
    if (await moveAirdrop(tx, row, changes)) {
      const moved: AirdropRow = { ...row, ...changes }
      const object = { ...storedAirdrop(moved), distributor, ...(admin === undefined ? {} : { admin }) }
      const types = (await isDrainReported(tx, row.id, genesis)) ? [] : eventsBetween(before, facts)
      // A state is reported once per chain, whoever observed it, because the tree may have been stored afterwards.
      const about = { resource_type: 'airdrop', resource_id: row.id, object, dedupe_by: genesis, origin }
      return { row: moved, drafts: types.map((type) => chainDraft({ slot, signature }, { type, ...about })) }
    }
    const current = await findAirdrop(tx, row.id)
    // Another tree has been stored under this id meanwhile.
    if (current === null || current.root !== row.root) return { row, drafts: [] }
    row = current
  }
}

/**
 * Nothing is reported after the last state, so an airdrop that was drained before its tree was stored has no events.
 */
export const isDrainReported = (tx: Tx, id: string, genesis: string): Promise<boolean> =>
  isEventWritten(tx, {
    type: 'airdrop.vault_drained',
    resource_type: 'airdrop',
    resource_id: id,
    dedupe_by: genesis,
  })

export function statusOfFacts({ isClaimed, isFull, isDrained }: AirdropFacts): AirdropStatus {
  if (isDrained) return 'vault_drained'
  if (isFull) return 'fully_claimed'
  return isClaimed ? 'claiming' : 'initialized'
}

function eventsBetween(before: AirdropStatus, { isClaimed, isFull, isDrained }: AirdropFacts) {
  const isAhead = (status: AirdropStatus) => airdropRank(before) < airdropRank(status)
  return [
    ...(isAhead('initialized') ? (['airdrop.initialized'] as const) : []),
    ...(isClaimed && isAhead('claiming') ? (['airdrop.claim_started'] as const) : []),
    ...(isFull && isAhead('fully_claimed') ? (['airdrop.fully_claimed'] as const) : []),
    ...(isDrained && isAhead('vault_drained') ? (['airdrop.vault_drained'] as const) : []),
  ]
}
