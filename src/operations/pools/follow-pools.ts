/** Follows pools through their states: live on chain, full, migrated, or failed. */
import { Overtaken } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { duePools, isAnyPoolDue, planPoolCheck } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { crankPool, type PoolServices } from './crank.ts'
import { type ChainPool, readPools } from './on-chain.ts'
import { takeSteps } from './take-steps.ts'
import { POOL_CHECK_MS } from './transitions.ts'

/** Pools in one round. */
const POOLS_PER_ROUND = 100

/**
 * Runs one round over the pools that are due. A pool that fails is logged and due again, and does not stop the others.
 * Throws internal_error when the node fails.
 */
export async function followPools(
  services: PoolServices,
  { signal, report }: { signal?: AbortSignal; report?(error: unknown): void } = {},
): Promise<void> {
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
      // Another daemon was first with the migration, and will look at the pool next.
      if (error instanceof Overtaken) {
        log.debug({ pool: row.address, why: error.message }, 'another process has taken over a pool')
        continue
      }
      log.error({ err: error, pool: row.address }, 'a pool could not be followed')
      report?.(new Error(`pool ${row.address}: ${error instanceof Error ? error.message : String(error)}`))
      await store.write((tx) => planPoolCheck(tx, [row.address], clock.now() + MINUTE_MS, clock.now()))
    }
  }
}

async function followPool(services: PoolServices, row: Row<'pools'>, chainPool: ChainPool | null): Promise<void> {
  const { store, clock, config } = services
  const now = await takeSteps(services, row, chainPool)
  if (now.status === row.status)
    await store.write((tx) => planPoolCheck(tx, [row.address], clock.now() + POOL_CHECK_MS))
  if (config.values['pools.crank'] && now.status === 'migration_triggered' && chainPool?.type === 'dbc') {
    await crankPool(services, now, chainPool.pool)
  }
}
