/** Repeats writes that a busy database has refused. */
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '../../platform/errors.ts'

const WRITE_AGAIN_MS = 100

/** Repeats the write while the database is busy, at most until `until`, in milliseconds of the monotonic clock. */
export async function writeUnlessBusy<T>(until: number, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const isBusy = error instanceof ApiError && error.retryAfter !== undefined
      if (!isBusy || performance.now() >= until) throw error
      await delay(WRITE_AGAIN_MS)
    }
  }
}
