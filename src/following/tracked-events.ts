/** Events that a transaction's sender asked for: each is emitted, unless the chain's own event already stands for it. */
import type { TrackedResource } from '../api/index.ts'
import { findAirdrop } from '../store/airdrops.ts'
import { findPool } from '../store/pools.ts'
import type { Tx } from '../store/store.ts'
import type { Followed } from '../store/transactions.ts'
import { statusOf } from '../operations/airdrops/transitions.ts'
import { isTold, type LateEmission } from '../store/event-drafts.ts'
import type { AirdropChange } from '../operations/airdrops/projection.ts'
import type { PoolChange } from '../operations/pools/projection.ts'

type EventType = TrackedResource['related_events'][number]

interface Landed {
  row: Followed
  slot: number
  hint: TrackedResource
  pools: readonly PoolChange[]
  airdrops: readonly AirdropChange[]
  /** What the chain shows of this landing, in the order in which it is going to be told. */
  told: readonly LateEmission[]
}

/** One event for each type, resource and signature: `source: "hint"` is only what nothing else tells (spec 4, contract 6). */
export async function hintedEvents(tx: Tx, landed: Landed): Promise<LateEmission[]> {
  const { row, slot, hint } = landed
  const { resource_type, resource_id, related_events } = hint
  const object = { slot, signature: row.signature, source: 'hint' }
  const hinted: LateEmission[] = []
  for (const type of related_events) {
    if (await isShown(tx, type, landed)) continue
    hinted.push({ type, resource_type, resource_id, object, occasion: row.signature, of: row })
  }
  return hinted
}

async function isShown(tx: Tx, type: EventType, landed: Landed): Promise<boolean> {
  const { told, row, hint } = landed
  const { resource_type, resource_id } = hint
  const own = told.filter(
    (each) => each.type === type && each.resource_type === resource_type && each.resource_id === resource_id,
  )
  for (const event of own) {
    // Under another occasion it may have been told of an earlier transaction, and is not told again.
    if (event.occasion === row.signature || !(await isTold(tx, event))) return true
  }
  return wasNoticed(tx, type, landed)
}

/** Whether this transaction made the state that a worker has seen, and told of, before the transaction itself was looked at. */
async function wasNoticed(tx: Tx, type: EventType, { row, hint, pools, airdrops }: Landed): Promise<boolean> {
  const { resource_type, resource_id } = hint
  if (resource_type === 'pool' && type === 'pool.live') {
    const isMade = pools.some((change) => change.kind === 'pool_created' && change.pool === resource_id)
    return isMade && (await findPool(tx, resource_id)) !== null
  }
  const kind = resource_type === 'airdrop' ? MADE_BY[type] : undefined
  if (kind === undefined) return false
  const tree = await findAirdrop(tx, resource_id)
  if (tree === null) return false
  const isMade = airdrops.some((change) => change.kind === kind && change.distributor === tree.distributor)
  const status = statusOf(tree, row.genesis)
  return isMade && (kind === 'created' ? status !== 'tree_built' : status === 'vault_drained')
}

const MADE_BY: Partial<Record<EventType, AirdropChange['kind']>> = {
  'airdrop.initialized': 'created',
  'airdrop.vault_drained': 'clawed_back',
}
