/** Draws numbers from one model: as text on a terminal, as a picture in a report. */
import { writeAtomically } from '../../src/platform/files.ts'
import { drawingWidth } from './curve.ts'
import { reason } from './files.ts'
import { framedLines, type PlotLabels, type PlotPoint, plotColumns, plotLines, showsBraille } from './plot.ts'
import { usage } from './problem.ts'
import { inXml } from './xml.ts'

export type Drawing =
  | { kind: 'line'; labels: PlotLabels; points: readonly PlotPoint[]; mark?: PlotPoint & { text: string } }
  | ({ kind: 'bars' } & Bars)

/** The lines of a drawing for this terminal. */
export function drawingLines(drawing: Drawing, width = drawingWidth(), blocks = showsBraille()): string[] {
  if (drawing.kind === 'bars') return barLines(drawing, width, blocks)
  return plotLines(drawing.points, drawing.labels, width, blocks)
}

const WIDTH = 800
const HEIGHT = 400
const FRAME = { left: 120, right: 780, top: 60, bottom: 330 }
const PAPER = '#fff'
/** The colours of every drawing: of texts, of axes, and of what is drawn. */
export const INK = '#222'
export const FAINT = '#bbb'
export const COLOURS = ['#2a6f97', '#e07a5f', '#8d99ae'] as const

/** The same drawing gives the same bytes. The picture loads nothing: texts use the reader's own font. */
export function drawingSvg(drawing: Drawing): string {
  const { labels } = drawing
  return svgOf({ width: WIDTH, height: HEIGHT }, [
    svgText({ x: FRAME.left, y: 30, size: 16 }, labels.title),
    ...(drawing.kind === 'line' ? lineParts(drawing) : barParts(drawing)),
    `<path d="M${FRAME.left} ${FRAME.top}V${FRAME.bottom}H${FRAME.right}" fill="none" stroke="${FAINT}"/>`,
    svgText({ x: FRAME.left - 8, y: FRAME.top + 4, anchor: 'end' }, labels.highest),
    svgText({ x: FRAME.left - 8, y: FRAME.bottom + 4, anchor: 'end' }, labels.lowest),
    svgText({ x: FRAME.left, y: FRAME.bottom + 20 }, labels.first),
    svgText({ x: FRAME.right, y: FRAME.bottom + 20, anchor: 'end' }, labels.last),
  ])
}

function lineParts({ points, mark }: Drawing & { kind: 'line' }): string[] {
  const line = points.map(({ x, y }) => `${fixed(across(x))},${fixed(upwards(y))}`).join(' ')
  const drawn = `<polyline points="${line}" fill="none" stroke="${COLOURS[0]}" stroke-width="2"/>`
  if (mark === undefined) return [drawn]
  const places = points.map((point) => ({ x: across(point.x), y: upwards(point.y) }))
  return [drawn, ...markParts({ x: across(mark.x), y: upwards(mark.y) }, mark.text, places, FRAME)]
}

interface Place {
  x: number
  y: number
}
/** The width of a letter, at most. */
const LETTER = 7

/** A point of a rising line, and its text where the line does not cross it. */
export function markParts(
  mark: Place,
  text: string,
  line: readonly Place[],
  frame: { left: number; right: number; bottom: number },
): string[] {
  const dot = `<circle cx="${fixed(mark.x)}" cy="${fixed(mark.y)}" r="5" fill="${COLOURS[1]}"/>`
  return [dot, svgText(besideRising(mark, text.length * LETTER, line, frame), text)]
}

/** A rising line leaves free what is above it on the left and below it on the right of each of its points. */
function besideRising(
  { x, y }: Place,
  width: number,
  line: readonly Place[],
  { left, right, bottom }: { left: number; right: number; bottom: number },
): Place & { anchor?: 'end' } {
  if (x - 10 - width >= left) return { x: x - 10, y: y - 8, anchor: 'end' }
  if (y + 22 <= bottom && x + 10 + width <= right) return { x: x + 10, y: y + 18 }
  // The next point of the line after the text is higher than everything below the text.
  const after = line.find((place) => place.x >= x + width) ?? line.at(-1)
  return { x, y: Math.min(y, after?.y ?? y) - 10 }
}

