/** Collects work that arrives in one turn of the event loop, so that all of it shares one durable write. */

/** Most works of one write; more would block the event loop. */
const MAX_TOGETHER = 64

interface Waiting {
  run(): void
  settle(): void
  reject(error: unknown): void
}

export class WorkQueue {
  readonly #write: (runAll: Iterable<() => void>) => void
  #waiting: Waiting[] = []

  /** `write` runs every given work, and returns once their changes are durable. */
  constructor(write: (works: Iterable<() => void>) => void) {
    this.#write = write
  }

  /**
   * Runs `work` before the next turn of the event loop, after all work that was added before. Settles as `work` does,
   * once
   * its changes are durable; rejects when they could not be written.
   */
  add<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle = () => {}
      const run = () => {
        try {
          const result = work()
          settle = () => resolve(result)
        } catch (error) {
          settle = () => reject(error)
        }
      }
      this.#waiting.push({ run, settle: () => settle(), reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#next())
    })
  }

  /** Runs all waiting work. */
  flush(): void {
    while (this.#waiting.length > 0) this.#writeSome()
  }

  #next(): void {
    if (this.#waiting.length > 0) this.#writeSome()
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }

  #writeSome(): void {
    const together = this.#waiting.splice(0, MAX_TOGETHER)
    try {
      this.#write(together.map(({ run }) => run))
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const { settle } of together) settle()
  }
}
