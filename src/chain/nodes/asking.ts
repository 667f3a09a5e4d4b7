/** Asks the endpoints of a pool: one after the other for a read, all of them for a signed transaction. */
import { internal } from '../../platform/errors.ts'
import { publishFailover } from '../../platform/telemetry/failovers.ts'
import { SECOND_MS, whyUnanswered, withTimeout } from '../../platform/timing.ts'
import type { Commitment } from '../../solana/constants.ts'
import { decodeOnce } from '../../solana/messages.ts'
import type { PoolEndpoint } from './endpoint.ts'
import { bodyOf, isRecord, type NodeRequest } from './node-call.ts'
import { CALL_MS, FIRST_WAIT_MS, MOST_TRIES, type NodeTiming } from './retry.ts'
import type { SlotBook, SlotFit, SlotMarks } from './slot-book.ts'
import { type AnswerVerdict, namesSlot, verdictOf } from './verdict.ts'

/** What the parts of a pool share. */
export interface PoolCore extends NodeTiming {
  /** Display name of the cluster. */
  label: string
  endpoints: readonly PoolEndpoint[]
  book: SlotBook
}

type Answer = Extract<AnswerVerdict, { kind: 'answer' }>
type Refusal = Extract<AnswerVerdict, { kind: 'elsewhere' }>

export interface Tried {
  endpoint: PoolEndpoint
  refusal: Refusal
}

/** An endpoint is overtaken after three times its usual latency, within these bounds. */
const HESITATION = { usual: 250, times: 3, least: 500, most: 2_500 } as const
/** The reason of an abort that says nothing about the endpoint: another one has answered. */
const OVERTAKEN = 'overtaken'

const UNFIT = {
  early: 'it has not reached a slot that was reported before',
  incredible: 'it names a slot far beyond that of every other endpoint',
}
/** Slots that were reported within this time can be compared. */
const SAME_TIME_MS = 1_000

/**
 * Sends one request to one endpoint, judges the answer, and notes what it says about the endpoint. Never rejects. The
 * slots of a check do not count, because the endpoint may be of another chain.
 */
export async function attempt(
  core: PoolCore,
  endpoint: PoolEndpoint,
  request: NodeRequest,
  signal: AbortSignal,
  isCheck = false,
): Promise<AnswerVerdict> {
  const [marks, startedAt, commitment] = [core.book.marks(), core.elapsed(), commitmentOf(request)]
  let verdict: AnswerVerdict
  try {
    const body = bodyOf(fromSlot(request, core.book.floor(commitment, marks)))
    verdict = verdictOf(request, await endpoint.line.post(body, signal))
  } catch (error) {
    const blame = signal.aborted && signal.reason === OVERTAKEN ? 'none' : 'failed'
    verdict = { kind: 'elsewhere', blame, reason: whyUnanswered(signal.aborted ? signal.reason : error) }
  }
  if (verdict.kind === 'answer' && verdict.slot !== undefined && !isCheck) {
    const { slot } = verdict
    const fit = noteSlot(core, endpoint, { commitment, slot, marks })
    const reasons = { ...UNFIT, behind: `it is ${marks[commitment] - slot} slots behind` }
    if (fit !== 'current') verdict = { kind: 'elsewhere', blame: 'late', reason: reasons[fit] }
  }
  if (verdict.kind === 'answer' && request.method === 'getSignatureStatuses') noteStatuses(core.book, verdict.result)
  // Requests that this process aborts when it ends say nothing about the endpoint.
  if (!core.ending?.aborted) endpoint.note(verdict, core.elapsed() - startedAt)
  return verdict
}

/** Notes the slot of a bank, and how far all endpoints are behind that have just reported one. */
export function noteSlot(
  { book, endpoints, elapsed }: PoolCore,
  { label }: PoolEndpoint,
  { commitment, slot, marks }: { commitment: Commitment; slot: number; marks: SlotMarks },
): SlotFit {
  const fit = book.note(label, commitment, slot, { marks, now: elapsed() })
  for (const endpoint of endpoints) {
    const lag = book.lagOf(endpoint.label, SAME_TIME_MS, elapsed())
    if (lag !== undefined) endpoint.seenBehind(lag)
  }
  return fit
}

/** Whatever was reported as confirmed must show in the next read, from any endpoint. */
function noteStatuses(book: SlotBook, result: unknown): void {
  const { value } = isRecord(result) ? result : {}
  for (const status of Array.isArray(value) ? value : []) {
    const { slot, confirmationStatus: level } = isRecord(status) ? status : {}
    if (typeof slot === 'number' && (level === 'confirmed' || level === 'finalized')) book.report(slot, level)
  }
}

