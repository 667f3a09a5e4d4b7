/** Sends one request to one endpoint, judges the answer, and notes what it says about the endpoint. */
import { whyUnanswered } from '../../platform/timing.ts'
import type { PoolEndpoint } from './endpoint.ts'
import { bodyFromSlot, inAlpenglowTerms, isRecord, type NodeRequest } from './node-request.ts'
import { MOST_LAG_SLOTS, type SlotBook, type SlotMarks } from './slot-book.ts'
import { type AnswerVerdict, type Received, verdictOf } from './verdict.ts'

/** What the parts of a pool share. */
export interface PoolCore {
  /** Display name of the cluster. */
  label: string
  endpoints: readonly PoolEndpoint[]
  book: SlotBook
  /** Milliseconds of a monotonic clock. */
  elapsed(): number
  wait(milliseconds: number): Promise<void>
  /** Runs `act` after the given milliseconds, unless the returned function is called first. */
  after(milliseconds: number, act: () => void): () => void
  ending: AbortSignal | undefined
}

/** The reason of an abort that says nothing about the endpoint: another one has answered. */
export const OVERTAKEN = 'overtaken'

/** Never rejects. A request that was aborted because another endpoint answered does not count against this one. */
export async function attempt(
  core: PoolCore,
  endpoint: PoolEndpoint,
  asked: NodeRequest,
  signal: AbortSignal,
): Promise<AnswerVerdict> {
  const request = endpoint.isAlpenglow ? inAlpenglowTerms(asked) : asked
  const { book, elapsed } = core
  const [marks, startedAt] = [book.marks(), elapsed()]
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal }
  let received: Received
  try {
    const body = bodyFromSlot(request, book.floor(request.commitment, marks))
    const response = await endpoint.send('', { ...init, body })
    received = { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    const isOvertaken = signal.aborted && signal.reason === OVERTAKEN
    const reason = whyUnanswered(signal.aborted ? signal.reason : error)
    return noted(core, endpoint, { kind: 'elsewhere', blame: isOvertaken ? 'none' : 'failed', reason }, startedAt)
  }
  const verdict = verdictOf(request, received)
  return noted(core, endpoint, heldAgainst(core, endpoint, request, { verdict, marks }), startedAt)
}

/** Turns an answer older than what was known before the request into a reason to ask another endpoint. */
function heldAgainst(
  { book, elapsed }: PoolCore,
  endpoint: PoolEndpoint,
  request: NodeRequest,
  { verdict, marks }: { verdict: AnswerVerdict; marks: SlotMarks },
): AnswerVerdict {
  // Slots of another chain say nothing about this one.
  if (verdict.kind !== 'answer' || verdict.slot === undefined || endpoint.isForeign) return verdict
  const { commitment, method } = request
  const { slot } = verdict
  const fit = book.note(endpoint.label, commitment, slot, { marks, now: elapsed() })
  if (fit === 'incredible') {
    return { kind: 'elsewhere', blame: 'late', reason: 'it names a slot far beyond that of every other endpoint' }
  }
  endpoint.sawSlot(commitment, slot, elapsed())
  if (marks[commitment] > 0) endpoint.seenBehind(marks[commitment] - slot, MOST_LAG_SLOTS, elapsed())
  if (fit !== 'current') {
    const reason =
      fit === 'behind'
        ? `it is ${marks[commitment] - slot} slots behind`
        : 'it has not reached a slot that was reported before'
    return { kind: 'elsewhere', blame: 'late', reason }
  }
  if (method === 'getSignatureStatuses') noteStatuses(book, verdict.result)
  return verdict
}

/** Whatever was reported as confirmed must show in the next read, from any endpoint. */
function noteStatuses(book: SlotBook, result: unknown): void {
  const { value } = isRecord(result) ? result : {}
  for (const status of Array.isArray(value) ? value : []) {
    const { slot, confirmationStatus: level } = isRecord(status) ? status : {}
    if (typeof slot === 'number' && (level === 'confirmed' || level === 'finalized')) book.report(slot, level)
  }
}

function noted(
  { elapsed, ending }: PoolCore,
  endpoint: PoolEndpoint,
  verdict: AnswerVerdict,
  startedAt: number,
): AnswerVerdict {
  // Requests that this process aborts when it ends say nothing about the endpoint.
  if (ending?.aborted) return verdict
  const now = elapsed()
  if (verdict.kind === 'answer') endpoint.succeeded(now - startedAt)
  else if (verdict.blame === 'failed') endpoint.failed(verdict.reason, now)
  else if (verdict.blame === 'busy') endpoint.pause(verdict.reason, verdict.retryAfterMs, now)
  else if (verdict.blame === 'late') endpoint.lastError = verdict.reason
  return verdict
}
