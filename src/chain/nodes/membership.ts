/** Which endpoints belong to the pool: each is asked for its genesis hash before its first use, and after a failure. */
import { internal } from '../../platform/errors.ts'
import { withTimeout } from '../../platform/timing.ts'
import { isGenesisHash } from '../../solana/genesis-hashes.ts'
import { attempt, type PoolCore } from './attempt.ts'
import type { PoolEndpoint } from './endpoint.ts'
import { nodeRequest } from './node-request.ts'
import { MOST_LAG_SLOTS } from './slot-book.ts'

/** Time for a check; an endpoint that takes longer is left out until it is checked again. */
const CHECK_MS = 2_000
/** Time between two surveys, in which every endpoint is asked for its slot, while requests are made. */
const SURVEY_MS = 5_000
/** Age of a survey after which a request waits for the next one, because the lag of endpoints is unknown by then. */
const STALE_SURVEY_MS = 15_000
/** Slots that were reported within this time can be compared. */
const SAME_TIME_MS = 1_000

const call = (method: string, params: readonly unknown[] = []) =>
  nodeRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
const GENESIS = call('getGenesisHash')
const SLOT = call('getSlot', [{ commitment: 'processed' }])

export interface Membership {
  /** Endpoints for a read, in the order in which they are tried; none if no endpoint can be asked now. */
  readers(key: string): Promise<PoolEndpoint[]>
  /** Endpoints that take transactions, late ones included. */
  takers(key: string): Promise<PoolEndpoint[]>
  /** Checks every endpoint now. */
  checkAll(): Promise<void>
  /** Resolves when no background work is left. */
  settled(): Promise<void>
}

