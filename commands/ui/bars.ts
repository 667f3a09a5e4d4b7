/** Draws what happened in each span of time as bars of text with stacked parts. */
import { framedLines, type PlotLabels, plotColumns } from './plot.ts'

export interface Bars {
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
export function barLines({ labels, names, bars }: Bars, width: number, blocks: boolean): string[] {
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
