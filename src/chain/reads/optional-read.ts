/** Reads of the chain that only add to stored records. A node that fails or is slow delays no answer. */
import type { Log } from '../../platform/log.ts'
import { rejectLate } from '../../platform/timing.ts'

const OPTIONAL_READ_TIMEOUT_MS = 2_500

/** Returns what was read, or null with this warning logged when the node fails or takes longer than 2.5 seconds. */
export async function optionalRead<T>(log: Log, message: string, read: () => Promise<T>): Promise<T | null> {
  try {
    return await rejectLate(OPTIONAL_READ_TIMEOUT_MS, read(), () => new Error('the node takes too long'))
  } catch (error) {
    log.warn({ err: error }, message)
    return null
  }
}
