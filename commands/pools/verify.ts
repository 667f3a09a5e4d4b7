/** `svc pools verify`, and waiting until a pool is live. */

import { paths } from '../../src/api/paths.ts'
import type { Pool } from '../../src/api/pools.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { poolState } from '../../src/solana/launch-curve.ts'
import { poolAddress, required, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { EXIT, failure, isTransient } from '../ui/problem.ts'

const VERIFY_PAUSE_MS = 1_000
const LIVE_TIMEOUT_MS = 60_000

export const poolVerifyVerb = verb({
  about: 'Check on chain that a pool is live',
  details: 'A pending pool that is on chain becomes live. Exit code 1 while it is not on chain.',
  calls: [paths.pools.verify],
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools verify CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools verify CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
  ],
  async run({ address }, { client }) {
    const { data } = await client.pools.verify({ address })
    const { verified, pool } = data
    const note = isRefused(pool)
      ? `On chain, but failed: ${TICKER_TAKEN}.`
      : 'Not on chain: once none of its transactions can land any more, launch it again with `svc pools create`.'
    return {
      data,
      rows: {
        columns: ['address', 'verified', 'status', 'base_mint'],
        rows: [[pool.address, verified, pool.status, pool.base_mint]],
      },
      ...(verified ? {} : { notes: [note] }),
      exitCode: verified ? EXIT.done : EXIT.failed,
    }
  },
})

const TICKER_TAKEN = 'another pool has its ticker, and `svc events list --type pool.failed` shows which'

/** Whether a pool is on chain but failed, because another pool has its ticker. */
const isRefused = ({ status, state }: Pool) => status === 'failed' && state !== null && state !== undefined

/** Polls until the pool is live; throws a failure with the next step after a minute. */
export async function untilLive(
  { client, clock, ui }: Session,
  address: string,
  signatures: readonly string[],
): Promise<Pool> {
  const start = clock.now()
  let lastError: ApiError | undefined
  try {
    for (;;) {
      try {
        const { data } = await client.pools.verify({ address })
        if (data.verified) return data.pool
        if (isRefused(data.pool)) {
          throw failure(`the pool ${address} landed, but failed: ${TICKER_TAKEN}`, {
            details: { pool_address: address, signatures },
          })
        }
      } catch (error) {
        if (!isTransient(error)) throw error
        lastError = error
      }
      if (clock.now() - start >= LIVE_TIMEOUT_MS) {
        const why = lastError === undefined ? '' : ` (${lastError.message})`
        throw failure(`the pool ${address} is not live after ${LIVE_TIMEOUT_MS / 1000} seconds${why}`, {
          next: `\`svc pools verify ${address}\` looks again`,
          details: { pool_address: address, signatures },
        })
      }
      ui.waiting(`waiting until ${address} is live`)
      await clock.sleep(VERIFY_PAUSE_MS)
    }
  } finally {
    ui.waiting(null)
  }
}

/** The most important fields of a pool. */
export function poolSummary(pool: Pool): Record<string, unknown> {
  const { address, type, status, base_mint, name, symbol, creator, config, metadata_uri, curve_progress } = pool
  const { price } = poolState(pool)
  return {
    address,
    type,
    status,
    base_mint,
    name,
    symbol,
    creator,
    ...(config === null ? {} : { config }),
    metadata_uri,
    ...(price === null ? {} : { price }),
    ...(curve_progress === null ? {} : { curve_progress }),
  }
}
