/** How both databases find rows. */
import { describe, it } from 'vitest'
import { startPostgres } from './store/postgres-server.ts'
import { queryPlansSuite } from './store/query-plans-suite.ts'
import { inSoak, runs } from './support/runs.ts'

const server = await startPostgres()

describe('SQLite', { tags: 'sampled' }, () => queryPlansSuite(undefined, { rows: runs(300, 10_000) }))

if ('missing' in server) {
  describe('PostgreSQL', () => {
    it.skip(`query plans: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', { tags: 'sampled' }, () => {
    // With few rows PostgreSQL prefers other plans for the workers.
    queryPlansSuite(server, { rows: runs(1_000, 10_000), filters: runs(1, 8), workers: inSoak })
  })
}
