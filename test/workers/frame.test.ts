/** The workers' frame, on SQLite and on a real PostgreSQL server. */
import { describe, test } from 'vitest'
import { postgres, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { frameSuite } from './frame-suite.ts'

describe('SQLite', () => frameSuite(sqlite))

const server = await startPostgres()
if ('missing' in server) {
  describe('PostgreSQL', () => {
    test.skip(`the workers' frame: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', () => {
    frameSuite(postgres(server))
  })
}
