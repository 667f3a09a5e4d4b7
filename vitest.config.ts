import { totalmem } from 'node:os'
import { defineConfig } from 'vitest/config'
import { longFirst } from './test/support/long-first.ts'

// The embedded chains of a worker live outside JavaScript's heap: with an arena for each thread glibc keeps twice the memory.
process.env.MALLOC_ARENA_MAX ??= '2'

const GIB = 1024 ** 3

/** Tests with `runs` (test/support/runs.ts). */
export const SAMPLED_TAG = { name: 'sampled', description: 'npm test runs a sample, the soak all of it' }

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    globalSetup: ['test/support/build.ts', 'test/support/memory-folder.ts', 'test/support/run.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters:
      process.env.SVC_TEST_DATABASE === 'postgres' ? ['default', './test/support/skipped-reporter.ts'] : 'default',
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // Tests wait for processes and clocks, so more workers than two cores keep these busy, where 3 GiB each are to be had.
    maxWorkers: Math.min(5, Math.max(2, Math.floor(totalmem() / (4 * GIB)))),
    // One module graph for each worker: the chain's SDKs take longer to load than most files take to run.
    isolate: false,
    // The next run takes unchanged modules as they were transformed, from a folder in node_modules/: 17 s less of processor time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: longFirst('pool-migrations', 'pools', 'airdrops', 'lying-api', 'providers', 'visitors') },
    tags: [SAMPLED_TAG],
  },
})
