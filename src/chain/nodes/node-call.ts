/** Makes one JSON-RPC call, and preserves the whole error of a node that refuses it. */

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

export interface NodeRequest {
  method: string
  params: readonly unknown[]
}

export const bodyOf = ({ method, params }: NodeRequest): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Posts a JSON-RPC request to a node, and returns the status and the whole text of its answer. */
export type PostToNode = (body: string, request: NodeRequest) => Promise<{ status: number; text: string }>

/** Balances above 2^53 lamports. Quotes inside JSON text are escaped, so that this cannot match within a string. */
const BEYOND_NUMBER = /(?<!\\)"lamports":\s*(\d{16,20})/g

/**
 * Returns the result. An account above 2^53 lamports, which a JSON number cannot represent, has the digits as
 * `exactLamports` too. Throws NodeRefusal, or an Error without any URL when there is no JSON-RPC answer.
 */
export async function callNode(post: PostToNode, method: string, params: readonly unknown[]): Promise<unknown> {
  const { status, text } = await post(bodyOf({ method, params }), { method, params })
  const exact = text.replace(BEYOND_NUMBER, '"lamports":$1,"exactLamports":"$1"')
  return resultIn(exact, status, 'it answers something that is not JSON-RPC')
}

/** Returns the result of an answer. Throws NodeRefusal, or an Error, with `unreadable` if it is not JSON-RPC. */
export function resultIn(text: string, status: number, unreadable: string): unknown {
  const answer = parsedJson(text)
  const { error } = isRecord(answer) ? answer : {}
  if (isRecord(error) && typeof error.code === 'number') {
    throw new NodeRefusal(error.code, String(error.message), error.data)
  }
  if (status < 200 || status > 299) throw new Error(`it answers HTTP ${status}`)
  if (!isRecord(answer) || !Object.hasOwn(answer, 'result')) throw new Error(unreadable)
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

/** Undefined for a text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
