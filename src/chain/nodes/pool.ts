/** Several RPC endpoints of one cluster: which of them may be asked, and what is asked of them. */
import { internal } from '../../platform/errors.ts'
import { activeSpan } from '../../platform/telemetry/spans.ts'
import { whyUnanswered, withTimeout } from '../../platform/timing.ts'
import type { ClusterKind } from '../../settings/cluster.ts'
import type { RpcEndpoint } from '../../settings/config.ts'
import { GENESIS_HASHES, isGenesisHash } from '../../solana/genesis-hashes.ts'
import { attempt, noteSlot, type PoolCore, readFrom, sendToAll, soundAmong, type Tried, unanswered } from './asking.ts'
import { type EndpointReport, endpointLabel, inOrder, PoolEndpoint } from './endpoint.ts'
import { callNode, type NodeCalls, type NodeRequest } from './node-call.ts'
import type { NodeLine } from './node-line.ts'
import { type SocketTarget, socketTargets } from './node-socket.ts'
import { CALL_MS, type NodeTiming } from './retry.ts'
import { SlotBook } from './slot-book.ts'

/** Time for a look; an endpoint that takes longer is left out until it is checked again. */
const LOOK_MS = 2_000
/** Time between two surveys, in which every endpoint is asked for its slot, while requests are made. */
const SURVEY_MS = 5_000
/** Age of a survey after which a request waits for the next one, because the lag of endpoints is unknown by then. */
const STALE_SURVEY_MS = 15_000
const GENESIS: NodeRequest = { method: 'getGenesisHash', params: [] }
const SLOT: NodeRequest = { method: 'getSlot', params: [{ commitment: 'processed' }] }

export interface NodePoolOptions extends NodeTiming {
  cluster: { kind: ClusterKind; label: string }
  /** The way to one endpoint. */
  lineTo: (endpoint: RpcEndpoint, label: string) => NodeLine
  /** Receives an endpoint when it is down, late, of another chain, or healthy again. */
  onChange?: (report: EndpointReport) => void
}

export type NodePool = ReturnType<typeof createNodePool>

