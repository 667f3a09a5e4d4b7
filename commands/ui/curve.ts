/** Draws a launch curve as text: the price of the token over the amount raised, and the position of a pool. */

import {
  type CurveShape,
  groupedShortOf,
  priceOf,
  type QuoteUnit,
  raisedInAll,
  SOL_UNIT,
  sqrtPriceAt,
} from '../../src/solana/launch-curve.ts'
import type { Output } from '../cli/standard-output.ts'
import { terminal } from '../cli/terminal.ts'
import { showsBraille } from './plot.ts'

/** The columns of a drawing: the terminal's width, or 80 if the output is not a terminal. */
export const drawingWidth = (stream: Output = terminal().stdout): number => stream.columns ?? 80

const ROWS = 10
const NARROWEST = 24
const WIDEST = 110

/** The characters of a drawing: blocks and lines, or ASCII if the terminal has only that. */
interface Strokes {
  /** From an empty to a full cell. */
  fill: string
  pool: string
  ahead: string
  bar: string
  tick: string
  corner: string
  line: string
  under: string
}

const BLOCK_STROKES: Strokes = {
  fill: ' ▁▂▃▄▅▆▇█',
  pool: '●',
  ahead: '·',
  bar: '│',
  tick: '┤',
  corner: '└',
  line: '─',
  under: '┬',
}
const ASCII_STROKES: Strokes = {
  fill: '  ..::###',
  pool: 'o',
  ahead: '.',
  bar: '|',
  tick: '|',
  corner: '+',
  line: '-',
  under: '^',
}

const LABEL_DIGITS = 4

/**
 * Draws the curve in lines of at most `width` columns. The part up to `raised`, the position of a pool, is filled;
 * null draws only the curve.
 */
export function drawCurve(
  curve: CurveShape,
  raised: bigint | null,
  width: number,
  strokes = showsBraille() ? BLOCK_STROKES : ASCII_STROKES,
): string[] {
  const total = raisedInAll(curve)
  const { quote = SOL_UNIT } = curve
  const end = curve.points.at(-1)?.sqrtPrice ?? curve.start
  const [lowest, highest] = [
    priceOf(curve.start, curve.decimals, LABEL_DIGITS, quote),
    priceOf(end, curve.decimals, LABEL_DIGITS, quote),
  ]
  const margin = Math.max(lowest.length, highest.length)
  const columns = Math.max(8, Math.min(Math.max(width, NARROWEST), WIDEST) - margin - 3)
  const at = raised === null || total === 0n ? null : columnOf(raised, total, columns)
  const heights = Array.from({ length: columns }, (_, x) =>
    heightOf(curve, end, sqrtPriceAt(curve, (total * BigInt(x)) / BigInt(Math.max(1, columns - 1)))),
  )
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const label = row === 0 ? highest : row === ROWS - 1 ? lowest : ''
    const cells = heights.map((height, x) => cellOf(strokes, height - (ROWS - 1 - row) * 8, x, at))
    return `${label.padStart(margin)} ${label === '' ? strokes.bar : strokes.tick}${cells.join('')}`.trimEnd()
  })
  const indent = ' '.repeat(margin + 1)
  const axis = Array.from({ length: columns }, (_, x) => (x === at ? strokes.under : strokes.line)).join('')
  return [
    `${quote.unit.padStart(margin)} for one token`,
    ...lines,
    `${indent}${strokes.corner}${axis}`,
    `${indent} ${scaleOf(total, raised, { at, columns, quote })}`,
  ]
}

const columnOf = (raised: bigint, total: bigint, columns: number) =>
  Number(((raised < total ? raised : total) * BigInt(columns - 1)) / total)

/** The height of the curve at this price, in eighths of a row; at least one. */
function heightOf({ start }: CurveShape, end: bigint, sqrtPrice: bigint): number {
  const [least, most] = [start * start, end * end]
  if (most <= least) return 1
  return 1 + Number(((sqrtPrice * sqrtPrice - least) * BigInt(ROWS * 8 - 1)) / (most - least))
}

/** A cell of the column `x`; the curve is so many eighths above the cell's lower edge. */
function cellOf({ fill, pool, ahead }: Strokes, eighths: number, x: number, at: number | null): string {
  const isTop = eighths > 0 && eighths <= 8
  if (x === at && isTop) return pool
  if (at !== null && x <= at) return fill.charAt(Math.max(0, Math.min(8, eighths)))
  return isTop ? ahead : ' '
}

/** The scale: zero, the position of the pool and the amount that fills the curve, unless they overlap. */
function scaleOf(
  total: bigint,
  raised: bigint | null,
  { at, columns, quote }: { at: number | null; columns: number; quote: QuoteUnit },
): string {
  const last = `${groupedShortOf(total, quote.decimals, LABEL_DIGITS)} ${quote.unit} raised`
  const room = columns - last.length
  const position = raised === null || at === null ? '' : groupedShortOf(raised, quote.decimals, LABEL_DIGITS)
  const from = Math.max(2, (at ?? 0) - Math.floor(position.length / 2))
  const fits = position !== '' && raised !== 0n && from + position.length + 1 < room
  return `${`0${fits ? `${' '.repeat(from - 1)}${position}` : ''}`.padEnd(room)}${last}`
}
