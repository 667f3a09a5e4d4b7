/**
 * Chooses what answers a command: the configured API, the running daemon of this data folder, or the same routes in
 * this process.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type DaemonRole, daemonRole } from '../../src/api/daemon-roles.ts'
import { paths } from '../../src/api/paths.ts'
import type { Transport } from '../../src/client.ts'
import { isHeldBy } from '../../src/platform/file-lock.ts'
import { FileFault, readOwn, readOwnIfThere, requireDataFolder } from '../../src/platform/files.ts'
import { LOCK_FILES } from '../../src/platform/folder-lock.ts'
import { isThisMachine, parseUrl } from '../../src/platform/urls.ts'
import { clusterOf } from '../../src/settings/cluster.ts'
import {
  type Config,
  ConfigError,
  DAEMON_FILE,
  databasePlace,
  environmentName,
  OPERATOR_KEY_FILE,
  type Origin,
  readSecretFile,
  unchosenNodes,
} from '../../src/settings/config.ts'
import { failure, Problem, usage } from '../ui/problem.ts'
import type { DaemonParts } from './daemon-parts.ts'
import { type HttpTransport, openHttp } from './http-transport.ts'
import type { ApiCaller } from './session.ts'
import { terminal } from './terminal.ts'

export interface Connection {
  send: Transport
  /** URL at which the API answers over HTTP; null in this process. */
  url: string | null
  /** Label of the cluster that the API uses; null if only a remote API knows it. */
  cluster: string | null
  /** What names the cluster if no flag, variable or setting of svc chose it; null if one did. */
  unchosen: string | null
  caller(): Promise<ApiCaller>
  close(): Promise<void> | void
}

/** Milliseconds that the daemon has to answer the health check before each command; a healthy one needs a few. */
const DAEMON_PROBE_MS = 3_000

/**
 * Connects as the configuration says; `note` receives messages about files that a dead daemon left behind, `warn`
 * messages about the API's URL.
 */
export async function connectToApi(
  config: Config,
  openLocal: DaemonParts['openLocal'],
  note: (text: string) => void,
  warn: (text: string) => void = note,
): Promise<Connection> {
  const { api } = config.values
  if (api !== undefined) {
    const key = chosenKey(config)
    const http = await openHttp(api, key)
    const { origin, pathname, protocol, hostname } = new URL(api)
    if (protocol === 'http:' && !isThisMachine(hostname)) {
      warn(`${origin} is not encrypted: anyone on the network path can read your API key and change answers; use https`)
    }
    const url = `${origin}${pathname.replace(/\/$/, '')}`
    return { ...http, url, cluster: null, unchosen: null, caller: callerOf(url, key) }
  }
  const explicit = explicitKey(config)
  const daemon = runningDaemon(config)
  const probe = daemon && (await openHttp(daemon.url, undefined, DAEMON_PROBE_MS))
  if (daemon === undefined || probe === undefined) return localConnection(config, explicit, openLocal)
  try {
    if (await isHealthy(daemon, probe, note)) {
      compareClusters(config, daemon, note)
      const key = explicit ?? readApiKeyFile(join(config.dataDir, OPERATOR_KEY_FILE))
      const http = probe.withKey(key)
      return daemon.role === 'worker'
        ? besideWorker(http, await localConnection(config, explicit, openLocal))
        : {
            ...http,
            url: daemon.url,
            ...clusterInUse(config, daemon),
            caller: callerOf(daemon.database ?? daemon.url, key),
          }
    }
  } catch (error) {
    probe.close()
    throw error
  }
  probe.close()
  return localConnection(config, explicit, openLocal)
}

/** The same routes in this process. */
async function localConnection(
  config: Config,
  key: string | undefined,
  openLocal: DaemonParts['openLocal'],
): Promise<Connection> {
  const local = await openLocal(config)
  const bearer = key ?? local.bearer
  const authorization = `Bearer ${bearer}`
  return {
    send: (request) => local.send({ ...request, headers: { ...request.headers, authorization } }),
    url: null,
    ...clusterInUse(config, undefined),
    caller: callerOf(databasePlace(config), bearer),
    close: () => local.close(),
  }
}

