/** Names and outcomes of JSON-RPC calls, read from the texts that are sent and received without parsing them. */
import { type CallOutcome, outcomeOfStatus } from './calls.ts'

const METHOD = /"method":\s*"(\w{1,64})"/
/** An error stands before the first inner object of an answer, whatever the order of its members. */
const RPC_ERROR = /^\s*\{[^{}]*"error":\s*\{/
/** Characters of an answer within which its error begins. */
const ERROR_WITHIN = 1_024

/** The method of a request; that of a batch is the method of its first request. */
export function rpcMethodOf(body: unknown): string {
  return (typeof body === 'string' ? METHOD.exec(body)?.[1] : undefined) ?? 'unknown'
}

/** An error that the node answered blames the request, because one that cannot answer says so by its status. */
export function rpcOutcome(status: number, text: string): CallOutcome {
  const outcome = outcomeOfStatus(status)
  return outcome === 'ok' && RPC_ERROR.test(text.slice(0, ERROR_WITHIN)) ? 'refused' : outcome
}
