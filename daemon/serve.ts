/** `svc serve`: opens the services, listens, runs the workers and shuts down in order. */

import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type DaemonRole, daemonRole } from '../src/api/daemon-roles.ts'
import { requireReceivers } from '../src/operations/attention/notices/receivers.ts'
import { requireRecordedState } from '../src/operations/audit-entries/require-recorded-state.ts'
import { loadCurves } from '../src/operations/pools/presets.ts'
import { type ApiError, conflict } from '../src/platform/errors.ts'
import { writeAtomically } from '../src/platform/files.ts'
import { lockFolder } from '../src/platform/folder-lock.ts'
import { pause, SECOND_MS } from '../src/platform/timing.ts'
import {
  type Config,
  ConfigError,
  DAEMON_FILE,
  databasePlace,
  RELOAD_SIGNAL,
  type Reloaded,
  SETTINGS,
  type Setting,
  type SettingName,
  unchosenNodes,
} from '../src/settings/config.ts'
import { createApp } from './app.ts'
import { type Hangups, listenForHangups } from './hangup.ts'
import { createHttpServer } from './http-server.ts'
import { type ServedChain, serveChain } from './localnet.ts'
import { createLog, type DaemonLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { newOwner } from './owners.ts'
import { makeDataDir, type OpenServices, openServices, operatorKey } from './services.ts'
import { drain, onShutdown } from './shutdown.ts'
import { answerWhileStarting } from './starting.ts'
import { startTraces } from './traces/start-traces.ts'
import { unusableAddress } from './unusable-address.ts'
import { startWorkers, type Workers } from './workers/frame.ts'
import { releaseDeadLeases } from './workers/lease.ts'
import { WORKERS } from './workers/workers.ts'

interface RunningDaemon {
  url: string
  role: DaemonRole
  /** Label of the cluster that the daemon uses, without credentials. */
  cluster: string
  /** The embedded chain's JSON-RPC; undefined on another cluster. */
  localnet: ServedChain | undefined
  /** Resolves when the daemon has shut down. */
  closed: Promise<void>
  /** Stops accepting requests, answers the current ones and writes buffered data. */
  close(): Promise<void>
}

/**
 * Starts the daemon and resolves when it listens; `load` reads the settings again at SIGHUP. Throws conflict when a
 * daemon already runs on this data folder, and ConfigError for a role that needs PostgreSQL.
 */
export async function serve(config: Config, load: () => Promise<Config>): Promise<RunningDaemon> {
  const hangups = listenForHangups()
  try {
    return await start(config, hangups, load)
  } catch (error) {
    hangups.release()
    throw error
  }
}

async function start(config: Config, hangups: Hangups, load: () => Promise<Config>): Promise<RunningDaemon> {
  requireNamed(config)
  requireReceivers(config)
  const role = requireRole(config)
  const log = createLog(config)
  makeDataDir(config)
  const unlock = await lockFolder(config.dataDir)
  if (unlock === undefined) throw secondDaemon(config)
  // A killed daemon leaves its file, which must not send clients to this daemon before it is ready.
  removeDaemonFile(config)
  const metrics = createMetrics({ processMetrics: true, droppedLines: log.dropped })
  const starting = answerWhileStarting(config, role, { metrics: metrics.http, access: log.access })
  const stopper = new AbortController()
  const server = createHttpServer(starting, config, stopper.signal)
  let opened: OpenServices | undefined
  let localnet: ServedChain | undefined
  let workers: Workers | undefined
  try {
    // A migration may take long; during it a supervisor can see that the daemon is alive.
    const url = await listenForHttp(server, config)
    const onMigrating = (pending: readonly string[]) => {
      starting.say('migrating the database to the schema of this version')
      log.info({ url, pending }, 'the database is being migrated')
    }
    const onWaiting = () => {
      starting.say('the daemon waits for its database')
      log.warn(
        { database: databasePlace(config), seconds: config.values['postgres.wait-seconds'] },
        'the database cannot be reached yet; the daemon waits for it',
      )
    }
    const services = { ...(await openServices(config, log, { stopper, onMigrating, onWaiting })), role }
    opened = services
    starting.say('the daemon is starting')
    await requireRecordedState(services)
    await operatorKey(services)
    // The built-in curve is always valid. Curves of a file are built here, so that an invalid one stops the start.
    if (config.values['pools.presets'] !== undefined) await loadCurves(config)
    // A file that is missing would otherwise be noticed at the first signature.
    if (config.values.signer === 'keypair') await services.signer()
    const stopObserving = metrics.observe()
    const traces = await startTraces(config, { registry: metrics.registry, log })
    const states = () => workers?.status() ?? services.workers()
    const localRpc = () => localnet?.rpcUrl
    const app = await createApp({ ...services, workers: states }, { metrics, access: log.access, localRpc })
    localnet = await serveChain(config, services.chain, log)
    const cluster = services.chain.cluster.label
    const place = {
      url,
      role,
      cluster,
      cluster_unchosen: unchosenNodes(config),
      rpc_url: localnet?.rpcUrl,
      ws_url: localnet?.wsUrl,
    }
    writeDaemonFile(config, place)
    starting.open(app)
    if (role !== 'api') {
      const store = services.store.reserved?.workers ?? services.store
      await releaseDeadLeases({ ...services, store })
      workers = startWorkers({ ...services, store }, WORKERS, { owner: newOwner(), metrics })
      // The store ends this when it is closed.
      await store.wakeups.listen(workers.wake, services.log)
    }
    log.info(
      { url, role, cluster, rpc_url: localnet?.rpcUrl, database: services.store.kind, data_dir: config.dataDir },
      'listening',
    )
    if (config.production && localnet !== undefined)
      log.warn({}, 'production uses the embedded chain: nothing on it has any value')

    const apply = (values: Config['values']) => {
      log.level = values['log-level']
      server.maxConnections = values['max-connections']
    }
    const reload = createReload({ config, load, log, apply })
    hangups.onReload(async () => {
      const reloaded = await reload()
      try {
        writeDaemonFile(config, { ...place, reloaded })
      } catch (error) {
        log.error({ err: error }, 'the settings were reloaded, but daemon.json cannot say so')
      }
    })
    const signals = ['SIGINT', 'SIGTERM', ...(hangups.meaning === 'stop' ? ['SIGHUP' as const] : [])] as const
    const { close, closed } = onShutdown(log, signals, {
      async announce() {
        services.announceStop()
        // Another daemon takes over the work of the workers while this one still answers.
        void workers?.stop()
        await pause(config.values['drain-seconds'] * SECOND_MS)
      },
      stop: () => Promise.all([drain(server), workers?.stop()]),
      abortCalls: () => services.end(),
      closeConnections: () => server.closeAllConnections(),
      async finish() {
        await app.close()
        stopObserving()
        await traces?.close()
        removeDaemonFile(config)
        await localnet?.close()
        await services.close()
        unlock()
      },
    })
    return { url, role, cluster, localnet, closed, close }
  } catch (error) {
    server.close().closeAllConnections()
    await workers?.stop()
    removeDaemonFile(config)
    await localnet?.close()
    await opened?.close()
    unlock()
    throw error
  }
}

/**
 * In production a missing setting must not select the embedded chain or an empty database. Throws ConfigError if the
 * settings name no cluster or no database.
 */
function requireNamed({ production, origins }: Config): void {
  const isNamed = (setting: SettingName) => origins[setting] !== 'default' && origins[setting] !== 'solana'
  const lost = [
    ...(isNamed('url') || isNamed('rpc-urls') ? [] : [{ what: 'a cluster', set: 'SVC_URL' }]),
    ...(isNamed('database-url') ? [] : [{ what: 'a database', set: 'SVC_DATABASE_URL (`sqlite` for the file)' }]),
  ]
  if (!production || lost.length === 0) return
  throw new ConfigError(
    `NODE_ENV=production needs ${lost.map(({ what }) => what).join(' and ')}: set ${lost.map(({ set }) => set).join(' and ')}`,
    'set it, or remove NODE_ENV=production',
  )
}

/** The role from the settings; throws ConfigError if the database cannot be shared with daemons of other roles. */
function requireRole({ values }: Config): DaemonRole {
  const role = daemonRole(values.role) ?? 'all'
  if (role === 'all' || values['database-url'] !== undefined) return role
  throw new ConfigError(
    `role ${role} needs PostgreSQL: with SQLite one daemon answers requests and runs the workers`,
    'remove --role (SVC_ROLE), or set SVC_DATABASE_URL',
  )
}

async function listenForHttp(server: Server, config: Config): Promise<string> {
  const { host, port } = config.values
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(conflict(`Port ${port} of ${host} is taken; choose another with --port, or 0 for any`))
      else reject(unusableAddress(error, host, 'host'))
    }
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.off('error', refuse)
      resolve()
    })
  })
  const { address, family, port: bound } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}

