/** Follows pools through their states: live on chain, full, migrated, or failed. */
import type { DbcPool } from '../../chain/programs/dbc/index.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { Overtaken } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { duePools, findPool, isAnyPoolDue, planPoolCheck } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { type SendingRound, sendEach, type WorkerServices } from '../signing/worker-signing.ts'
import { crankPool } from './crank.ts'
import { type ChainPool, readPools } from './on-chain.ts'
import { type PoolStep, stepsOf, writeSteps } from './take-steps.ts'
import { POOL_CHECK_MS } from './transitions.ts'

/** Pools in one round, which are read in one call. */
const POOLS_PER_ROUND = 100

/** A pool that waits for its migration, as this round has written it. */
interface FullPool {
  row: Row<'pools'>
  curve: DbcPool
}

/** Runs one round over the pools that are due, then sends the migrations of the full ones. Throws as `follow` does. */
export async function followPools(services: WorkerServices, options: SendingRound = {}): Promise<void> {
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
    await follow(services, rounds, options.signal)
  } finally {
    if (config.values['pools.crank']) {
      await sendEach(services, 'pool', full, options, (_, pool) => crankFull(services, pool))
    }
  }
}

/** Sends the next step of a full curve, unless another daemon has changed the pool since this round wrote it. */
async function crankFull(services: WorkerServices, { row, curve }: FullPool): Promise<void> {
  const { store, clock } = services
  const { address } = row
  if ((await findPool(store.db, address))?.status !== 'migration_triggered') return
  await crankPool(services, row, curve).catch(async (error) => {
    if (!(error instanceof Overtaken)) {
      await store.write((tx) => planPoolCheck(tx, [address], clock.now() + MINUTE_MS, clock.now()))
    }
    throw error
  })
}