/** `known` is the genesis hash of a public cluster; without one the majority decides. */
export function createMembership(core: PoolCore, known: string | undefined): Membership {
  const { endpoints, book, elapsed, ending } = core
  let expected = known
  let establishing: Promise<void> | undefined
  let hasBegun = false
  let surveyedAt = Number.NEGATIVE_INFINITY
  const checking = new Map<PoolEndpoint, Promise<void>>()
  const background = new Set<Promise<void>>()

  const inBackground = (work: Promise<void>): void => {
    const tracked = work.catch(() => undefined).finally(() => background.delete(tracked))
    background.add(tracked)
  }

  function check(endpoint: PoolEndpoint): Promise<void> {
    const running = checking.get(endpoint) ?? checkOnce(endpoint).finally(() => checking.delete(endpoint))
    checking.set(endpoint, running)
    return running
  }

  async function checkOnce(endpoint: PoolEndpoint): Promise<void> {
    try {
      await withTimeout(CHECK_MS, ending, async (signal) => {
        const [genesis, slot] = await Promise.all([GENESIS, SLOT].map((each) => attempt(core, endpoint, each, signal)))
        if (genesis?.kind !== 'answer' || !isGenesisHash(genesis.result)) {
          throw new Error(genesis?.kind === 'elsewhere' ? genesis.reason : 'it does not say which chain it is of')
        }
        if (slot?.kind === 'elsewhere' && slot.blame !== 'late') throw new Error(slot.reason)
        endpoint.identified(genesis.result, expected !== undefined && genesis.result !== expected, elapsed())
      })
    } catch (error) {
      if (ending?.aborted) return
      const { name, message } = error as Error
      endpoint.failed(name === 'TimeoutError' ? 'no answer in time' : message, elapsed(), true)
    }
    if (hasBegun) compareSlots()
  }

  /**
   * Settles on the chain of more than half of all endpoints, because a single one that answers may be of another
   * chain.
   */
  function decide(): void {
    if (expected !== undefined) return
    const hashes = endpoints.flatMap(({ genesis }) => genesis ?? [])
    expected = hashes.find((hash) => hashes.filter((other) => other === hash).length * 2 > endpoints.length)
    if (expected === undefined) return
    for (const endpoint of endpoints) {
      if (endpoint.genesis !== null) endpoint.identified(endpoint.genesis, endpoint.genesis !== expected, elapsed())
    }
  }

  function compareSlots(): void {
    const now = elapsed()
    for (const endpoint of endpoints) {
      const { seen } = endpoint
      if (seen !== undefined && now - seen.at <= SAME_TIME_MS)
        endpoint.seenBehind(book.tip - seen.slot, MOST_LAG_SLOTS, now)
    }
  }

  /** Resolves when more than half of the endpoints were checked, or all that can be. Throws when they disagree. */
  async function establish(): Promise<void> {
    if (!hasBegun) {
      establishing ??= firstChecks().finally(() => {
        establishing = undefined
      })
      await establishing
    }
    if (expected === undefined && endpoints.some(({ genesis }) => genesis !== null)) throw disagreement(core)
  }

  function firstChecks(): Promise<void> {
    return new Promise((resolve) => {
      const begin = (isLast: boolean) => {
        decide()
        const slots = endpoints.flatMap(({ label, isForeign, seen }) =>
          isForeign || seen === undefined ? [] : [{ label, slot: seen.slot }],
        )
        const isEnough = isLast ? slots.length > 0 : slots.length * 2 > endpoints.length
        if (!hasBegun && expected !== undefined && isEnough) {
          hasBegun = true
          surveyedAt = elapsed()
          book.begin(slots, elapsed())
          compareSlots()
        }
        if (hasBegun || isLast) resolve()
      }
      const asked = endpoints.filter((endpoint) => endpoint.genesis !== null || endpoint.isDueForCheck(elapsed()))
      void Promise.all(asked.map((endpoint) => check(endpoint).then(() => begin(false)))).then(() => begin(true))
    })
  }

  /** Asks every endpoint for its slot. `most` resolves when more than half have answered, `all` at the end. */
  function survey(): { most: Promise<void>; all: Promise<void> } {
    surveyedAt = elapsed()
    const asked = endpoints.filter((endpoint) => endpoint.canTake(elapsed()))
    let left = asked.length
    let tell = () => {}
    const most = new Promise<void>((resolve) => {
      tell = resolve
    })
    const askOne = async (endpoint: PoolEndpoint) => {
      await withTimeout(CHECK_MS, ending, (signal) => attempt(core, endpoint, SLOT, signal)).catch(() => undefined)
      compareSlots()
      if (--left * 2 < asked.length) tell()
    }
    const all = Promise.all(asked.map(askOne)).then(() => tell())
    return { most, all }
  }

  /** Starts due checks and surveys. Waits for a survey only if the last one is too old to rely on. */
  async function maintain(): Promise<void> {
    const now = elapsed()
    for (const endpoint of endpoints) {
      if (endpoint.isDueForCheck(now) && !checking.has(endpoint)) inBackground(check(endpoint))
    }
    const age = now - surveyedAt
    if (age < SURVEY_MS) return
    const { most, all } = survey()
    inBackground(all)
    if (age >= STALE_SURVEY_MS) await most
  }

  async function those(key: string, kinds: ((endpoint: PoolEndpoint) => boolean)[]): Promise<PoolEndpoint[]> {
    await establish()
    await maintain()
    const now = () => kinds.map((isKind) => endpoints.filter(isKind)).find(({ length }) => length > 0)
    const found = now()
    if (found !== undefined) return inOrder(found, key)
    // No other endpoint is left, so the request waits for the first that passes a check.
    const checks = [...checking.values()]
    await new Promise<void>((resolve) => {
      for (const each of checks) void each.then(() => now() !== undefined && resolve())
      void Promise.all(checks).then(() => resolve())
    })
    return inOrder(now() ?? [], key)
  }

  const isUsable = (endpoint: PoolEndpoint) => endpoint.isUsable(elapsed())
  const canTake = (endpoint: PoolEndpoint) => endpoint.canTake(elapsed())
  return {
    // If no other endpoint is left, ask those that lag. A late answer is refused by itself.
    readers: (key) => those(key, [isUsable, canTake]),
    takers: (key) => those(key, [canTake]),
    async checkAll() {
      await establish().catch(() => undefined)
      await Promise.all(endpoints.map(check))
    },
    async settled() {
      while (background.size + checking.size > 0) await Promise.all([...background, ...checking.values()])
    },
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

/** Lowest share of its weight that a slow, failing or slightly late endpoint keeps. */
const LEAST_FACTOR = 1 / 8
/** Slots of lag that do not matter. */
const COMMON_LAG = 4

/**
 * Returns the endpoints in the order in which they are tried. Weighted rendezvous hashing: requests with one key go to
 * one endpoint while it is healthy, because reads from two banks do not fit together. Many keys are spread by weight.
 */
export function inOrder(endpoints: readonly PoolEndpoint[], key: string): PoolEndpoint[] {
  const fastest = Math.min(...endpoints.map(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY))
  return endpoints
    .map((endpoint) => ({
      endpoint,
      score: -Math.log(unitHash(`${key} ${endpoint.label}`)) / shareOf(endpoint, fastest),
    }))
    .sort((a, b) => a.score - b.score)
    .map(({ endpoint }) => endpoint)
}

/** The weight reduced by poor health, in halves, so that the order does not change with every answer. */
function shareOf({ weight, latencyMs, errorRate, slotLag }: PoolEndpoint, fastest: number): number {
  const slowness = latencyMs === null ? 1 : latencyMs / Math.max(fastest, 25)
  const lag = (slotLag ?? 0) / COMMON_LAG
  return weight * halves(2 / Math.max(slowness, 2)) * halves(1 / Math.max(lag, 1)) * halves(1 - errorRate)
}

const halves = (factor: number) => 2 ** Math.ceil(Math.log2(Math.max(factor, LEAST_FACTOR)) - 1e-9)

/**
 * Hashes a text to a number between 0 and 1 (FNV-1a with the finalizer of MurmurHash3); it need not be hard to guess.
 */
function unitHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33
}
