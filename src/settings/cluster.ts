/** Resolves the configured cluster: the embedded chain, a public cluster by its moniker, or an RPC URL. */
import { type Config, type RpcEndpoint, redactUrl } from './config.ts'

export type ClusterKind = 'embedded' | 'mainnet-beta' | 'devnet' | 'testnet' | 'localhost' | 'custom'

export interface Cluster {
  kind: ClusterKind
  /** The URL may contain a key and is never shown. For the embedded chain it is the default address of `svc serve`. */
  rpcUrl: string
  wsUrl: string
  /** The name for users and logs: the moniker, or only the host. */
  label: string
}

type NamedCluster = Exclude<ClusterKind, 'custom'>

/** The Solana CLI's monikers, and svc's own for the chain in the data folder. */
const MONIKERS: Readonly<Record<string, NamedCluster>> = {
  embedded: 'embedded',
  m: 'mainnet-beta',
  'mainnet-beta': 'mainnet-beta',
  d: 'devnet',
  devnet: 'devnet',
  t: 'testnet',
  testnet: 'testnet',
  l: 'localhost',
  localhost: 'localhost',
}

const RPC_URLS: Readonly<Record<NamedCluster, string>> = {
  embedded: 'http://127.0.0.1:8899',
  'mainnet-beta': 'https://api.mainnet-beta.solana.com',
  devnet: 'https://api.devnet.solana.com',
  testnet: 'https://api.testnet.solana.com',
  localhost: 'http://127.0.0.1:8899',
}

/** Returns the cluster that the settings select. */
export function clusterOf({ values }: Pick<Config, 'values'>): Cluster {
  const several = values.url === 'embedded' ? undefined : values['rpc-urls']
  if (several !== undefined) return clusterOfEndpoints(values.url, several)
  const cluster = parseCluster(values.url ?? 'embedded')
  if (cluster.kind !== 'embedded' || values['rpc-port'] === 0) return cluster
  const rpcUrl = `http://127.0.0.1:${values['rpc-port']}`
  return { ...cluster, rpcUrl, wsUrl: webSocketUrl(rpcUrl) }
}

/**
 * The cluster of several endpoints: the one that `url` names, otherwise that of the first endpoint, labelled with the
 * number of the others.
 */
function clusterOfEndpoints(name: string | undefined, endpoints: readonly RpcEndpoint[]): Cluster {
  const first = parseCluster(endpoints[0]?.url ?? '')
  if (name !== undefined) {
    const { kind, label } = parseCluster(name)
    return { ...first, kind, label }
  }
  const others = endpoints.length - 1
  return others === 0 ? first : { ...first, label: `${first.label} and ${others} more` }
}

/** Returns the endpoints that requests go to; none for the embedded chain. */
export function endpointsOf({ values }: Pick<Config, 'values'>): readonly RpcEndpoint[] {
  const cluster = clusterOf({ values })
  if (cluster.kind === 'embedded') return []
  return values['rpc-urls'] ?? [{ url: cluster.rpcUrl, weight: 1, headers: {} }]
}

/** Parses the value of the setting `url`: a moniker or an http(s) URL. */
export function parseCluster(text: string): Cluster {
  const kind = Object.hasOwn(MONIKERS, text) ? MONIKERS[text] : undefined
  if (kind !== undefined) {
    const rpcUrl = RPC_URLS[kind]
    return { kind, rpcUrl, wsUrl: webSocketUrl(rpcUrl), label: kind }
  }
  const url = new URL(text)
  const known = (Object.keys(RPC_URLS) as NamedCluster[]).find(
    (name) => name !== 'embedded' && isSameUrl(url, RPC_URLS[name]),
  )
  return {
    kind: known ?? 'custom',
    rpcUrl: url.href,
    wsUrl: webSocketUrl(url.href),
    label: known ?? redactUrl(url.href),
  }
}

/**
 * Returns the value of `rpc_endpoint` in answers: the public URL if one is set, or only the host of a private one.
 * `servedAt` is the actual address of the embedded chain.
 */
export function publicRpcUrl({ values }: Pick<Config, 'values'>, { kind, rpcUrl }: Cluster, servedAt?: string): string {
  if (kind === 'embedded') return values['public-rpc-url'] ?? servedAt ?? rpcUrl
  const isPrivate = kind === 'custom' || values['rpc-urls'] !== undefined
  return values['public-rpc-url'] ?? (isPrivate ? new URL(rpcUrl).origin : rpcUrl)
}

/** The WebSocket of a URL with an explicit port is on the next port, and of any other URL on the same host. */
export function webSocketUrl(rpcUrl: string): string {
  const url = new URL(rpcUrl)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const port = /^https?:\/\/(?:[^/@]*@)?(?:\[[^\]]*\]|[^/:?#]*):(\d+)/.exec(rpcUrl)?.[1]
  if (port !== undefined && Number(port) < 65535) url.port = String(Number(port) + 1)
  return url.href
}

function isSameUrl(url: URL, known: string): boolean {
  const other = new URL(known)
  const host = url.host === 'localhost:8899' ? '127.0.0.1:8899' : url.host
  return url.protocol === other.protocol && host === other.host && url.pathname === '/' && !url.search && !url.username
}
