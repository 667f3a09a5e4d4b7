/** What a confirmed transaction did to pools: launches that are live now, and fees that were claimed. */
import { type DammV2Change, dammV2ChangesIn } from '../../../chain/programs/damm-v2/index.ts'
import { type DbcChange, dbcChangesIn } from '../../../chain/programs/dbc/index.ts'
import type { Clock, Services } from '../../../context.ts'
import type { DecodedMessage } from '../../../solana/messages.ts'
import { findClaimBySignature, insertFeeClaim } from '../../../store/fee-claims.ts'
import { newId } from '../../../store/id.ts'
import { findPool } from '../../../store/pools.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import { feeClaimRecord } from '../../api-records.ts'
import type { LateEmission } from '../../emit.ts'
import { markLive } from '../../pools/transitions.ts'

export type PoolChange = DbcChange | DammV2Change

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export const poolChangesIn = (message: DecodedMessage): PoolChange[] => [
  ...dbcChangesIn(message),
  ...dammV2ChangesIn(message),
]

/** Writes the records and answers the events. */
export async function writePoolChanges(
  tx: Tx,
  at: Pick<Services, 'clock' | 'config'>,
  row: Followed,
  slot: number,
  changes: readonly PoolChange[],
): Promise<LateEmission[]> {
  const told: LateEmission[] = []
  const seen = { slot, signature: row.signature }
  for (const change of changes) {
    if (change.kind === 'pool_created') {
      const pool = await findPool(tx, change.pool)
      if (pool !== null) told.push(...(await markLive(at, tx, pool, seen)).told)
    }
    if (change.kind === 'claim' || change.kind === 'surplus') {
      told.push(...(await recordClaim(tx, at.clock, row, slot, change)))
    }
  }
  return told
}

/** One record for each pool that a transaction claims from, however many positions it has there. */
async function recordClaim(
  tx: Tx,
  clock: Clock,
  row: Followed,
  slot: number,
  change: Extract<PoolChange, { kind: 'claim' | 'surplus' }>,
): Promise<LateEmission[]> {
  const { signature, external_uid, metadata_json } = row
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
  const object = {
    ...record,
    kind,
    claimer,
    ...(shares.length > 0 ? { recipients: shares } : {}),
    slot,
    source: 'chain',
  }
  // A hint names the pool: the claim's own event is about the pool too, so that both are one.
  return [{ type, resource_type: 'pool', resource_id: change.pool, object, occasion: signature, of: row }]
}
