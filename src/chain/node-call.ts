/** One JSON-RPC call over the `fetch` of a chain, with the node's refusal kept whole. */
import type { Redactor } from '../redaction.ts'

/** The node answered with an error: its code, and `data` as it came. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The result. Throws NodeRefusal, or an Error without any URL where there is no JSON-RPC answer. */
export async function callNode(
  send: typeof fetch,
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await response.text()
  const answer = parsedResult(text)
  const { code, message, data } = (answer?.error ?? {}) as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code === 'number') throw new NodeRefusal(code, String(message), data)
  if (!response.ok) throw new Error(`it answers HTTP ${response.status}`)
  if (answer === undefined || !Object.hasOwn(answer, 'result')) {
    throw new Error('it answers something that is not JSON-RPC')
  }
  return answer.result
}

/**
 * Slot and value of a result that was read at a slot. Throws an Error where it is shaped otherwise, as the answer of a
 * proxy without its node is: nothing follows from what it does not say.
 */
export function atSlot<T>(result: unknown, fits: (value: unknown) => boolean): { slot: number; value: T } {
  const { context, value } = (result ?? {}) as { context?: { slot?: unknown } | null; value?: unknown }
  const slot = context?.slot
  if (!Number.isSafeInteger(slot) || !fits(value)) throw new Error('it answers with parts missing')
  return { slot: slot as number, value: value as T }
}

/**
 * The answer without the credentials of the URL that was asked, which some nodes and proxies repeat in their errors:
 * here, before a message is cut or a part of the answer is stored.
 */
export async function redactedResponse(answer: Response, { text, json }: Redactor): Promise<Response> {
  const { status, statusText } = answer
  const body = [204, 205, 304].includes(status) ? null : json(await answer.text())
  const headers = new Headers(answer.headers)
  headers.delete('content-length')
  headers.delete('content-encoding')
  return new Response(body, { status, statusText: text(statusText), headers })
}

function parsedResult(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
