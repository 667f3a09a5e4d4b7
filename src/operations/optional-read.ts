/** What the chain adds to a stored record, as far as the node answers in time. */
import type { Log } from '../log.ts'
import { rejectLate } from '../timing.ts'

/** An answer can do without the node: it waits for it at most so long. */
const OPTIONAL_READ_TIMEOUT_MS = 2_500

/** Null, and a warning in the log, where the node fails or does not answer in time. */
export async function optionalRead<T>(log: Log, warning: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await rejectLate(OPTIONAL_READ_TIMEOUT_MS, read(), () => new Error('the node takes too long'))
  } catch (error) {
    log.warn({ err: error }, warning)
    return null
  }
}
