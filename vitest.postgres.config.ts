/**
 * `npm run test:postgres`: the files that open a service in their own process, on PostgreSQL, and the files that ask for
 * PostgreSQL themselves. Daemons and commands run the same routes and workers, so of the files that start one only that
 * of commands without a daemon runs here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import { textsWithImports } from './test/support/imports.ts'
import base from './vitest.config.ts'

/** What opens a service on the database of the run. */
const OPENERS = [
  'startService',
  'sharedService',
  'sharedPlatform',
  'openService',
  'startPlatform',
  'openPlatform',
  'startFaultyService',
  'sharedTreasury',
  'databaseSettings',
  'raiseBooks',
  'settledRaises',
]
const OPENS = new RegExp(`\\b(${OPENERS.join('|')})\\(`)
/** The folder of the commands, and the one of its files that runs here. */
const COMMANDS = join(import.meta.dirname, 'test/cli/')
const IN_PROCESS = join(COMMANDS, 'in-process.test.ts')
/** What these state does not depend on the database: of HTTP, files, buckets, nodes and transactions that are built. */
const INDEPENDENT = [
  ...['chain/node-waits', 'code-samples', 'compute-budget', 'deploy-examples', 'holder-snapshots/nodes'],
  ...['kernel/bodies', 'kernel/cors', 'kernel/documentation', 'kernel/entrance', 'kernel/headers', 'kernel/http'],
  ...['kernel/openapi', 'kernel/receivers', 'kernel/unread-body', 'message-terms', 'metadata-provider'],
  ...['observability/monitoring', 'observability/trace-context', 'pdas', 'pool-previews', 'simulations'],
  ...['storage/s3-faults', 'storage/s3-queue', 'token-extensions', 'token-labels', 'wallet-balances'],
].map((name) => join(import.meta.dirname, `test/${name}.test.ts`))
/** What asks for PostgreSQL itself; `npm test` skips these tests. */
const ASKS = /\bstartPostgres\(/

const ROOT = resolve(import.meta.dirname, 'test')
const isSupport = (file: string) => file.startsWith(join(ROOT, 'support')) || file.endsWith('/command-line.ts')

/** The texts of the file and of the tests' modules that it imports, without the supports. */
const textsOf = (file: string) => [
  ...textsWithImports(file, (each) => each.startsWith(ROOT) && !isSupport(each)).values(),
]

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('soak'))
  .map((name) => join(ROOT, name))
const asks = (file: string) => ASKS.test(readFileSync(file, 'utf8'))
const services = files
  .filter((file) => !file.startsWith(COMMANDS) && OPENS.test(textsOf(file).join('\n')))
  .filter((file) => !asks(file) && !INDEPENDENT.includes(file))
  .concat(IN_PROCESS)

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      reporters: ['default', './test/support/skipped-reporter.ts'],
      projects: [
        {
          extends: true,
          test: {
            name: 'PostgreSQL',
            include: services,
            env: { SVC_TEST_DATABASE: 'postgres' },
            sequence: { groupOrder: 0 },
          },
        },
        {
          extends: true,
          test: {
            name: 'both',
            include: files.filter(asks),
            env: { SVC_TEST_DATABASE: 'both' },
            sequence: { groupOrder: 1 },
          },
        },
      ],
    },
  }),
)