/** A daemon with the role `worker` answers only health requests; all others are answered in this process. */
function besideWorker(http: HttpTransport, local: Connection): Connection {
  const health: readonly string[] = [paths.service.health[1], paths.service.workers[1]]
  return {
    ...local,
    send: (request) => (health.includes(request.path) ? http.send(request) : local.send(request)),
    async close() {
      http.close()
      await local.close()
    },
  }
}

const callerOf = (api: string, key: string | undefined) => async (): Promise<ApiCaller> => {
  if (key === undefined) return { api, key: 'none' }
  const { createHash } = await import('node:crypto')
  return { api, key: createHash('sha256').update(key).digest('hex').slice(0, 16) }
}

/**
 * The bearer key for the setting `api`: the key of this command, otherwise of the settings. Throws a usage problem for
 * a key that was not meant for this API.
 */
export function chosenKey(config: Config): string | undefined {
  const { values, origins, projectFile } = config
  if (origins.api === 'project') {
    const source = keySource(config)
    if (source !== undefined) throw projectApiProblem(projectFile, values.api, source)
  }
  return explicitKey(config) ?? configuredKey(config)
}

/** The key in the file of the setting; undefined if none is set. Throws like `readApiKeyFile`. */
export function configuredKey({ values, origins }: Config): string | undefined {
  const file = values['api-key-file']
  if (file === undefined) return undefined
  return origins['api-key-file'] === 'environment' ? keyOfEnvironmentFile(file) : readApiKeyFile(file)
}

/**
 * The key given to this command: by flag, otherwise by `SVC_API_KEY`. Throws if that and `SVC_API_KEY_FILE` are both
 * set.
 */
function explicitKey({ values, origins }: Config): string | undefined {
  const file = values['api-key-file']
  const origin = origins['api-key-file']
  if (file !== undefined && origin === 'flag') return readApiKeyFile(file)
  const key = environmentKey()
  if (key !== undefined && origin === 'environment') {
    throw usage(`SVC_API_KEY and ${KEY_FILE_VARIABLE} are both set`, { next: 'leave one of them out' })
  }
  return key
}

const KEY_FILE_VARIABLE = environmentName('api-key-file')

/**
 * Reads a key file of the environment by the rules of every `SVC_…_FILE`; a relative path is resolved from the working
 * folder.
 */
