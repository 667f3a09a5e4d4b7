/** On PostgreSQL, what reaches a database: the files that open a service or a daemon. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

process.env.SVC_TEST_DATABASE = 'postgres'

/** What opens one of them on the database of the run. */
const OPENERS = [
  ...['startService', 'openService', 'startPlatform', 'openPlatform', 'startFaultyService', 'startDaemon'],
  ...['databaseSettings', 'databaseEnvironment'],
]
const OPENS = new RegExp(`\\b(${OPENERS.join('|')})\\(`)
/** A file that asks for PostgreSQL itself has tests on it in `npm test`; with `npm run test:postgres` all of it runs there. */
const ASKS = /\bstartPostgres\(/
const IMPORTED = /\bfrom '(\.[^']+\.ts)'/g

const ROOT = resolve(import.meta.dirname, 'test')
const isSupport = (file: string) => file.startsWith(join(ROOT, 'support')) || file.endsWith('/command-line.ts')

/** The text of the file and of the tests' modules that it imports, without the supports. */
function textsOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !file.startsWith(ROOT) || isSupport(file) || !existsSync(file)) return []
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(IMPORTED)].map(([, path = '']) => resolve(dirname(file), path))
  return [text, ...imported.flatMap((path) => textsOf(path, seen))]
}

const include = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('soak'))
  .map((name) => join(ROOT, name))
  .filter((file) => OPENS.test(textsOf(file).join('\n')) && !ASKS.test(readFileSync(file, 'utf8')))

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include, reporters: ['default', './test/support/skipped-reporter.ts'] } }),
)
