/** Follows pools through their states: live on chain, full, migrated, or failed. */
import type { DbcPool } from '../../chain/programs/dbc/index.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { Overtaken } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { duePools, findPool, isAnyPoolDue, planPoolCheck } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { WorkerServices } from '../signing/worker-signing.ts'
import { crankPool } from './crank.ts'
import { type ChainPool, readPools } from './on-chain.ts'
import { type PoolStep, stepsOf, writeSteps } from './take-steps.ts'
import { POOL_CHECK_MS } from './transitions.ts'

/** Pools in one round, which are read in one call. */
const POOLS_PER_ROUND = 100

interface PoolRoundOptions {
  signal?: AbortSignal | undefined
  /** Shows why a migration was not sent, although the round goes on. */
  report?: ((error: unknown) => void) | undefined
}

/** A pool that waits for its migration, as this round has written it. */
interface FullPool {
  row: Row<'pools'>
  curve: DbcPool
}

/** Runs one round over the pools that are due, then sends the migrations of the full ones. Throws as `follow` does. */
export async function followPools(services: WorkerServices, { signal, report }: PoolRoundOptions = {}): Promise<void> {
  const { store, chain, clock, config } = services
  const full = new Map<string, FullPool>()
  const rounds: Follower<
    Row<'pools'>,
    { chainPool: ChainPool | null },
    { steps: PoolStep[]; curve: DbcPool | null }
  > = {
    named: ({ address }) => ({ pool: address }),
    due: async () =>
      (await isAnyPoolDue(store.db, clock.now()))
        ? duePools(store.db, await chain.genesisHash(), clock.now(), POOLS_PER_ROUND)
        : [],
    perRead: POOLS_PER_ROUND,
    async read(rows) {
      const addresses = rows.map(({ address }) => address)
      return (await readPools(chain, addresses)).map((chainPool) => ({ chainPool }))
    },
    decide: async (row, { chainPool }) => ({
      steps: await stepsOf(services, row, chainPool),
      curve: chainPool?.type === 'dbc' ? chainPool.pool : null,
    }),
    isWrittenAlone: true,
    async write(tx, row, { steps, curve }) {
      const taken = await writeSteps(tx, row, steps)
      if (curve !== null && taken.row.status === 'migration_triggered') full.set(row.address, { row: taken.row, curve })
      if (taken.row.status === row.status) await planPoolCheck(tx, [row.address], clock.now() + POOL_CHECK_MS)
      return taken.drafts
    },
    postpone: (tx, { address }, next) => planPoolCheck(tx, [address], next),
  }
  try {
    await follow(services, rounds, signal)
  } finally {
    if (config.values['pools.crank']) await crankAll(services, [...full.values()], { signal, report })
  }
}

/**
 * Sends the next step of each full curve, unless another daemon has changed the pool since this round wrote it. A
 * migration that fails does not stop the others.
 */
async function crankAll(
  services: WorkerServices,
  full: readonly FullPool[],
  { signal, report }: PoolRoundOptions,
): Promise<void> {
  const { store, clock, log } = services
  for (const { row, curve } of full) {
    signal?.throwIfAborted()
    const { address } = row
    const now = await findPool(store.db, address)
    if (now?.status !== 'migration_triggered') continue
    try {
      await crankPool(services, row, curve)
    } catch (error) {
      // Another daemon was first with the migration, and will look at the pool next.
      if (error instanceof Overtaken) {
        log.debug({ pool: address, why: error.message }, 'another process has taken over a pool')
        continue
      }
      log.error({ err: error, pool: address }, 'a pool could not be migrated')
      report?.(new Error(`pool ${address}: ${error instanceof Error ? error.message : String(error)}`))
      await store.write((tx) => planPoolCheck(tx, [address], clock.now() + MINUTE_MS, clock.now()))
    }
  }
}
