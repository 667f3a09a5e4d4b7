/** Draws a rising line as text: in braille dots, or in ASCII if the terminal has only that. */
import { terminal } from '../cli/terminal.ts'

export interface PlotPoint {
  /** Both from 0 to 1. */
  x: number
  y: number
}

export interface PlotLabels {
  title: string
  highest: string
  lowest: string
  /** The labels at the left and the right end of the axis. */
  first: string
  last: string
}

/** The dots of a cell of braille, two columns of four, from the top. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const
const BRAILLE = 0x2800
const PLOT_ROWS = 10
const NARROWEST_PLOT = 20
const WIDEST_PLOT = 100
const ROOM_FOR_AXIS = 2

/** Whether the terminal reports that it shows more than ASCII. */
export function showsBraille(env: Readonly<Record<string, string | undefined>> = terminal().env): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return env.TERM !== 'dumb' && !/^(C|POSIX)$/.test(locale)
}

/** Returns lines of at most `width` columns. The points are joined by straight lines, from left to right. */
export function plotLines(
  points: readonly PlotPoint[],
  labels: PlotLabels,
  width: number,
  braille: boolean,
  rows = PLOT_ROWS,
): string[] {
  const columns = plotColumns(labels, width)
  const [wide, high] = braille ? [2, 4] : [1, 1]
  const cells = Array.from({ length: rows }, () => new Array<number>(columns).fill(0))
  const [lastX, lastY] = [columns * wide - 1, rows * high - 1]
  let above: number | null = null
  for (let x = 0; x <= lastX; x++) {
    const y = Math.round(heightAt(points, x / lastX) * lastY)
    // A steep part is drawn as a column, so that the line has no gaps.
    for (let dot = Math.min(above === null ? y : above + 1, y); dot <= y; dot++) {
      const fromTop = lastY - dot
      const row = cells[Math.floor(fromTop / high)]
      const column = Math.floor(x / wide)
      if (row !== undefined) row[column] = (row[column] ?? 0) | (DOTS[fromTop % high]?.[x % wide] ?? 0)
    }
    above = y
  }
  const drawn = cells.map((row) =>
    row.map((dots) => (dots === 0 ? ' ' : braille ? String.fromCharCode(BRAILLE + dots) : '*')).join(''),
  )
  return framedLines(drawn, labels, columns, braille)
}

/** The columns between the axis and the right edge. */
export function plotColumns({ highest, lowest }: PlotLabels, width: number): number {
  const margin = Math.max(highest.length, lowest.length)
  return Math.max(NARROWEST_PLOT, Math.min(width, WIDEST_PLOT) - margin - ROOM_FOR_AXIS)
}

/** The rows of a plot, each with so many columns, plus title, axes and labels. */
export function framedLines(rows: readonly string[], labels: PlotLabels, columns: number, braille: boolean): string[] {
  const margin = Math.max(labels.highest.length, labels.lowest.length)
  const [corner, bar, tick, line] = braille ? ['└', '│', '┤', '─'] : ['+', '|', '|', '-']
  const drawn = rows.map((row, i) => {
    const label = i === 0 ? labels.highest : i === rows.length - 1 ? labels.lowest : ''
    return `${label.padStart(margin)} ${label === '' ? bar : tick}${row}`.trimEnd()
  })
  const indent = ' '.repeat(margin + 1)
  const room = Math.max(1, columns - labels.first.length - labels.last.length)
  return [
    labels.title,
    ...drawn,
    `${indent}${corner}${line.repeat(columns)}`,
    `${indent} ${labels.first}${' '.repeat(room)}${labels.last}`.trimEnd(),
  ]
}

function heightAt(points: readonly PlotPoint[], x: number): number {
  const next = points.findIndex((point) => point.x >= x)
  const [from, to] = [points[next - 1], points[next]]
  if (to === undefined) return points.at(-1)?.y ?? 0
  if (from === undefined || to.x === from.x) return to.y
  return from.y + ((to.y - from.y) * (x - from.x)) / (to.x - from.x)
}
