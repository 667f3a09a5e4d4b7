/** Draws a launch curve as text: the price of the token over the amount raised, and the position of a pool. */

import { decimalOf, groupedText } from '../../src/solana/amounts.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { squareRoot } from '../../src/solana/square-root.ts'
import { LAMPORT_DECIMALS } from '../cli/amounts.ts'
import type { Output } from '../cli/standard-output.ts'
import { terminal } from '../cli/terminal.ts'
import { showsBraille } from './plot.ts'

/** A curve in the program's units: each price is the square root of raw quote per raw unit, times 2^64. */
export interface CurveShape {
  start: bigint
  /** The ends of its segments in rising order, each with the liquidity up to it. */
  points: readonly { sqrtPrice: bigint; liquidity: bigint }[]
  /** The decimals of the token. */
  decimals: number
  /** The quote it is traded against; SOL by default. */
  quote?: QuoteUnit
}

/** How amounts of a quote are shown. */
export interface QuoteUnit {
  decimals: number
  /** Its name, such as SOL, or its shortened mint. */
  unit: string
}

export const SOL_UNIT: QuoteUnit = { decimals: LAMPORT_DECIMALS, unit: 'SOL' }

/** The unit of a quote; raw units if its decimals are unknown. */
export function quoteUnitOf(mint: string | undefined, decimals: number | null): QuoteUnit {
  if (mint === undefined || mint === WRAPPED_SOL) return SOL_UNIT
  const short = `${mint.slice(0, 4)}…${mint.slice(-4)}`
  return decimals === null ? { decimals: 0, unit: `raw units of ${short}` } : { decimals, unit: short }
}

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

/** The lamports that fill the curve, within one lamport per segment. */
export const raisedInAll = ({ start, points }: CurveShape): bigint =>
  points.reduce(
    ({ sum, from }, { sqrtPrice, liquidity }) => ({
      sum: sum + ((liquidity * (sqrtPrice - from)) >> 128n),
      from: sqrtPrice,
    }),
    { sum: 0n, from: start },
  ).sum

/** The square root of the price after `lamports` were raised, limited to the ends of the curve. */
export function sqrtPriceAt({ start, points }: CurveShape, lamports: bigint): bigint {
  let [from, rest] = [start, lamports < 0n ? 0n : lamports]
  for (const { sqrtPrice, liquidity } of points) {
    const holds = (liquidity * (sqrtPrice - from)) >> 128n
    if (rest < holds && liquidity > 0n) return from + (rest << 128n) / liquidity
    rest -= holds
    from = sqrtPrice
  }
  return from
}

/**
 * Whole quote tokens for one whole token, as decimal text of `digits` digits; rounded, because a square root is
 * slightly below the exact price.
 */
export function priceOf(sqrtPrice: bigint, decimals: number, digits = 6, quote = SOL_UNIT): string {
  const scale = Math.max(40, quote.decimals)
  const price = (sqrtPrice * sqrtPrice * 10n ** BigInt(scale + decimals - quote.decimals)) >> 128n
  const excess = price.toString().length - digits
  const half = excess > 0 ? 5n * 10n ** BigInt(excess - 1) : 0n
  return shortOf(price + half, scale, digits)
}

/** The square root, times 2^64, of a price in decimal text; 0 for a price of 0. */
export function sqrtPriceFromText(price: string, decimals: number, quote = SOL_UNIT): bigint {
  const [whole = '0', fraction = ''] = price.split('.')
  const scaled = (BigInt(whole + fraction) << 128n) * 10n ** BigInt(quote.decimals)
  return squareRoot(scaled / 10n ** BigInt(fraction.length + decimals))
}

/** Raw units as decimal text of the first `digits` digits, rounded down; whole units are never cut. */
export function shortOf(raw: bigint, decimals: number, digits = 6): string {
  const length = raw.toString().length
  const cut = Math.min(Math.max(0, length - digits), decimals)
  const unit = 10n ** BigInt(cut)
  return decimalOf((raw / unit) * unit, decimals)
}

/** The same with thousands separators, for sentences. */
export const groupedShortOf = (raw: bigint, decimals: number, digits?: number): string =>
  groupedText(shortOf(raw, decimals, digits))

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
