/** Judges what an endpoint has sent: a usable answer, or a reason to ask another one. */
import { retryAfterMs } from '../../platform/timing.ts'
import { isRecord, type NodeRequest, parsedJson } from './node-call.ts'
import type { Received } from './node-line.ts'

/**
 * What a failure says about the endpoint. `none`: it is sound, but another one may know more. `late`: it is behind the
 * chain. `busy`: it requests a pause. `failed`: it does not work.
 */
export type Blame = 'none' | 'late' | 'busy' | 'failed'

export type AnswerVerdict =
  | { kind: 'answer'; text: string; result: unknown; slot: number | undefined; isError: boolean }
  | {
      kind: 'elsewhere'
      blame: Blame
      /** Why, for people, without a URL. */
      reason: string
      /** A JSON-RPC answer that is passed on if no endpoint has a better one. */
      text?: string
      retryAfterMs?: number | undefined
    }

/**
 * Errors that another endpoint may not return. Codes of Agave (rpc-client-api/src/custom_error.rs) and of JSON-RPC.
 * Every other error, such as -32002 (preflight) or -32602 (parameters), is an answer about the request.
 */
const ELSEWHERE: ReadonlyMap<number, [Blame, string]> = new Map([
  [-32001, ['none', 'it no longer has that block']],
  [-32004, ['late', 'it does not have that block yet']],
  [-32005, ['late', 'it is behind the cluster']],
  [-32008, ['none', 'it has no snapshot']],
  [-32010, ['none', 'it does not index that key']],
  [-32011, ['none', 'it has no transaction history']],
  [-32012, ['failed', 'its scan of accounts failed']],
  [-32014, ['late', 'it does not have the status of that block yet']],
  [-32016, ['late', 'it has not reached that slot']],
  [-32019, ['failed', 'it cannot reach its long-term storage']],
  [-32601, ['none', 'it does not have that method']],
  [-32603, ['failed', 'it answers an internal error']],
  // Providers answer their own limits with HTTP's code, or with one beside JSON-RPC's.
  [429, ['busy', 'it is busy']],
  [-32429, ['busy', 'it is busy']],
])

/**
 * HTTP statuses of a key that is no longer valid or paid, a wrong path, or a method that the provider's plan does not
 * have. Providers add JSON-RPC errors with codes of their own, which say nothing about the request.
 */
const ABOUT_KEY: ReadonlySet<number> = new Set([401, 402, 403, 404, 405])

/** Methods that svc calls, and whose result is a value with the slot of the bank that it was read from. */
const IN_CONTEXT = new Set([
  'getAccountInfo',
  'getBalance',
  'getFeeForMessage',
  'getLatestBlockhash',
  'getMultipleAccounts',
  'getSignatureStatuses',
  'getTokenAccountsByOwner',
  'isBlockhashValid',
  'simulateTransaction',
])

/** Whether an answer shows how far its endpoint is. */
export const namesSlot = (method: string): boolean => method === 'getSlot' || IN_CONTEXT.has(method)

/** Judges a whole HTTP answer. */
export function verdictOf(request: NodeRequest, { status, headers, text }: Received): AnswerVerdict {
  if (status === 429 || status === 503) {
    const reason = status === 429 ? 'it is busy (HTTP 429)' : 'it answers HTTP 503'
    const retryAfter = retryAfterMs(headers) ?? undefined
    // A 503 without `Retry-After` is treated like any other failure.
    const blame = status === 429 || retryAfter !== undefined ? 'busy' : 'failed'
    return { kind: 'elsewhere', blame, reason, retryAfterMs: retryAfter }
  }
  if (status >= 500) return failed(`it answers HTTP ${status}`)
  const parsed = parsedJson(text)
  if (isRecord(parsed) && isRecord(parsed.error) && typeof parsed.error.code === 'number') {
    const [blame, reason] = ELSEWHERE.get(parsed.error.code) ?? []
    if (blame !== undefined && reason !== undefined) return { kind: 'elsewhere', blame, reason, text }
    if (ABOUT_KEY.has(status)) return failed(`it answers HTTP ${status}`)
    return { kind: 'answer', text, result: undefined, slot: undefined, isError: true }
  }
  if (status < 200 || status > 299) return failed(`it answers HTTP ${status}`)
  if (!isRecord(parsed) || !Object.hasOwn(parsed, 'result')) return failed('it answers something that is not JSON-RPC')
  return resultVerdict(request, text, parsed.result)
}

const failed = (reason: string): AnswerVerdict => ({ kind: 'elsewhere', blame: 'failed', reason })

function resultVerdict(request: NodeRequest, text: string, result: unknown): AnswerVerdict {
  const { method } = request
  if (method === 'getSlot') {
    return isSlot(result) ? { kind: 'answer', text, result, slot: result, isError: false } : incomplete()
  }
  if (!IN_CONTEXT.has(method)) return { kind: 'answer', text, result, slot: undefined, isError: false }
  const { context, value } = isRecord(result) ? result : {}
  const slot = isRecord(context) ? context.slot : undefined
  if (!isSlot(slot) || !isWhole(request, value)) return incomplete()
  if (method === 'simulateTransaction' && isRecord(value) && value.err === 'BlockhashNotFound') {
    // A bank that has not seen the blockhash yet answers like one that has forgotten it.
    return { kind: 'elsewhere', blame: 'none', reason: 'it does not know the blockhash', text }
  }
  return { kind: 'answer', text, result, slot, isError: false }
}

const incomplete = () => failed('its answer is incomplete')
const isSlot = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Whether the answer has the parts that a proxy without its node leaves out; readers check the other parts. */
function isWhole({ method, params }: NodeRequest, value: unknown): boolean {
  if (value === undefined) return false
  const listed = params[0]
  if (method === 'getSignatureStatuses' || method === 'getMultipleAccounts') {
    return Array.isArray(value) && Array.isArray(listed) && value.length === listed.length
  }
  if (method === 'getLatestBlockhash') return isRecord(value) && typeof value.blockhash === 'string'
  if (method === 'isBlockhashValid') return typeof value === 'boolean'
  return method !== 'simulateTransaction' || (isRecord(value) && Object.hasOwn(value, 'err'))
}
