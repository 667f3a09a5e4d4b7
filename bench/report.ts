/** The result of a bench run: the machine, the figures with their targets, and both as JSON. */
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import type { Measurement } from './measurement.ts'
import { TARGETS, type Target } from './targets.ts'

const GIB = 1024 ** 3

interface BenchReport {
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

const isOf =
  (suite: string, { name, floor }: Measurement) =>
  (target: Target) =>
    target.suite === suite && target.name === name && target.floor === floor

function isMet({ atLeast, atMost }: Target, { ratio, processor }: Measurement, byProcessor: boolean): boolean {
  const reached = byProcessor ? (processor ?? ratio) : ratio
  return atLeast === undefined ? reached <= (atMost ?? Number.NaN) : reached >= atLeast
}

const goalOf = ({ atLeast, atMost }: Target): string => (atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`)

/** A printed line: the figure, its ratios to the floor, and the target if it has one. */
export function measurementLine(suite: string, measurement: Measurement, byProcessor: boolean): string {
  const { name, value, unit, ratio, processor, floor } = measurement
  const target = TARGETS.find(isOf(suite, measurement))
  const also = processor === undefined ? '' : `, processor ${processor.toFixed(2)}`
  const verdict = target && (isMet(target, measurement, byProcessor) ? 'met' : 'MISSED')
  const goal = target === undefined ? '' : `  [${goalOf(target)}: ${verdict}]`
  return `  ${name.padEnd(40)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(8)} ${ratio.toFixed(2).padStart(6)} × ${floor}${also}${goal}`
}

/** The targets of a suite that its figures miss; a target without a figure counts as missed. */
export function missedTargets(suite: string, measurements: readonly Measurement[], byProcessor: boolean): string[] {
  return TARGETS.filter((target) => target.suite === suite).flatMap((target) => {
    const found = measurements.find((measurement) => isOf(suite, measurement)(target))
    if (found !== undefined && isMet(target, found, byProcessor)) return []
    const reached = byProcessor ? (found?.processor ?? found?.ratio) : found?.ratio
    return [`${target.name}: ${reached?.toFixed(2) ?? 'not measured'} × ${target.floor}, target ${goalOf(target)}`]
  })
}

export function writeReport(file: string, report: BenchReport, byProcessor: boolean): void {
  const judged = (suite: string, measurement: Measurement) => {
    const target = TARGETS.find(isOf(suite, measurement))
    if (target === undefined) return measurement
    return { ...measurement, target: goalOf(target), met: isMet(target, measurement, byProcessor) }
  }
  const suites = Object.fromEntries(
    Object.entries(report.suites).map(([suite, all]) => [suite, all.map((each) => judged(suite, each))]),
  )
  writeFileSync(file, `${JSON.stringify({ ...report, suites }, null, 2)}\n`)
}
