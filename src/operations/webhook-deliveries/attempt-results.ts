/** Collects the results of attempts, and writes those that ended together in one transaction. */
import type { Services } from '../../context.ts'
import { type Claim, releaseClaims } from '../../store/webhooks/outcomes.ts'
import { writeUnlessBusy } from './busy-database.ts'
import { type EndedAttempt, recordAttempt, recordAttempts } from './record-attempt.ts'

type ResultServices = Pick<Services, 'store' | 'clock' | 'log'>

/**
 * A result is written again for so long while the database is busy, so that the receiver does not get the event again for
 * that. No attempt begins unless its claim outlasts it by more; afterwards another process may make the attempt.
 */
export const RECORD_FOR_MS = 4_000

export class AttemptResults {
  readonly #services: ResultServices
  readonly #onResult: () => void
  #ended: EndedAttempt[] = []
  #unbegun: Claim[] = []
  #writing: Promise<number> | undefined

  /** Calls `onResult` when there is something to write. */
  constructor(services: ResultServices, onResult: () => void) {
    this.#services = services
    this.#onResult = onResult
  }

  /** Results that are not written yet. */
  get size(): number {
    return this.#ended.length + this.#unbegun.length
  }

  add(ended: EndedAttempt): void {
    this.#ended.push(ended)
    this.#onResult()
  }

  /** Takes back an event whose delivery was not begun, so that any process may deliver it. */
  release(claim: Claim): void {
    this.#unbegun.push(claim)
    this.#onResult()
  }

  /** Writes what there is, after what is being written. Returns the number of results; it never rejects. */
  async flush(): Promise<number> {
    await this.#writing
    if (this.size === 0) return 0
    const [ended, unbegun] = [this.#ended, this.#unbegun]
    this.#ended = []
    this.#unbegun = []
    this.#writing = this.#write(ended, unbegun)
    return this.#writing
  }

  async #write(ended: readonly EndedAttempt[], unbegun: readonly Claim[]): Promise<number> {
    const until = performance.now() + RECORD_FOR_MS
    await Promise.all([
      ended.length > 0 && this.#record(ended, until),
      unbegun.length > 0 && this.#services.store.write((tx) => releaseClaims(tx, unbegun)).catch(this.#logFailure),
    ])
    return ended.length + unbegun.length
  }

  async #record(ended: readonly EndedAttempt[], until: number): Promise<void> {
    try {
      await writeUnlessBusy(until, () => recordAttempts(this.#services, ended))
    } catch {
      // One that cannot be written must not keep the others from being written.
      await Promise.all(
        ended.map((one) =>
          writeUnlessBusy(until, () => recordAttempt(this.#services, one)).catch((error) => {
            this.#logFailure(error, one)
          }),
        ),
      )
    }
  }

  readonly #logFailure = (error: unknown, one?: EndedAttempt): void => {
    this.#services.log.error({ err: error, event: one?.queued.event_id }, 'a delivery could not be recorded')
  }
}
