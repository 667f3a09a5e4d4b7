/** The steps of an airdrop's life, each with the event that its caller writes in the same transaction; told once, whoever notices first. */
import type { AirdropStatus } from '../../api/airdrops.ts'
import { AIRDROP_STATUSES } from '../../api/airdrops.ts'
import { findAirdrop, moveAirdrop } from '../../store/airdrops.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { storedAirdrop } from '../api-records.ts'
import { isTold, type LateEmission } from '../emit.ts'

type Tree = Row<'merkle_trees'>

export const rankOf = (status: AirdropStatus): number => AIRDROP_STATUSES.indexOf(status)

/** The stored status, as far as it was seen on this chain: another one, or one that was reset, says nothing here. */
export const statusOf = ({ status, genesis }: Pick<Tree, 'status' | 'genesis'>, here: string): AirdropStatus =>
  genesis === '' || genesis === here ? status : 'tree_built'

/** What is known of a distributor whose root is the tree's. */
export interface Facts {
  isClaimed?: boolean
  isFull?: boolean
  isDrained?: boolean
}

export interface Seen {
  /** Genesis hash of the chain. */
  genesis: string
  /** When to look at it again. */
  next: number | null
  /** Of the transaction that shows it, or of the reading of its account. */
  slot: number
  /** Absent where the account shows it. */
  signature?: string
  /** Who made the distributor, where that is known. */
  admin?: string
  /** The submission, where there is one: its events echo what came with it, and not what came with the tree. */
  of?: LateEmission['of']
}

/** The row as it is then, and what is to be told: every state that it passed and that was not told before. */
export async function advance(
  tx: Tx,
  tree: Tree,
  distributor: string,
  facts: Facts,
  { genesis, next, slot, signature, admin, of = tree }: Seen,
): Promise<{ row: Tree; told: LateEmission[] }> {
  for (let row = tree; ; ) {
    const old = statusOf(row, genesis)
    const status = reached(facts)
    if (rankOf(status) <= rankOf(old)) return { row, told: [] }
    const next_check_at = status === 'vault_drained' ? null : next
    const changes = { status, genesis, distributor, next_check_at }
    if (await moveAirdrop(tx, row, changes)) {
      const now: Tree = { ...row, ...changes }
      const shown = Object.fromEntries(
        Object.entries({ admin, slot, signature }).filter(([, value]) => value !== undefined),
      )
      const object = { ...storedAirdrop(now), distributor, ...shown, source: 'chain' }
      const types = (await isDrainTold(tx, row.id, genesis)) ? [] : eventsBetween(old, facts)
      const about = { resource_type: 'airdrop', resource_id: row.id, object, of }
      // Once on a chain, whoever told of it: the tree may have been stored only afterwards.
      return { row: now, told: types.map((type) => ({ type, ...about, occasion: genesis })) }
    }
    const again = await findAirdrop(tx, row.id)
    // Another tree stands there by now.
    if (again === null || again.root !== row.root) return { row, told: [] }
    row = again
  }
}

/** A state that comes before one that was told is not told any more: what was withdrawn before its tree was stored is over. */
export const isDrainTold = (tx: Tx, id: string, genesis: string): Promise<boolean> =>
  isTold(tx, { type: 'airdrop.vault_drained', resource_type: 'airdrop', resource_id: id, occasion: genesis })

/** The state that the facts make. */
export function reached({ isClaimed, isFull, isDrained }: Facts): AirdropStatus {
  if (isDrained) return 'vault_drained'
  if (isFull) return 'fully_claimed'
  return isClaimed ? 'claiming' : 'initialized'
}

function eventsBetween(old: AirdropStatus, { isClaimed, isFull, isDrained }: Facts) {
  const before = (status: AirdropStatus) => rankOf(old) < rankOf(status)
  return [
    ...(before('initialized') ? (['airdrop.initialized'] as const) : []),
    ...(isClaimed && before('claiming') ? (['airdrop.claim_started'] as const) : []),
    ...(isFull && before('fully_claimed') ? (['airdrop.fully_claimed'] as const) : []),
    ...(isDrained && before('vault_drained') ? (['airdrop.vault_drained'] as const) : []),
  ]
}
