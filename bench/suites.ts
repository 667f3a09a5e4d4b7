/** The suites of `npm run bench`, and its command line. */
import { parseArgs } from 'node:util'
import type { Measurement } from './measurement.ts'

interface Suite {
  about: string
  /** Loaded when it runs, so that one suite does not enlarge the heap of another. */
  run: () => Promise<Measurement[]>
}

export const SUITES: Readonly<Record<string, Suite>> = {
  'start-up': {
    about: 'commands as whole processes, against `node -e 0`',
    run: async () => (await import('./start-up.ts')).startUp(),
  },
  merkle: {
    about: 'a CSV of 1,000,000 rows to its root, against merkletreejs; peak memory',
    run: async () => (await import('./merkle.ts')).merkle(),
  },
  grind: {
    about: 'keys that svc tokens grind tries on one core, against generateKeyPairSync',
    run: async () => (await import('./grind.ts')).grind(),
  },
  requests: {
    about: 'GET requests a second, against bare node:http and a plain application',
    run: async () => (await import('./requests.ts')).requests(),
  },
  writes: {
    about: 'durable POST requests a second, against bare node:http and a plain application',
    run: async () => (await import('./writes.ts')).writes(),
  },
  transactions: {
    about: 'submitting transactions to the embedded chain, against `chain.send`',
    run: async () => (await import('./transactions.ts')).transactions(),
  },
  finality: {
    about: 'a launch until it is confirmed and final, and its calls to the node, on Alpenglow and on Tower',
    run: async () => (await import('./finality.ts')).finality(),
  },
  guards: {
    about: 'bytes, compute units and lent lamports of every kind of act with guards, against those without',
    run: async () => (await import('./guards.ts')).guards(),
  },
  webhooks: {
    about: 'deliveries with durable results, against undici with the same signatures',
    run: async () => (await import('./webhooks.ts')).webhooks(),
  },
  filters: {
    about: 'queueing events for 10,000 subscriptions with filters, against as many without',
    run: async () => (await import('./filters.ts')).filters(),
  },
  attention: {
    about: 'the list of what needs a person over 1,000,000 events, against 10 ms',
    run: async () => (await import('./attention.ts')).attention(),
  },
  memory: {
    about: "a daemon's memory over 100,000 requests",
    run: async () => (await import('./memory.ts')).memory(),
  },
  stalls: {
    about: 'how long a POST of 50,000 entries holds up other requests',
    run: async () => (await import('./stalls.ts')).stalls(),
  },
  scaling: {
    about: 'what a launch costs on PostgreSQL, and the model of docs/scaling.md; ten minutes',
    run: async () => (await import('./scaling.ts')).scaling(),
  },
}

export const BENCH_HELP = `Usage: npm run bench -- [SUITE …] [--processor] [--json FILE]

Prints figures as ratios to a floor that is measured in the same run. Without a SUITE all of them run.
Exit code 1: a target is missed. Exit code 2: the command line is wrong.

Suites:
${Object.entries(SUITES)
  .map(([name, { about }]) => `  ${name.padEnd(13)} ${about}`)
  .join('\n')}

Options:
  --processor   compare processor time with the targets where it is measured: for a busy machine
  --json FILE   write the figures to FILE as JSON
  --help        show this text
`

interface BenchRun {
  suites: string[]
  byProcessor: boolean
  json: string | undefined
}

/** What to run, `'help'`, or the fault of the command line. */
export function readBenchArguments(args: readonly string[]): BenchRun | 'help' | { fault: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'string' },
        processor: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return 'help'
    const unknown = positionals.filter((name) => !(name in SUITES))
    if (unknown.length > 0) return { fault: `There is no suite ${unknown.join(', ')}` }
    const chosen = Object.keys(SUITES).filter((name) => positionals.length === 0 || positionals.includes(name))
    return { suites: chosen, byProcessor: values.processor, json: values.json }
  } catch (error) {
    // What follows is advice that does not fit here.
    return { fault: (error as Error).message.split('. ')[0] ?? '' }
  }
}
