/** Remembers when and from where each API key was last used, and stores it together a moment later. */
import type { Services } from '../../src/context.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { type KeyUse, recordKeyUses } from '../../src/store/requests/api-keys.ts'

/** Milliseconds from the first use that is not stored until all of them are. */
const TOGETHER_MS = 2_000
/** Keys that are stored together; the next request with another key stores its use. */
const MOST_TOGETHER = 1_000

export class KeyUses {
  readonly #services: Pick<Services, 'store' | 'log'>
  /** When each key was last noted; it has only keys that exist. */
  readonly #noted = new Map<string, number>()
  #waiting = new Map<string, KeyUse>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(services: Pick<Services, 'store' | 'log'>) {
    this.#services = services
  }

  /** Whether a use at this time is to be noted: the first within a minute, also after a clock that was ahead. */
  isDue(id: string, now: number): boolean {
    const noted = this.#noted.get(id)
    return (noted === undefined || Math.abs(now - noted) >= MINUTE_MS) && this.#waiting.size < MOST_TOGETHER
  }

  /** Returns at once; a use that cannot be stored is lost, and the key's next minute is noted again. */
  note(id: string, now: number, from: string): void {
    this.#noted.set(id, now)
    this.#waiting.set(id, { api_key_id: id, used_at: now, used_from: from })
    this.#timer ??= setTimeout(() => this.#write(), TOGETHER_MS).unref()
  }

  /** Stores what waits. */
  async close(): Promise<void> {
    await this.#write()
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // Two daemons lock the rows in one order.
    const uses = [...this.#waiting.values()].sort((a, b) => (a.api_key_id < b.api_key_id ? -1 : 1))
    this.#waiting = new Map()
    if (uses.length > 0) this.#writing = this.#writing.then(() => this.#store(uses))
    return this.#writing
  }

  async #store(uses: readonly KeyUse[]): Promise<void> {
    const { store, log } = this.#services
    try {
      await store.write((tx) => recordKeyUses(tx, uses), { isUnseen: true })
    } catch (error) {
      log.warn({ err: error }, 'the last use of API keys was not stored')
    }
  }
}
