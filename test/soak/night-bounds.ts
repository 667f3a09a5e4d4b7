/** By how much the figures of a daemon under steady load may grow in a minute once it is warm, and what says so. */
import { afterWarmUp, type Sample, slopeOf } from '../support/slopes.ts'

/** Far above the noise of a busy machine, far below a leak of one descriptor a second or 20 MB a minute. */
export const BOUNDS: Readonly<Record<string, number>> = {
  resident_mb: 8,
  heap_mb: 5,
  descriptors: 15,
  sockets: 15,
  timers: 15,
  wal_mb: 2,
  loop_ms: 20,
}

/** What grows faster than it may, with its slope in words. */
export function growing(samples: readonly Sample[], bounds = BOUNDS): string[] {
  const warm = afterWarmUp(samples)
  return Object.entries(bounds).flatMap(([name, bound]) => {
    const slope = slopeOf(warm, name)
    return slope > bound ? [`${name} grows by ${slope.toFixed(1)} a minute, and may by ${bound}`] : []
  })
}
