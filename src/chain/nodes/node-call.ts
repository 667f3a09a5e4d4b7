/** Makes one JSON-RPC call over the `fetch` of a chain, and preserves the whole error of a node that refuses it. */
import type { Redactor } from '../../settings/redaction.ts'

/** The error that the node answered, with its code and unchanged `data`. */
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

/** A target of JSON-RPC calls: a chain, or one of its nodes. */
export interface NodeCalls {
  /** Makes one call. Throws NodeRefusal, or an Error without any URL when there is no JSON-RPC answer. */
  call<T>(method: string, params: readonly unknown[]): Promise<T>
}

/** Posts a JSON-RPC request to a node, and returns the status and the whole text of its answer. */
export type PostToNode = (body: string) => Promise<{ status: number; text: string }>

/** Posts over a `fetch`. */
export function postOver(send: typeof fetch, url: string): PostToNode {
  return async (body) => {
    const response = await send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { status: response.status, text: await response.text() }
  }
}

/** Balances above 2^53 lamports. Quotes inside JSON text are escaped, so that this cannot match within a string. */
const BEYOND_NUMBER = /(?<!\\)"lamports":\s*(\d{16,20})/g

/**
 * Returns the result. An account above 2^53 lamports, which a JSON number cannot represent, has the digits as
 * `exactLamports` too. Throws NodeRefusal, or an Error without any URL when there is no JSON-RPC answer.
 */
export async function callNode(post: PostToNode, method: string, params: readonly unknown[]): Promise<unknown> {
  const { status, text } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const answer = parsedResult(text.replace(BEYOND_NUMBER, '"lamports":$1,"exactLamports":"$1"'))
  const { code, message, data } = (answer?.error ?? {}) as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code === 'number') throw new NodeRefusal(code, String(message), data)
  if (status < 200 || status > 299) throw new Error(`it answers HTTP ${status}`)
  if (answer === undefined || !Object.hasOwn(answer, 'result')) {
    throw new Error('it answers something that is not JSON-RPC')
  }
  return answer.result
}

/**
 * Returns slot and value of a result that was read at a slot. Throws an Error for any other shape, as in the answer of
 * a proxy without its node, because a missing value proves nothing.
 */
export function atSlot<T>(result: unknown, fits: (value: unknown) => boolean): { slot: number; value: T } {
  const { context, value } = (result ?? {}) as { context?: { slot?: unknown } | null; value?: unknown }
  const slot = context?.slot
  if (!Number.isSafeInteger(slot) || !fits(value)) throw new Error('its answer is incomplete')
  return { slot: slot as number, value: value as T }
}

/**
 * Removes the credentials of the requested URL, which some nodes and proxies repeat in their errors. It runs before a
 * message is cut or a part of the answer is stored. `inspect` receives the text as it came.
 */
export async function redactedResponse(
  answer: Response,
  { text, json }: Redactor,
  inspect: (text: string) => void = () => {},
): Promise<Response> {
  const { status, statusText } = answer
  const received = await answer.text()
  inspect(received)
  const body = [204, 205, 304].includes(status) ? null : json(received)
  const headers = new Headers(answer.headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
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
