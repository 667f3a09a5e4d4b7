/** The whole app in this process, over a database of its own, with a clock that stands until it is moved. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, onTestFinished } from 'vitest'
import { type App, createApp } from '../../daemon/app.ts'
import { type OpenServices, openServices, operatorKey } from '../../daemon/services.ts'
import { addAuditedKey, mintApiKey } from '../../src/operations/api-keys.ts'
import type { Log } from '../../src/platform/log.ts'
import { type Config, loadConfig, type SettingName } from '../../src/settings/config.ts'
import { copyMigrated } from '../store/migrated.ts'
import { databaseSettings } from './database.ts'
import { PROGRAMS_DIR, TEST_CONSENSUS } from './programs.ts'
import { type Requester, requester } from './request.ts'
import { sharedTrees } from './shared-trees.ts'

export const ORIGIN = 'http://svc.test'
/** Where every test's clock begins. */
export const START = Date.UTC(2026, 5, 1, 12)

/** What every name leads to: there may be no name servers here. */
const PUBLIC_ADDRESS = '93.184.215.14'

export interface TestClock {
  now(): number
  advance(milliseconds: number): void
}

export function testClock(at = START): TestClock {
  return {
    now: () => at,
    advance(milliseconds) {
      at += milliseconds
    },
  }
}

export interface KeyLimits {
  scopes?: string[]
  perMinute?: number | null
  perDay?: number | null
}

export interface Service {
  dataDir: string
  clock: TestClock
  services: OpenServices
  app: App
  /** Holds `*` and no limits. */
  operator: string
  /** With the operator's key unless `key` says otherwise. */
  request: Requester
  /** A key without scopes and limits unless given. */
  key(limits?: KeyLimits): Promise<string>
  close(): Promise<void>
}

export interface ServiceOptions {
  dataDir?: string
  clock?: TestClock
  settings?: Partial<Record<SettingName, unknown>>
  production?: boolean
  log?: Log
}

/** Opens the app; whoever opens it outside a test closes it. */
export async function openService(options: ServiceOptions & { dataDir: string }): Promise<Service> {
  const { dataDir, clock = testClock(), settings = {}, production = false, log } = options
  const database = await databaseSettings(dataDir, settings)
  const flags = {
    'data-dir': dataDir,
    'programs-dir': PROGRAMS_DIR,
    consensus: TEST_CONSENSUS,
    ...database,
    ...settings,
  }
  const config: Config = {
    ...loadConfig({ flags, env: {}, cwd: dataDir }),
    production,
  }
  if (config.values['database-url'] === undefined && readdirSync(dataDir).length === 0) await copyMigrated(dataDir)
  const services: OpenServices = {
    ...(await openServices(config, log)),
    trees: sharedTrees(),
    clock,
    resolve: async () => [PUBLIC_ADDRESS],
  }
  const operator = await operatorKey(services)
  const app = await createApp(services)
  return {
    dataDir,
    clock,
    services,
    app,
    operator,
    request: requester(ORIGIN, app.fetch, operator),
    key: (limits) => makeKey(services, limits),
    async close() {
      await app.close()
      await services.close()
    },
  }
}

/** A service for one test. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const service = await openService({ ...options, dataDir: options.dataDir ?? temporaryFolder() })
  onTestFinished(() => service.close())
  return service
}

/** One service for the tests of a file or of a describe: its first caller opens it, and it ends after the last test. */
export function sharedService(options: Omit<ServiceOptions, 'dataDir'> = {}): () => Promise<Service> {
  let opened: Promise<Service> | undefined
  afterAll(async () => {
    const service = await opened
    if (service === undefined) return
    opened = undefined
    await service.close()
    removeFolder(service.dataDir)
  })
  return () => {
    opened ??= openService({ ...options, dataDir: makeFolder() })
    return opened
  }
}

/** Inserts a key without asking the API for it. */
export async function makeKey(
  { store, clock, vault }: Pick<OpenServices, 'store' | 'clock' | 'vault'>,
  { scopes = [], perMinute = null, perDay = null }: KeyLimits = {},
): Promise<string> {
  const { key, row } = mintApiKey('test')
  const auditing = { clock, vault, actor: { apiKeyId: '', scopes: [] }, requestId: 'test' }
  await store.write((tx) =>
    addAuditedKey(auditing, tx, {
      ...row,
      name: 'test',
      scopes_json: JSON.stringify(scopes),
      per_minute: perMinute,
      per_day: perDay,
      created_at: clock.now(),
    }),
  )
  return key
}

/** A folder that ends with the test. */
export function temporaryFolder(): string {
  const folder = makeFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Bears the name of the test file, so that a run that finds it left behind names the file. */
export function makeFolder(): string {
  const file = basename(expect.getState().testPath ?? 'run', '.test.ts')
  return mkdtempSync(join(tmpdir(), `svc-${file}-`))
}

export const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true })
