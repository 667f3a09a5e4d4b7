/** Limits of requests without a key: each address for itself, all together, and how many run at once. */
import type { Clock } from '../../src/context.ts'
import { MINUTE_MS } from '../../src/timing.ts'

export interface VisitorLimits {
  /** Requests of one address in a minute. */
  perAddress: number
  /** Requests of all addresses in a minute, which bounds the memory for counting them too. */
  inAll: number
  atOnce: number
}

/** Counts by whole minutes of the daemon's clock. */
export class VisitorCounter {
  readonly #clock: Clock
  readonly #limits: VisitorLimits
  readonly #counts = new Map<string, number>()
  #minute = -1
  #all = 0
  #running = 0

  constructor(clock: Clock, limits: VisitorLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Runs the work within the limits. Returns the seconds to wait where one of them is reached. */
  async run<T>(address: string, work: () => Promise<T>): Promise<{ answer: T } | { wait: number }> {
    const wait = this.#admit(address)
    if (wait !== null) return { wait }
    this.#running++
    try {
      return { answer: await work() }
    } finally {
      this.#running--
    }
  }

  #admit(address: string): number | null {
    const now = this.#clock.now()
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#all = 0
      this.#counts.clear()
    }
    const { perAddress, inAll, atOnce } = this.#limits
    if (this.#running >= atOnce) return 1
    const own = this.#counts.get(address) ?? 0
    if (own >= perAddress || this.#all >= inAll) return Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - now) / 1_000))
    this.#counts.set(address, own + 1)
    this.#all++
    return null
  }
}
