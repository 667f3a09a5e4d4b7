/** One request to a receiver: with a deadline for the answer, a limit for its body, and a second attempt if the connection was closing. */
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

/** Largest body that is read to reuse its connection. With a larger body the connection is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
/** Longest wait for the rest of a body, which may be slow or endless. */
const ANSWER_BODY_TIMEOUT_MS = 1_000
/** If a connection was being closed when the request was sent, that shows within this time. */
const CLOSED_WITHIN_MS = 2_000
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * Posts the request and calls `answered` with the status. Resolves once the connection is free or closed, at most a
 * second later. Throws TimeoutError, even while the connection is being opened, or the error of the connection.
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
      // Receivers close idle connections at any time, so a request may be sent on a closing one.
      const isUnheard = mayBeKept && ms < CLOSED_WITHIN_MS && CLOSED.has(String(error.code))
      // If the receiver got it twice, it recognizes the `webhook-id`, as with every repeated delivery.
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

/** undici accepts an emitter as signal, which is much cheaper than an AbortSignal per request. */
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

/** Reads the body to its end, or destroys the connection if the body is large, slow or endless. */
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
