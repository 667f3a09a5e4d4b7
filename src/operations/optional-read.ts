/** What the chain adds to a stored record, as far as the node answers in time. */
import type { Log } from '../log.ts'
import { rejectLate } from '../timing.ts'

/** A read needs no node: it is waited for so long. */
const OPTIONAL_READ_TIMEOUT_MS = 2_500

/** Null, and a warning with these words, where the node fails or takes its time. */
export async function optionalRead<T>(log: Log, words: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await rejectLate(OPTIONAL_READ_TIMEOUT_MS, read(), () => new Error('the node takes too long'))
  } catch (error) {
    log.warn({ err: error }, words)
    return null
  }
}
