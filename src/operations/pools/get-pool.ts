/** Reads one pool: its stored record joined with the chain. One without a record is read only from the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import type { Context } from '../../context.ts'
import { findPool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { isoTimeOrNull, requireRecord } from '../api-records.ts'
import { foreignPool, readPools, readPoolsIfTimely, storedPoolWithChain } from './on-chain.ts'

type GetPoolRoute = Api['pools']['get']

/** If the node fails or is slow, a stored pool is returned without its chain state. One of another chain is not here. */
export async function getPool(context: Context, { address }: Input<GetPoolRoute>): Promise<Result<GetPoolRoute>> {
  const { store, chain, log } = context
  const row = await findPool(store.db, address)
  const genesis = row && (await optionalRead(log, 'a pool was read without its chain', () => chain.genesisHash()))
  if (row !== null && (genesis === null || row.genesis === genesis)) {
    const stored = storedPoolWithChain(row, (await readPoolsIfTimely(context, [address]))[0] ?? null)
    const isWaiting = row.status === 'migration_triggered' || (row.status === 'live' && stored.curve_progress === 1)
    return isWaiting ? { ...stored, migration: waitingMigration(context, row) } : stored
  }
  const [onChain = null] = await readPools(chain, [address])
  return foreignPool(chain, requireRecord(onChain, 'pool', address))
}

function waitingMigration(
  { config }: Pick<Context, 'config'>,
  { crank_failures, crank_error, next_check_at }: Row<'pools'>,
) {
  const [sent_here, failures] = [config.values['pools.crank'], Number(crank_failures)]
  const hasFailed = sent_here && failures > 0
  return {
    sent_here,
    failures,
    refusal: hasFailed ? crank_error : null,
    next_try_at: hasFailed ? isoTimeOrNull(next_check_at) : null,
  }
}
