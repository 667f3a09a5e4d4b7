/** `npm run bench`: runs suites, and fails if a target is missed. */
import type { Measurement } from './measurement.ts'
import { machineFacts, machineLine, measurementLine, missedTargets, writeReport } from './report.ts'
import { BENCH_HELP, readBenchArguments, SUITES } from './suites.ts'

// Reading certificates triples what a bare process costs, and would flatter whatever is measured against one.
delete process.env.NODE_EXTRA_CA_CERTS

const run = readBenchArguments(process.argv.slice(2))
if (run === 'help') {
  process.stdout.write(BENCH_HELP)
} else if ('fault' in run) {
  process.stderr.write(`${run.fault}\nSee npm run bench -- --help\n`)
  process.exitCode = 2
} else {
  const report = { at: new Date().toISOString(), machine: machineFacts(), suites: {} as Record<string, Measurement[]> }
  process.stdout.write(`${machineLine(report.machine)}\n`)
  const missed: string[] = []
  for (const name of run.suites) {
    process.stdout.write(`\n${name}\n`)
    const measurements = (await SUITES[name]?.run()) ?? []
    report.suites[name] = measurements
    for (const each of measurements) process.stdout.write(`${measurementLine(name, each, run.byProcessor)}\n`)
    missed.push(...missedTargets(name, measurements, run.byProcessor))
    if (run.json !== undefined) writeReport(run.json, report, run.byProcessor)
  }
  if (missed.length > 0) {
    process.stderr.write(`\nTargets missed:\n${missed.map((line) => `  ${line}\n`).join('')}`)
    process.exitCode = 1
  }
}
