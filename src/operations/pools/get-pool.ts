/** Reads one pool: its stored record joined with the chain. One without a record is read only from the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findPool } from '../../store/resources/pools.ts'
import { requireRecord } from '../require-record.ts'
import { foreignPool, readPools, readPoolsIfTimely, storedPoolWithChain } from './on-chain.ts'

type GetPoolRoute = Api['pools']['get']

/** If the node fails or is slow, a stored pool is returned without its chain state. */
export async function getPool(context: Context, { address }: Input<GetPoolRoute>): Promise<Result<GetPoolRoute>> {
  const { store, chain } = context
  const row = await findPool(store.db, address)
  if (row !== null) return storedPoolWithChain(row, (await readPoolsIfTimely(context, [address]))[0] ?? null)
  const [onChain = null] = await readPools(chain, [address])
  return foreignPool(chain, requireRecord(onChain, 'pool', address))
}
