/** Pools and their fees for a terminal, without the raw state of the chain, which is for scripts. */

import type { Pool, PoolFeeMetrics } from '../../src/api/pools.ts'
import {
  groupedShortOf,
  launchState,
  percentOf,
  poolState,
  priceOf,
  type QuoteUnit,
  RAW_UNITS,
  raisedInAll,
  sqrtPriceAt,
} from '../../src/solana/launch-curve.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, ratioOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { drawCurve, drawingWidth } from '../ui/curve.ts'
import { type Drawing, drawingSvg, writePicture } from '../ui/drawing.ts'
import { poolSummary } from './verify.ts'

/** A launch curve is drawn below its record, and written as a picture if `svg` names a file. */
export function poolOutcome(pool: Pool, svg?: string): CommandOutcome {
  const { quote_mint, created_at, metadata, curve_progress } = pool
  const progress = curve_progress === null ? {} : { curve_progress: percentOf(curve_progress) }
  const { price, curve, quote } = poolState(pool)
  return {
    data: pool,
    record: {
      ...poolSummary(pool),
      ...progress,
      ...(price === null ? {} : { price: `${price} ${quote.unit}` }),
      quote_mint,
      created_at,
      metadata,
    },
    ...(curve === null ? {} : { drawing: drawCurve(curve.shape, curve.raised, drawingWidth()) }),
    notes: [RAW, ...(svg === undefined ? [] : curvePicture(pool, svg))],
  }
}

const NO_CURVE = 'There is no launch curve to draw: the pool has none, or the chain was not read.'

function curvePicture(pool: Pool, svg: string): string[] {
  const drawing = curveDrawing(pool)
  return drawing === null ? [NO_CURVE] : writePicture(svg, drawingSvg(drawing))
}

export function metricsOutcome(metrics: PoolFeeMetrics): CommandOutcome {
  const { raw, partner_quote_fee, partner_base_fee, ...rest } = metrics
  const { quote, quote_mint, decimals } = launchState(raw ?? null)
  const base = decimals === null ? RAW_UNITS : { decimals, unit: 'tokens' }
  return {
    data: metrics,
    record: {
      ...rest,
      ...(quote_mint === undefined || quote_mint === WRAPPED_SOL ? {} : { quote_mint }),
      partner_quote_fee: amountIn(partner_quote_fee, quote),
      ...(partner_base_fee === undefined ? {} : { partner_base_fee: amountIn(partner_base_fee, base) }),
    },
    notes: [RAW],
  }
}

const amountIn = (raw: string, { decimals, unit }: QuoteUnit) => `${groupedDecimalOf(BigInt(raw), decimals)} ${unit}`

const RAW = 'The raw state is in the answer with --json.'

// The launch curve of a pool as a drawing for reports: the price over what was raised, and the pool on it.

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
