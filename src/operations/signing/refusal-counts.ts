/** Counts refusals of callers without a key, so that the audit log has one entry per rule and minute instead of one per refusal. */
import type { Context, CountedRefusal } from '../../context.ts'
import { isoTime, MINUTE_MS } from '../../platform/timing.ts'
import { audit } from './audit.ts'

type Counting = Pick<Context, 'store' | 'vault' | 'clock' | 'log'>

interface Counted extends CountedRefusal {
  /** Beginning of the minute in Unix milliseconds. */
  minute: number
  count: number
}

export class RefusalCounts {
  readonly #services: Counting
  readonly #counts = new Map<string, Counted>()
  #timer: NodeJS.Timeout | undefined

  constructor(services: Counting) {
    this.#services = services
  }

  /**
   * Counts a refusal. The entry is written when the minute is over; a process that is killed before loses the count.
   */
  add(refusal: CountedRefusal): void {
    const now = this.#services.clock.now()
    const minute = now - (now % MINUTE_MS)
    const name = JSON.stringify([refusal.signer, refusal.operation, refusal.rule, minute])
    const counted = this.#counts.get(name)
    if (counted === undefined) this.#counts.set(name, { ...refusal, minute, count: 1 })
    else counted.count++
    this.#writeLater()
  }

  /** Writes the counts. If that fails, they are written with the next minute. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counts = [...this.#counts]
    this.#counts.clear()
    if (counts.length === 0) return
    const { store, vault, clock } = this.#services
    try {
      await store.write(async (tx) => {
        for (const [, { actor, signer, operation, rule, minute, count }] of counts) {
          const context = { actor, requestId: 'counted', clock, vault }
          await audit(context, tx, 'signing.refused', signer, { operation, rule, minute: isoTime(minute), count })
        }
      })
    } catch (error) {
      for (const [name, counted] of counts) {
        const count = counted.count + (this.#counts.get(name)?.count ?? 0)
        this.#counts.set(name, { ...counted, count })
      }
      this.#writeLater()
      throw error
    }
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => void this.#end(), MINUTE_MS - (this.#services.clock.now() % MINUTE_MS)).unref()
  }

  async #end(): Promise<void> {
    try {
      await this.write()
    } catch (error) {
      this.#services.log.error(
        { err: error },
        'counted refusals could not be written to the audit log, and are written a minute later',
      )
    }
  }
}
