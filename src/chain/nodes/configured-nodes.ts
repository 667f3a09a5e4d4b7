/** Sends requests to the configured nodes: directly to one, or through a pool to several. */
import { setMaxListeners } from 'node:events'
import { ApiError, internal } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { once, whyUnanswered } from '../../platform/timing.ts'
import { type Cluster, endpointsOf } from '../../settings/cluster.ts'
import { type Config, nodesSource, type RpcEndpoint, unchosenNodes } from '../../settings/config.ts'
import { redactorOf } from '../../settings/redaction.ts'
import type { Commitment } from '../../solana/constants.ts'
import type { EndpointReport } from './endpoint.ts'
import type { StreamFromNode } from './large-answer.ts'
import type { PostToNode } from './node-call.ts'
import { nodeLine } from './node-line.ts'
import { createNodeSocket, socketTargets } from './node-socket.ts'
import type { NodePool } from './pool.ts'
import { createRetry, type NodeTiming } from './retry.ts'

/** The ways by which requests reach a chain. */
export interface NodeAccess {
  post: PostToNode
  /** For answers that are read as they arrive. */
  stream: StreamFromNode
}

export interface ConfiguredNodesOptions extends NodeTiming {
  /** Wraps every request to a node. */
  around: ((send: typeof fetch) => typeof fetch) | undefined
  log: Log
  /** The commitment at which a signature is reported. */
  commitment: () => Commitment
}

/** Opens nothing yet. */
export function configuredNodes(config: Config, cluster: Cluster, options: ConfiguredNodesOptions) {
  const { around = (send) => send, log, commitment, ...timing } = options
  const { ending } = timing
  const endpoints = endpointsOf(config)
  const [first] = endpoints
  const redactor = redactorOf(config)
  const closer = new AbortController()
  let opened: NodePool | undefined
  let last: { url: string; access: NodeAccess } | undefined

  const lineTo = ({ url, headers }: Pick<RpcEndpoint, 'url' | 'headers'>, label?: string) =>
    nodeLine({ url, headers, label, fetch: around(fetch) }, redactor)

  /** Errors name the cluster and what chose it, never the URL, because that may hold a key. */
  async function withErrors<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof ApiError) throw error
      const way = unchosenNodes(config) === null ? '' : ': -u or SVC_URL chooses another, embedded the chain inside svc'
      const from = `${cluster.label}, from ${nodesSource(config)}`
      throw internal(`The RPC node of ${from}, cannot be reached (${whyUnanswered(error)})${way}`)
    }
  }

  function at(url: string, headers: RpcEndpoint['headers'] = {}): NodeAccess {
    if (last?.url === url) return last.access
    const line = lineTo({ url, headers })
    const retry = createRetry(`The RPC node of ${cluster.label}`, timing)
    const access: NodeAccess = {
      post: (body) => withErrors(() => retry((signal) => line.post(body, signal))),
      stream: (body, signal) => withErrors(() => line.stream(body, signal)),
    }
    last = { url, access }
    return access
  }

  const openPool = once(async () => {
    const { createNodePool } = await import('./pool.ts')
    // Background work must not keep a command from ending.
    const either = ending === undefined ? closer.signal : AbortSignal.any([ending, closer.signal])
    setMaxListeners(0, either)
    const onChange = ({ endpoint, state, slotLag, genesis, lastError }: EndpointReport) => {
      const reason = lastError && redactor.text(lastError)
      const fields = { endpoint, state, slot_lag: slotLag, genesis, reason }
      if (state === 'ok') log.info(fields, 'an RPC endpoint is used')
      else log.warn(fields, 'an RPC endpoint is not used')
    }
    opened = createNodePool(endpoints, { cluster, lineTo, onChange, ...timing, ending: either })
    return opened
  })

  const access = once(async (): Promise<NodeAccess> => {
    const { post, stream } = await openPool()
    return { post: (body, request) => withErrors(() => post(body, request)), stream }
  })

  // A test's wrapper of requests has no WebSocket, and the embedded chain answers without a network.
  const waits =
    first === undefined || options.around !== undefined
      ? undefined
      : createNodeSocket({ targets: () => opened?.socketTargets() ?? socketTargets(first), commitment, ending })
  const isPool = endpoints.length > 1
  return {
    /** Access to the embedded chain of another process. The same URL gives the same access. */
    at,
    /** Undefined for the embedded chain. */
    access: first && (isPool ? access : async () => at(first.url, first.headers)),
    /** Undefined with a single node. */
    pool: isPool ? openPool : undefined,
    reports: (): EndpointReport[] => opened?.reports() ?? [],
    onSignature: waits?.onSignature,
    close(): void {
      closer.abort()
      waits?.close()
    },
  }
}