/** Validators read at `finalized` by default; statuses come from the newest bank (Agave, rpc.rs). */
function commitmentOf({ method, params }: NodeRequest): Commitment {
  if (method === 'getSignatureStatuses') return 'processed'
  const asked = params.map((param) => (isRecord(param) ? param.commitment : param))
  return (['processed', 'confirmed'] as const).find((each) => asked.includes(each)) ?? 'finalized'
}

/**
 * Place of the configuration in the parameters of methods whose answer names no slot. Only the node can tell whether
 * it is far enough (`minContextSlot`, in Agave's RpcContextConfig and similar).
 */
const CONFIG_AT: ReadonlyMap<string, number> = new Map([
  ['getBlockHeight', 0],
  ['getProgramAccounts', 1],
  ['getSignaturesForAddress', 1],
])

/** Returns the request with the lowest slot that may answer, if it is known and the method takes one. */
function fromSlot(request: NodeRequest, slot: number): NodeRequest {
  const at = CONFIG_AT.get(request.method)
  if (at === undefined || slot <= 0) return request
  const config = request.params[at] ?? {}
  if (!isRecord(config) || request.params.length < at) return request
  const asked = typeof config.minContextSlot === 'number' ? config.minContextSlot : 0
  const params = [...request.params]
  params[at] = { ...config, minContextSlot: Math.max(asked, slot) }
  return { ...request, params }
}

/** The endpoints that do not lag, or all if each does: an answer that names no slot may be late unseen. */
export function soundAmong(endpoints: readonly PoolEndpoint[]): readonly PoolEndpoint[] {
  const sound = endpoints.filter(({ isUsable }) => isUsable)
  return sound.length > 0 ? sound : endpoints
}

/** Reads from the endpoints that `inService` gives: the first complete and current answer counts. */
export async function readFrom(
  core: PoolCore,
  inService: () => Promise<readonly PoolEndpoint[]>,
  request: NodeRequest,
): Promise<string> {
  const startedAt = core.elapsed()
  const isCompared = namesSlot(request.method) || CONFIG_AT.has(request.method)
  let hasFailed = false
  return inRounds(core, async (signal) => {
    const candidates = isCompared ? await inService() : soundAmong(await inService())
    const { answer, by, tried } = await firstAnswer(core, candidates, request, signal)
    if (answer !== undefined) {
      if (hasFailed || by !== candidates[0]) {
        publishFailover({ operation: request.method, seconds: (core.elapsed() - startedAt) / SECOND_MS })
      }
      return answer.text
    }
    hasFailed = true
    // A retry does not help when every endpoint gives the same error, such as an unknown method.
    const isSettled = tried.length > 0 && tried.every(({ refusal }) => refusal.blame === 'none')
    return { tried, isSettled }
  })
}

type Round = string | { tried: readonly Tried[]; isSettled: boolean }

/** Runs rounds until one has an answer. If no endpoint does better, a JSON-RPC error is the answer. */
async function inRounds(core: PoolCore, round: (signal: AbortSignal) => Promise<Round>): Promise<string> {
  const { endpoints, elapsed, wait, ending } = core
  const startedAt = elapsed()
  let tried: readonly Tried[] = []
  const within = async (signal: AbortSignal) => {
    for (let count = 1; ; count++) {
      const outcome = await round(signal)
      if (typeof outcome === 'string') return outcome
      tried = outcome.tried
      const triable = Math.min(...endpoints.map(({ triableAt }) => triableAt)) - elapsed()
      const pause = Math.max(FIRST_WAIT_MS * 2 ** (count - 1), triable)
      const isOver = count >= MOST_TRIES || elapsed() + pause - startedAt > CALL_MS
      if (outcome.isSettled || isOver) {
        const refused = tried.find(({ refusal }) => refusal.text !== undefined)?.refusal.text
        if (refused !== undefined) return refused
        throw unanswered(core, tried)
      }
      await wait(pause)
    }
  }
  try {
    return await withTimeout(CALL_MS, ending, within)
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw unanswered(core, tried)
    throw error
  }
}

/** Asks one endpoint after the other: the next one at once after a failure, and soon if one is slow. */
async function firstAnswer(
  core: PoolCore,
  candidates: readonly PoolEndpoint[],
  request: NodeRequest,
  signal: AbortSignal,
): Promise<{ answer?: Answer; by?: PoolEndpoint; tried: Tried[] }> {
  const waiting = [...candidates]
  const running = new Map<PoolEndpoint, Promise<{ by: PoolEndpoint; verdict: AnswerVerdict }>>()
  const tried: Tried[] = []
  const overtaking = new AbortController()
  const either = AbortSignal.any([signal, overtaking.signal])
  const start = async (by: PoolEndpoint) => ({ by, verdict: await attempt(core, by, request, either) })
  try {
    while (waiting.length + running.size > 0 && !signal.aborted) {
      const next = waiting.shift()
      if (next !== undefined) running.set(next, start(next))
      const first = await firstOf(core, [...running.values()], waiting.length > 0 ? next : undefined)
      if (first === undefined) continue
      const { by, verdict } = first
      if (verdict.kind === 'answer') {
        for (const slower of running.keys()) {
          if (slower === by) break
          slower.failed('no answer in time')
        }
        return { answer: verdict, by, tried }
      }
      running.delete(by)
      tried.push({ endpoint: by, refusal: verdict })
    }
    return { tried }
  } finally {
    overtaking.abort(OVERTAKEN)
  }
}

