/** Sends requests to the configured nodes: directly to one, or through a pool to several. */
import { setMaxListeners } from 'node:events'
import { ApiError, internal } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { whyUnanswered } from '../../platform/timing.ts'
import { type Cluster, endpointsOf } from '../../settings/cluster.ts'
import { type Config, nodesSource, type RpcEndpoint, unchosenNodes } from '../../settings/config.ts'
import { type Redactor, redactorOf } from '../../settings/redaction.ts'
import type { Commitment } from '../../solana/constants.ts'
import { withoutUser } from '../program-cache/rpc.ts'
import type { ConsensusNode } from './consensus.ts'
import type { EndpointReport } from './endpoint.ts'
import type { StreamFromNode } from './large-answer.ts'
import { type NodeCalls, type PostToNode, postOver } from './node-call.ts'
import { createNodeSocket, type OnSignature, socketTargets } from './node-socket.ts'
import { observedRpc, observedStream } from './observed-rpc.ts'
import { type RetryOptions, withRetries } from './patient-fetch.ts'
import type { NodePool, NodePoolOptions } from './pool.ts'

/** The ways by which requests reach a chain. */
export interface NodeAccess {
  url: string
  /** For web3.js. */
  send: typeof fetch
  post: PostToNode
  /** For answers that are read as they arrive. */
  stream: StreamFromNode
}

export interface ConfiguredNodes {
  hasSeveralEndpoints: boolean
  /** Undefined for the embedded chain. */
  access: (() => Promise<NodeAccess>) | undefined
  /** Changes the one node's URL, or sets the same one again. */
  at(url: string): NodeAccess
  /** Undefined with a single node. */
  witnesses: (<T>(read: (node: NodeCalls) => Promise<T>) => Promise<T[]>) | undefined
  /** Each endpoint that can be asked now; undefined with a single node. */
  each: (() => Promise<ConsensusNode[]>) | undefined
  reports(): EndpointReport[]
  onSignature: OnSignature | undefined
  close(): void
}

export interface ConfiguredNodesOptions extends Pick<NodePoolOptions, 'elapsed' | 'wait' | 'after' | 'ending'> {
  /** Wraps every request to a node. */
  around: ((send: typeof fetch) => typeof fetch) | undefined
  retryOptions: RetryOptions
  log: Log
  /** The commitment at which a signature is reported. */
  commitment: () => Commitment
}

const JSON_POST = { method: 'POST', headers: { 'content-type': 'application/json' } } as const

/** Opens nothing yet. */
export function configuredNodes(config: Config, cluster: Cluster, options: ConfiguredNodesOptions): ConfiguredNodes {
  const { around = (send) => send, retryOptions, ending, log, commitment, ...timing } = options
  const endpoints = endpointsOf(config)
  const [first] = endpoints
  const hasSeveralEndpoints = endpoints.length > 1
  const named = { label: cluster.label, source: nodesSource(config), isChosen: unchosenNodes(config) === null }
  const sendTo = ({ url, headers }: Pick<RpcEndpoint, 'url' | 'headers'>, label?: string) =>
    around(nodeFetch(url, redactorOf(config), { headers, label }))
  const streamFrom = ({ url, headers }: Pick<RpcEndpoint, 'url' | 'headers'>, label?: string): typeof fetch =>
    around(nodeStream(url, { headers, label }))
  const closer = new AbortController()
  let last: NodeAccess | undefined
  let pool: NodePool | undefined
  let pooled: Promise<NodeAccess> | undefined
  // A test's wrapper of requests has no WebSocket, and the embedded chain answers without a network.
  const waits =
    first === undefined || options.around !== undefined
      ? undefined
      : createNodeSocket({ targets: () => pool?.socketTargets() ?? socketTargets(first), commitment, ending })

  const at = (url: string, headers: RpcEndpoint['headers'] = {}): NodeAccess => {
    if (last?.url !== url) {
      const send = withNodeErrors(withRetries(sendTo({ url, headers }), retryOptions), named)
      const open = streamFrom({ url, headers })
      const stream: StreamFromNode = (body, signal) =>
        withErrors(named, () => open(url, { ...JSON_POST, body, signal }))
      last = { url, send, post: postOver(send, url), stream }
    }
    return last
  }

  async function openPool(url: string): Promise<NodeAccess> {
    const { createNodePool } = await import('./pool.ts')
    // Background work must not keep a command from ending.
    const either = ending === undefined ? closer.signal : AbortSignal.any([ending, closer.signal])
    setMaxListeners(0, either)
    const { text } = redactorOf(config)
    const onChange = ({ endpoint, state, slotLag, genesis, lastError }: EndpointReport) => {
      const fields = { endpoint, state, slot_lag: slotLag, genesis, reason: lastError && text(lastError) }
      if (state === 'ok') log.info(fields, 'an RPC endpoint is used')
      else log.warn(fields, 'an RPC endpoint is not used')
    }
    const made = createNodePool(endpoints, { cluster, sendTo, streamFrom, onChange, ending: either, ...timing })
    pool = made
    const post = (body: string) => withErrors(named, () => made.post(body))
    return { url, send: withNodeErrors(made.send, named), post, stream: made.stream }
  }

  async function access({ url, headers }: RpcEndpoint): Promise<NodeAccess> {
    if (!hasSeveralEndpoints) return at(url, headers)
    pooled ??= openPool(url)
    return pooled
  }

  return {
    hasSeveralEndpoints,
    at,
    access: first && (() => access(first)),
    witnesses: hasSeveralEndpoints
      ? async (read) => {
          if (first !== undefined) await access(first)
          return pool?.witnesses(read) ?? []
        }
      : undefined,
    each: hasSeveralEndpoints
      ? async () => {
          if (first !== undefined) await access(first)
          return pool?.each() ?? []
        }
      : undefined,
    reports: () => pool?.reports() ?? [],
    onSignature: waits?.onSignature,
    close() {
      closer.abort()
      waits?.close()
    },
  }
}

/** Removes the URL's credentials from answers, because some nodes repeat them. */
function nodeFetch(
  url: string,
  redactor: Redactor,
  { headers, label }: { headers: RpcEndpoint['headers']; label: string | undefined },
): typeof fetch {
  const { href, authorization } = withoutUser(url)
  const post = observedRpc('rpc', { authorization: { ...authorization, ...headers }, label }, redactor)
  return (_, init) => post(href, init)
}

/** The same for an answer that is read as it arrives; its reader removes credentials from errors. */
function nodeStream(
  url: string,
  { headers, label }: { headers: RpcEndpoint['headers']; label: string | undefined },
): typeof fetch {
  const { href, authorization } = withoutUser(url)
  const open = observedStream('rpc', { authorization: { ...authorization, ...headers }, label })
  return (_, init) => open(href, init)
}

interface NamedNodes {
  label: string
  /** Which flag, variable, file or setting names them. */
  source: string
  isChosen: boolean
}

/** Errors name the cluster and what chose it, never the URL, because that may hold a key. */
async function withErrors<T>({ label, source, isChosen }: NamedNodes, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiError) throw error
    const way = isChosen ? '' : ': -u or SVC_URL chooses another, embedded the chain inside svc'
    throw internal(`The RPC node of ${label}, from ${source}, cannot be reached (${whyUnanswered(error)})${way}`)
  }
}

const withNodeErrors =
  (send: typeof fetch, named: NamedNodes): typeof fetch =>
  (input, init) =>
    withErrors(named, () => send(input, init))
