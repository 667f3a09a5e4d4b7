/** One request to a receiver and its answer, on a kept connection or a fresh one. */
import type { Dispatcher } from 'undici'
import { ShuttingDown, TimeoutError } from '../../platform/timing.ts'
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

/** Who is told of the answer's headers, or of why there is none. */
export interface WebhookSender {
  /** `freed` returns undefined where the connection is free or closed, and otherwise a promise that resolves once it is. */
  answered(status: number, freed: () => Promise<void> | undefined): void
  failed(error: unknown): void
}

/** Largest body that is read so that its connection can be reused. The connection of a larger one is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
/** After this time the rest of a body is discarded, because it may be slow or endless. */
const ANSWER_BODY_TIMEOUT_MS = 1_000
/** A connection that was being closed when the request was sent is known to be closed soon afterwards. */
const CLOSED_WITHIN_MS = 2_000
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * It fails with TimeoutError or ShuttingDown even while the connection is still being opened, and with the error of the
 * connection otherwise. It makes no promise of its own, because each costs while the trace of a request may be active.
 */
export const postWebhook = (receiver: ReceiverPool, request: WebhookRequest, sender: WebhookSender): void =>
  new Exchange(receiver, request, sender).begin()

/** It is both the options and the handler of its request, so that its connection can be told to it. */
class Exchange implements Carried {
  readonly method = 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  connection: ReceiverConnection | undefined = undefined

  readonly #receiver: ReceiverPool
  readonly #ending: AbortSignal | undefined
  readonly #sender: WebhookSender
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  /** Why it was given up before its answer. */
  #givenUp: Error | undefined
  #isOnKept = false
  #startedAt = 0
  #isRepeated = false
  #hasAnswerBegun = false
  #isAnswered = false
  #hasEnded = false
  #bodyBytes = 0
  #untilEnd: Promise<void> | undefined
  #freed: (() => void) | undefined

  constructor(
    receiver: ReceiverPool,
    { path, headers, body, timeoutMs, ending }: WebhookRequest,
    sender: WebhookSender,
  ) {
    this.#receiver = receiver
    this.path = path
    this.headers = headers
    this.body = body
    this.#ending = ending
    this.#sender = sender
    this.#timer = setTimeout(() => this.giveUp(new TimeoutError('no answer in time')), timeoutMs)
  }

  begin(): void {
    if (this.#ending !== undefined) underWayOf(this.#ending).add(this)
    this.#receiver.carry(this)
    if (this.#ending?.aborted) this.giveUp(new ShuttingDown('the service is shutting down'))
  }

  giveUp(reason: Error): void {
    if (this.#givenUp !== undefined || this.#isAnswered) return
    this.#givenUp = reason
    this.#settled()
    this.#sender.failed(reason)
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
    this.#isAnswered = true
    watchBody(this)
    this.#sender.answered(status, this.#untilFreed)
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
    if (!this.#isAnswered && this.#givenUp === undefined) this.#sender.failed(error)
    // The connection was destroyed. Its place is free once it is closed, so that no more are open than there are places.
    if (!this.#isAnswered || this.connection === undefined) this.#ended()
    else this.connection.once('disconnect', () => setImmediate(() => this.#ended()))
  }

  /** Receivers close idle connections at any moment, so a request may meet one that is just being closed. */
  #mayBeUnheard({ code }: { code?: unknown }): boolean {
    if (this.#givenUp !== undefined || this.#isAnswered || this.#isRepeated) return false
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

  /** Gives the rest of the body its time. */
  limitBody(): void {
    if (this.#hasEnded) return
    this.#timer = setTimeout(() => this.#controller?.abort(new Error('the body is slow')), ANSWER_BODY_TIMEOUT_MS)
    this.#timer.unref()
  }

  readonly #untilFreed = (): Promise<void> | undefined => {
    if (this.#hasEnded) return undefined
    this.#untilEnd ??= new Promise((done) => {
      this.#freed = done
    })
    return this.#untilEnd
  }

  #ended(): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#freed?.()
    this.#receiver.leave(this)
  }
}

/** Answers whose headers came in this turn of the event loop. Most bodies come with them, and need no timer. */
let answeredNow: Exchange[] = []

function watchBody(exchange: Exchange): void {
  if (answeredNow.push(exchange) > 1) return
  setImmediate(() => {
    const answered = answeredNow
    answeredNow = []
    for (const each of answered) each.limitBody()
  })
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
