/**
 * Gives commands the embedded chain: through the JSON-RPC of the process that serves it, otherwise opened in this
 * process.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type ChainOwner, chainOwner } from '../../src/chain/owner.ts'
import { loadSqlite } from '../../src/platform/native-modules.ts'
import { parseUrl } from '../../src/platform/urls.ts'
import { clusterOf, endpointsOf, parseCluster } from '../../src/settings/cluster.ts'
import {
  type Config,
  nodesSource,
  type RpcEndpoint,
  redactUrl,
  type SettingName,
  unchosenNodes,
} from '../../src/settings/config.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import { parseJson } from '../../src/solana/json.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { clusterInUse, runningDaemon } from '../cli/connection.ts'
import type { DaemonParts } from '../cli/daemon-parts.ts'
import { openHttp } from '../cli/http-transport.ts'
import type { Localnet, LocalnetReport, PullReport } from '../cli/session.ts'
import { failure, Problem, usage } from '../ui/problem.ts'
import { completeRestore } from './database/interrupted-restore.ts'

const chainJournal = () => import('../../src/localnet/journal.ts')

type Load = (flags?: Partial<Record<SettingName, unknown>>) => Promise<Config>

/**
 * Calls JSON-RPC methods; `params` is JSON text, because JavaScript numbers are not exact for all amounts of lamports.
 */
interface LocalnetRpc {
  owner: ChainOwner | undefined
  call(method: string, params: string): Promise<unknown>
  close(): Promise<void> | void
}

export function createLocalnet(load: Load, serveLocalnet: DaemonParts['serveLocalnet']): Localnet {
  const using = async <T>(work: (rpc: LocalnetRpc, config: Config) => Promise<T>): Promise<T> => {
    const config = await embeddedConfig(load)
    const rpc = await openRpc(config)
    try {
      return await work(rpc, config)
    } finally {
      await rpc.close()
    }
  }
  return {
    async start({ rpc_host, rpc_port, consensus }, onReady) {
      const config = await embeddedConfig(load, {
        ...optionIfSet('rpc-host', rpc_host),
        ...optionIfSet('rpc-port', rpc_port),
        ...optionIfSet('consensus', consensus),
      })
      const serving = await serveLocalnet(config)
      onReady({ pid: process.pid, rpc_url: serving.rpcUrl, ws_url: serving.wsUrl, notes: serving.notes })
      await serving.closed
    },
    status: () =>
      using(async ({ call, owner }, config): Promise<LocalnetReport> => {
        const status = (await call('svc_status', '[]')) as Status
        return {
          cluster: clusterOf(config).label,
          slot: status.slot,
          unix_timestamp: status.unixTimestamp,
          transactions: status.transactionCount,
          accounts: status.accountCount,
          slot_ms: status.settings.slotMs,
          lamports_per_byte: Number(status.settings.rent.lamportsPerByte),
          consensus: status.settings.consensus,
          alpenglow_slot: status.alpenglowSlot,
          programs: status.programs.map(({ name, id, loaded }) => ({ name, id, loaded })),
          pid: owner?.pid ?? null,
          rpc_url: owner?.rpc_url ?? null,
          ws_url: owner?.ws_url ?? null,
          data_dir: config.dataDir,
          programs_dir: config.programsDir,
          warnings: status.warnings ?? [],
        }
      }),
    elsewhere: async () => {
      const config = await load()
      const { api } = config.values
      if (api !== undefined) return `Other commands work on the API at ${redactUrl(api)}, not on this chain`
      const { cluster } = clusterInUse(config, runningDaemon(config))
      if (cluster === null || cluster === 'embedded') return null
      return `Other commands work on ${cluster}, from ${nodesSource(config)}, not on this chain: export SVC_URL=embedded`
    },
    airdrop: (address, lamports) =>
      using(async ({ call }) => {
        const { isAddress } = await import('../../src/solana/addresses.ts')
        if (!isAddress(address)) {
          throw usage(`<address> must be a base58 address of 32 bytes, not "${address}"`, { param: '<address>' })
        }
        const signature = (await call('requestAirdrop', `[${JSON.stringify(address)},${lamports}]`)) as string
        const answer = await call('getBalance', `[${JSON.stringify(address)},{"commitment":"processed"}]`)
        return { signature, lamports: lamports.toString(), balance: String((answer as { value: unknown }).value) }
      }),
    advance: (seconds) =>
      using(async ({ call }) => {
        const { slot, unixTimestamp } = (await call('svc_advance', `[${seconds}]`)) as Status
        return { slot, unix_timestamp: unixTimestamp }
      }),
    async refuseWhileInUse() {
      refuseOwned(await embeddedConfig(load))
    },
    async reset() {
      const config = await embeddedConfig(load)
      refuseOwned(config)
      return { files: await deleteJournal(config.dataDir) }
    },
    async missingPrograms() {
      const { values, dataDir, programsDir } = await load()
      if (values.api !== undefined || clusterOf({ values }).kind !== 'embedded') return { missing: [], owner: null }
      const needed = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata]
      return {
        missing: needed.filter(({ id }) => !existsSync(join(programsDir, `${id}.so`))),
        owner: chainOwner(dataDir)?.pid ?? null,
      }
    },
    async pin({ programs, remove }) {
      const { programsDir } = await load()
      const { pinBuilds } = await import('../../src/chain/program-cache/pull.ts')
      return { programs_dir: programsDir, programs: pinBuilds(programsDir, { programs, remove }) }
    },
    async pull({ from, programs, cluster }, onProgress) {
      const config = await load()
      const [{ pullPrograms }, { pullSettings }, { folderSource, rpcSource }] = await Promise.all([
        import('../../src/chain/program-cache/pull.ts'),
        import('../../src/chain/program-cache/settings.ts'),
        import('../../src/chain/program-cache/source.ts'),
      ])
      if (from !== undefined && config.origins.url === 'flag') throw usage('give either --from or --url')
      const clusters: PullCluster[] = cluster === undefined ? pullClusters(config) : [clusterAt(cluster)]
      const sources =
        from === undefined
          ? clusters.map(({ headers, ...each }) => rpcSource(each, { headers }))
          : [folderSource(folderAt(from))]
      const folder = config.programsDir
      const tried: PullReport['tried'] = []
      for (const source of sources) {
        const items = await pullPrograms({ folder, source, programs, now: Date.now, onProgress })
        const [reason, ...others] = new Set(items.map(({ status, error }) => (status === 'failed' ? error : null)))
        const isUseless = others.length === 0 && reason != null
        if (isUseless) tried.push({ source: source.label, error: reason })
        if (isUseless && source !== sources.at(-1)) continue
        const settings = await pullSettings({ folder, source, now: Date.now })
        return { source: source.label, programs_dir: folder, items, settings, tried }
      }
      throw new Error('there is no source to pull from')
    },
  }
}

