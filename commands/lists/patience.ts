/** Repeats requests of long runs after a temporary fault, or when the rate limit is used up. */
import { ApiError } from '../../src/platform/errors.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/platform/timing.ts'
import type { Session } from '../cli/session.ts'
import { UnexpectedBuild } from '../signing/demand.ts'
import { RATE_LIMIT_PAUSE_MS, UnprovenEnd } from '../signing/following.ts'
import { LedgerProblem } from '../wallet/ledger-devices.ts'

/** Pauses in milliseconds before each retry after a temporary fault. */
const PASSING_PAUSES_MS = [1_000, 3_000, 10_000] as const

/** The longest wait for a rate limit. A limit of the day may take hours: the run then ends with its error. */
const LONGEST_WAIT_MS = 10 * MINUTE_MS

/** Retries after a temporary fault, and waits when the rate limit is used up, but never for long. */
export async function patiently<T>({ clock }: Pick<Session, 'clock'>, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof UnexpectedBuild) throw error
      if (error instanceof LedgerProblem || error instanceof UnprovenEnd) throw error
      const isLimit = error.code === 'rate_limited'
      const isPassing = isLimit || error.code === 'internal_error' || error.retryAfter !== undefined
      const asked = (error.retryAfter ?? 0) * SECOND_MS
      const pause = isLimit ? Math.max(RATE_LIMIT_PAUSE_MS, asked) : PASSING_PAUSES_MS[tries++]
      if (pause === undefined || pause > LONGEST_WAIT_MS || !isPassing) throw error
      await clock.sleep(pause)
    }
  }
}
