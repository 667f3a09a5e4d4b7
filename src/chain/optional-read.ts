/** Reads of the chain that only add to what is stored: a node that fails or is slow holds nothing up. */
import type { Log } from '../log.ts'
import { rejectLate } from '../timing.ts'

const OPTIONAL_READ_TIMEOUT_MS = 2_500

/** What was read; null, and a warning with this message, where the node fails or takes longer than 2.5 seconds. */
export async function optionalRead<T>(log: Log, message: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await rejectLate(OPTIONAL_READ_TIMEOUT_MS, read(), () => new Error('the node takes too long'))
  } catch (error) {
    log.warn({ err: error }, message)
    return null
  }
}
