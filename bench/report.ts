/** What a bench run found: the machine, the table beside its targets, and both as JSON. */
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import type { Measurement } from './merkle.ts'
import { TARGETS, type Target } from './targets.ts'

const GIB = 1024 ** 3

export interface BenchReport {
  at: string
  machine: { cpu: string; cores: number; gib: number; node: string; load: number }
  suites: Record<string, Measurement[]>
}

export function machineFacts(): BenchReport['machine'] {
  const [cpu] = cpus()
  const round = (value: number) => Math.round(value * 10) / 10
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    gib: round(totalmem() / GIB),
    node: process.version,
    load: round(loadavg()[0] ?? 0),
  }
}

export const machineLine = ({ cpu, cores, gib, node, load }: BenchReport['machine']): string =>
  `${cores} cores of ${cpu}, ${gib} GiB, Node ${node}, load ${load} at the start`

const targetOf = (suite: string, { name, floor }: Measurement): Target | undefined =>
  TARGETS.find((target) => target.suite === suite && name.startsWith(target.name) && floor.startsWith(target.floor))

const isMet = ({ atLeast, atMost }: Target, ratio: number): boolean =>
  (atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost)

/** A line as it is printed: the figure, its ratio to the floor, and the target where there is one. */
export function measurementLine(suite: string, measurement: Measurement): string {
  const { name, ms, unit = 'ms', ratio, floor } = measurement
  const target = targetOf(suite, measurement)
  const goal = target === undefined ? '' : `  [${goalOf(target)}: ${isMet(target, ratio) ? 'met' : 'NOT met'}]`
  return `  ${name.padEnd(52)} ${ms.toFixed(1).padStart(9)} ${unit.padEnd(3)} ${ratio.toFixed(2).padStart(7)} × ${floor}${goal}`
}

const goalOf = ({ atLeast, atMost }: Target): string => (atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`)

export function writeReport(file: string, report: BenchReport): void {
  const suites = Object.fromEntries(
    Object.entries(report.suites).map(([suite, measurements]) => [
      suite,
      measurements.map((measurement) => {
        const target = targetOf(suite, measurement)
        return target === undefined
          ? measurement
          : { ...measurement, target: goalOf(target), met: isMet(target, measurement.ratio) }
      }),
    ]),
  )
  writeFileSync(file, `${JSON.stringify({ ...report, suites }, null, 2)}\n`)
}
