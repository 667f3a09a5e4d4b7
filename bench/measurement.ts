/** What a bench measures: a figure, and its ratio to a floor of the same run. */
export interface Measurement {
  name: string
  value: number
  unit: string
  /** Of elapsed time, rates or memory. */
  ratio: number
  /** The same ratio of processor time, if it was measured; a busy machine hardly changes it. */
  processor?: number
  floor: string
}

/** Milliseconds of the clock and of the processor. */
export interface Cost {
  wall: number
  processor: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

export const medianOf = (costs: readonly Cost[], of: keyof Cost): number => median(costs.map((cost) => cost[of]))

/** Medians of the ratios of each round, because the machine may be half as quick in the next one. */
export function ratiosOf(costs: readonly Cost[], floors: readonly Cost[]): Pick<Measurement, 'ratio'> & Partial<Cost> {
  const of = (part: keyof Cost) =>
    median(costs.map((cost, round) => cost[part] / (floors[round]?.[part] ?? Number.NaN)))
  return { ratio: of('wall'), processor: of('processor') }
}

/** The processor time of this process and the elapsed time of some work. */
export async function costOf(work: () => unknown): Promise<Cost> {
  const [from, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  return { wall: performance.now() - from, processor: (user + system) / 1_000 }
}
