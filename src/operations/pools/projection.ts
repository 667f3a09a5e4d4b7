/** Projects confirmed transactions onto pools: launches that are now live, and claimed fees. */
import { type DammV2Change, dammV2ChangesIn } from '../../chain/programs/damm-v2/index.ts'
import { type DbcChange, dbcChangesIn } from '../../chain/programs/dbc/index.ts'
import { confirmedDraft } from '../../following/chain-drafts.ts'
import type { Effects, Projection } from '../../following/projection.ts'
import type { EventDraft } from '../../store/event-drafts.ts'
import { findClaimBySignature, insertFeeClaim } from '../../store/fee-claims.ts'
import { isFollowed } from '../../store/followed-accounts.ts'
import { newId } from '../../store/id.ts'
import { findPool } from '../../store/pools.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { feeClaimRecord } from '../api-records.ts'
import { accountsOfPools } from './followed-accounts.ts'
import { markPoolLive } from './transitions.ts'

type PoolChange = DbcChange | DammV2Change
type PoolEffects = Effects<readonly PoolChange[], never>
type FeeClaimChange = Extract<PoolChange, { kind: 'claim' | 'surplus' }>

const CLAIM_EVENTS = ['fee_claim.executed', 'fee_claim.split_executed'] as const

export const poolProjection: Projection<readonly PoolChange[], never> = {
  async changesIn(message) {
    const changes = [...dbcChangesIn(message), ...dammV2ChangesIn(message)]
    return changes.length === 0 ? null : changes
  },
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    for (const change of effects.changes) {
      if (change.kind === 'pool_created') drafts.push(...(await writeLaunch(tx, effects, change.pool)))
      if (change.kind === 'claim' || change.kind === 'surplus') {
        drafts.push(...(await writeFeeClaim(tx, effects, change)))
      }
    }
    return drafts
  },
  accountsToFollow: accountsOfPools,
  /** A claim of a pool without a record is a stranger's, and so is one of a position that is not followed. */
  async ofRecords(reader, changes, genesis) {
    const kept: PoolChange[] = []
    for (const change of changes) {
      if ((await findPool(reader, change.pool)) === null) continue
      if (!('position' in change) || change.kind !== 'claim' || (await isOfFollowed(reader, change, genesis)))
        kept.push(change)
    }
    return kept.length === 0 ? null : kept
  },
  expectedEvents: (changes) =>
    changes.flatMap((change) => {
      if (change.kind !== 'claim' && change.kind !== 'surplus') return []
      const about = { resource_type: 'pool', resource_id: change.pool }
      return [CLAIM_EVENTS.map((type) => ({ type, ...about }))]
    }),
  async isAlreadyReported(tx, { type, resource_type, resource_id }, { changes }) {
    if (resource_type !== 'pool' || type !== 'pool.live') return false
    const isCreated = changes.some((change) => change.kind === 'pool_created' && change.pool === resource_id)
    return isCreated && (await findPool(tx, resource_id)) !== null
  },
}

/** Anyone can open a position that holds nothing and claim from it, but only its owner can sign for that. */
async function isOfFollowed(
  reader: Reader,
  { position, owner }: Extract<DammV2Change, { kind: 'claim' }>,
  genesis: string,
): Promise<boolean> {
  return (await isFollowed(reader, genesis, owner)) || isFollowed(reader, genesis, position)
}

/** A pool that was not built here has no record. */
async function writeLaunch(tx: Tx, effects: PoolEffects, address: string): Promise<EventDraft[]> {
  const { services, slot, transaction } = effects
  const pool = await findPool(tx, address)
  if (pool === null) return []
  return (await markPoolLive(services, tx, pool, { slot, signature: transaction.signature })).drafts
}

/** Writes one record for each pool that a transaction claims from, whatever the number of positions. */
async function writeFeeClaim(tx: Tx, effects: PoolEffects, change: FeeClaimChange): Promise<EventDraft[]> {
  const { clock } = effects.services
  const { signature, external_uid, metadata_json } = effects.transaction
  if ((await findClaimBySignature(tx, signature, change.pool)) !== null) return []
  const recipients = 'recipients' in change ? change.recipients : []
  const shares = recipients.map(({ recipient, lamports }) => ({ recipient, lamports: String(lamports) }))
  const type = shares.length > 0 ? 'fee_claim.split_executed' : 'fee_claim.executed'
  const claim = await insertFeeClaim(tx, {
    id: newId('fcl'),
    type,
    pool_address: change.pool,
    signature,
    recipients_json: shares.length > 0 ? JSON.stringify(shares) : null,
    occurred_at: clock.now(),
    external_uid,
    metadata_json,
    created_at: clock.now(),
  })
  const { external_uid: _, metadata: __, ...record } = feeClaimRecord(claim)
  const claimer = 'owner' in change ? change.owner : change.feeClaimer
  const kind = 'owner' in change ? 'damm_v2' : change.kind === 'surplus' ? 'surplus' : 'dbc'
  const object = { ...record, kind, claimer, ...(shares.length > 0 ? { recipients: shares } : {}) }
  // A claim's request tracks the pool and the claim's own event is about the pool too, so that both are the same event.
  return [confirmedDraft(effects, { type, resource_type: 'pool', resource_id: change.pool, object })]
}
