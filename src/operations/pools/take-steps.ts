/**
 * Takes all steps of pools that one reading of the chain shows, for the worker or for a request that sees them first.
 */
import type { DammV2Pool } from '../../chain/programs/damm-v2/index.ts'
import { type DbcPool, migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import type { Services } from '../../context.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { BLOCKHASH_LIFE_MS } from '../../solana/lifetimes.ts'
import { writeEvents } from '../../store/events/drafts.ts'
import { findPool, lastTracked, poolsOfMint } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { CLOCK_SLACK_MS } from '../../store/writing/future-moments.ts'
import { firstSeen } from './first-seen.ts'
import { type ChainPool, isFull, readPools } from './on-chain.ts'
import {
  markMigrationTriggered,
  markPoolFailed,
  markPoolLive,
  markPoolMigrated,
  type PoolTransition,
} from './transitions.ts'

type StepServices = Pick<Services, 'store' | 'chain' | 'clock' | 'config'>

/**
 * Takes the steps and returns the resulting record. Each step is written with its event in its own database
 * transaction.
 */
export async function takeSteps(
  services: StepServices,
  row: Row<'pools'>,
  chainPool: ChainPool | null,
): Promise<Row<'pools'>> {
  const { store, clock } = services
  const next = await poolStep(services, row, chainPool)
  if (next === null) return row
  const now = await store.write(async (tx) => {
    const moved = await next(tx)
    await writeEvents(tx, clock, moved.drafts)
    return moved.row
  })
  return now.status === row.status ? now : takeSteps(services, now, chainPool)
}

/**
 * Returns the launch curve that migrated to the pool, or null if it was launched by another tool or directly. Nothing
 * on chain names the curve. If the record lags, the curve is searched among those of the same mint, and its steps are
 * taken.
 */
export async function curveBehind(
  services: StepServices,
  { address, tokenAMint }: DammV2Pool,
): Promise<DbcPool | null> {
  const { store, chain } = services
  const known = await findPool(store.db, address)
  const sources = known === null ? await poolsOfMint(store.db, tokenAMint, await chain.genesisHash()) : [known.dbc_pool]
  for (const found of await readPools(
    chain,
    sources.flatMap((source) => source ?? []),
  )) {
    if (found?.type !== 'dbc' || (await migratedPoolAddress(found.pool)) !== address) continue
    await noteMigration(services, found)
    return found.pool
  }
  return null
}

/** Takes the steps of a migrated curve, so that its pool has a record before claims from it are written. */
export async function noteMigration(services: StepServices, curve: Extract<ChainPool, { type: 'dbc' }>): Promise<void> {
  const row = curve.pool.isMigrated ? await findPool(services.store.db, curve.pool.address) : null
  if (row !== null && row.status !== 'migrated') await takeSteps(services, row, curve)
}

/** Returns the next step that the chain shows, or null. */
async function poolStep(
  services: StepServices,
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

/**
 * Whether the pool's launch was abandoned. Time counts from the end of the last tracking transaction, or from the
 * expiry of the built ones.
 */
async function isAbandoned({ store, clock, config }: StepServices, row: Row<'pools'>): Promise<boolean> {
  const last = await lastTracked(store.db, row.address)
  // One that was never seen ends here too: the pool, which it would have made, is not on the chain.
  const isOpen = last !== null && last.lifecycle !== 'failed' && last.next_check_at !== null && !isUnproven(last)
  if (isOpen) return false
  const now = clock.now()
  // An end in the future was written by a wrong clock.
  const endedAt = last === null || isUnproven(last) ? (last?.created_at ?? 0) + BLOCKHASH_LIFE_MS : last.checked_at
  const lastEnded = last === null || endedAt > now + CLOCK_SLACK_MS ? 0 : endedAt
  const ended = Math.max(row.created_at + BLOCKHASH_LIFE_MS, lastEnded)
  return now - ended >= config.values['pools.pending-minutes'] * MINUTE_MS
}