interface Status {
  slot: number
  unixTimestamp: number
  transactionCount: number
  accountCount: number
  programs: { name: string; id: string; loaded: boolean }[]
  warnings?: string[]
  settings: { slotMs: number; rent: { lamportsPerByte: number | bigint }; consensus: Consensus }
  alpenglowSlot: number | null
}

const optionIfSet = (name: SettingName, value: unknown) => (value === undefined ? {} : { [name]: value })

/**
 * Loads the configuration for the data folder's own chain, whatever cluster the settings name. A flag for another
 * cluster is refused.
 */
async function embeddedConfig(load: Load, flags: Partial<Record<SettingName, unknown>> = {}): Promise<Config> {
  const config = await completeRestore(await load(flags))
  const cluster = clusterOf(config)
  if (cluster.kind !== 'embedded' && config.origins.url === 'flag') {
    throw usage(`\`svc localnet\` is the embedded chain, not ${cluster.label}`, { next: 'leave --url out' })
  }
  return config
}

interface PullCluster {
  rpcUrl: string
  label: string
  headers?: RpcEndpoint['headers']
}

/**
 * The clusters to pull programs from, one after another until one answers: that of the settings with all of its
 * endpoints, or mainnet-beta if that cluster has no programs of its own, or if only the Solana CLI names one.
 */
function pullClusters(config: Config): PullCluster[] {
  const cluster = clusterOf(config)
  const mainnet = parseCluster('mainnet-beta')
  if (config.origins.url === 'flag') {
    if (cluster.kind !== 'embedded') return [cluster]
    throw usage('the embedded chain itself gets its programs from this cache', { next: 'give the --url of a cluster' })
  }
  if (cluster.kind === 'embedded' || cluster.kind === 'localhost') return [mainnet]
  if (unchosenNodes(config) !== null) return cluster.kind === 'custom' ? [cluster, mainnet] : [mainnet]
  return endpointsOf(config).map(({ url, headers }) => ({ rpcUrl: url, label: parseCluster(url).label, headers }))
}

function clusterAt(text: string) {
  const isNamed = ['mainnet-beta', 'devnet', 'testnet', 'localhost'].includes(text)
  if (isNamed || /^https?:$/.test(parseUrl(text)?.protocol ?? '')) return parseCluster(text)
  throw usage(`"${text}" is not a cluster: give mainnet-beta, devnet, testnet, localhost or an http(s) URL`)
}

