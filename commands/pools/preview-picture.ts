/** Draws a preview as an SVG file: the price over what was raised, and below it what each party has of the fees. */
import type { PoolPreview } from '../../src/api/pool-previews.ts'
import { ratioOf } from '../cli/amounts.ts'
import { COLOURS, FAINT, fixed, INK, markParts, svgOf, svgText } from '../ui/drawing.ts'
import { pricePoints, quoteName, shortly, shortText } from './preview-figures.ts'

const WIDTH = 800
const HEIGHT = 520
const LEFT = 110
const RIGHT = 780
const PRICE = { top: 60, bottom: 290 }
const SHARES = { top: 350, bottom: 470 }
/** Parts of an axis that have a tick. */
const TICKS = [0.25, 0.5, 0.75]
/** In the order in which the shares are stacked. */
const PARTIES = [
  ['creator', COLOURS[0]],
  ['partner', COLOURS[1]],
  ['protocol', COLOURS[2]],
] as const

interface Place {
  x: number
  y: number
}

/** The same preview makes the same bytes. Showing it fetches nothing: text uses a font of the reader's machine. */
export function previewSvg(preview: PoolPreview): string {
  const unit = quoteName(preview)
  const { points, quote_decimals: digits } = preview
  const [first, last] = [points[0], points.at(-1)]
  const across = (x: number) => LEFT + (RIGHT - LEFT) * x
  const line = pricePoints(preview).map(({ x, y }) => ({ x: across(x), y: upIn(PRICE, y) }))
  const bought = points.findIndex(({ at }) => at === 'first_buy')
  const mark = bought < 0 ? undefined : line[bought]
  const parts = [
    text(LEFT, 30, `${preview.preset}: ${unit} for one token`, 'start', 16),
    frame(PRICE),
    `<polyline points="${line.map(pair).join(' ')}" fill="none" stroke="${COLOURS[0]}" stroke-width="2"/>`,
    text(LEFT - 8, PRICE.top + 4, shortText(last?.price ?? '0'), 'end'),
    text(LEFT - 8, PRICE.bottom + 4, shortText(first?.price ?? '0'), 'end'),
    text(LEFT, PRICE.bottom + 20, '0'),
    text(RIGHT, PRICE.bottom + 20, `${shortly(preview.threshold, digits)} ${unit} raised`, 'end'),
    ...(mark === undefined
      ? []
      : [
          ...markParts(mark, `first buy, ${shortly(preview.buy, digits)} ${unit}`, line, {
            left: LEFT,
            right: RIGHT,
            bottom: PRICE.bottom,
          }),
        ]),
    ...ticksOf(preview),
    ...sharesOf(preview, across),
  ]
  return svgOf({ width: WIDTH, height: HEIGHT }, parts)
}

/** Ticks of the price and of what was raised, at each quarter. */
function ticksOf({ points, threshold, quote_decimals: digits }: PoolPreview): string[] {
  const [least, most] = [Number(points[0]?.price ?? 0), Number(points.at(-1)?.price ?? 0)]
  return TICKS.flatMap((part) => {
    const [x, y] = [LEFT + (RIGHT - LEFT) * part, upIn(PRICE, part)]
    const raised = (BigInt(threshold) * BigInt(part * 100)) / 100n
    return [
      `<path d="M${LEFT - 4} ${fixed(y)}H${LEFT}M${fixed(x)} ${PRICE.bottom}V${PRICE.bottom + 4}" stroke="${INK}"/>`,
      text(LEFT - 8, y + 4, shortText((least + (most - least) * part).toFixed(20)), 'end'),
      svgText({ x, y: PRICE.bottom + 20, anchor: 'middle' }, shortly(String(raised), digits)),
    ]
  })
}

function sharesOf(preview: PoolPreview, across: (x: number) => number): string[] {
  const { points, threshold, quote_decimals: digits } = preview
  const unit = quoteName(preview)
  const total = ({ fees: { quote } }: (typeof points)[number]) =>
    PARTIES.reduce((sum, [party]) => sum + BigInt(quote[party]), 0n)
  const most = points.reduce((highest, point) => (total(point) > highest ? total(point) : highest), 0n)
  const places = points.map(({ quote_reserve }) =>
    across(Math.min(1, ratioOf(BigInt(quote_reserve), BigInt(threshold)))),
  )
  let below = points.map(() => 0n)
  const areas = PARTIES.map(([party, color]) => {
    const above = points.map(({ fees }, i) => (below[i] ?? 0n) + BigInt(fees.quote[party]))
    const edge = (sums: readonly bigint[]): Place[] =>
      sums.map((sum, i) => ({ x: places[i] ?? LEFT, y: upIn(SHARES, ratioOf(sum, most)) }))
    const outline = [...edge(above), ...edge(below).reverse()]
    below = above
    return `<polygon points="${outline.map(pair).join(' ')}" fill="${color}"/>`
  })
  const legend = PARTIES.flatMap(([party, color], i) => {
    const x = LEFT + 10 + i * 190
    const held = shortly(points.at(-1)?.fees.quote[party] ?? '0', digits)
    return [
      `<rect x="${x}" y="${SHARES.bottom + 22}" width="12" height="12" fill="${color}"/>`,
      text(x + 18, SHARES.bottom + 33, `${party} ${held} ${unit}`),
    ]
  })
  return [
    text(LEFT, SHARES.top - 14, `Trading fees so far, ${unit}`),
    ...areas,
    frame(SHARES),
    text(LEFT - 8, SHARES.top + 4, shortly(String(most), digits), 'end'),
    text(LEFT - 8, SHARES.bottom + 4, '0', 'end'),
    ...legend,
  ]
}

const upIn = ({ top, bottom }: typeof PRICE, y: number): number => bottom - (bottom - top) * y

const frame = ({ top, bottom }: typeof PRICE) =>
  `<path d="M${LEFT} ${top}V${bottom}H${RIGHT}" fill="none" stroke="${FAINT}"/>`

const pair = ({ x, y }: Place): string => `${fixed(x)},${fixed(y)}`

const text = (x: number, y: number, content: string, anchor: 'start' | 'end' = 'start', size = 12): string =>
  svgText({ x, y, anchor, size }, content)
