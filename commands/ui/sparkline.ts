/** Draws the history of a number as one line of blocks inside a text. */

const BLOCKS = '▁▂▃▄▅▆▇█'

/**
 * One block for each value; the largest has full height, and the lowest block is the smallest value or zero, whichever
 * is less. Empty without values. A value that is not a finite number is a space.
 */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite)
  const least = finite.reduce((low, value) => Math.min(low, value), 0)
  const span = finite.reduce((high, value) => Math.max(high, value), least) - least
  return values
    .map((value) => {
      if (!Number.isFinite(value)) return ' '
      const height = span === 0 ? 0 : Math.round(((value - least) / span) * (BLOCKS.length - 1))
      // A value above the lowest must look higher than it.
      return BLOCKS[value > least ? Math.max(1, height) : height] ?? ''
    })
    .join('')
}
