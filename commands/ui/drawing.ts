/** Draws numbers from one model: as text on a terminal, as a picture in a report. */
import { writeAtomically } from '../../src/platform/files.ts'
import { type Bars, barLines } from './bars.ts'
import { drawingWidth } from './curve.ts'
import { reason } from './files.ts'
import { type PlotLabels, type PlotPoint, plotLines, showsBraille } from './plot.ts'
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

const [WIDTH, HEIGHT] = [800, 400]
const FRAME = { left: 120, right: 780, top: 60, bottom: 330 }
const [PAPER, INK, FAINT] = ['#fff', '#222', '#bbb']
const COLOURS = ['#2a6f97', '#e07a5f', '#8d99ae']

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
  const [x, y] = [across(mark.x), upwards(mark.y)]
  const anchor = mark.x > 0.5 ? 'end' : 'start'
  return [
    drawn,
    `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="5" fill="${COLOURS[1]}"/>`,
    svgText({ x: x + (anchor === 'end' ? -10 : 10), y: y - 10, anchor }, mark.text),
  ]
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
  anchor?: 'start' | 'end'
  size?: number
}

export const svgText = ({ x, y, anchor = 'start', size = 12 }: SvgTextPlace, content: string): string =>
  `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" font-size="${size}" fill="${INK}">${inXml(content)}</text>`

/** Two digits after the point; smaller differences cannot be seen. */
export const fixed = (value: number): string => String(Number(value.toFixed(2)))

/**
 * Replaces the file in one step, and does not follow a link of that name. Throws a usage problem that names the flag.
 */
export function writePicture(file: string, svg: string): string[] {
  if (file === '-') throw usage('--svg needs a file: the answer goes to the output', { param: '--svg' })
  try {
    writeAtomically(file, svg, { mode: 0o644 })
  } catch (error) {
    throw usage(`${file} cannot be written: ${reason(error)}`, { param: '--svg' })
  }
  return [`The picture is in ${file}.`]
}