function keyOfEnvironmentFile(file: string): string {
  try {
    return keyIn(file, readSecretFile(KEY_FILE_VARIABLE, resolve(terminal().cwd(), file)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new Problem('forbidden', error.problem, error.next === undefined ? {} : { next: error.next })
  }
}

const environmentKey = () => terminal().env.SVC_API_KEY?.trim() || undefined

const KEY_FILE_SOURCES: Partial<Record<Origin, string>> = {
  flag: 'key file comes from --api-key-file',
  environment: 'key file comes from SVC_API_KEY_FILE',
  profile: 'key file comes from your profile',
}

/** Describes the source of the key without reading the key. */
function keySource({ values, origins }: Config): string | undefined {
  const origin = origins['api-key-file']
  if (origin !== 'flag' && environmentKey() !== undefined) return 'key comes from SVC_API_KEY'
  return values['api-key-file'] === undefined ? undefined : KEY_FILE_SOURCES[origin]
}

/** The project file of a folder may choose the API, but must not make svc send the user's own key there. */
const projectApiProblem = (file: string | undefined, api: string | undefined, source: string) =>
  usage(`${file} sets api to ${api}, the ${source}`, { next: `if you want that, confirm it with --api ${api}` })

/** Throws if the project file of a folder chose the API, because that API would decide what is signed here. */
export function refuseSigningFor({ values, origins, projectFile }: Config): void {
  if (origins.api !== 'project') return
  throw usage(`${projectFile} sets api to ${values.api}, and its answers would be signed here`, {
    next: `if you want that, confirm it with --api ${values.api}`,
  })
}

/** Reads a bearer key; throws for a file that others can read or could have written. */
export function readApiKeyFile(file: string): string {
  let key: string
  try {
    key = readOwn(file, { secret: true })
  } catch (error) {
    throw error instanceof FileFault && error.kind === 'missing' ? noKeyFile(file) : error
  }
  return keyIn(file, key)
}

function keyIn(file: string, text: string): string {
  const key = text.trim()
  if (key === '' || /\s/.test(key)) throw usage(`${file} must contain only the bearer key, on one line`)
  return key
}

const noKeyFile = (file: string) =>
  new Problem('forbidden', `the key file ${file} does not exist`, { next: 'check --api-key-file and --data-dir' })

export interface Daemon {
  pid: number
  url: string
  /** Label of the cluster that the daemon uses; undefined if its file does not name one. */
  cluster: string | undefined
  /** What names its cluster if no setting of svc chose it; null if one did, undefined if the daemon's file does not say. */
  unchosen: string | null | undefined
  /** Undefined if the file does not name one. */
  role: DaemonRole | undefined
  /** Where its database is; undefined if the file does not say. */
  database: string | undefined
  file: string
}

/**
 * The cluster that a command works on: the daemon's, otherwise that of the settings, and where it comes from if nothing
 * of svc chose it. The choice is the daemon's at its start, or that of this command for the same cluster.
 */
export function clusterInUse(config: Config, daemon: Daemon | undefined): Pick<Connection, 'cluster' | 'unchosen'> {
  const { label } = clusterOf(config)
  const own = unchosenNodes(config)
  if (daemon === undefined) return { cluster: label, unchosen: own }
  const isSame = daemon.cluster === undefined || daemon.cluster === label
  const unchosen = daemon.unchosen === undefined ? own : daemon.unchosen
  const isChosenHere = own === null && (config.values['rpc-urls'] !== undefined || config.origins.url !== 'default')
  return { cluster: daemon.cluster ?? null, unchosen: isChosenHere && isSame ? null : unchosen }
}

/**
 * Compares the requested cluster with that of the daemon, which uses only one. Another cluster in a flag is an error;
 * in a setting it is noted.
 */
function compareClusters(config: Config, { cluster, pid, url }: Daemon, note: (text: string) => void): void {
  const requested = clusterOf(config).label
  const origin = config.origins[config.values['rpc-urls'] === undefined ? 'url' : 'rpc-urls']
  if (cluster === undefined || cluster === requested || origin === 'default') return
  const what = `the daemon at ${url} (pid ${pid}) works on ${cluster}, not on ${requested}`
  if (origin !== 'flag') note(what)
  else throw usage(what, { next: 'leave out --url and --rpc-urls, stop the daemon, or choose another --data-dir' })
}

/**
 * Reads daemon.json if its process is alive and holds the folder's lock; a folder copied from a clone or an archive
 * has no lock. Throws FileFault if others could have written the file.
 */
export function runningDaemon({ dataDir }: Config): Daemon | undefined {
  if (!existsSync(dataDir)) return undefined
  requireDataFolder(dataDir)
  const file = join(dataDir, DAEMON_FILE)
  const content = readOwnIfThere(file, { folder: 'own' })
  if (content === null) return undefined
  try {
    const {
      pid,
      url,
      cluster,
      cluster_unchosen: unchosen,
      role,
      database,
    } = JSON.parse(content) as Record<string, unknown>
    if (typeof pid !== 'number' || typeof url !== 'string' || pid === process.pid) return undefined
    if (!/^https?:\/\//.test(url) || parseUrl(url) === undefined) return undefined
    if (!isHeldBy(join(dataDir, LOCK_FILES.daemon), pid)) return undefined
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
    return {
      pid,
      url,
      file,
      cluster: text(cluster),
      role: daemonRole(role),
      database: text(database),
      unchosen: unchosen === null ? null : text(unchosen),
    }
  } catch {
    return undefined
  }
}

/** Requests the daemon's health without a key, because another program may have taken the port. */
async function isHealthy(
  { pid, url, file }: Daemon,
  probe: HttpTransport,
  note: (text: string) => void,
): Promise<boolean> {
  try {
    const { status, body } = await probe.send({ method: 'GET', path: '/v2/health', headers: {} })
    if (status === 200 && body.includes('"healthy"')) return true
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
    if (cause?.code !== 'ECONNREFUSED') {
      throw failure(`the daemon at ${url} (pid ${pid}) does not answer`, {
        next: `stop it (kill ${pid}) and start it again, or remove ${file} if that process is something else`,
        cause: error,
      })
    }
    note(`${file} names pid ${pid}, but nothing listens at ${url}: continuing without a daemon`)
    return false
  }
  throw failure(`${url} (from ${file}) answers, but is not svc`, {
    next: `if no daemon runs, remove ${file}`,
  })
}