function secondDaemon({ dataDir }: Config): ApiError {
  const file = join(dataDir, DAEMON_FILE)
  let which = ''
  try {
    const { pid, url } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string }
    which = `: pid ${pid} at ${url}`
  } catch {
    // The other daemon has not written its file yet, so the message names no pid.
  }
  return conflict(`A daemon already runs on this data folder${which}. Stop it, or choose another with --data-dir`)
}

function writeDaemonFile(config: Config, place: Record<string, string | Reloaded | null | undefined>): void {
  const file = join(config.dataDir, DAEMON_FILE)
  const content = { pid: process.pid, database: databasePlace(config), reload_signal: RELOAD_SIGNAL, ...place }
  writeAtomically(file, `${JSON.stringify(content)}\n`)
}

function removeDaemonFile(config: Config): void {
  rmSync(join(config.dataDir, DAEMON_FILE), { force: true })
}

// Applies changed settings to a running daemon, if they may change at run time.

interface ReloadOptions {
  /** The settings of the daemon; every part reads them from this object at each use. */
  config: Config
  /** Reads every layer of the settings again. Throws what `loadConfig` throws. */
  load: () => Promise<Config>
  log: DaemonLog
  /** Passes the new values to parts with their own copy: the log, the listener. */
  apply: (values: Config['values']) => void
}

