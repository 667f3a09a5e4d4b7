/** `svc pools progress`: the curve of a pool and the pool's position on it. */

import { paths } from '../../src/api/paths.ts'
import type { CurveProgress, Pool } from '../../src/api/pools.ts'
import { groupedShortOf, percentOf, poolState } from '../../src/solana/launch-curve.ts'
import { poolAddress, required, verb } from '../cli/command.ts'
import { drawCurve, drawingWidth } from '../ui/curve.ts'
import { printable } from '../ui/render.ts'

export const progress = verb({
  about: 'Draw the curve of a pool and how far it is filled',
  details: 'With --json or -o plain the figures alone.',
  calls: [paths.pools.curveProgress, paths.pools.get],
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools progress CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools progress CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 -o plain',
  ],
  async run({ address }, { client }) {
    const { data } = await client.pools.curveProgress({ address })
    const { data: pool } = await client.pools.get({ address })
    const drawn = progressLines(pool, data, drawingWidth())
    return drawn === null ? { data } : { data, text: drawn.join('\n') }
  },
})

/** The lines of a pool's progress; null for a pool whose state cannot be read. */
export function progressLines(
  pool: Pick<Pool, 'type' | 'state' | 'symbol' | 'status'> & { quote_mint?: string },
  { progress, migration_market_cap_usd: usd }: Pick<CurveProgress, 'progress' | 'migration_market_cap_usd'>,
  width: number,
): string[] | null {
  const { price, curve, quote } = poolState(pool)
  if (curve === null) return null
  const { raised, threshold, shape } = curve
  const name = pool.symbol === null ? '' : `${printable(pool.symbol)}  `
  const cap = usd === undefined ? '' : `  migrates at a market cap of ${Math.floor(usd)} USD`
  return [
    `${name}${pool.status}  ${percentOf(progress)}  ${groupedShortOf(raised, quote.decimals)} of ${groupedShortOf(threshold, quote.decimals)} ${quote.unit}`,
    `price ${price ?? 'unknown'} ${quote.unit}${cap}`,
    '',
    ...drawCurve(shape, raised, width),
  ]
}
