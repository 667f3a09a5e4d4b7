/** Follows pools through their states: live on chain, full, migrated, or failed. */
import { migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import { ApiError } from '../../errors.ts'
import { writeEvents } from '../../store/event-drafts.ts'
import { CLOCK_SLACK_MS } from '../../store/future-moments.ts'
import { duePools, isAnyPoolDue, lastTracked, planPoolCheck } from '../../store/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { MINUTE_MS } from '../../timing.ts'
import { crankPool, type PoolServices } from './crank.ts'
import { firstSeen } from './first-seen.ts'
import { type ChainPool, isFull, readPools } from './on-chain.ts'
import {
  markMigrationTriggered,
  markPoolFailed,
  markPoolLive,
  markPoolMigrated,
  POOL_CHECK_MS,
  type PoolTransition,
} from './transitions.ts'

/** Pools in one round. */
const POOLS_PER_ROUND = 100
/** Time for which the blockhash of a built transaction can be used. */
const BUILD_LIFE_MS = 120_000

/**
 * Runs one round over the pools that are due. A pool that fails is logged and due again, and does not stop the others.
 * Throws internal_error when the node fails.
 */
export async function followPools(services: PoolServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock, log } = services
  if (!(await isAnyPoolDue(store.db, clock.now()))) return
  const rows = await duePools(store.db, await chain.genesisHash(), clock.now(), POOLS_PER_ROUND)
  const chainPools = await readPools(
    chain,
    rows.map(({ address }) => address),
  )
  for (const [i, row] of rows.entries()) {
    signal?.throwIfAborted()
    try {
      await followPool(services, row, chainPools[i] ?? null)
    } catch (error) {
      // Another daemon was first with the migration, and looks at the pool next.
      if (error instanceof ApiError && error.code === 'conflict') {
        log.debug({ pool: row.address, why: error.message }, 'a pool is in the hands of another process')
        continue
      }
      log.error({ err: error, pool: row.address }, 'a pool could not be followed')
      await store.write((tx) => planPoolCheck(tx, [row.address], clock.now() + MINUTE_MS, clock.now()))
    }
  }
}

async function followPool(services: PoolServices, row: Row<'pools'>, chainPool: ChainPool | null): Promise<void> {
  const { store, clock, config } = services
  const next = await poolStep(services, row, chainPool)
  const now = await store.write(async (tx) => {
    const moved = next === null ? null : await next(tx)
    if (moved !== null) await writeEvents(tx, clock, moved.drafts)
    else await planPoolCheck(tx, [row.address], clock.now() + poolWaitOf(row))
    return moved?.row ?? row
  })
  if (config.values['pools.crank'] && now.status === 'migration_triggered' && chainPool?.type === 'dbc') {
    await crankPool(services, now, chainPool.pool)
  }
}

/** Takes the next step that the chain shows. A further one is taken at the next look. */
async function poolStep(
  services: PoolServices,
  row: Row<'pools'>,
  chainPool: ChainPool | null,
): Promise<((tx: Tx) => Promise<PoolTransition>) | null> {
  if (row.status === 'pending') {
    if (chainPool !== null) {
      const evidence = await firstSeen(services.chain, row.address)
      return (tx) => markPoolLive(services, tx, row, evidence)
    }
    return (await isAbandoned(services, row)) ? (tx) => markPoolFailed(tx, row) : null
  }
  if (chainPool?.type !== 'dbc') return null
  if (row.status === 'live') return isFull(chainPool.pool) ? (tx) => markMigrationTriggered(services, tx, row) : null
  if (row.status !== 'migration_triggered' || !chainPool.pool.isMigrated) return null
  const migratedTo = await migratedPoolAddress(chainPool.pool)
  const [pool] = await readPools(services.chain, [migratedTo])
  return pool ? (tx) => markPoolMigrated(services, tx, row, migratedTo) : null
}

/** The time counts from the end of the last transaction that tracks the pool, or from the expiry of what was built. */
async function isAbandoned({ store, clock, config }: PoolServices, row: Row<'pools'>): Promise<boolean> {
  const last = await lastTracked(store.db, row.address)
  if (last !== null && last.lifecycle !== 'failed' && last.next_check_at !== null) return false
  const now = clock.now()
  // An end in the future was written by a wrong clock.
  const lastEnded = last === null || last.checked_at > now + CLOCK_SLACK_MS ? 0 : last.checked_at
  const ended = Math.max(row.created_at + BUILD_LIFE_MS, lastEnded)
  return now - ended >= config.values['pools.pending-minutes'] * MINUTE_MS
}

/** Returns the wait until the pool is looked at again. */
function poolWaitOf({ status }: Row<'pools'>): number {
  return POOL_CHECK_MS[status === 'pending' ? 'pending' : status === 'live' ? 'live' : 'triggered']
}
