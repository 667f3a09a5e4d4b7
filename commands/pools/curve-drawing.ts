/** The launch curve of a pool as a drawing for reports: the price over what was raised, and the pool on it. */
import type { Pool } from '../../src/api/pools.ts'
import { ratioOf } from '../cli/amounts.ts'
import { groupedShortOf, priceOf, raisedInAll, sqrtPriceAt } from '../ui/curve.ts'
import type { Drawing } from '../ui/drawing.ts'
import { poolState } from './state.ts'

const STEPS = 100
const LABEL_DIGITS = 4

/** Null for a pool without a launch curve, or without its state. */
export function curveDrawing(
  pool: Pick<Pool, 'type' | 'state' | 'symbol' | 'status'> & { quote_mint?: string },
): Drawing | null {
  const { curve, quote } = poolState(pool)
  if (curve === null) return null
  const { shape, raised, threshold } = curve
  const total = raisedInAll(shape)
  const end = shape.points.at(-1)?.sqrtPrice ?? shape.start
  const [least, most] = [shape.start * shape.start, end * end]
  if (total === 0n || most <= least) return null
  const pointAt = (lamports: bigint) => {
    const sqrtPrice = sqrtPriceAt(shape, lamports)
    return {
      x: ratioOf(lamports < total ? lamports : total, total),
      y: ratioOf(sqrtPrice * sqrtPrice - least, most - least),
    }
  }
  const price = (sqrtPrice: bigint) => priceOf(sqrtPrice, shape.decimals, LABEL_DIGITS, quote)
  const at = sqrtPriceAt(shape, raised)
  return {
    kind: 'line',
    points: Array.from({ length: STEPS + 1 }, (_, i) => pointAt((total * BigInt(i)) / BigInt(STEPS))),
    mark: { ...pointAt(raised), text: `${price(at)} ${quote.unit}, ${pool.status}` },
    labels: {
      title: `${pool.symbol === null ? 'The token' : pool.symbol}: ${quote.unit} for one token`,
      highest: price(end),
      lowest: price(shape.start),
      first: '0',
      last: `${groupedShortOf(threshold, quote.decimals, LABEL_DIGITS)} ${quote.unit} raised`,
    },
  }
}
