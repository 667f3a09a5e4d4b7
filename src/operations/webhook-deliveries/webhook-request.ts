/** One request to a receiver: a deadline for its answer, a bound for the answer's body, and a second try where it went unheard. */
import { EventEmitter } from 'node:events'
import type { Dispatcher } from 'undici'
import { TimeoutError } from '../../platform/timing.ts'
import type { ReceiverPool } from './receiver-pools.ts'

export interface WebhookRequest {
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
  /** Time until the end of the answer's headers, in milliseconds. */
  timeoutMs: number
}

/** Largest body that is read so that its connection can be reused. The connection of a larger one is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
/** After this time the rest of a body is discarded, because it may be slow or endless. */
const ANSWER_BODY_TIMEOUT_MS = 1_000
/** A connection that was being closed when the request was sent is known to be closed soon afterwards. */
const CLOSED_WITHIN_MS = 2_000
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * Posts the request and calls `answered` with the status of the answer. Resolves once the connection is free or closed,
 * at most a second later. Throws TimeoutError even while the connection is still being opened, and the error of the
 * connection otherwise.
 */
export async function postWebhook(
  receiver: ReceiverPool,
  request: WebhookRequest,
  answered: (status: number) => void,
): Promise<void> {
  const begun = performance.now()
  const mayBeKept = receiver.connected > receiver.sending
  receiver.sending++
  try {
    const { statusCode, body } = await postOnce(receiver, request, request.timeoutMs).catch((error) => {
      const ms = performance.now() - begun
      // Receivers close idle connections at any moment, so a request may meet one that is just being closed.
      const isUnheard = mayBeKept && ms < CLOSED_WITHIN_MS && CLOSED.has(String(error.code))
      // Should it have been heard after all, the receiver knows it by its `webhook-id`, as all that comes twice.
      if (isUnheard) return postOnce(receiver, request, request.timeoutMs - ms)
      throw error
    })
    answered(statusCode)
    await endOf(body)
  } finally {
    receiver.sending--
    receiver.closeUnused()
  }
}

/** undici takes an emitter as its signal, which costs a small part of what an AbortSignal for each request does. */
function postOnce(
  { pool }: ReceiverPool,
  { path, headers, body }: WebhookRequest,
  timeoutMs: number,
): Promise<Dispatcher.ResponseData> {
  return new Promise((resolve, reject) => {
    const signal = new EventEmitter()
    const timer = setTimeout(() => {
      reject(new TimeoutError('no answer in time'))
      signal.emit('abort')
    }, timeoutMs)
    pool.request({ method: 'POST', path, headers, body, signal }, (error, answer) => {
      clearTimeout(timer)
      if (error === null) resolve(answer)
      else reject(error)
    })
  })
}

/** Reads the body to its end, or destroys its connection where it is large, slow or endless. */
async function endOf(body: Dispatcher.ResponseData['body']): Promise<void> {
  const timer = setTimeout(() => body.destroy(new Error('the body is slow')), ANSWER_BODY_TIMEOUT_MS)
  try {
    await body.on('error', () => {}).dump({ limit: ANSWER_BODY_LIMIT })
  } catch {
    // The receiver broke off, and its status counts all the same.
  } finally {
    clearTimeout(timer)
  }
}
