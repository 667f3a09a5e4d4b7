/**
 * `npm run bench [-- SUITE … --json FILE]`: every figure as a ratio to a floor that is measured in the same run, beside
 * its target.
 */
import { parseArgs } from 'node:util'
import type { Measurement } from './merkle.ts'
import { machineFacts, machineLine, measurementLine, writeReport } from './report.ts'

/** Each is loaded when its turn comes, so that one does not make the heap of another larger. */
const suites: Record<string, () => Promise<() => Promise<Measurement[]>>> = {
  'start-up': async () => (await import('./start-up.ts')).startUp,
  builds: async () => (await import('./builds.ts')).builds,
  curves: async () => (await import('./curves.ts')).curves,
  daemons: async () => (await import('./daemons.ts')).daemons,
  limits: async () => (await import('./limits.ts')).limits,
  localnet: async () => (await import('./localnet.ts')).localnet,
  memory: async () => (await import('./memory.ts')).memory,
  merkle: async () => (await import('./merkle.ts')).merkle,
  removal: async () => (await import('./removal.ts')).removal,
  requests: async () => (await import('./requests.ts')).requests,
  scaling: async () => (await import('./scaling.ts')).scaling,
  stalls: async () => (await import('./stalls.ts')).stalls,
  tables: async () => (await import('./tables.ts')).tables,
  transactions: async () => (await import('./transactions.ts')).transactions,
  webhooks: async () => (await import('./webhooks.ts')).webhooks,
  writes: async () => (await import('./writes.ts')).writes,
}

// Reading certificates triples what a bare process costs, and would flatter whatever is measured against one.
delete process.env.NODE_EXTRA_CA_CERTS

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const unknown = positionals.filter((name) => !(name in suites))
if (unknown.length > 0) {
  process.stderr.write(`There is no suite ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}\n`)
  process.exit(2)
}

const report = { at: new Date().toISOString(), machine: machineFacts(), suites: {} as Record<string, Measurement[]> }
process.stdout.write(`${machineLine(report.machine)}\n`)
for (const [name, load] of Object.entries(suites)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  process.stdout.write(`\n${name}\n`)
  const measurements = await (await load())()
  report.suites[name] = measurements
  for (const measurement of measurements) process.stdout.write(`${measurementLine(name, measurement)}\n`)
  if (values.json !== undefined) writeReport(values.json, report)
}
