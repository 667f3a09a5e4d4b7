/** One HTTP request and its answer as plain data, over anything that has a `fetch`. */
import { type Client, createClient } from '../../src/client.ts'
import { expectDocumented } from './documented.ts'

export interface Ask {
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown
  headers?: Record<string, string>
  /** Bearer key; null sends no Authorization. */
  key?: string | null
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers and assert what they find
  json: any
}

export type Requester = (method: string, path: string, ask?: Ask) => Promise<Answer>

/**
 * Makes `request(method, path, { body, key, headers })`; `key` is the bearer of requests that name none. Every answer is
 * held against the OpenAPI document, unless what answers is not the real thing.
 */
export function requester(
  origin: string,
  send: (request: Request) => Promise<Response>,
  key: string,
  { documented = true } = {},
): Requester {
  return async (method, path, { body, headers = {}, key: own = key } = {}) => {
    const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const init: RequestInit = {
      method,
      headers: {
        ...(own === null ? {} : { authorization: `Bearer ${own}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    }
    const sent = new Request(`${origin}${path}`, init)
    const answer = await read(await send(sent))
    if (documented) expectDocumented(method, new URL(sent.url).pathname, answer)
    return answer
  }
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** The typed client that commands have, over it. */
export const clientOf = (request: Requester): Client =>
  createClient(async ({ method, path, headers, body }) => {
    const { status, text } = await request(method, path, { headers, body })
    return { status, headers: {}, body: text }
  })
