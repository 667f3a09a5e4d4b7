/** One request to a receiver and its answer, on a kept connection or a fresh one. */
import type { Dispatcher } from 'undici'
import { ShuttingDown, TimeoutError } from '../../timing.ts'
import type { Carried, ReceiverConnection, ReceiverPool } from './receiver-connections.ts'

export interface WebhookRequest {
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
  /** Time until the end of the answer's headers, in milliseconds. */
  timeoutMs: number
  ending?: AbortSignal | undefined
}

export interface WebhookAnswer {
  status: number
  /** Resolves once the connection is free or closed. It never rejects. */
  freed: Promise<void>
}

/** Largest body that is read so that its connection can be reused. The connection of a larger one is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
/** After this time the rest of a body is discarded, because it may be slow or endless. */
const ANSWER_BODY_TIMEOUT_MS = 1_000
/** A connection that was being closed when the request was sent is known to be closed soon afterwards. */
const CLOSED_WITHIN_MS = 2_000
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * Resolves with the answer's headers. Rejects with TimeoutError or ShuttingDown even while the connection is still being
 * opened, and with the error of the connection otherwise.
 */
export const postWebhook = (receiver: ReceiverPool, request: WebhookRequest): Promise<WebhookAnswer> =>
  new Promise((resolve, reject) => new Exchange(receiver, request, resolve, reject).begin())

/** It is both the options and the handler of its request, so that its connection can be told to it. */
class Exchange implements Carried {
  readonly method = 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  connection: ReceiverConnection | undefined = undefined

  readonly #receiver: ReceiverPool
  readonly #ending: AbortSignal | undefined
  readonly #resolve: (answer: WebhookAnswer) => void
  readonly #reject: (error: unknown) => void
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  /** Why it was given up before its answer. */
  #givenUp: Error | undefined
  #isOnKept = false
  #startedAt = 0
  #isRepeated = false
  #hasAnswerBegun = false
  #bodyBytes = 0
  #freed: (() => void) | undefined

  constructor(
    receiver: ReceiverPool,
    { path, headers, body, timeoutMs, ending }: WebhookRequest,
    resolve: (answer: WebhookAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#receiver = receiver
    this.path = path
    this.headers = headers
    this.body = body
    this.#ending = ending
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.giveUp(new TimeoutError('no answer in time')), timeoutMs)
  }

  begin(): void {
    if (this.#ending !== undefined) underWayOf(this.#ending).add(this)
    this.#receiver.carry(this)
    if (this.#ending?.aborted) this.giveUp(new ShuttingDown('the service is shutting down'))
  }

  giveUp(reason: Error): void {
    if (this.#givenUp !== undefined || this.#freed !== undefined) return
    this.#givenUp = reason
    this.#settled()
    this.#reject(reason)
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request without a connection cannot be given up; it ends here, before anything of it is sent.
    if (this.#givenUp !== undefined) {
      controller.abort(this.#givenUp)
      return
    }
    this.#controller = controller
    this.#startedAt = performance.now()
    this.#isOnKept = this.connection?.hasAnswered === true
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    { 'content-length': length }: Record<string, string | string[] | undefined>,
  ): void {
    // Those below 200 only announce the answer.
    if (status < 200) return
    this.#settled()
    if (this.connection !== undefined) this.connection.hasAnswered = true
    const freed = new Promise<void>((done) => {
      this.#freed = done
    })
    this.#timer = setTimeout(() => controller.abort(new Error('the body is slow')), ANSWER_BODY_TIMEOUT_MS)
    this.#timer.unref()
    this.#resolve({ status, freed })
    if (Number(length) > ANSWER_BODY_LIMIT) controller.abort(new Error('the body is large'))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > ANSWER_BODY_LIMIT) controller.abort(new Error('the body is large'))
  }

  onResponseEnd(): void {
    this.#ended()
  }

  onResponseError(_controller: unknown, error: Error & { code?: unknown }): void {
    if (this.#mayBeUnheard(error)) {
      this.#repeat()
      return
    }
    this.#settled()
    this.#reject(error)
    // The connection was destroyed. Its place is free once it is closed, so that no more are open than there are places.
    if (this.#freed === undefined || this.connection === undefined) this.#ended()
    else this.connection.once('disconnect', () => setImmediate(() => this.#ended()))
  }

  /** Receivers close idle connections at any moment, so a request may meet one that is just being closed. */
  #mayBeUnheard({ code }: { code?: unknown }): boolean {
    if (this.#givenUp !== undefined || this.#freed !== undefined || this.#isRepeated) return false
    if (performance.now() - this.#startedAt > CLOSED_WITHIN_MS) return false
    return this.#isOnKept && !this.#hasAnswerBegun && CLOSED.has(String(code))
  }

  /**
   * The request is repeated once, on a connection that nobody has closed yet. Should it have been heard after all, the
   * receiver knows it by its `webhook-id`, as it must know every delivery that is made twice.
   */
  #repeat(): void {
    this.#isRepeated = true
    this.#controller = undefined
    this.#receiver.carryFresh(this)
  }

  #settled(): void {
    clearTimeout(this.#timer)
    if (this.#ending !== undefined) underWayOf(this.#ending).delete(this)
  }

  #ended(): void {
    clearTimeout(this.#timer)
    this.#freed?.()
    this.#receiver.leave(this)
  }
}

/** One listener for each signal, because one for each request would cost more than the request's timer. */
const underWay = new WeakMap<AbortSignal, Set<Exchange>>()

function underWayOf(ending: AbortSignal): Set<Exchange> {
  let exchanges = underWay.get(ending)
  if (exchanges === undefined) {
    const known = new Set<Exchange>()
    ending.addEventListener(
      'abort',
      () => {
        for (const exchange of known) exchange.giveUp(new ShuttingDown('the service is shutting down'))
      },
      { once: true },
    )
    underWay.set(ending, known)
    exchanges = known
  }
  return exchanges
}