function barParts({ names, bars }: Drawing & { kind: 'bars' }): string[] {
  const each = (FRAME.right - FRAME.left) / Math.max(1, bars.length)
  const drawn = bars.flatMap((parts, place) => {
    let below = 0
    return parts.map((part, i) => {
      const height = (FRAME.bottom - FRAME.top) * part
      below += part
      const [x, y] = [FRAME.left + place * each + each * 0.1, upwards(below)]
      return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(each * 0.8)}" height="${fixed(height)}" fill="${COLOURS[i % COLOURS.length]}"/>`
    })
  })
  if (names.length < 2) return drawn
  const legend = names.flatMap((name, i) => {
    const x = FRAME.left + i * 200
    return [
      `<rect x="${x}" y="${FRAME.bottom + 38}" width="12" height="12" fill="${COLOURS[i % COLOURS.length]}"/>`,
      svgText({ x: x + 18, y: FRAME.bottom + 49 }, name),
    ]
  })
  return [...drawn, ...legend]
}

const across = (x: number) => FRAME.left + (FRAME.right - FRAME.left) * x
const upwards = (y: number) => FRAME.bottom - (FRAME.bottom - FRAME.top) * y

/** A picture on white, so that dark pages show it too. */
export const svgOf = ({ width, height }: { width: number; height: number }, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    `<rect width="${width}" height="${height}" fill="${PAPER}"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')

interface SvgTextPlace {
  x: number
  y: number
  anchor?: 'start' | 'middle' | 'end'
  size?: number
}

export const svgText = ({ x, y, anchor = 'start', size = 12 }: SvgTextPlace, content: string): string =>
  `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" font-size="${size}" fill="${INK}">${inXml(content)}</text>`

/** Two digits after the point; smaller differences cannot be seen. */
export const fixed = (value: number): string => String(Number(value.toFixed(2)))

/**
 * Replaces the file in one step, and does not follow a link of that name. Throws a usage problem that names the flag.
 */
export function writePicture(file: string, svg: string, param = '--svg'): string[] {
  if (file === '-') throw usage(`${param} needs a file: the answer goes to the output`, { param })
  try {
    writeAtomically(file, svg, { mode: 0o644 })
  } catch (error) {
    throw usage(`${file} cannot be written: ${reason(error)}`, { param })
  }
  return [`The picture is in ${file}.`]
}

// Draws what happened in each span of time as bars of text with stacked parts.

interface Bars {
  labels: PlotLabels
  /** The names of the parts, from the axis upwards. */
  names: readonly string[]
  /** The parts of each bar, from left to right; those of the highest bar add up to 1. */
  bars: readonly (readonly number[])[]
}

const BAR_ROWS = 8
const WIDEST_BAR = 6
/** The fills of the parts, as blocks and as ASCII. */
const FILLS = { blocks: ['█', '▒', '░'], ascii: ['#', 'x', '.'] } as const

/** Returns lines of at most `width` columns. A part above 0 is at least one row high. */
function barLines({ labels, names, bars }: Bars, width: number, blocks: boolean): string[] {
  const columns = plotColumns(labels, width)
  const each = Math.max(1, Math.min(WIDEST_BAR, Math.floor(columns / Math.max(1, bars.length))))
  const used = Math.min(columns, each * bars.length)
  const fills = blocks ? FILLS.blocks : FILLS.ascii
  const towers = bars.map((parts) => towerOf(parts, fills))
  const rows = Array.from({ length: BAR_ROWS }, (_, fromTop) => {
    const cells = towers.map((tower) => (tower[BAR_ROWS - 1 - fromTop] ?? ' ').repeat(Math.max(1, each - 1)))
    return cells
      .map((cell) => cell.padEnd(each))
      .join('')
      .slice(0, used)
  })
  const legend = names.length < 2 ? [] : [names.map((name, i) => `${fills[i] ?? ' '} ${name}`).join('   ')]
  return [...framedLines(rows, labels, used, blocks), ...legend]
}

/** The cells of one bar from the axis upwards. */
function towerOf(parts: readonly number[], fills: readonly string[]): string[] {
  const cells = parts.flatMap((part, i) => {
    const rows = part <= 0 ? 0 : Math.max(1, Math.round(part * BAR_ROWS))
    return new Array<string>(rows).fill(fills[i] ?? fills[0] ?? '#')
  })
  return cells.slice(0, BAR_ROWS)
}
