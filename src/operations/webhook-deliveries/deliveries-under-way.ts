/** The deliveries of one round that are being sent, and those that wait for a place at their origin. */

export interface Delivery {
  /** Origin of the receiver. */
  origin: string
  subscriptionId: string
  /** API key that made the subscription; empty where that is not known. */
  apiKeyId: string
  /** Sends it; resolves once its connection is free. */
  send(): Promise<void>
  /** Is told why `send` has rejected. */
  failed(error: unknown): void
  /** Gives it back unsent. */
  release(): void
}

/** A delivery waits at most so long, because its claim must outlast its attempt. */
const LONGEST_WAIT_MS = 1_500
/** A delivery that takes longer lets no others be claimed ahead. */
const QUICK_MS = 250
/** Most deliveries that wait for one origin, and for all. */
const MOST_WAITING_PER_ORIGIN = 256
const MOST_WAITING = 1_024

/** What waits since then or longer has waited too long. */
const latestOfLate = () => performance.now() - LONGEST_WAIT_MS

interface Waiting {
  delivery: Delivery
  since: number
}

interface Origin {
  sending: number
  /** In the order of their claims. */
  waiting: Waiting[]
  /** Deliveries that have ended quickly since the last call of `ahead`, and twice how many that has been lately. */
  ended: number
  pace: number
}

/** A delivery that ends while others are being started makes the next wait resolve at once. */
export class DeliveriesUnderWay {
  readonly #running = new Set<Promise<void>>()
  readonly #origins = new Map<string, Origin>()
  readonly #bySubscription = new Map<string, number>()
  readonly #sendingByKey = new Map<string, number>()
  #waiting = 0
  #hasEnded = false
  #isAwaited = () => false
  #wake = () => {}

  /** Deliveries that are being sent or wait. */
  get size(): number {
    return this.#running.size + this.#waiting
  }

  get sending(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Number of deliveries to an origin that are being sent or wait. */
  at(origin: string): number {
    const { sending, waiting } = this.#originOf(origin)
    return sending + waiting.length
  }

  ofSubscription(id: string): number {
    return this.#bySubscription.get(id) ?? 0
  }

  /** Deliveries of a key's subscriptions that are being sent. */
  sendingOf(apiKeyId: string): number {
    return this.#sendingByKey.get(apiKeyId) ?? 0
  }

  /**
   * Returns how many deliveries may be claimed beyond the places of an origin: twice as many as it ends between two
   * looks, so that none of its places is empty until the next. One that is slow or silent has none. `granted` is how many
   * this look claims ahead for others.
   */
  ahead(origin: string, granted: number): number {
    const known = this.#originOf(origin)
    known.pace = Math.max(2 * known.ended, known.pace >> 1)
    known.ended = 0
    return Math.max(0, Math.min(known.pace, MOST_WAITING_PER_ORIGIN, MOST_WAITING - this.#waiting - granted))
  }

  /** Sends a delivery at once while fewer than `places` are being sent to its origin, and otherwise once one of them ends. */
  add(delivery: Delivery, places: number): void {
    this.#count(delivery, 1)
    const origin = this.#originOf(delivery.origin)
    if (origin.sending < places) {
      this.#send(delivery, origin)
      return
    }
    origin.waiting.push({ delivery, since: performance.now() })
    this.#waiting++
  }

  /** Gives back what waits, or only what has waited too long. */
  releaseWaiting({ onlyLate = false }: { onlyLate?: boolean } = {}): void {
    if (this.#waiting === 0) return
    const since = onlyLate ? latestOfLate() : Number.POSITIVE_INFINITY
    for (const origin of this.#origins.values()) this.#releaseSince(origin, since)
  }

  /** Resolves once a delivery has ended or `interrupt` was called since the last wait, or after the timeout in milliseconds. */
  async ended(timeoutMs: number): Promise<void> {
    await this.#awaken(timeoutMs, () => this.#hasEnded)
    this.#hasEnded = false
  }

  /** Resolves once `isEnough` or nothing waits any more, or after the timeout in milliseconds. */
  gathered(timeoutMs: number, isEnough: () => boolean): Promise<void> {
    return this.#awaken(timeoutMs, () => this.#waiting === 0 || isEnough())
  }

  /** Makes the current or the next wait for an end resolve at once. */
  interrupt(): void {
    this.#hasEnded = true
    if (this.#isAwaited()) this.#wake()
  }

  async #awaken(timeoutMs: number, isAwaited: () => boolean): Promise<void> {
    if (isAwaited()) return
    this.#isAwaited = isAwaited
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #send(delivery: Delivery, origin: Origin): void {
    origin.sending++
    addTo(this.#sendingByKey, delivery.apiKeyId, 1)
    const begun = performance.now()
    const ended = () => {
      origin.sending--
      addTo(this.#sendingByKey, delivery.apiKeyId, -1)
      if (performance.now() - begun < QUICK_MS) origin.ended++
      this.#running.delete(running)
      this.#count(delivery, -1)
      this.#sendNext(origin)
      this.interrupt()
    }
    const running = delivery.send().then(ended, (error: unknown) => {
      delivery.failed(error)
      ended()
    })
    this.#running.add(running)
  }

  /** Sends none that has waited too long: nobody may have looked at them for seconds while the database was busy. */
  #sendNext(origin: Origin): void {
    this.#releaseSince(origin, latestOfLate())
    const next = origin.waiting.shift()
    if (next === undefined) return
    this.#waiting--
    this.#send(next.delivery, origin)
  }

  #releaseSince(origin: Origin, since: number): void {
    while (origin.waiting[0] !== undefined && origin.waiting[0].since <= since) this.#releaseNext(origin)
  }

  #releaseNext(origin: Origin): void {
    const next = origin.waiting.shift()
    if (next === undefined) return
    this.#waiting--
    this.#count(next.delivery, -1)
    next.delivery.release()
  }

  #originOf(name: string): Origin {
    let origin = this.#origins.get(name)
    if (origin === undefined) {
      origin = { sending: 0, waiting: [], ended: 0, pace: 0 }
      this.#origins.set(name, origin)
    }
    return origin
  }

  #count({ subscriptionId }: Delivery, by: number): void {
    addTo(this.#bySubscription, subscriptionId, by)
  }
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
