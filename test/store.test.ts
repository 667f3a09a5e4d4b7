/** The store: the same suites on SQLite and on a real PostgreSQL server. */
import { describe, test } from 'vitest'
import { postgres, sqlite, type TestDatabase } from './store/databases.ts'
import { eventsSuite } from './store/events-suite.ts'
import { idempotencySuite } from './store/idempotency-suite.ts'
import { openSuite, processesOpenTogether } from './store/open-suite.ts'
import { pagingSuite } from './store/paging-suite.ts'
import { startPostgres } from './store/postgres-server.ts'
import { postgresSuite } from './store/postgres-suite.ts'
import { rateHitsSuite } from './store/rate-hits-suite.ts'
import { recordsSuite } from './store/records-suite.ts'
import { writeEachSuite } from './store/write-each-suite.ts'
import { writesSuite } from './store/writes-suite.ts'
import { inSoak } from './support/runs.ts'

const suites = [
  openSuite,
  writesSuite,
  eventsSuite,
  pagingSuite,
  idempotencySuite,
  rateHitsSuite,
  recordsSuite,
  writeEachSuite,
]
function runAll(database: TestDatabase): void {
  for (const suite of suites) suite(database)
}

describe('SQLite', () => {
  runAll(sqlite)
  // Two stores of one process race as two processes do, so only the soak starts processes.
  if (inSoak) describe('in processes', { tags: 'sampled' }, () => processesOpenTogether(sqlite, 4))
})

const server = await startPostgres()
if ('missing' in server) {
  describe('PostgreSQL', () => {
    test.skip(`every suite: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', () => {
    runAll(postgres(server))
    if (inSoak) describe('in processes', { tags: 'sampled' }, () => processesOpenTogether(postgres(server), 4))
    postgresSuite(server)
  })
}
