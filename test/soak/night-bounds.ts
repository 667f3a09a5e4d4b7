/** By how much the figures of a daemon under steady load may grow in a minute once it is warm, and what says so. */
import { type Sample, slopeOf } from '../support/slopes.ts'

/**
 * Far above the noise of a busy machine, far below a leak of one descriptor a second or 20 MB a minute. The heap is part
 * of what is resident; by itself it says more about the last collection.
 */
export const BOUNDS: Readonly<Record<string, number>> = {
  resident_mb: 8,
  descriptors: 15,
  sockets: 15,
  timers: 15,
  wal_mb: 2,
}

/** The loop's delay is also that of the machine: in milliseconds, what it may grow by in any case. */
const LOOP_MS = 20

/** What grows faster than it may in the samples of a warm daemon, with its slope in words. */
export function growing(warm: readonly Sample[]): string[] {
  const bounds = { ...BOUNDS, loop_ms: loopBound(warm) }
  return Object.entries(bounds).flatMap(([name, bound]) => {
    const slope = slopeOf(warm, name)
    return slope > bound ? [`${name} grows by ${slope.toFixed(1)} a minute, and may by ${bound.toFixed(1)}`] : []
  })
}

/** A delay that grows by more than half of itself while it is looked at says that work piles up. */
function loopBound(warm: readonly Sample[]): number {
  const delays = warm.map(({ values }) => values.loop_ms ?? Number.NaN).toSorted((a, b) => a - b)
  const minutes = (warm.at(-1)?.minute ?? 0) - (warm[0]?.minute ?? 0)
  return Math.max(LOOP_MS, (delays[delays.length >> 1] ?? 0) / 2 / minutes)
}