export function createNodePool(settings: readonly RpcEndpoint[], options: NodePoolOptions) {
  const { cluster, lineTo, onChange, ...timing } = options
  const { elapsed, ending } = timing
  const endpoints = settings.map((setting, place) => {
    const label = endpointLabel(setting, place)
    return new PoolEndpoint({ label, weight: setting.weight, line: lineTo(setting, label) }, elapsed, onChange)
  })
  const core: PoolCore = { label: cluster.label, endpoints, book: new SlotBook(), ...timing }
  const own = Math.random().toString(36)
  /** Genesis hash of the cluster; without a public one the majority decides. */
  let expected = GENESIS_HASHES[cluster.kind]
  let surveyedAt = Number.NEGATIVE_INFINITY
  /** The last survey that requests wait for. */
  let awaited = Promise.resolve()
  const looks = new Map<PoolEndpoint, Promise<void>>()
  /** What checks have shown of endpoints that are not admitted yet. */
  const checked = new Map<PoolEndpoint, { genesis: string; slot: number | undefined }>()

  const lookAt = (endpoint: PoolEndpoint, request: NodeRequest, isCheck: boolean) =>
    withTimeout(LOOK_MS, ending, (signal) => attempt(core, endpoint, request, signal, isCheck))

  /** Asks an endpoint for its slot, and first of all, or after a failure, for its chain. */
  function look(endpoint: PoolEndpoint): Promise<void> {
    const running = looks.get(endpoint)
    if (running !== undefined) return running
    const work = endpoint.canTake ? lookAt(endpoint, SLOT, false).catch(() => undefined) : check(endpoint)
    const made = work.then(() => void looks.delete(endpoint))
    looks.set(endpoint, made)
    return made
  }

  async function check(endpoint: PoolEndpoint): Promise<void> {
    try {
      const [genesis, slot] = await Promise.all([GENESIS, SLOT].map((each) => lookAt(endpoint, each, true)))
      if (genesis?.kind === 'elsewhere') return endpoint.open(genesis.reason)
      if (!isGenesisHash(genesis?.result)) return endpoint.open('it does not say which chain it is of')
      if (slot?.kind === 'elsewhere' && slot.blame !== 'late') return endpoint.open(slot.reason)
      checked.set(endpoint, { genesis: genesis.result, slot: slot?.kind === 'answer' ? slot.slot : undefined })
      admit()
    } catch (error) {
      if (!ending?.aborted) endpoint.open(whyUnanswered(error))
    }
  }

  /**
   * Settles on the chain of more than half of all endpoints, because a single one that answers may be of another
   * chain. From then on its endpoints are used.
   */
  function admit(): void {
    const hashes = [...checked.values()].map(({ genesis }) => genesis)
    expected ??= hashes.find((hash) => hashes.filter((other) => other === hash).length * 2 > endpoints.length)
    for (const [endpoint, { genesis, slot }] of checked) {
      endpoint.identified(genesis, expected === undefined ? null : genesis === expected)
      const marks = core.book.marks()
      if (endpoint.isMember && slot !== undefined) noteSlot(core, endpoint, { commitment: 'processed', slot, marks })
      if (expected !== undefined) checked.delete(endpoint)
    }
  }

  /** Starts the looks that are due. Resolves at once unless the last survey is too old to rely on. */
  function maintain(): Promise<void> {
    const age = elapsed() - surveyedAt
    const isSurvey = age >= SURVEY_MS
    if (isSurvey) surveyedAt = elapsed()
    const checks = endpoints.filter(({ isDueForCheck }) => isDueForCheck).map(look)
    const slots = isSurvey ? endpoints.filter(({ canTake }) => canTake).map(look) : []
    if (age < STALE_SURVEY_MS) return awaited
    let done = 0
    const isMost = (count: number, of: readonly unknown[]) => count * 2 > of.length
    const isAnyLeft = slots.length > 0
    // A request does not wait for endpoints that are down, unless none is left, as at the start.
    awaited = until(isAnyLeft ? slots : checks, () => {
      if (isAnyLeft) return isMost(++done, slots)
      return isMost(++done, checks) && isMost(endpoints.filter(({ canTake }) => canTake).length, endpoints)
    })
    return awaited
  }

  /**
   * Returns the endpoints that can be asked, in the order in which they are tried. Those that lag come last: they take
   * transactions, and their late answers are refused one by one.
   */
  async function inService(): Promise<PoolEndpoint[]> {
    await maintain()
    const isAny = () => endpoints.some(({ canTake }) => canTake)
    // If no endpoint is left, the request waits for the first that passes a check.
    if (!isAny()) await until([...looks.values()], isAny)
    if (checked.size > 0 && expected === undefined) throw disagreement(core)
    // Requests of one trace belong together: a request of the API, a round of a worker.
    const order = inOrder(endpoints, activeSpan()?.traceId ?? own).filter(({ canTake }) => canTake)
    return [...order.filter(({ isUsable }) => isUsable), ...order.filter(({ isUsable }) => !isUsable)]
  }

  return {
    async post(_: string, request: NodeRequest): Promise<{ status: number; text: string }> {
      const isSend = request.method === 'sendTransaction'
      const text = await (isSend ? sendToAll : readFrom)(core, inService, request)
      return { status: 200, text }
    },
    /**
     * Runs `read` at two different endpoints that are not behind, with all calls of one run at the same endpoint.
     * Returns both readings, or none if fewer endpoints answer, because one endpoint alone proves no absence.
     */
    async witnesses<T>(read: (node: NodeCalls) => Promise<T>): Promise<T[]> {
      const left = await inService()
      const firstReading = async (): Promise<T[]> => {
        const endpoint = left.shift()
        return endpoint === undefined ? [] : read(callsAt(core, endpoint)).then((reading) => [reading], firstReading)
      }
      const both = (await Promise.all([firstReading(), firstReading()])).flat()
      return both.length < 2 ? [] : both
    },
    /** Each endpoint that can be asked now. */
    each: async (): Promise<NodeCalls[]> => (await inService()).map((endpoint) => callsAt(core, endpoint)),
    /** Returns the head of the first answer of a sound endpoint. */
    async stream(body: string, signal: AbortSignal): Promise<Response> {
      const tried: Tried[] = []
      for (const endpoint of soundAmong(await inService())) {
        const answer = await openStream(endpoint, body, signal)
        if (typeof answer !== 'string') return answer
        endpoint.failed(answer)
        tried.push({ endpoint, refusal: { kind: 'elsewhere', blame: 'failed', reason: answer } })
      }
      throw unanswered(core, tried)
    },
    /** Possible WebSocket addresses of sound endpoints. */
    socketTargets: (): SocketTarget[] =>
      settings.filter((_, i) => endpoints[i]?.isUsable).flatMap((setting) => socketTargets(setting)),
    reports: (): EndpointReport[] => endpoints.map((endpoint) => endpoint.report()),
    /** Resolves when no look is under way. */
    async settled(): Promise<void> {
      while (looks.size > 0) await Promise.all(looks.values())
    },
  }
}

/** Resolves when `isEnough` is true after one of the works, or when all of them have ended. */
function until(works: readonly Promise<void>[], isEnough: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const work of works) void work.then(() => isEnough() && resolve())
    void Promise.all(works).then(() => resolve())
  })
}

/** Calls at one endpoint alone. An error that is not its fault, such as an unknown method, is its answer. */
function callsAt(core: PoolCore, endpoint: PoolEndpoint): NodeCalls {
  const post = async (_: string, request: NodeRequest) => {
    const verdict = await withTimeout(CALL_MS / 2, core.ending, (signal) => attempt(core, endpoint, request, signal))
    if (verdict.kind === 'answer' || (verdict.blame === 'none' && verdict.text !== undefined)) {
      return { status: 200, text: verdict.text ?? '' }
    }
    throw new Error(verdict.reason)
  }
  return {
    call: async <T>(method: string, params: readonly unknown[]) => (await callNode(post, method, params)) as T,
  }
}

/** Returns the answer once its head has arrived, or why another endpoint must be asked. */
async function openStream({ line }: PoolEndpoint, body: string, signal: AbortSignal): Promise<Response | string> {
  try {
    const response = await line.stream(body, signal)
    if (response.status >= 200 && response.status < 300) return response
    await response.body?.cancel()
    return `it answers HTTP ${response.status}`
  } catch (error) {
    if (signal.aborted) throw error
    return whyUnanswered(error)
  }
}

function disagreement({ endpoints, label }: PoolCore): Error {
  const said = endpoints.map(({ label: name, genesis, lastError }) => {
    return `${name}: ${genesis === null ? (lastError ?? 'not asked') : `genesis ${genesis}`}`
  })
  return internal(
    `More than half of the RPC endpoints of ${label} must agree which chain they are of, and they do not (${said.join('; ')}): set url to the name of the cluster, or correct rpc-urls`,
  )
}
