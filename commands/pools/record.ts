/** Pools and their fees for a terminal, without the raw state of the chain, which is for scripts. */
import type { Pool, PoolFeeMetrics } from '../../src/api/pools.ts'
import { solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { drawCurve, drawingWidth } from '../ui/curve.ts'
import { drawingSvg, writePicture } from '../ui/drawing.ts'
import { curveDrawing } from './curve-drawing.ts'
import { percentOf, poolState } from './state.ts'
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
      ...{ quote_mint, created_at, metadata },
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
  const { raw, partner_quote_fee, ...rest } = metrics
  return {
    data: metrics,
    record: { ...rest, partner_quote_fee: `${partner_quote_fee} (${solOf(BigInt(partner_quote_fee))} SOL)` },
    notes: [RAW],
  }
}

const RAW = 'The raw state is in the answer with --json.'
