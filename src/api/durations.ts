/** Formats durations for responses and commands. */

const DURATION_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/**
 * Formats whole seconds in their two largest units, rounded down: `29 days 3 hours`, `1 minute 5 seconds`, `0 seconds`.
 */
export function formatDuration(seconds: number): string {
  const first = DURATION_UNITS.findIndex(([, size]) => seconds >= size)
  if (first < 0) return '0 seconds'
  let left = seconds
  const parts = DURATION_UNITS.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? '' : `${count} ${name}${count === 1 ? '' : 's'}`
  })
  return parts.filter(Boolean).join(' ')
}
