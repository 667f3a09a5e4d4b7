/** The way to one JSON-RPC server: each request is an observed call, and the server's credentials leave its answers. */
import { type CallTarget, endpointOf, observeCall } from '../../platform/telemetry/calls.ts'
import { rpcMethodOf, rpcOutcome } from '../../platform/telemetry/json-rpc.ts'
import type { Redactor } from '../../settings/redaction.ts'
import { withoutUser } from '../program-cache/rpc.ts'

export interface Received {
  status: number
  headers: Headers
  text: string
}

export interface NodeLine {
  /** Sends one request once, and returns the whole answer. */
  post(body: string, signal?: AbortSignal): Promise<Received>
  /** The same for an answer that is read as it arrives. Its reader removes credentials. */
  stream(body: string, signal: AbortSignal): Promise<Response>
}

export interface LineTarget {
  url: string
  /** Headers of the server's own. */
  headers?: Readonly<Record<string, string>>
  /** What stands for the host in metrics and traces. */
  label?: string | undefined
  service?: CallTarget['service']
  fetch?: typeof fetch
}

export function nodeLine(target: LineTarget, redactor: Redactor): NodeLine {
  const { href, authorization } = withoutUser(target.url)
  const { label = endpointOf(href), service = 'rpc', fetch: send = fetch } = target
  const called = (body: string) => ({ service, endpoint: label, operation: rpcMethodOf(body) })
  const own = { 'content-type': 'application/json', ...authorization, ...target.headers }
  // A redirect is an answer like any other failure: following it would take the headers to another host.
  const open = (body: string, trace: object, signal: AbortSignal | undefined) =>
    send(href, { method: 'POST', headers: { ...trace, ...own }, body, redirect: 'manual', signal: signal ?? null })
  return {
    post: (body, signal) =>
      observeCall(
        called(body),
        async (trace) => {
          const answer = await open(body, trace, signal)
          return { status: answer.status, headers: answer.headers, text: redactor.json(await answer.text()) }
        },
        ({ status, text }) => rpcOutcome(status, text),
      ),
    stream: (body, signal) =>
      observeCall(
        called(body),
        (trace) => open(body, trace, signal),
        ({ status }) => rpcOutcome(status, ''),
      ),
  }
}
