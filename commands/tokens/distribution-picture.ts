/** Draws who holds a token as an SVG file: a bar for each of the largest holders and for each kind of vault. */
import type { TokenReport } from '../../src/api/token-report.ts'
import { COLOURS, FAINT, fixed, svgOf, svgText } from '../ui/drawing.ts'
import { partsOfSupply, percent } from './distribution.ts'

const WIDTH = 800
const TOP = 64
const ROW = 26
const BAR = 14
const NAMES_END = 400
const BARS_END = 700
const SHARES_END = 780
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** The same report makes the same bytes. Showing it fetches nothing: text uses a font of the reader's machine. */
export function distributionSvg(report: TokenReport): string {
  const parts = partsOfSupply(report)
  const label = report.metadata?.symbol ?? report.mint
  const largest = Math.max(1, ...parts.map(({ bps }) => bps))
  const rows = parts.flatMap(({ name, bps }, i) => {
    const y = TOP + i * ROW
    const width = Math.max(1, ((BARS_END - NAMES_END - 12) * bps) / largest)
    const colour = ADDRESS.test(name) ? COLOURS[0] : COLOURS[2]
    return [
      svgText({ x: NAMES_END, y: y + BAR - 2, anchor: 'end', size: 11 }, name),
      `<rect x="${NAMES_END + 12}" y="${y}" width="${fixed(width)}" height="${BAR}" fill="${colour}"/>`,
      svgText({ x: SHARES_END, y: y + BAR - 2, anchor: 'end' }, percent(bps)),
    ]
  })
  const height = TOP + Math.max(1, parts.length) * ROW + 16
  const none = parts.length === 0 ? [svgText({ x: 20, y: TOP + 12 }, 'The holders could not be read.')] : []
  return svgOf({ width: WIDTH, height }, [
    svgText({ x: 20, y: 30, size: 16 }, `${label}: who holds the supply`),
    svgText(
      { x: 20, y: 48, size: 11 },
      report.holders === null ? report.mint : `${report.mint}, slot ${report.holders.slot}`,
    ),
    `<path d="M${NAMES_END + 10} ${TOP - 4}V${height - 12}" fill="none" stroke="${FAINT}"/>`,
    ...rows,
    ...none,
  ])
}
