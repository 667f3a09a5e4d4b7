/** Launches of a mint that the caller chose: it may be built again until it is submitted, and its pool can be the same. */
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { findPool, launchesOfKeys, movePool } from '../../store/resources/pools.ts'
import { isUnderWay } from '../../store/resources/tickers.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { submittedSinceOf } from './tickers.ts'

/** The row of a launch that is built. */
export type NewPool = Omit<Row<'pools'>, 'seq' | 'crank_error'>

/** Throws bad_request if a launch of this mint was submitted and can still land: only one of the two could. */
export async function requireUnsent(context: Context, tx: Tx, { base_mint, genesis }: NewPool): Promise<void> {
  for (const pool of await launchesOfKeys(tx, [base_mint])) {
    if (pool.genesis !== genesis || !(await isUnderWay(tx, pool, submittedSinceOf(context)))) continue
    throw refused(pool, 'was submitted: wait until it is live or has failed')
  }
}

/**
 * Puts the new build in the place of one that was not submitted: without a config of its own, a mint has the same pool
 * again. Throws bad_request if that is the launch of another creator, or is on chain.
 */
export async function replaceUnsent(tx: Tx, fresh: NewPool): Promise<Row<'pools'>> {
  const { address, ...changes } = fresh
  const before = await findPool(tx, address)
  if (before === null) throw new Error('a pool of new keys exists already')
  const isOpen = before.genesis === fresh.genesis && (before.status === 'failed' || before.status === 'pending')
  if (!isOpen) throw refused(before, 'is launched already')
  if (before.status === 'pending' && before.creator !== fresh.creator)
    throw refused(before, `is being launched by ${before.creator}`)
  if (!(await movePool(tx, before, changes))) throw refused(before, 'has changed meanwhile')
  return { ...before, ...fresh }
}

const refused = ({ address, base_mint }: Row<'pools'>, why: string) =>
  badRequest(`base_mint: the pool ${address} of the mint ${base_mint} ${why}, or give the address of a new key`, {
    param: 'base_mint',
    details: { pool_address: address },
  })
