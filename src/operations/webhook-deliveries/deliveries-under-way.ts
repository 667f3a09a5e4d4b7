/** The deliveries of one round: those that are being sent, and a bounded queue for each origin that answers quickly. */

export interface Delivery {
  /** Origin of the receiver. */
  origin: string
  subscriptionId: string
  /** API key that made the subscription; empty if unknown. */
  apiKeyId: string
  /** Sends the delivery. Resolves once its connection is free, and never rejects. */
  send(): Promise<void>
  /** Returns the delivery unsent. */
  release(): void
}

/** If an origin's last delivery took longer, no deliveries are claimed ahead for it. */
const QUICK_MS = 750
/** Most deliveries that wait for one origin, and for all. */
const MOST_WAITING_PER_ORIGIN = 256
const MOST_WAITING = 1_024

interface Origin {
  sending: number
  isQuick: boolean
  /** In the order of their claims. Each learns whether it may be sent. */
  waiting: ((isSent: boolean) => void)[]
}

/** If a delivery ends while others are being started, the next wait resolves at once. */
export class DeliveriesUnderWay {
  readonly #origins = new Map<string, Origin>()
  readonly #bySubscription = new Map<string, number>()
  readonly #sendingByKey = new Map<string, number>()
  #sending = 0
  #waiting = 0
  #hasEnded = false
  #wake = () => {}

  /** Deliveries that are being sent or wait. */
  get size(): number {
    return this.#sending + this.#waiting
  }

  get sending(): number {
    return this.#sending
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
   * Returns how many deliveries may be claimed beyond the places of an origin. `granted` counts those that other
   * origins have already claimed this way.
   */
  ahead(origin: string, granted: number): number {
    if (!this.#originOf(origin).isQuick) return 0
    return Math.max(0, Math.min(MOST_WAITING_PER_ORIGIN, MOST_WAITING - this.#waiting - granted))
  }

  /** Sends a delivery at once if fewer than `places` are being sent to its origin, otherwise when one of them ends. */
  async add(delivery: Delivery, places: number): Promise<void> {
    const { subscriptionId, apiKeyId } = delivery
    const origin = this.#originOf(delivery.origin)
    addTo(this.#bySubscription, subscriptionId, 1)
    if (await this.#place(origin, places)) {
      addTo(this.#sendingByKey, apiKeyId, 1)
      const begun = performance.now()
      await delivery.send()
      origin.isQuick = performance.now() - begun < QUICK_MS
      addTo(this.#sendingByKey, apiKeyId, -1)
      this.#leave(origin)
    } else delivery.release()
    addTo(this.#bySubscription, subscriptionId, -1)
    this.interrupt()
  }

  /** Returns all waiting deliveries. */
  releaseWaiting(): void {
    for (const { waiting } of this.#origins.values()) {
      this.#waiting -= waiting.length
      for (const begin of waiting.splice(0)) begin(false)
    }
  }

  /**
   * Resolves once a delivery has ended or `interrupt` was called since the last wait, or after the timeout
   * (milliseconds).
   */
  async ended(timeoutMs: number): Promise<void> {
    if (!this.#hasEnded) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#hasEnded = false
  }

  /** Makes the current or the next wait for an end resolve at once. */
  interrupt(): void {
    this.#hasEnded = true
    this.#wake()
  }

  #place(origin: Origin, places: number): true | Promise<boolean> {
    if (origin.sending < places) {
      origin.sending++
      this.#sending++
      return true
    }
    this.#waiting++
    return new Promise((begin) => {
      origin.waiting.push(begin)
    })
  }

  /** Passes the place to the next waiting delivery, so that a later one cannot take it. */
  #leave(origin: Origin): void {
    const next = origin.waiting.shift()
    if (next === undefined) {
      origin.sending--
      this.#sending--
    } else {
      this.#waiting--
      next(true)
    }
  }

  #originOf(name: string): Origin {
    let origin = this.#origins.get(name)
    if (origin === undefined) {
      origin = { sending: 0, isQuick: false, waiting: [] }
      this.#origins.set(name, origin)
    }
    return origin
  }
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