async function openRpc(config: Config): Promise<LocalnetRpc> {
  const owner = chainOwner(config.dataDir)
  if (owner !== undefined && (await listens(owner))) return overHttp(owner)
  const { openChain } = await import('../../src/chain/connection.ts')
  const chain = openChain({ ...config, values: { ...config.values, url: 'embedded' } })
  try {
    const rpc = await chain.rpc()
    return {
      owner: undefined,
      call: async (method, params) => resultOf((await rpc.handle(requestText(method, params))) ?? '', method),
      close: () => chain.close(),
    }
  } catch (error) {
    await chain.close()
    throw error
  }
}

/**
 * Makes the process that serves the chain copy its journal, which only it can read, passes the copy's path to `use`
 * and removes it. Returns false if no process serves it. Throws conflict while another backup has such a copy.
 */
export async function withServedChain({ dataDir }: Config, use: (file: string) => Promise<void>): Promise<boolean> {
  const owner = chainOwner(dataDir)
  if (owner === undefined || !(await listens(owner))) return false
  const { lockFolder } = await import('../../src/platform/folder-lock.ts')
  const unlock = await lockFolder(dataDir, 'chainCopy')
  if (unlock === undefined) {
    throw new Problem('conflict', `another backup is copying the embedded chain of ${dataDir}`, {
      next: 'try again once it has ended',
    })
  }
  const { removeCopies } = await chainJournal()
  const rpc = await overHttp(owner)
  try {
    // A copy that exists under this lock was left by a backup that ended early.
    removeCopies(dataDir)
    const { file } = (await rpc.call('svc_copy', '[]')) as { file: unknown }
    const name = basename(String(file))
    // The copy is removed after use, so another program on this port must not be able to name another file.
    if (!name.startsWith('chain.copy-'))
      throw failure(`${owner.rpc_url} answered with ${name}, which is not a copy of the chain`)
    await use(join(dataDir, name))
    return true
  } finally {
    removeCopies(dataDir)
    unlock()
    await rpc.close()
  }
}

async function overHttp(owner: ChainOwner): Promise<LocalnetRpc> {
  const http = await openHttp(owner.rpc_url, undefined)
  return {
    owner,
    async call(method, params) {
      const headers = { 'content-type': 'application/json' }
      const { body } = await http.send({ method: 'POST', path: '/', headers, body: requestText(method, params) })
      return resultOf(body, method)
    },
    close: () => http.close(),
  }
}

/** Checks that the owner listens. It may have ended without removing its file, and another process may have its pid. */
async function listens({ rpc_url }: ChainOwner): Promise<boolean> {
  const { connect } = await import('node:net')
  const { hostname, port } = new URL(rpc_url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => resolve(true))
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })
}

const requestText = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${params}}`

/** The JSON-RPC error code for invalid parameters of the caller. */
const INVALID_PARAMS = -32602

function resultOf(text: string, method: string): unknown {
  let answer: { result?: unknown; error?: { code?: unknown; message?: unknown } }
  try {
    answer = parseJson(text) as typeof answer
  } catch (error) {
    throw failure(`the embedded chain gave an answer to ${method} that is not JSON-RPC`, { cause: error })
  }
  const { error, result } = answer
  if (error?.code === INVALID_PARAMS) throw usage(String(error.message).replace(/^Invalid param(s)?: /, ''))
  if (error !== undefined) throw failure(`the embedded chain refuses ${method}: ${error.message}`)
  return result
}

function refuseOwned({ dataDir }: Config): void {
  const owner = chainOwner(dataDir)
  if (owner === undefined) return
  throw new Problem('conflict', `process ${owner.pid} uses the embedded chain of ${dataDir}, at ${owner.rpc_url}`, {
    next: 'stop it first',
  })
}

/** Deletes the journal's database last, after SQLite's files beside it and the file of its last pid. */
async function deleteJournal(dataDir: string): Promise<string[]> {
  const order = ['chain.pid', 'chain.db-journal', 'chain.db-shm', 'chain.db-wal', 'chain.db']
  if (!existsSync(join(dataDir, 'chain.db'))) return []
  const { openJournal, removeCopies } = await chainJournal()
  refuseServedChain(dataDir, openJournal)
  const files = order.map((name) => join(dataDir, name)).filter((file) => existsSync(file))
  for (const file of files) rmSync(file)
  removeCopies(dataDir)
  return files
}

/** Throws conflict if a process holds the journal. A journal that cannot be read may be deleted. */
function refuseServedChain(
  dataDir: string,
  openJournal: (database: ReturnType<typeof loadSqlite>, dataDir: string) => { close(): void },
): void {
  const Database = loadSqlite()
  try {
    openJournal(Database, dataDir).close()
  } catch (error) {
    if ((error as Error).name === 'ChainLockedError') throw new Problem('conflict', (error as Error).message)
  }
}

function folderAt(from: string): string {
  try {
    readdirSync(from)
    return from
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'does not exist' : code === 'ENOTDIR' ? 'is not a folder' : 'cannot be read'
    throw usage(`${from} ${why}`, { param: '--from' })
  }
}
