/** Reads methods and outcomes of JSON-RPC calls from the texts of requests and answers, without parsing them. */
import { type CallOutcome, outcomeOfStatus } from './calls.ts'

const METHOD = /"method":\s*"(\w{1,64})"/
/** An `error` comes before the first inner object of an answer, in any order of its members. */
const RPC_ERROR = /^\s*\{[^{}]*"error":\s*\{/
/** An error begins within this many characters of an answer. */
const ERROR_WITHIN = 1_024

/** The method of a request; for a batch, the method of its first request. */
export function rpcMethodOf(body: unknown): string {
  return (typeof body === 'string' ? METHOD.exec(body)?.[1] : undefined) ?? 'unknown'
}

/** An error in the node's answer blames the request; a node that cannot answer says so by its HTTP status. */
export function rpcOutcome(status: number, text: string): CallOutcome {
  const outcome = outcomeOfStatus(status)
  return outcome === 'ok' && RPC_ERROR.test(text.slice(0, ERROR_WITHIN)) ? 'refused' : outcome
}