/** Returns a function that reloads; runs never overlap. If a setting is invalid, all settings stay unchanged. */
function createReload(options: ReloadOptions): () => Promise<Reloaded> {
  let latest: Promise<unknown> = Promise.resolve()
  return () => {
    const reloaded = latest.then(() => reload(options))
    latest = reloaded
    return reloaded
  }
}

async function reload({ config, load, log, apply }: ReloadOptions): Promise<Reloaded> {
  const id = randomUUID()
  let next: Config
  try {
    next = await load()
  } catch (error) {
    log.error({ err: error }, 'the settings were not reloaded; the earlier ones stay in force')
    return { id, applied: [], needs_restart: [], error: (error as Error).message }
  }
  const names = Object.keys(SETTINGS) as SettingName[]
  const changed = names.filter((name) => !isDeepStrictEqual(config.values[name], next.values[name]))
  const applied = changed.filter((name) => (SETTINGS[name] as Setting).reload === true || isRenewed(name, config, next))
  const needsRestart = changed.filter((name) => !applied.includes(name))
  const tell = () => log.info({ applied, needs_restart: needsRestart }, 'settings reloaded')
  // The line is written before the change if the earlier level shows it, otherwise after it.
  const isShown = log.isLevelEnabled('info')
  if (isShown) tell()
  for (const name of applied) {
    Object.assign(config.values, { [name]: next.values[name] })
    config.origins[name] = next.origins[name]
  }
  apply(config.values)
  if (!isShown) tell()
  return { id, applied, needs_restart: needsRestart, error: null }
}

/** Secrets from files that signer and bucket take up while the process runs, and the database's user and password. */
const isRenewed = (name: SettingName, before: Config, after: Config) =>
  before.secretFiles[name] !== undefined &&
  (/^(?:signer|s3)\./.test(name) || (name === 'database-url' && databasePlace(before) === databasePlace(after)))
