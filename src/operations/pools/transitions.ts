/** Advances a pool through its states, with the drafts of the events for the same database transaction. Each step is taken once, whoever observes it first. */
import type { TrackedResource } from '../../api/index.ts'
import type { Services } from '../../context.ts'
import { type ChainEvidence, chainDraft } from '../../following/chain-drafts.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { completeClaims } from '../../store/fees/fee-claims.ts'
import { findPool, insertPool, movePool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { confirmedHints } from '../../store/transactions/transactions.ts'
import { poolRecord } from '../api-records.ts'
import { takeTickerFor, tickerFreeAt, tickerTakenError } from './tickers.ts'

type PoolRow = Row<'pools'>
type PoolStepServices = Pick<Services, 'clock' | 'config'>

/** Least time between two checks of a pool. It is shorter than a round, so the pool is due in each round. */
export const POOL_CHECK_MS = 1_000

/** Why a pool counts as failed: it never landed, or it landed with another pool's ticker. */
interface PoolFailure {
  reason: 'not_seen' | 'ticker_taken'
  message: string
  taken_by: string
  until: string
}

/** The updated row and the drafts of its events. There are no drafts when another process was first. */
export interface PoolTransition {
  row: PoolRow
  drafts: EventDraft[]
}

/**
 * Applies to pending pools, and to failed ones that landed after all. A pool with another pool's ticker was launched
 * without this service and counts as failed, whatever the chain shows.
 */
export async function markPoolLive(
  at: PoolStepServices,
  tx: Tx,
  row: PoolRow,
  evidence: ChainEvidence = {},
): Promise<PoolTransition> {
  if (row.status !== 'pending' && row.status !== 'failed') return { row, drafts: [] }
  const { symbol, genesis, address: pool } = row
  const held = symbol === null ? null : await takeTickerFor(at, tx, { symbol, pool, genesis })
  if (held !== null && symbol !== null)
    return row.status === 'failed' ? { row, drafts: [] } : markTickerTaken(at, tx, { ...row, symbol }, held, evidence)
  const moved = await movePoolTo(tx, row, 'pool.live', { status: 'live', next_check_at: checkAt(at, row) }, evidence)
  if (moved.drafts.length > 0) moved.drafts.push(...(await keptHints(tx, moved.row, evidence)))
  return moved
}

/** The events that hints with the earlier transactions of the launch have named, each once. */
async function keptHints(tx: Tx, row: PoolRow, { slot, signature }: ChainEvidence): Promise<EventDraft[]> {
  const { address: resource_id } = row
  const drafts = new Map<string, EventDraft>()
  for (const hint of await confirmedHints(tx, resource_id)) {
    if (hint.signature === signature) continue
    const { resource_type, related_events }: TrackedResource = JSON.parse(hint.tracked_resource_json)
    if (resource_type !== 'pool') continue
    const by = signature ?? hint.signature
    const object = { ...poolFields(row), slot, signature: by, source: 'hint' }
    for (const type of related_events) {
      if (type !== 'pool.live')
        drafts.set(type, { type, resource_type, resource_id, object, dedupe_by: by, origin: hint })
    }
  }
  return [...drafts.values()]
}

export async function markPoolFailed(tx: Tx, row: PoolRow): Promise<PoolTransition> {
  return movePoolTo(tx, row, 'pool.failed', POOL_FAILED, { reason: 'not_seen' })
}

const POOL_FAILED = { status: 'failed', next_check_at: null } as const

function markTickerTaken(
  at: PoolStepServices,
  tx: Tx,
  row: PoolRow & { symbol: string },
  held: Row<'tickers'>,
  evidence: ChainEvidence,
): Promise<PoolTransition> {
  const { message } = tickerTakenError(at, row.symbol, held)
  const failure = {
    reason: 'ticker_taken',
    message,
    taken_by: held.pool_address,
    until: tickerFreeAt(at, held),
  } as const
  return movePoolTo(tx, row, 'pool.failed', POOL_FAILED, { ...evidence, ...failure })
}

export async function markMigrationTriggered(at: PoolStepServices, tx: Tx, row: PoolRow): Promise<PoolTransition> {
  const next_check_at = at.clock.now() + POOL_CHECK_MS
  return movePoolTo(tx, row, 'pool.migration_triggered', { status: 'migration_triggered', next_check_at })
}

/** Records the pool of a raise, which the chain shows; nothing if it has a record. */
export async function addRaisePool(
  at: PoolStepServices,
  tx: Tx,
  address: string,
  raise: Pick<Row<'raises'>, 'mint' | 'quote_mint' | 'creator' | 'genesis' | 'external_uid' | 'metadata_json'>,
  evidence: ChainEvidence,
): Promise<EventDraft[]> {
  const { mint: base_mint, quote_mint, creator, genesis, external_uid, metadata_json } = raise
  const row = await insertPool(tx, {
    ...{ address, type: 'damm_v2', base_mint, quote_mint, creator, genesis, external_uid, metadata_json },
    ...{ config: null, name: null, symbol: null, metadata_uri: null, status: 'pending', next_check_at: null },
    created_at: at.clock.now(),
  })
  return row === null ? [] : (await markPoolLive(at, tx, row, evidence)).drafts
}

/** Inserts a separate record for the pool that the curve migrated to. */
export async function markPoolMigrated(
  at: PoolStepServices,
  tx: Tx,
  row: PoolRow,
  migratedTo: string,
): Promise<PoolTransition> {
  const changes = { status: 'migrated', migrated_to: migratedTo, next_check_at: null } as const
  const moved = await movePoolTo(tx, row, 'pool.migrated', changes)
  if (moved.drafts.length === 0) return moved
  await insertPool(tx, {
    address: migratedTo,
    type: 'damm_v2',
    base_mint: row.base_mint,
    quote_mint: row.quote_mint,
    config: null,
    creator: row.creator,
    name: row.name,
    symbol: row.symbol,
    metadata_uri: row.metadata_uri,
    status: 'live',
    preset: null,
    migrated_to: null,
    dbc_pool: row.address,
    genesis: row.genesis,
    next_check_at: null,
    crank_signing: null,
    crank_signature: null,
    crank_failures: 0,
    submitted_at: null,
    submitted_signature: null,
    external_uid: row.external_uid,
    metadata_json: row.metadata_json,
    created_at: at.clock.now(),
  })
  await completeClaims(tx, { pool: migratedTo, creator: row.creator })
  return moved
}

/** Only launch curves have further states once they are live. */
const checkAt = ({ clock }: PoolStepServices, { type }: PoolRow): number | null =>
  type === 'dbc' ? clock.now() + POOL_CHECK_MS : null

/** The fields of a pool in its events. */
export function poolFields(row: PoolRow): object {
  const { curve_progress: _, state: __, fee_metrics: ___, ...record } = poolRecord(row)
  return { ...record, ...(row.migrated_to === null ? {} : { migrated_to: row.migrated_to }) }
}

async function movePoolTo(
  tx: Tx,
  row: PoolRow,
  type: 'pool.live' | 'pool.failed' | 'pool.migration_triggered' | 'pool.migrated',
  changes: Parameters<typeof movePool>[2],
  evidence: ChainEvidence & Partial<PoolFailure> = {},
): Promise<PoolTransition> {
  const isMoved = await movePool(tx, row, changes)
  if (!isMoved) return { row: (await findPool(tx, row.address)) ?? row, drafts: [] }
  const now: PoolRow = { ...row, ...changes }
  const object = poolFields(now)
  const about = { resource_type: 'pool', resource_id: row.address, dedupe_by: evidence.signature ?? '', origin: row }
  return { row: now, drafts: [chainDraft(evidence, { type, object, ...about })] }
}
