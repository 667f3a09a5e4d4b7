/** One request to a receiver: with a deadline for the answer, a limit for its body, and a second attempt if the connection was closing. */
import type { Dispatcher } from 'undici'
import { TimeoutError } from '../../platform/timing.ts'
import type { Connections } from './receiver-connections.ts'

export interface WebhookRequest {
  origin: string
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
  /** Time until the end of the answer's headers, in milliseconds. */
  timeoutMs: number
}

/** Largest body that is read to reuse its connection. With a larger body the connection is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
/** Bytes of a body that are returned. */
const KEPT_BYTES = 4_096
/** Longest wait for the rest of a body, which may be slow or endless. */
const ANSWER_BODY_TIMEOUT_MS = 1_000
/** If a connection was being closed when the request was sent, that shows within this time. */
const CLOSED_WITHIN_MS = 2_000
/** Statuses below it announce another answer. */
const FIRST_FINAL_STATUS = 200
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * Posts the request and calls `answered` with the status. Resolves with the first bytes of the answer's body once the
 * connection is free or closed, at most a second later. Throws TimeoutError, even while the connection is being opened, or the error of the connection.
 */
export async function postWebhook(
  connections: Connections,
  request: WebhookRequest,
  answered: (status: number) => void,
): Promise<Uint8Array> {
  const begun = performance.now()
  const mayBeKept = connections.addSpare(request.origin, -1) > 0
  try {
    return await postOnce(connections, request, answered).catch((error) => {
      const ms = performance.now() - begun
      // Receivers close idle connections at any time, so a request may be sent on a closing one.
      const isUnheard = mayBeKept && ms < CLOSED_WITHIN_MS && CLOSED.has(String(error.code))
      // If the receiver got it twice, it recognizes the `webhook-id`, as with every repeated delivery.
      if (isUnheard) return postOnce(connections, { ...request, timeoutMs: request.timeoutMs - ms }, answered)
      throw error
    })
  } finally {
    connections.addSpare(request.origin, 1)
  }
}

/**
 * Uses `dispatch`, because the stream that `request` makes of each answer costs more than sending. Once the receiver has
 * answered, its status counts, even if its body is large, slow or breaks off: then the connection is destroyed.
 */
function postOnce(
  { agent, running }: Connections,
  { origin, path, headers, body, timeoutMs }: WebhookRequest,
  answered: (status: number) => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let stopped: Error | undefined
    let isAnswered = false
    let bytes = 0
    const kept: Uint8Array[] = []
    const end = (error?: Error) => {
      clearTimeout(timer)
      running.delete(stop)
      if (isAnswered || error === undefined) resolve(Buffer.concat(kept).subarray(0, KEPT_BYTES))
      else reject(error)
    }
    const stop = (reason: Error) => {
      stopped = reason
      controller?.abort(reason)
      end(reason)
    }
    running.add(stop)
    let timer = setTimeout(() => stop(new TimeoutError('no answer in time')), timeoutMs)
    agent.dispatch(
      { origin, method: 'POST', path, headers, body },
      {
        onRequestStart(started) {
          controller = started
          // The time was over before there was a connection.
          if (stopped !== undefined) started.abort(stopped)
        },
        onResponseStart(_, status) {
          if (status < FIRST_FINAL_STATUS) return
          isAnswered = true
          answered(status)
          clearTimeout(timer)
          timer = setTimeout(() => stop(new Error('the body is slow')), ANSWER_BODY_TIMEOUT_MS)
        },
        onResponseData(_, piece) {
          // A piece may be a part of a larger buffer, which would stay in memory with it.
          if (bytes < KEPT_BYTES) kept.push(Uint8Array.from(piece.subarray(0, KEPT_BYTES)))
          bytes += piece.byteLength
          if (bytes > ANSWER_BODY_LIMIT) stop(new Error('the body is large'))
        },
        onResponseEnd: () => end(),
        onResponseError: (_, error) => end(error),
      },
    )
  })
}
