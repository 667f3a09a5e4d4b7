/** Collects the results of attempts, and writes those that end together in one database transaction. */
import type { Services } from '../../context.ts'
import { type Claim, releaseClaims } from '../../store/webhooks/outcomes.ts'
import { writeUnlessBusy } from './busy-database.ts'
import { type EndedAttempt, recordAttempt, recordAttempts } from './record-attempt.ts'

type ResultServices = Pick<Services, 'store' | 'clock' | 'log'>

/**
 * While the database is busy, a write is retried for this long, so that the receiver does not get the event twice. An
 * attempt starts only if its claim outlasts it by more than this; afterwards another process may make it.
 */
export const RECORD_FOR_MS = 4_000

export class AttemptResults {
  readonly #services: ResultServices
  readonly #onResult: () => void
  #ended: EndedAttempt[] = []
  #unbegun: Claim[] = []
  #writing: Promise<number> | undefined

  /** `onResult` is called when there is something to write. */
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

  /** Returns an event whose delivery has not started, so that any process may deliver it. */
  release(claim: Claim): void {
    this.#unbegun.push(claim)
    this.#onResult()
  }

  /** Writes all results after the current write. Returns their number, and never rejects. */
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
      // A result that cannot be written must not block the others.
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
    this.#services.log.error(
      { err: error, event: one?.queued.event_id },
      'the result of a delivery could not be written',
    )
  }
}
