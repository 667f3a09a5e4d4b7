/** Which endpoints belong to the pool: each is asked for its genesis hash before its first use, and after it was down. */
import { internal } from '../../errors.ts'
import { withTimeout } from '../../timing.ts'
import { attempt, type PoolCore } from './attempt.ts'
import { inOrder } from './choosing.ts'
import type { Endpoint } from './endpoint.ts'
import { nodeRequest } from './node-request.ts'
import { MOST_LAG_SLOTS } from './slot-book.ts'

/** Time for a check; an endpoint that takes longer is left out until it is checked again. */
const CHECK_MS = 2_000
/** Time between two rounds in which every endpoint is asked how far it is, while requests are made. */
const SURVEY_MS = 5_000
/** Age of a survey after which a request waits for the next one: nobody knows any more who is behind. */
const STALE_SURVEY_MS = 15_000
/** Slots that were told within this time can be compared. */
const SAME_TIME_MS = 1_000

const call = (method: string, params: readonly unknown[] = []) =>
  nodeRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
const GENESIS = call('getGenesisHash')
const SLOT = call('getSlot', [{ commitment: 'processed' }])

export interface Membership {
  /** Endpoints for a read, in the order in which they are tried; none where no one can be asked now. */
  readers(key: string): Promise<Endpoint[]>
  /** Endpoints that take transactions, late ones included. */
  takers(key: string): Promise<Endpoint[]>
  /** Checks every endpoint now. */
  checkAll(): Promise<void>
  /** Resolves when nothing is under way in the background. */
  settled(): Promise<void>
}

/** `known` is the genesis hash of a public cluster; without one the majority says which chain it is. */
export function createMembership(core: PoolCore, known: string | undefined): Membership {
  const { endpoints, book, elapsed, ending } = core
  let expected = known
  let establishing: Promise<void> | undefined
  let surveyedAt = Number.NEGATIVE_INFINITY
  const checking = new Map<Endpoint, Promise<void>>()
  const background = new Set<Promise<void>>()

  const inBackground = (work: Promise<void>): void => {
    const tracked = work.catch(() => undefined).finally(() => background.delete(tracked))
    background.add(tracked)
  }

  function check(endpoint: Endpoint): Promise<void> {
    const running = checking.get(endpoint) ?? checkOnce(endpoint).finally(() => checking.delete(endpoint))
    checking.set(endpoint, running)
    return running
  }

  async function checkOnce(endpoint: Endpoint): Promise<void> {
    try {
      await withTimeout(CHECK_MS, ending, async (signal) => {
        const [genesis, slot] = await Promise.all([GENESIS, SLOT].map((each) => attempt(core, endpoint, each, signal)))
        if (genesis?.kind !== 'answer' || typeof genesis.result !== 'string' || genesis.result === '') {
          throw new Error(genesis?.kind === 'elsewhere' ? genesis.reason : 'it does not say which chain it is of')
        }
        if (slot?.kind === 'elsewhere' && slot.blame !== 'late') throw new Error(slot.reason)
        endpoint.identified(genesis.result, expected !== undefined && genesis.result !== expected, elapsed())
      })
    } catch (error) {
      const { name, message } = error as Error
      endpoint.failed(name === 'TimeoutError' ? 'no answer in time' : message, elapsed(), true)
    }
    compareSlots()
    decide(false)
  }

  /** Settles on the chain of most endpoints; of most of those that answer once `isLast` of them has. */
  function decide(isLast: boolean): void {
    if (expected !== undefined) return
    const counts = new Map<string, number>()
    for (const { genesis } of endpoints) if (genesis !== null) counts.set(genesis, (counts.get(genesis) ?? 0) + 1)
    const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
    if (first === undefined) return
    const isMajority = first[1] * 2 > endpoints.length
    if (!isMajority && !(isLast && first[1] > (second?.[1] ?? 0))) return
    expected = first[0]
    for (const endpoint of endpoints) {
      if (endpoint.genesis !== null) endpoint.identified(endpoint.genesis, endpoint.genesis !== expected, elapsed())
    }
  }

  function compareSlots(): void {
    const now = elapsed()
    for (const endpoint of endpoints) {
      const { seen } = endpoint
      if (seen !== undefined && now - seen.at <= SAME_TIME_MS) endpoint.seenBehind(book.tip - seen.slot, MOST_LAG_SLOTS)
    }
  }

  /** Resolves when it is known which chain this is, or when nobody says so. Throws where the endpoints disagree. */
  async function establish(): Promise<void> {
    if (expected === undefined) {
      establishing ??= new Promise<void>((resolve) => {
        const asked = endpoints.filter((endpoint) => endpoint.genesis !== null || endpoint.isDueForCheck(elapsed()))
        const checks = asked.map((endpoint) => check(endpoint).then(() => expected !== undefined && resolve()))
        void Promise.all(checks).then(() => {
          decide(true)
          resolve()
        })
      }).finally(() => {
        establishing = undefined
      })
      await establishing
      surveyedAt = elapsed()
    }
    if (expected === undefined && endpoints.some(({ genesis }) => genesis !== null)) throw disagreement(core)
  }

  /** Asks every endpoint how far it is. `most` resolves when more than half have answered, `all` at the end. */
  function survey(): { most: Promise<void>; all: Promise<void> } {
    surveyedAt = elapsed()
    const asked = endpoints.filter((endpoint) => endpoint.canTake(elapsed()))
    let left = asked.length
    let tell = () => {}
    const most = new Promise<void>((resolve) => {
      tell = resolve
    })
    const askOne = async (endpoint: Endpoint) => {
      await withTimeout(CHECK_MS, ending, (signal) => attempt(core, endpoint, SLOT, signal)).catch(() => undefined)
      compareSlots()
      if (--left * 2 < asked.length) tell()
    }
    const all = Promise.all(asked.map(askOne)).then(() => tell())
    return { most, all }
  }

  /** Starts what is due. Waits for a survey only where the last one is so old that a request may meet anything. */
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

  async function those(key: string, kinds: ((endpoint: Endpoint) => boolean)[]): Promise<Endpoint[]> {
    await establish()
    await maintain()
    const now = () => kinds.map((isKind) => endpoints.filter(isKind)).find(({ length }) => length > 0)
    const found = now()
    if (found !== undefined) return inOrder(found, key)
    // Nobody else is left, so the request waits for the first that is found sound by a check.
    const checks = [...checking.values()]
    await new Promise<void>((resolve) => {
      for (const each of checks) void each.then(() => now() !== undefined && resolve())
      void Promise.all(checks).then(() => resolve())
    })
    return inOrder(now() ?? [], key)
  }

  const isUsable = (endpoint: Endpoint) => endpoint.isUsable(elapsed())
  const canTake = (endpoint: Endpoint) => endpoint.canTake(elapsed())
  return {
    // Answers of late endpoints are refused one by one; where nobody else is left, one may have caught up.
    readers: (key) => those(key, [isUsable, canTake]),
    takers: (key) => those(key, [canTake]),
    async checkAll() {
      await Promise.all(endpoints.map(check))
      decide(true)
    },
    async settled() {
      while (background.size + checking.size > 0) await Promise.all([...background, ...checking.values()])
    },
  }
}

function disagreement({ endpoints, label }: PoolCore): Error {
  const hashes = endpoints.map(
    ({ label: name, genesis }) => `${name} is of ${genesis ?? 'a chain that it does not name'}`,
  )
  return internal(
    `The RPC endpoints of ${label} are of different chains, and none has a majority: ${hashes.join('; ')}; set url to the name of the cluster, or correct rpc-urls`,
  )
}
