/** Repeats requests of long runs after a temporary fault, or when the rate limit is used up. */
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { UnexpectedBuild } from '../signing/demand.ts'
import { RATE_LIMIT_PAUSE_MS } from '../signing/following.ts'

/** Pauses in milliseconds before each retry after a temporary fault. */
const PASSING_PAUSES_MS = [1_000, 3_000, 10_000] as const

/** Retries after a temporary fault, and waits when the rate limit is used up. */
export async function patiently<T>({ clock }: Pick<Session, 'clock'>, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof UnexpectedBuild) throw error
      const pause = error.code === 'rate_limited' ? RATE_LIMIT_PAUSE_MS : PASSING_PAUSES_MS[tries++]
      const isPassing = error.code === 'rate_limited' || error.code === 'internal_error' || error.code === 'conflict'
      if (pause === undefined || !isPassing) throw error
      await clock.sleep(pause)
    }
  }
}
