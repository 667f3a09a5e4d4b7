/** Counts the deliveries of one round that are in progress, by origin and by subscription. */

/** A delivery that ends while others are being started makes the next wait resolve at once. */
export class DeliveriesUnderWay {
  readonly #running = new Set<Promise<void>>()
  readonly #counts = new Map<string, number>()
  #hasEnded = false
  #wake = () => {}

  get size(): number {
    return this.#running.size
  }

  /** Returns the number of deliveries in progress under this name. */
  count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** Starts work that never rejects, under each of the names. */
  start(names: readonly string[], work: () => Promise<void>): void {
    for (const name of names) this.#add(name, 1)
    const running = work().finally(() => {
      for (const name of names) this.#add(name, -1)
      this.#running.delete(running)
      this.interrupt()
    })
    this.#running.add(running)
  }

  /** Resolves once a delivery has ended or `interrupt` was called since the last wait, or after the timeout in milliseconds. */
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

  /** Makes the current or the next wait resolve at once. */
  interrupt(): void {
    this.#hasEnded = true
    this.#wake()
  }

  async allEnded(): Promise<void> {
    await Promise.all(this.#running)
  }

  #add(name: string, by: number): void {
    const count = this.count(name) + by
    if (count === 0) this.#counts.delete(name)
    else this.#counts.set(name, count)
  }
}
