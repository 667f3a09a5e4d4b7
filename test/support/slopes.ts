/** Whether figures of a process grow, told by a slope that single outliers do not move. */

/** One look at a process: when, in minutes, and what was measured. */
export interface Sample {
  minute: number
  values: Readonly<Record<string, number>>
}

/**
 * The median of the slopes between all pairs of samples (Theil–Sen estimator), per minute; up to 29 % of the samples may
 * be outliers. Pairs that are less than a fifth of the time apart say more about noise, and are left out.
 */
export function slopeOf(samples: readonly Sample[], name: string): number {
  const points = samples.flatMap(({ minute, values }) => {
    const value = values[name]
    return value === undefined || Number.isNaN(value) ? [] : [{ minute, value }]
  })
  const [first, last] = [points[0]?.minute ?? 0, points.at(-1)?.minute ?? 0]
  const apart = (last - first) / 5
  const slopes: number[] = []
  for (const [n, one] of points.entries()) {
    for (const other of points.slice(n + 1)) {
      const minutes = other.minute - one.minute
      if (minutes > 0 && minutes >= apart) slopes.push((other.value - one.value) / minutes)
    }
  }
  slopes.sort((a, b) => a - b)
  const middle = slopes.length >> 1
  const [low, high] = [slopes[middle - 1], slopes[middle]]
  if (high === undefined) return Number.NaN
  return slopes.length % 2 === 0 && low !== undefined ? (low + high) / 2 : high
}

/** The second half of the samples by time: before it caches fill and code is compiled. */
export function afterWarmUp(samples: readonly Sample[]): Sample[] {
  const [first, last] = [samples[0]?.minute ?? 0, samples.at(-1)?.minute ?? 0]
  return samples.filter(({ minute }) => minute >= (first + last) / 2)
}
