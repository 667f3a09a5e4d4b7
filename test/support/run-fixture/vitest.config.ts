/** Runs of one test that leaves something behind, or waits until its run is stopped. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['leaving.fixture.ts'],
    globalSetup: ['../run.ts'],
    pool: 'forks',
    testTimeout: 60_000,
  },
})
