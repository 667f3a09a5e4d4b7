/** Several RPC endpoints of one cluster: reads fail over, and transactions go to all of them. */
import { internal } from '../../platform/errors.ts'
import { activeSpan } from '../../platform/telemetry/spans.ts'
import { pause, whyUnanswered, withTimeout } from '../../platform/timing.ts'
import type { ClusterKind } from '../../settings/cluster.ts'
import type { RpcEndpoint } from '../../settings/config.ts'
import { GENESIS_HASHES, isGenesisHash } from '../../solana/genesis-hashes.ts'
import { attempt, type PoolCore, readFrom, sendToAll, type Tried, unanswered } from './asking.ts'
import { type EndpointReport, endpointLabel, inOrder, PoolEndpoint } from './endpoint.ts'
import type { StreamFromNode } from './large-answer.ts'
import { callNode, type NodeCalls, type PostToNode } from './node-call.ts'
import type { NodeLine } from './node-line.ts'
import { type SocketTarget, socketTargets } from './node-socket.ts'
import { CALL_MS } from './retry.ts'
import { SlotBook } from './slot-book.ts'

/** Endpoints that must agree before something counts as absent or over. */
const WITNESSES = 2
/** Time for a look; an endpoint that takes longer is left out until it is checked again. */
const LOOK_MS = 2_000
/** Time between two surveys, in which every endpoint is asked for its slot, while requests are made. */
const SURVEY_MS = 5_000
/** Age of a survey after which a request waits for the next one, because the lag of endpoints is unknown by then. */
const STALE_SURVEY_MS = 15_000
/** Slots that were reported within this time can be compared. */
const SAME_TIME_MS = 1_000
const GENESIS = { method: 'getGenesisHash', params: [] }
const SLOT = { method: 'getSlot', params: [{ commitment: 'processed' }] }

export interface NodePool {
  post: PostToNode
  /** Returns the head of the first answer of a sound endpoint. */
  stream: StreamFromNode
  /**
   * Runs `read` at different endpoints that are not behind, with all calls of one run at the same endpoint. Returns
   * two readings, or none if fewer endpoints answer, because one endpoint alone proves no absence.
   */
  witnesses<T>(read: (node: NodeCalls) => Promise<T>): Promise<T[]>
  /** Each endpoint that can be asked now. */
  each(): Promise<NodeCalls[]>
  reports(): EndpointReport[]
  /** Possible WebSocket addresses of sound endpoints. The slots that they report are compared with those of answers. */
  socketTargets(): SocketTarget[]
  /** Resolves when no background work is left. */
  settled(): Promise<void>
}

export interface NodePoolOptions {
  cluster: { kind: ClusterKind; label: string }
  /** The way to one endpoint. */
  lineTo: (endpoint: RpcEndpoint, label: string) => NodeLine
  /** Receives an endpoint when it is down, late, of another chain, or healthy again. */
  onChange?: ((report: EndpointReport) => void) | undefined
  elapsed?: () => number
  wait?: ((milliseconds: number) => Promise<void>) | undefined
  after?: PoolCore['after'] | undefined
  ending?: AbortSignal | undefined
}

