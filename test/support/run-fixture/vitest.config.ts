/** Runs of one file: its test leaves something behind, or waits until its run is stopped, or is skipped. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.fixture.ts'],
    globalSetup: ['../run.ts'],
    pool: 'forks',
    testTimeout: 60_000,
  },
})
