/** A `fetch` for a web3.js Connection that calls the embedded chain in this process. */
import type { LocalRpc } from './rpc/index.ts'

async function requestBody(input: Parameters<typeof fetch>[0], body: unknown): Promise<string | Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body !== undefined && body !== null) return new Response(body as never).text()
  return input instanceof Request ? input.text() : ''
}

/**
 * Sends every request to the chain, whatever its URL: `new Connection('http://localnet', { fetch: localFetch(rpc) })`.
 * In process there is no WebSocket: poll getSignatureStatuses instead of `confirmTransaction`.
 */
export function localFetch(rpc: Pick<LocalRpc, 'handle'>): typeof fetch {
  return async (input, init) => {
    init?.signal?.throwIfAborted()
    const answer = await rpc.handle(await requestBody(input, init?.body))
    return new Response(answer ?? null, { status: 200, headers: { 'content-type': 'application/json' } })
  }
}
