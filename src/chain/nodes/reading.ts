/** Reads from the pool: the first complete and current answer counts, and a slow endpoint is overtaken by the next. */
import { internal } from '../../platform/errors.ts'
import { publishFailover } from '../../platform/telemetry/failovers.ts'
import { SECOND_MS, withTimeout } from '../../platform/timing.ts'
import { attempt, OVERTAKEN, type PoolCore } from './attempt.ts'
import type { PoolEndpoint } from './endpoint.ts'
import type { Membership } from './membership.ts'
import type { NodeRequest } from './node-request.ts'
import type { AnswerVerdict } from './verdict.ts'

/** Time for a call with all of its tries, as for a single node. */
export const CALL_MS = 8_000
/** Rounds over the endpoints, and the pause after the first, which doubles. */
const MOST_ROUNDS = 4
const FIRST_WAIT_MS = 250
/** Endpoints that must agree on an error before it is returned as the answer. */
const AGREEING = 3
/** An endpoint is overtaken after three times its usual latency, within these bounds. */
const HESITATION = { usual: 250, times: 3, least: 500, most: 2_500 } as const

type Answer = Extract<AnswerVerdict, { kind: 'answer' }> & { by: PoolEndpoint }
export type EndpointRefusal = Extract<AnswerVerdict, { kind: 'elsewhere' }>

export interface Tried {
  endpoint: PoolEndpoint
  verdict: EndpointRefusal
}

/** Returns the text of the answer. Throws internal_error if no endpoint gives one. */
export async function readFromPool(
  core: PoolCore,
  members: Membership,
  request: NodeRequest,
  key: string,
): Promise<{ text: string; isError: boolean }> {
  const startedAt = core.elapsed()
  let hasFailed = false
  return inRounds(core, async (signal) => {
    const candidates = await members.readers(key)
    const outcome = await firstAnswer(core, candidates, request, signal)
    if ('text' in outcome) {
      if (hasFailed || outcome.by !== candidates[0]) {
        publishFailover({ operation: request.method, seconds: (core.elapsed() - startedAt) / SECOND_MS })
      }
      return outcome
    }
    hasFailed = true
    // A retry does not help when every endpoint gives the same error, such as an unknown method.
    const isSettled = outcome.tried.length > 0 && outcome.tried.every(({ verdict }) => verdict.blame === 'none')
    return { tried: outcome.tried, isSettled }
  })
}

type Round = { text: string; isError: boolean } | { tried: readonly Tried[]; isSettled: boolean }

/** Runs rounds until one has an answer. If no endpoint does better, the JSON-RPC error is the answer. */
export async function inRounds(
  core: PoolCore,
  round: (signal: AbortSignal) => Promise<Round>,
): Promise<{ text: string; isError: boolean }> {
  const { elapsed, wait, ending } = core
  const startedAt = elapsed()
  const within = async (signal: AbortSignal) => {
    for (let count = 1; ; count++) {
      const outcome = await round(signal)
      if ('text' in outcome) return outcome
      const told = outcome.tried.find(({ verdict }) => verdict.text !== undefined)?.verdict.text
      const pause = pauseBefore(core, count)
      const isOver = count >= MOST_ROUNDS || pause === undefined || elapsed() + pause - startedAt > CALL_MS
      if (outcome.isSettled || isOver) {
        if (told !== undefined) return { text: told, isError: true }
        throw unanswered(core, outcome.tried)
      }
      await wait(pause)
    }
  }
  try {
    return await withTimeout(CALL_MS, ending, within)
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw unanswered(core, [])
    throw error
  }
}

/** Milliseconds until another round makes sense; undefined if no endpoint may be asked again. */
function pauseBefore({ endpoints, elapsed }: PoolCore, round: number): number | undefined {
  const now = elapsed()
  const times = endpoints.flatMap((endpoint) => endpoint.triableAt(now) ?? [])
  if (times.length === 0) return undefined
  return Math.max(FIRST_WAIT_MS * 2 ** (round - 1), Math.min(...times) - now)
}

/** Says for every endpoint why it did not answer; if all are paused, `retryAfter` is when the first one is not. */
export function unanswered({ endpoints, elapsed, label }: PoolCore, tried: readonly Tried[]): Error {
  const now = elapsed()
  const reasons = endpoints.map((endpoint) => {
    const state = endpoint.state(now)
    const last = tried.find((each) => each.endpoint === endpoint)?.verdict.reason ?? endpoint.lastError
    if (state === 'wrong-chain') return `${endpoint.label}: it is of another chain (genesis ${endpoint.genesis})`
    if (state !== 'paused') return `${endpoint.label}: ${last ?? 'no answer in time'}`
    return `${endpoint.label}: it is paused for another ${Math.ceil((endpoint.pausedUntil - now) / 1000)} s`
  })
  const pauses = endpoints.filter(({ isForeign }) => !isForeign).map(({ pausedUntil }) => pausedUntil - now)
  const isPaused = pauses.length > 0 && pauses.every((pause) => pause > 0)
  return internal(`None of the ${endpoints.length} RPC endpoints of ${label} answers (${reasons.join('; ')})`, {
    ...(isPaused ? { retryAfter: Math.ceil(Math.min(...pauses) / SECOND_MS) } : {}),
  })
}

/** Asks one endpoint after the other: the next one at once after a failure, and soon if one is slow. */
function firstAnswer(
  core: PoolCore,
  candidates: readonly PoolEndpoint[],
  request: NodeRequest,
  signal: AbortSignal,
): Promise<Answer | { tried: Tried[] }> {
  const waiting = [...candidates]
  const running = new Map<PoolEndpoint, AbortController>()
  const tried: Tried[] = []
  return new Promise((resolve) => {
    let isDone = false
    let cancelNext = () => {}

    const onAbort = () => {
      for (const controller of running.values()) controller.abort(signal.reason)
    }
    function finish(outcome: Answer | { tried: Tried[] }): void {
      isDone = true
      cancelNext()
      signal.removeEventListener('abort', onAbort)
      for (const controller of running.values()) controller.abort(OVERTAKEN)
      resolve(outcome)
    }

    function received(endpoint: PoolEndpoint, verdict: AnswerVerdict): void {
      const earlier = [...running.keys()].slice(0, [...running.keys()].indexOf(endpoint))
      running.delete(endpoint)
      if (isDone) return
      if (verdict.kind === 'answer') {
        for (const slower of earlier) slower.failed('no answer in time', core.elapsed())
        finish({ ...verdict, by: endpoint })
        return
      }
      tried.push({ endpoint, verdict })
      const agreeing = tried.filter((each) => each.verdict.blame === 'none').length
      if (agreeing >= AGREEING || (waiting.length === 0 && running.size === 0)) finish({ tried })
      else startNext()
    }

    function startNext(): void {
      cancelNext()
      const endpoint = waiting.shift()
      if (endpoint === undefined || isDone) return
      const controller = new AbortController()
      running.set(endpoint, controller)
      if (waiting.length > 0) cancelNext = core.after(hesitationOf(endpoint), startNext)
      void attempt(core, endpoint, request, controller.signal).then((verdict) => received(endpoint, verdict))
    }

    signal.addEventListener('abort', onAbort)
    if (waiting.length === 0) finish({ tried })
    else startNext()
  })
}

function hesitationOf({ latencyMs }: PoolEndpoint): number {
  const { usual, times, least, most } = HESITATION
  return Math.min(most, Math.max(least, times * (latencyMs ?? usual)))
}
