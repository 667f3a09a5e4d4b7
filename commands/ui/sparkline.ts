/** Draws the history of a number as one line of blocks, for a place between words. */

const BLOCKS = '▁▂▃▄▅▆▇█'

/**
 * One block a value, the largest at full height; the lowest block is the least of them or zero, whichever is less.
 * Empty without values. A value that is no finite number is a space.
 */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite)
  const least = finite.reduce((low, value) => Math.min(low, value), 0)
  const span = finite.reduce((high, value) => Math.max(high, value), least) - least
  return values
    .map((value) => {
      if (!Number.isFinite(value)) return ' '
      const height = span === 0 ? 0 : Math.round(((value - least) / span) * (BLOCKS.length - 1))
      // What is not nothing is to be seen as more than nothing.
      return BLOCKS[value > least ? Math.max(1, height) : height] ?? ''
    })
    .join('')
}
