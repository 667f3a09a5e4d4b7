import { defineConfig } from 'vitest/config'

const ALL = 'test/soak/**/*.test.ts'
/** What judges memory, delays or throughput, and would judge its neighbours with them. */
const MEASURING = [
  'daemons-under-load',
  'exporter-faults',
  'hostile-bodies',
  'hostile-node',
  'large-trees',
  'night',
  'shared-assets',
  'suspended-daemon',
  'table-cost',
  'transaction-load',
].map((name) => `test/soak/${name}.test.ts`)

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/run.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'one by one', include: MEASURING, fileParallelism: false, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // Most of their time they wait: for windows to pass, for processes to start and to be gone.
        test: { name: 'side by side', include: [ALL], exclude: MEASURING, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
