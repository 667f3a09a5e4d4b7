/** Medians of wall-clock time, of whole processes and of calls. */
import { execFileSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1]!
}

/** Runs the node processes in turns, so that a busy moment hits all alike; medians in ms, in the order given. */
export function processTimes(rounds: number, commands: readonly string[][]): number[] {
  const times = commands.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    commands.forEach((command, i) => {
      const start = performance.now()
      execFileSync(process.execPath, command, { stdio: 'pipe', maxBuffer: Number.POSITIVE_INFINITY })
      times[i]!.push(performance.now() - start)
    })
  }
  return times.map(median)
}

/** Median ms of one call, after two that warm up. */
export async function callTime(rounds: number, call: () => unknown): Promise<number> {
  const times: number[] = []
  for (let round = -2; round < rounds; round++) {
    const start = performance.now()
    await call()
    if (round >= 0) times.push(performance.now() - start)
  }
  return median(times)
}
