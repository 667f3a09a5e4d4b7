/** Several RPC endpoints of one cluster behind one `fetch`: reads fail over, and transactions go to all of them. */
import { activeSpan } from '../../platform/telemetry/spans.ts'
import { pause, whyUnanswered, withTimeout } from '../../platform/timing.ts'
import type { ClusterKind } from '../../settings/cluster.ts'
import type { RpcEndpoint } from '../../settings/config.ts'
import { GENESIS_HASHES } from '../../solana/genesis-hashes.ts'
import { attempt, type PoolCore } from './attempt.ts'
import type { ConsensusNode } from './consensus.ts'
import { type EndpointReport, PoolEndpoint } from './endpoint.ts'
import { endpointLabel } from './labels.ts'
import type { StreamFromNode } from './large-answer.ts'
import { createMembership } from './membership.ts'
import { callNode, type NodeCalls, type PostToNode } from './node-call.ts'
import { inAlpenglowTerms, nodeRequest } from './node-request.ts'
import type { SocketTarget } from './node-socket.ts'
import { socketTargets } from './node-socket.ts'
import { CALL_MS, type EndpointRefusal, readFromPool, type Tried, unanswered } from './reading.ts'
import { sendToPool } from './sending-to-all.ts'
import { SlotBook } from './slot-book.ts'

/** Endpoints that must agree before something counts as absent or over. */
const WITNESSES = 2

export interface NodePool {
  send: typeof fetch
  post: PostToNode
  /** Returns the head of the first answer of a sound endpoint. */
  stream: StreamFromNode
  /**
   * Runs `read` at different endpoints that are not behind, with all calls of one run at the same endpoint. Returns
   * two readings, or none if fewer endpoints answer, because one endpoint alone proves no absence.
   */
  witnesses<T>(read: (node: NodeCalls) => Promise<T>): Promise<T[]>
  /** Each endpoint that can be asked now. */
  each(): Promise<ConsensusNode[]>
  reports(): EndpointReport[]
  /** Possible WebSocket addresses of sound endpoints. The slots that they report are compared with those of answers. */
  socketTargets(): SocketTarget[]
  /** Checks every endpoint now, to report on all of them. */
  checkAll(): Promise<void>
  /** Resolves when no background work is left. */
  settled(): Promise<void>
}

export interface NodePoolOptions {
  cluster: { kind: ClusterKind; label: string }
  /** Sends a request to one endpoint, once. */
  sendTo: (endpoint: RpcEndpoint, label: string) => typeof fetch
  /** Like `sendTo`, for an answer that is read as it arrives; without it the answer arrives as a whole. */
  streamFrom?: NodePoolOptions['sendTo']
  /** Receives an endpoint when it is down, late, of another chain, or healthy again. */
  onChange?: ((report: EndpointReport) => void) | undefined
  elapsed?: () => number
  wait?: ((milliseconds: number) => Promise<void>) | undefined
  after?: PoolCore['after'] | undefined
  ending?: AbortSignal | undefined
}

