/** Serves the embedded chain's JSON-RPC: next to the API in `svc serve`, by itself in `svc localnet start`. */
import { isIP } from 'node:net'
import { type Chain, openChain } from '../src/chain/connection.ts'
import { type ChainOwner, chainOwner, claimChain } from '../src/chain/owner.ts'
import { type LocalnetServer, serveLocalnet } from '../src/localnet/server.ts'
import { conflict } from '../src/platform/errors.ts'
import { makeDataFolder } from '../src/platform/files.ts'
import { lockFolder } from '../src/platform/folder-lock.ts'
import type { Log } from '../src/platform/log.ts'
import { loadSvm } from '../src/platform/native-modules.ts'
import type { Config } from '../src/settings/config.ts'
import { createLog } from './log.ts'
import { unusableAddress } from './unusable-address.ts'

export interface ServedChain {
  rpcUrl: string
  wsUrl: string
  /** Messages about differences from the settings, such as another port. */
  notes: readonly string[]
  close(): Promise<void>
}

/**
 * Listens for the embedded chain, which opens on first use; undefined on another cluster. If another process serves
 * this chain, its addresses are returned.
 */
export async function serveChain(config: Config, chain: Chain, log: Log): Promise<ServedChain | undefined> {
  if (chain.cluster.kind !== 'embedded') return undefined
  // The chain opens on first use, but a daemon that could never open it must not start.
  await loadSvm()
  const unlock = await lockFolder(config.dataDir, 'chain')
  if (unlock === undefined) return servedElsewhere(chainOwner(config.dataDir), config.dataDir)
  try {
    // A consensus that the chain refuses is reported before anything listens.
    if (config.values.consensus !== undefined) await chain.local()
    const { server, notes } = await listenForRpc(config, chain, log)
    const release = claimChain(config.dataDir, { rpc_url: server.url, ws_url: server.wsUrl })
    chain.servedAt({ rpcUrl: server.url, wsUrl: server.wsUrl })
    const warning = exposure(config.values['rpc-host'], server.url)
    if (warning !== undefined) log.warn({ rpc_url: server.url }, warning)
    return {
      rpcUrl: server.url,
      wsUrl: server.wsUrl,
      notes: warning === undefined ? notes : [warning, ...notes],
      async close() {
        chain.servedAt(null)
        release()
        await server.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** A warning for a listener that other machines can reach; undefined on a loopback address. */
function exposure(host: string, url: string): string | undefined {
  const loopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
  if (loopback) return undefined
  return `Any client that reaches ${url} can change the embedded chain's clock and mint its SOL: rpc-host is ${host}, not a loopback address`
}

function servedElsewhere(owner: ChainOwner | undefined, dataDir: string): ServedChain {
  if (owner === undefined) throw chainInUse(dataDir, owner)
  const { rpc_url: rpcUrl, ws_url: wsUrl, pid } = owner
  return { rpcUrl, wsUrl, notes: [`The embedded chain is served by process ${pid}`], close: async () => {} }
}

/**
 * Listens on the configured port. If the default port is taken, a free one is used; a requested port is never
 * replaced.
 */
async function listenForRpc(
  config: Config,
  chain: Chain,
  log: Log,
): Promise<{ server: LocalnetServer; notes: string[] }> {
  const { 'rpc-host': host, 'rpc-port': port } = config.values
  const isDefault = config.origins['rpc-port'] === 'default'
  const options = {
    chain: () => chain.rpc(),
    host,
    onError: (error: unknown, method: string) => log.error({ err: error, method }, 'the embedded chain failed'),
  }
  // With `--port 0` the API accepts any port, and so does the chain unless its own port was set.
  const requestedPort = isDefault && config.values.port === 0 ? 0 : port
  try {
    return { server: await serveLocalnet({ ...options, port: requestedPort }), notes: [] }
  } catch (error) {
    if ((error as Error).name !== 'PortInUse') throw unusableAddress(error as NodeJS.ErrnoException, host, 'rpc-host')
    const taken = `Port ${(error as Error & { port: number }).port} of ${host} is taken`
    if (!isDefault) throw conflict(`${taken}; choose another with --rpc-port, or 0 for any`)
    const server = await serveLocalnet({ ...options, port: 0 })
    return { server, notes: [`${taken}: the embedded chain is at ${server.url}`] }
  }
}

interface ServingChain extends ServedChain {
  /** Resolves when the chain has shut down. */
  closed: Promise<void>
}

/** Serves only the chain until a signal arrives. Throws conflict if another process serves it. */
export async function serveLocalnetAlone(config: Config): Promise<ServingChain> {
  makeDataFolder(config.dataDir)
  const log = createLog(config)
  const chain = openChain({ ...config, values: { ...config.values, url: 'embedded' } }, { log })
  const owner = chainOwner(config.dataDir)
  if (owner !== undefined) throw chainInUse(config.dataDir, owner)
  const served = await serveChain(config, chain, log)
  if (served === undefined) throw chainInUse(config.dataDir, undefined)
  log.info({ rpc_url: served.rpcUrl, data_dir: config.dataDir }, 'embedded chain is listening')
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= served.close().then(() => chain.close())
    return closing
  }
  const closed = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => void close().then(resolve))
  })
  return { ...served, close, closed }
}

function chainInUse(dataDir: string, owner: ChainOwner | undefined) {
  const who = owner === undefined ? 'another process' : `process ${owner.pid}, at ${owner.rpc_url}`
  return conflict(`The embedded chain of ${dataDir} is served by ${who}; stop that, or choose another --data-dir`)
}
