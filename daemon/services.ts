/** Opens and closes the services that a process needs to answer requests. */

import { hash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openChain } from '../src/chain/connection.ts'
import { type Clock, type Services, systemClock } from '../src/context.ts'
import { createTreePool } from '../src/merkle/pool.ts'
import { addAuditedKey, keyFault, mintApiKey } from '../src/operations/api-keys.ts'
import { openProgramVerdicts } from '../src/operations/programs/program-state.ts'
import { forbidden, internal } from '../src/platform/errors.ts'
import { FileFault, makeDataFolder, readOwn, readOwnIfThere, writeAtomically } from '../src/platform/files.ts'
import { type Log, silentLog } from '../src/platform/log.ts'
import { useOutgoingProxy } from '../src/platform/outgoing-proxy.ts'
import { once, SECOND_MS } from '../src/platform/timing.ts'
import { type Config, howToSet, OPERATOR_KEY_FILE } from '../src/settings/config.ts'
import { bucketPlace } from '../src/storage/s3-settings.ts'
import type { Storage, StorageOptions } from '../src/storage/storage.ts'
import { openVault } from '../src/store/installation/vault.ts'
import { openStore, storeOptions } from '../src/store/open.ts'
import { findApiKeyByHash } from '../src/store/requests/api-keys.ts'
import { assetTable } from '../src/store/resources/assets.ts'
import type { OnMigrating } from '../src/store/store.ts'
import { workerStates } from './workers/state.ts'

export interface OpenServices extends Services {
  /** Signals that the process was asked to stop. */
  announceStop(): void
  /** Aborts every outgoing call in progress. */
  end(): void
  close(): Promise<void>
}

export interface OpenOptions {
  /** Signals that the process was asked to stop. */
  stopper?: AbortController
  onMigrating?: OnMigrating
  /** Called when the database cannot be reached; opening then waits for `postgres.wait-seconds`. */
  onWaiting?: () => void
}

/** Opens database, vault, tree worker, chain and storage; throws ApiError or ConfigError with what to change. */
export async function openServices(
  config: Config,
  log: Log = silentLog,
  { stopper = new AbortController(), onMigrating, onWaiting }: OpenOptions = {},
): Promise<OpenServices> {
  makeDataDir(config)
  await useOutgoingProxy(process.env)
  const store = await openStore({
    ...storeOptions(config),
    waiting: onWaiting && { ms: config.values['postgres.wait-seconds'] * SECOND_MS, onWaiting },
    onMigrating,
    onMigrated: ({ applied, copy }) =>
      log.info({ applied, copy }, copy === null ? 'the database was migrated' : 'the database was copied and migrated'),
  })
  try {
    const keyText = config.values['encryption-key']
    const vault = await openVault({
      store,
      dataDir: config.dataDir,
      ...(keyText === undefined ? { wayIn: howToSet(config, 'encryption-key') } : { keyText }),
    })
    const trees = createTreePool()
    const ender = new AbortController()
    const ending = ender.signal
    // Every outgoing call adds a listener, which would exceed Node's default warning limit.
    setMaxListeners(0, ending)
    const chain = openChain(config, { log, ending })
    const services: OpenServices = {
      config,
      store,
      vault,
      clock: clockOf(config),
      log,
      trees,
      chain,
      programs: openProgramVerdicts(store),
      ending,
      stopping: stopper.signal,
      announceStop: () => stopper.abort(),
      signer: once(async () => {
        const { openConfiguredSigner } = await import('../src/chain/signer/index.ts')
        return openConfiguredSigner(config, { ending })
      }),
      storage: storageOnFirstUse(config, {
        cluster: chain.cluster.kind,
        database: assetTable(store, systemClock),
        ending,
      }),
      workers: () => workerStates([]),
      role: null,
      wake: (worker) => store.wakeups.send(worker),
      async repeat(caller, request, as) {
        const { repeatRequest } = await import('./pipeline/repeat.ts')
        const { config, store, vault, clock, log, chain, programs, signer, wake, ending } = caller
        const own = { config, store, vault, clock, log, chain, programs, signer, wake, ending }
        return repeatRequest({ ...services, ...own }, request, as)
      },
      end: () => ender.abort(),
      async close() {
        await trees.close()
        await chain.close()
        await store.close()
      },
    }
    return services
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The storage, loaded on first use; invalid settings of the bucket are reported immediately. */
function storageOnFirstUse(config: Config, options: StorageOptions): Storage {
  bucketPlace(config)
  const storage = once(async () => (await import('../src/storage/storage.ts')).openStorage(config, options))
  return {
    check: async () => (await storage()).check(),
    locate: async (bytes) => (await storage()).locate(bytes),
    put: async (bytes, contentType) => (await storage()).put(bytes, contentType),
    get: async (cid) => (await storage()).get(cid),
    has: async (cid) => (await storage()).has(cid),
  }
}

function clockOf({ clockFile }: Config): Clock {
  if (clockFile === undefined) return systemClock
  return { now: () => Date.now() + Number(readFileSync(clockFile, 'utf8')) }
}

export function makeDataDir({ dataDir }: Config): void {
  try {
    makeDataFolder(dataDir)
  } catch (error) {
    if (error instanceof FileFault) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in its place' : message
    throw internal(
      `the data folder ${dataDir} cannot be created: ${why}; choose another with SVC_DATA_DIR or --data-dir`,
    )
  }
}

/**
 * The local operator's bearer key: the one in the setting `operator-key`, otherwise one that is created on first use.
 * It is stored in a file with mode 0600 in the data folder, and has a row in the database.
 */
export async function operatorKey({ store, config, clock, vault }: Services): Promise<string> {
  const file = join(config.dataDir, OPERATOR_KEY_FILE)
  const given = config.values['operator-key']
  let text = readOwnIfThere(file, OPERATOR_KEY_OPTIONS)
  if (given !== undefined && text?.trim() !== given) {
    // Commands of this data folder find the key there; the previous key stays valid until it is revoked.
    writeAtomically(file, `${given}\n`)
    text = given
  }
  if (text === null) {
    writeAtomically(file, `${mintApiKey('live').key}\n`, { exclusive: true })
    text = readOwn(file, OPERATOR_KEY_OPTIONS)
  }
  const key = operatorKeyIn(file, text)
  const existing = await findApiKeyByHash(store.db, hash('sha256', key, 'hex'))
  const fault = existing && keyFault(existing, clock.now())
  if (fault !== null) {
    const next = given === undefined ? 'remove the file to get a new key' : 'set operator-key to another'
    throw forbidden(`the key in ${file} ${fault === 'expired' ? 'has' : 'was'} ${fault}; ${next}`)
  }
  if (existing === null) {
    const { row } = mintApiKey('live', key)
    const auditing = { clock, vault, actor: { apiKeyId: row.id, scopes: [] }, requestId: 'operator-key' }
    await store.write(async (tx) => {
      if ((await findApiKeyByHash(tx, row.hash)) !== null) return
      await addAuditedKey(auditing, tx, {
        ...row,
        name: 'local operator',
        scopes_json: '["*"]',
        per_minute: null,
        per_day: null,
        created_at: clock.now(),
      })
    })
  }
  return key
}

const OPERATOR_KEY_OPTIONS = { secret: true, folder: 'own' } as const

/** The key in the file; throws internal_error if the text is not an API key. */
function operatorKeyIn(file: string, text: string): string {
  const key = text.trim()
  if (!/^svc_(live|test)_[0-9A-Za-z]{32}$/.test(key)) {
    throw internal(`${file} does not contain an API key; remove the file to get a new key`)
  }
  return key
}