export function createNodePool(settings: readonly RpcEndpoint[], options: NodePoolOptions): NodePool {
  const { cluster, sendTo, elapsed = () => performance.now(), wait = pause, after = afterTimeout, ending } = options
  const { streamFrom = sendTo } = options
  const endpoints = settings.map((setting, place) => {
    const label = endpointLabel(setting, place)
    return new PoolEndpoint({ label, weight: setting.weight, send: sendTo(setting, label) }, options.onChange)
  })
  const streams = new Map(
    endpoints.map((endpoint, i) => [endpoint, streamFrom(settings[i] as RpcEndpoint, endpoint.label)]),
  )
  const core: PoolCore = { label: cluster.label, endpoints, book: new SlotBook(), elapsed, wait, after, ending }
  const members = createMembership(core, GENESIS_HASHES[cluster.kind])
  const own = Math.random().toString(36)
  // Requests of one trace belong together: a request of the API, a tick of a worker.
  const key = () => activeSpan()?.traceId ?? own

  async function ask(body: string): Promise<string> {
    const request = nodeRequest(body)
    if (request.method === 'sendTransaction') return sendToPool(core, members, request, key())
    return (await readFromPool(core, members, request, key())).text
  }

  const pinned = (endpoint: PoolEndpoint): NodeCalls => ({
    call: async <T>(method: string, params: readonly unknown[]) =>
      (await callNode((body) => postTo(core, endpoint, body), method, params)) as T,
  })

  const consensusNode = (endpoint: PoolEndpoint): ConsensusNode => ({
    ...pinned(endpoint),
    isAlpenglow: endpoint.isAlpenglow,
    certified() {
      endpoint.isAlpenglow = true
    },
  })

  return {
    post: async (body) => ({ status: 200, text: await ask(body) }),
    async send(_, init) {
      return new Response(await ask(String(init?.body)), { headers: { 'content-type': 'application/json' } })
    },
    async witnesses(read) {
      const sound = await members.readers(key())
      // An endpoint that was behind may have caught up; its answer shows it.
      const left = [...new Set([...sound, ...(await members.takers(key()))])]
      const readings = await Promise.all(
        Array.from({ length: WITNESSES }, async () => {
          for (let endpoint = left.shift(); endpoint !== undefined; endpoint = left.shift()) {
            try {
              return [await read(pinned(endpoint))]
            } catch {
              // The next endpoint takes its place.
            }
          }
          return []
        }),
      )
      const all = readings.flat()
      return all.length < WITNESSES ? [] : all
    },
    each: async () => (await members.takers(key())).map(consensusNode),
    async stream(body, signal) {
      const tried: Tried[] = []
      for (const endpoint of await members.readers(key())) {
        const outcome = await openStream(core, endpoint, streams.get(endpoint) ?? endpoint.send, { body, signal })
        if (outcome instanceof Response) return outcome
        tried.push({ endpoint, verdict: outcome })
      }
      throw unanswered(core, tried)
    },
    socketTargets: () =>
      endpoints.flatMap((endpoint, i) => {
        const setting = settings[i]
        if (setting === undefined || !endpoint.isUsable(elapsed())) return []
        const onSlot = (slot: number) => noteSlot(core, endpoint, slot)
        return socketTargets(setting).map((target) => ({ ...target, onSlot }))
      }),
    reports: () => endpoints.map((endpoint) => endpoint.report(elapsed())),
    checkAll: members.checkAll,
    settled: members.settled,
  }
}

/** Takes a slot from a notification, so that endpoints that lag are recognized sooner. */
function noteSlot({ book, elapsed }: PoolCore, endpoint: PoolEndpoint, slot: number): void {
  const now = elapsed()
  if (book.note(endpoint.label, 'processed', slot, { marks: book.marks(), now }) === 'incredible') return
  endpoint.sawSlot('processed', slot, now)
}

async function postTo(core: PoolCore, endpoint: PoolEndpoint, body: string): Promise<{ status: number; text: string }> {
  const request = nodeRequest(body)
  const verdict = await withTimeout(CALL_MS / 2, core.ending, (signal) => attempt(core, endpoint, request, signal))
  // An error that is not the endpoint's fault, such as an unknown method, is its answer.
  if (verdict.text === undefined || (verdict.kind === 'elsewhere' && verdict.blame !== 'none')) {
    throw new Error(verdict.kind === 'elsewhere' ? verdict.reason : 'it answers nothing')
  }
  return { status: 200, text: verdict.text }
}

/** Returns the answer once its head has arrived, or why another endpoint must be asked. */
async function openStream(
  { elapsed }: PoolCore,
  endpoint: PoolEndpoint,
  send: typeof fetch,
  { body, signal }: { body: string; signal: AbortSignal },
): Promise<Response | EndpointRefusal> {
  const headers = { 'content-type': 'application/json' }
  const own = endpoint.isAlpenglow ? inAlpenglowTerms(nodeRequest(body)).body : body
  try {
    const response = await send('', { method: 'POST', headers, body: own, signal })
    if (response.status >= 200 && response.status < 300) return response
    await response.body?.cancel()
    const reason = `it answers HTTP ${response.status}`
    endpoint.failed(reason, elapsed())
    return { kind: 'elsewhere', blame: 'failed', reason }
  } catch (error) {
    if (signal.aborted) throw error
    const reason = whyUnanswered(error)
    endpoint.failed(reason, elapsed())
    return { kind: 'elsewhere', blame: 'failed', reason }
  }
}

function afterTimeout(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds)
  return () => clearTimeout(timer)
}
