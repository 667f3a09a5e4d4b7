/** Sends JSON-RPC requests over HTTP as observed calls, and removes credentials from the answers. */
import { type CallTarget, endpointOf, observeCall } from '../../platform/telemetry/calls.ts'
import { rpcMethodOf, rpcOutcome } from '../../platform/telemetry/json-rpc.ts'
import { ShuttingDown } from '../../platform/timing.ts'
import type { Redactor } from '../../settings/redaction.ts'
import { type PostToNode, redactedResponse } from './node-call.ts'

/** Each request is one call to `href`, with `authorization` as its credentials and `label` instead of its host. */
export function observedRpc(
  service: CallTarget['service'],
  { authorization, label }: { authorization: Readonly<Record<string, string>>; label?: string | undefined },
  redactor: Redactor,
): (href: string, init: RequestInit | undefined) => Promise<Response> {
  return async (href, init) => {
    const target = { service, endpoint: label ?? endpointOf(href), operation: rpcMethodOf(init?.body) }
    const { response } = await observeCall(
      target,
      async (trace) => {
        const headers = { ...(init?.headers as Record<string, string>), ...trace, ...authorization }
        let text = ''
        // A redirect is an answer like any other failure: following it would take the headers to another host.
        const answer = await fetch(href, { ...init, headers, redirect: 'manual' })
        const response = await redactedResponse(answer, redactor, (received) => {
          text = received
        })
        return { response, text }
      },
      ({ response, text }) => rpcOutcome(response.status, text),
    )
    return response
  }
}

/**
 * The same for an answer that is read as it arrives: the call ends with its head, and its reader redacts its errors.
 */
export function observedStream(
  service: CallTarget['service'],
  { authorization, label }: { authorization: Readonly<Record<string, string>>; label?: string | undefined },
): (href: string, init: RequestInit | undefined) => Promise<Response> {
  return (href, init) => {
    const target = { service, endpoint: label ?? endpointOf(href), operation: rpcMethodOf(init?.body) }
    return observeCall(
      target,
      (trace) => {
        const headers = { ...(init?.headers as Record<string, string>), ...trace, ...authorization }
        return fetch(href, { ...init, headers, redirect: 'manual' })
      },
      ({ status }) => rpcOutcome(status, ''),
    )
  }
}

/** Posts to the embedded chain in this process as an observed call. Throws ShuttingDown once `ending` is aborted. */
export function postToEmbedded(
  handle: (body: string) => Promise<string | undefined>,
  ending: AbortSignal | undefined,
): PostToNode {
  return (body) =>
    observeCall(
      { service: 'rpc', endpoint: 'embedded', operation: rpcMethodOf(body) },
      async () => {
        if (ending?.aborted) throw new ShuttingDown('the service is shutting down')
        return { status: 200, text: (await handle(body)) ?? '' }
      },
      ({ status }) => rpcOutcome(status, ''),
    )
}

/** Observes requests to the embedded chain in this process, which has no host. */
export function observedEmbedded(send: typeof fetch): typeof fetch {
  return (input, init) =>
    observeCall(
      { service: 'rpc', endpoint: 'embedded', operation: rpcMethodOf(init?.body) },
      () => send(input, init),
      ({ status }) => rpcOutcome(status, ''),
    )
}