export function createNodePool(settings: readonly RpcEndpoint[], options: NodePoolOptions): NodePool {
  const { cluster, lineTo, onChange, elapsed = () => performance.now(), ending } = options
  const { wait = pause, after = afterTimeout } = options
  const endpoints = settings.map((setting, place) => {
    const label = endpointLabel(setting, place)
    return new PoolEndpoint({ label, weight: setting.weight, line: lineTo(setting, label), elapsed, onChange })
  })
  const book = new SlotBook()
  const core: PoolCore = { label: cluster.label, endpoints, book, elapsed, wait, after, ending, onSlot: compareSlots }
  const own = Math.random().toString(36)
  /** Genesis hash of the cluster; without a public one the majority decides. */
  let expected = GENESIS_HASHES[cluster.kind]
  let surveyedAt: number | undefined
  let beginning: Promise<void> | undefined
  const looks = new Map<PoolEndpoint, Promise<void>>()

  function compareSlots(): void {
    for (const endpoint of endpoints) {
      const lag = endpoint.isForeign ? undefined : book.lagOf(endpoint.label, SAME_TIME_MS, elapsed())
      if (lag !== undefined) endpoint.seenBehind(lag)
    }
  }

  /** Asks an endpoint for its slot. A check before its first use, and after a failure, asks for its chain as well. */
  function look(endpoint: PoolEndpoint): Promise<void> {
    const running = looks.get(endpoint)
    if (running !== undefined) return running
    const ask = (request: typeof SLOT | typeof GENESIS) =>
      withTimeout(LOOK_MS, ending, (signal) => attempt(core, endpoint, request, signal))
    const isCheck = expected === undefined || !endpoint.canTake
    const work = isCheck ? check(endpoint, Promise.all([ask(GENESIS), ask(SLOT)])) : ask(SLOT)
    const tracked = work
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => looks.delete(endpoint))
    looks.set(endpoint, tracked)
    return tracked
  }

  async function check(endpoint: PoolEndpoint, answers: Promise<Awaited<ReturnType<typeof attempt>>[]>): Promise<void> {
    try {
      const [genesis, slot] = await answers
      if (genesis?.kind === 'elsewhere') return endpoint.open(genesis.reason)
      if (!isGenesisHash(genesis?.result)) return endpoint.open('it does not say which chain it is of')
      if (slot?.kind === 'elsewhere' && slot.blame !== 'late') return endpoint.open(slot.reason)
      endpoint.identified(genesis.result, expected !== undefined && genesis.result !== expected)
    } catch (error) {
      if (!ending?.aborted) endpoint.open(whyUnanswered(error))
    }
  }

  /**
   * Settles on the chain of more than half of all endpoints, because a single one that answers may be of another
   * chain.
   */
  function decideChain(): void {
    if (expected !== undefined) return
    const hashes = endpoints.flatMap(({ genesis }) => genesis ?? [])
    expected = hashes.find((hash) => hashes.filter((other) => other === hash).length * 2 > endpoints.length)
    if (expected === undefined) return
    for (const endpoint of endpoints) {
      if (endpoint.genesis !== null) endpoint.identified(endpoint.genesis, endpoint.genesis !== expected)
    }
  }

  /** Looks at all endpoints for the first time. Resolves when more than half can be used, or all have answered. */
  async function begin(): Promise<void> {
    const due = endpoints.filter(({ genesis, isDueForCheck }) => genesis !== null || isDueForCheck)
    await until(due.map(look), () => {
      decideChain()
      return expected !== undefined && endpoints.filter(({ canTake }) => canTake).length * 2 > endpoints.length
    })
    if (expected !== undefined && endpoints.some(({ canTake }) => canTake)) surveyedAt = elapsed()
  }

  /** Starts the looks that are due. Waits for a survey only if the last one is too old to rely on. */
  async function maintain(): Promise<void> {
    if (surveyedAt === undefined) {
      beginning ??= begin().finally(() => {
        beginning = undefined
      })
      await beginning
      if (expected === undefined && endpoints.some(({ genesis }) => genesis !== null)) throw disagreement(core)
      return
    }
    const age = elapsed() - surveyedAt
    const isSurvey = age >= SURVEY_MS
    if (isSurvey) surveyedAt = elapsed()
    const due = endpoints.filter(({ isDueForCheck, canTake }) => isDueForCheck || (isSurvey && canTake)).map(look)
    let done = 0
    if (age >= STALE_SURVEY_MS) await until(due, () => ++done * 2 > due.length)
  }

  /** Returns the endpoints of the first kind that has any, in the order in which they are tried. */
  async function those(...kinds: ('isUsable' | 'canTake')[]): Promise<PoolEndpoint[]> {
    await maintain()
    const found = () => kinds.map((kind) => endpoints.filter((each) => each[kind])).find(({ length }) => length > 0)
    // If no endpoint is left, the request waits for the first that passes a check.
    if (found() === undefined) await until([...looks.values()], () => found() !== undefined)
    // Requests of one trace belong together: a request of the API, a round of a worker.
    return inOrder(found() ?? [], activeSpan()?.traceId ?? own)
  }
  // If no other endpoint is left, ask those that lag. A late answer is refused by itself.
  const readers = () => those('isUsable', 'canTake')
  const takers = () => those('canTake')

  /** Calls at one endpoint alone. */
  const callsAt = (endpoint: PoolEndpoint): NodeCalls => ({
    call: async <T>(method: string, params: readonly unknown[]) =>
      (await callNode((_, request) => postTo(core, endpoint, request), method, params)) as T,
  })

  return {
    async post(_, request) {
      const isSend = request.method === 'sendTransaction'
      const text = await (isSend ? sendToAll(core, takers, request) : readFrom(core, readers, request))
      return { status: 200, text }
    },
    async witnesses(read) {
      // An endpoint that was behind may have caught up; its answer shows it.
      const left = [...new Set([...(await readers()), ...(await takers())])]
      const readings = await Promise.all(
        Array.from({ length: WITNESSES }, async () => {
          for (let endpoint = left.shift(); endpoint !== undefined; endpoint = left.shift()) {
            try {
              return [await read(callsAt(endpoint))]
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
    each: async () => (await takers()).map(callsAt),
    async stream(body, signal) {
      const tried: Tried[] = []
      for (const endpoint of await readers()) {
        const answer = await openStream(endpoint, body, signal)
        if (typeof answer !== 'string') return answer
        endpoint.failed(answer)
        tried.push({ endpoint, refusal: { kind: 'elsewhere', blame: 'failed', reason: answer } })
      }
      throw unanswered(core, tried)
    },
    socketTargets: () =>
      endpoints.flatMap(({ isUsable, label }, i) => {
        const setting = settings[i]
        if (setting === undefined || !isUsable) return []
        const onSlot = (slot: number) => {
          book.note(label, 'processed', slot, { marks: book.marks(), now: elapsed() })
          compareSlots()
        }
        return socketTargets(setting).map((target) => ({ ...target, onSlot }))
      }),
    reports: () => endpoints.map((endpoint) => endpoint.report()),
    async settled() {
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

async function postTo(core: PoolCore, endpoint: PoolEndpoint, request: Parameters<PostToNode>[1]) {
  const verdict = await withTimeout(CALL_MS / 2, core.ending, (signal) => attempt(core, endpoint, request, signal))
  // An error that is not the endpoint's fault, such as an unknown method, is its answer.
  if (verdict.text === undefined || (verdict.kind === 'elsewhere' && verdict.blame !== 'none')) {
    throw new Error(verdict.kind === 'elsewhere' ? verdict.reason : 'it answers nothing')
  }
  return { status: 200, text: verdict.text }
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
  const said = endpoints.map(
    ({ label: name, genesis, lastError }) =>
      `${name}: ${genesis === null ? (lastError ?? 'not asked') : `genesis ${genesis}`}`,
  )
  return internal(
    `More than half of the RPC endpoints of ${label} must agree which chain they are of, and they do not (${said.join('; ')}): set url to the name of the cluster, or correct rpc-urls`,
  )
}

function afterTimeout(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds)
  return () => clearTimeout(timer)
}
