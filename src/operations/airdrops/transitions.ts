/** The steps of an airdrop's life, each with the drafts of its events for the same database transaction; reported once, whoever notices first. */
import type { AirdropStatus } from '../../api/airdrops.ts'
import { AIRDROP_STATUSES } from '../../api/airdrops.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import { findAirdrop, moveAirdrop } from '../../store/airdrops.ts'
import { type EventDraft, type EventOrigin, isEventWritten } from '../../store/event-drafts.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { storedAirdrop } from '../api-records.ts'

export type AirdropRow = Row<'merkle_trees'>

export const airdropRank = (status: AirdropStatus): number => AIRDROP_STATUSES.indexOf(status)

/** The stored status on the chain with this genesis hash: what another chain, or one that was reset, has shown counts for nothing. */
export const airdropStatusOn = (
  { status, genesis }: Pick<AirdropRow, 'status' | 'genesis'>,
  here: string,
): AirdropStatus => (genesis === '' || genesis === here ? status : 'tree_built')

/** What is known of a distributor whose root is the tree's. */
export interface AirdropFacts {
  isClaimed?: boolean
  isFull?: boolean
  isDrained?: boolean
}

/** Where the facts were read: in a transaction, or in the distributor's account. */
export interface AirdropEvidence extends ChainEvidence {
  /** Genesis hash of the chain. */
  genesis: string
  /** When to look at it again, in Unix milliseconds. */
  next: number | null
  slot: number
  /** Who made the distributor, where that is known. */
  admin?: string
  /** The submission, where there is one: its events echo what came with it, and not what came with the tree. */
  origin?: EventOrigin
}

/** The row as it is then, and a draft for every state that it passed and that was not reported before. */
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
      // A state is reported once on a chain, whoever noticed it: the tree may have been stored only afterwards.
      const about = { resource_type: 'airdrop', resource_id: row.id, object, dedupe_by: genesis, origin }
      return { row: moved, drafts: types.map((type) => chainDraft({ slot, signature }, { type, ...about })) }
    }
    const current = await findAirdrop(tx, row.id)
    // Another tree is stored under this id by now.
    if (current === null || current.root !== row.root) return { row, drafts: [] }
    row = current
  }
}

/** After the last state none is reported any more: of an airdrop that was drained before its tree was stored, all is over. */
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
