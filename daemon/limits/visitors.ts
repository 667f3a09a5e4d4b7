/** Limits for requests without a key: requests per minute, and how many bodies are read and requests run at once. */
import type { Clock } from '../../src/context.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'

/** Limits of one address, and of all addresses together. */
interface VisitorShare {
  perAddress: number
  inAll: number
}

interface VisitorLimits {
  /** Requests per minute; the limit of all addresses also limits the memory for counting. */
  minute: VisitorShare
  /** Bodies that are read at once; the client decides how long that takes. */
  reading: VisitorShare
  /** Requests that run at once; their bodies have been read. */
  running: VisitorShare
}

interface VisitorRequest<B, T> {
  /** Reads the body; undefined for a request without one. */
  read: (() => Promise<B>) | undefined
  run(body: B | undefined): Promise<T>
}

/** Seconds after which a place is likely to be free. */
const SOON_S = 1

/** Counts in whole minutes of the daemon's clock. */
export class VisitorCounter {
  readonly #clock: Clock
  readonly #limits: VisitorShare
  readonly #counts = new Map<string, number>()
  readonly #reading: Places
  readonly #running: Places
  #minute = -1
  #all = 0

  constructor(clock: Clock, { minute, reading, running }: VisitorLimits) {
    this.#clock = clock
    this.#limits = minute
    this.#reading = new Places(reading)
    this.#running = new Places(running)
  }

  /** Reads the body and then runs, within the limits. Returns the seconds to wait if a limit is reached. */
  async run<B, T>(address: string, { read, run }: VisitorRequest<B, T>): Promise<{ answer: T } | { wait: number }> {
    const wait = this.#admit(address, read !== undefined)
    if (wait !== null) return { wait }
    const body = read && (await this.#reading.hold(address, read))
    // Other requests may have taken the places that were free at admission.
    if (this.#running.isFull(address)) return { wait: SOON_S }
    return { answer: await this.#running.hold(address, () => run(body)) }
  }

  /** A request without a free place is not counted, because nothing of it was read. */
  #admit(address: string, hasBody: boolean): number | null {
    const now = this.#clock.now()
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#all = 0
      this.#counts.clear()
    }
    const { perAddress, inAll } = this.#limits
    const own = this.#counts.get(address) ?? 0
    if (own >= perAddress || this.#all >= inAll) return Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - now) / 1_000))
    if ((hasBody && this.#reading.isFull(address)) || this.#running.isFull(address)) return SOON_S
    this.#counts.set(address, own + 1)
    this.#all++
    return null
  }
}

/** Places that all addresses share; each may take a few. */
class Places {
  readonly #limits: VisitorShare
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor(limits: VisitorShare) {
    this.#limits = limits
  }

  isFull(address: string): boolean {
    return this.#all >= this.#limits.inAll || (this.#taken.get(address) ?? 0) >= this.#limits.perAddress
  }

  /** Takes a place immediately and releases it when the work has settled. */
  async hold<T>(address: string, work: () => Promise<T>): Promise<T> {
    this.#take(address, 1)
    try {
      return await work()
    } finally {
      this.#take(address, -1)
    }
  }

  #take(address: string, places: 1 | -1): void {
    const own = (this.#taken.get(address) ?? 0) + places
    if (own === 0) this.#taken.delete(address)
    else this.#taken.set(address, own)
    this.#all += places
  }
}
