/** The steps of a pool's life, each with the event that its caller writes in the same transaction; taken once, whoever notices first. */
import type { Services } from '../../context.ts'
import { findPool, insertPool, movePool } from '../../store/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { poolRecord } from '../api-records.ts'
import type { LateEmission } from '../emit.ts'
import { takeTickerFor, tickerFreeAt, tickerTakenError } from './tickers.ts'

type PoolRow = Row<'pools'>
type At = Pick<Services, 'clock' | 'config'>

/** How often a pool is looked at, in milliseconds. */
export const CHECK_MS = { pending: 5_000, live: 10_000, triggered: 5_000 } as const

/** What was seen on the chain, for chain events. */
export interface Seen {
  slot?: number
  signature?: string
}

/** Why a pool counts as failed: never seen on chain, or there with a ticker that another pool has. */
interface Why {
  reason: 'not_seen' | 'ticker_taken'
  message: string
  taken_by: string
  until: string
}

/** The row as it is then, and what is to be told; nothing where another process was first. */
export interface Moved {
  row: PoolRow
  told: LateEmission[]
}

/**
 * Pending pools, and those that were given up and landed all the same. One whose ticker another pool has came past us:
 * it counts as failed, however it stands on the chain.
 */
export async function markLive(at: At, tx: Tx, row: PoolRow, seen: Seen = {}): Promise<Moved> {
  if (row.status !== 'pending' && row.status !== 'failed') return { row, told: [] }
  const { symbol, creator, genesis, address: pool } = row
  const held = symbol === null ? null : await takeTickerFor(at, tx, { symbol, creator, pool, genesis })
  if (held !== null) return row.status === 'failed' ? { row, told: [] } : refused(at, tx, row, held, seen)
  return move(tx, row, 'pool.live', { status: 'live', next_check_at: checkAt(at, row, 'live') }, seen)
}

export async function markFailed(tx: Tx, row: PoolRow): Promise<Moved> {
  return move(tx, row, 'pool.failed', FAILED, { reason: 'not_seen' })
}

const FAILED = { status: 'failed', next_check_at: null } as const

function refused(at: At, tx: Tx, row: PoolRow, held: Row<'tickers'>, seen: Seen): Promise<Moved> {
  const { message } = tickerTakenError(at, row.symbol!, held)
  const why = { reason: 'ticker_taken', message, taken_by: held.pool_address, until: tickerFreeAt(at, held) } as const
  return move(tx, row, 'pool.failed', FAILED, { ...seen, ...why })
}

export async function markTriggered(at: At, tx: Tx, row: PoolRow): Promise<Moved> {
  const next_check_at = at.clock.now() + CHECK_MS.triggered
  return move(tx, row, 'pool.migration_triggered', { status: 'migration_triggered', next_check_at })
}

/** The pool that it migrated to gets a record of its own. */
export async function markMigrated(at: At, tx: Tx, row: PoolRow, migratedTo: string): Promise<Moved> {
  const changes = { status: 'migrated', migrated_to: migratedTo, next_check_at: null } as const
  const moved = await move(tx, row, 'pool.migrated', changes)
  if (moved.told.length === 0) return moved
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
    external_uid: row.external_uid,
    metadata_json: row.metadata_json,
    created_at: at.clock.now(),
  })
  return moved
}

/** Only launch curves have anything ahead of them once they are live. */
function checkAt({ clock }: At, { type }: PoolRow, step: keyof typeof CHECK_MS): number | null {
  return type === 'dbc' ? clock.now() + CHECK_MS[step] : null
}

async function move(
  tx: Tx,
  row: PoolRow,
  type: 'pool.live' | 'pool.failed' | 'pool.migration_triggered' | 'pool.migrated',
  changes: Parameters<typeof movePool>[2],
  seen: Seen & Partial<Why> = {},
): Promise<Moved> {
  const moved = await movePool(tx, row, changes)
  if (!moved) return { row: (await findPool(tx, row.address))!, told: [] }
  const now: PoolRow = { ...row, ...changes }
  const { curve_progress: _, state: __, fee_metrics: ___, ...record } = poolRecord(now)
  const object = {
    ...record,
    ...(now.migrated_to === null ? {} : { migrated_to: now.migrated_to }),
    ...seen,
    source: 'chain',
  }
  const { address: resource_id } = row
  const occasion = seen.signature ?? ''
  return { row: now, told: [{ type, resource_type: 'pool', resource_id, object, occasion, of: row }] }
}
