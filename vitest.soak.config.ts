import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { defineConfig } from 'vitest/config'
import { longFirst } from './test/support/long-first.ts'
import { SAMPLED_TAG } from './vitest.config.ts'

/** Test bodies that `npm test` runs in part are run whole (test/support/runs.ts). */
process.env.SVC_TEST_SOAK = 'yes'
process.env.SVC_TEST_DATABASE ??= 'both'

const ALL = 'test/soak/**/*.test.ts'
const named = (...names: string[]) => names.map((name) => `test/soak/${name}.test.ts`)
/** What judges the delays of one moment, and would judge its neighbours with them. */
const MEASURING = named('hostile-bodies', 'housekeeping', 'large-trees', 'table-cost')
/** Files that take a minute or more. */
const LONG = [
  'night',
  'daemons-under-load',
  'signatures',
  'lists',
  'chain',
  'database',
  'transactions',
  'rate-limits',
  'package',
  'pool-faults',
  'readme',
  'approving-daemons',
  'docs-page',
  'dry-runs',
  'proposals',
  'claim-page',
  'approval-page',
  'demo',
]

/** Files outside of the soak that have tests of which `npm test` runs a sample. */
const SAMPLED = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('soak'))
  .map((name) => `test/${name}`)
  .filter((file) => /tags: 'sampled'|\bitInSoak\(/.test(readFileSync(file, 'utf8')))

const GIB = 1024 ** 3
/** Much of their time the files wait: for windows to pass, for processes to start and to be gone. */
const SIDE_BY_SIDE = {
  maxWorkers: Math.min(4, Math.max(2, Math.floor(totalmem() / (5 * GIB)))),
  // One module graph for each worker: the chain's SDKs take seconds to load.
  isolate: false,
}

export default defineConfig({
  test: {
    experimental: { fsModuleCache: true },
    tags: [SAMPLED_TAG],
    globalSetup: ['test/support/build.ts', 'test/support/run.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    sequence: { sequencer: longFirst(...LONG) },
    projects: [
      {
        extends: true,
        test: { name: 'one by one', include: MEASURING, fileParallelism: false, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'side by side',
          include: [ALL],
          exclude: MEASURING,
          ...SIDE_BY_SIDE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'samples in full',
          include: SAMPLED,
          setupFiles: ['test/support/sampled-only.ts'],
          ...SIDE_BY_SIDE,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