/** Resolves like the first of them, or with undefined if `last` takes longer than it may. */
async function firstOf<T>(
  { after }: PoolCore,
  running: readonly Promise<T>[],
  last: PoolEndpoint | undefined,
): Promise<T | undefined> {
  if (last === undefined) return Promise.race(running)
  const { usual, times, least, most } = HESITATION
  const patience = Math.min(most, Math.max(least, times * (last.latencyMs ?? usual)))
  let cancel = () => {}
  const slow = new Promise<undefined>((resolve) => {
    cancel = after(patience, () => resolve(undefined))
  })
  return Promise.race([...running, slow]).finally(() => cancel())
}

/**
 * Sends the same bytes to every endpoint in service. Resolves as soon as one has taken them; the others
 * continue in the background. Throws internal_error if none took them. Nothing is signed here.
 */
export async function sendToAll(
  core: PoolCore,
  inService: () => Promise<readonly PoolEndpoint[]>,
  request: NodeRequest,
): Promise<string> {
  const signature = signatureOf(request)
  return inRounds(core, async () => {
    const tried: Tried[] = []
    const refusals: string[] = []
    const sends = (await inService()).map(async (endpoint) => {
      // Each endpoint has its own time limit, even after another one has taken the bytes.
      const verdict = await withTimeout(CALL_MS / 2, core.ending, (signal) =>
        attempt(core, endpoint, request, signal),
      ).catch((error: Error): Refusal => ({ kind: 'elsewhere', blame: 'failed', reason: error.message }))
      if (verdict.kind === 'elsewhere') tried.push({ endpoint, refusal: verdict })
      else if (isOwn(verdict, signature)) return verdict.text
      else if (verdict.isError && isProcessed(verdict.text)) return taken(signature)
      else if (verdict.isError) refusals.push(verdict.text)
      else endpoint.failed('it answers the signature of another transaction')
      throw new Error('not taken')
    })
    // An endpoint that takes the transaction outweighs those that blame it.
    return Promise.any(sends).catch(() => refusals[0] ?? { tried, isSettled: false })
  })
}

const isOwn = ({ result }: Answer, signature: string | undefined) =>
  typeof result === 'string' && (signature ?? result) === result

const taken = (signature: string | undefined) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: signature })

/** Whether the error says that the transaction is already in the chain, so the sender's aim is reached. */
function isProcessed(text: string): boolean {
  const { error } = JSON.parse(text) as { error?: { message?: unknown; data?: unknown } }
  const data = isRecord(error?.data) ? error.data.err : undefined
  return data === 'AlreadyProcessed' || /already (?:been )?processed/i.test(String(error?.message))
}

/** The signature that identifies the transaction; undefined if the bytes are not base64 of a transaction. */
function signatureOf({ params }: NodeRequest): string | undefined {
  const [bytes, config] = params
  if (typeof bytes !== 'string' || !isRecord(config) || config.encoding !== 'base64') return undefined
  try {
    return decodeOnce(Buffer.from(bytes, 'base64')).signature
  } catch {
    return undefined
  }
}

/** Says for every endpoint why it did not answer; if all are paused, `retryAfter` is when the first one is not. */
export function unanswered({ endpoints, elapsed, label }: PoolCore, tried: readonly Tried[]): Error {
  const secondsLeft = ({ pausedUntil }: PoolEndpoint) => Math.ceil((pausedUntil - elapsed()) / SECOND_MS)
  const reasons = endpoints.map((endpoint) => {
    const { state } = endpoint
    const last = tried.find((each) => each.endpoint === endpoint)?.refusal.reason ?? endpoint.lastError
    if (state === 'wrong-chain') return `${endpoint.label}: it is of another chain (genesis ${endpoint.genesis})`
    if (state === 'paused') return `${endpoint.label}: it is paused for another ${secondsLeft(endpoint)} s`
    return `${endpoint.label}: ${last ?? 'no answer in time'}`
  })
  const pauses = endpoints.filter(({ isMember }) => isMember !== false).map(secondsLeft)
  const isPaused = pauses.length > 0 && pauses.every((seconds) => seconds > 0)
  return internal(`None of the ${endpoints.length} RPC endpoints of ${label} answers (${reasons.join('; ')})`, {
    ...(isPaused ? { retryAfter: Math.min(...pauses) } : {}),
  })
}
