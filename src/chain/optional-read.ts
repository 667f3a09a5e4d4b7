/** Reads of the chain that only add to what is stored: a node that fails or is slow holds nothing up. */
import type { Log } from '../log.ts'
import { rejectLate } from '../timing.ts'

const OPTIONAL_READ_TIMEOUT_MS = 2_500

/** What was read; null, and a warning with this message, where the node fails or takes longer than 2.5 seconds. */
export async function optionalRead<T>(log: Log, message: string, read: () => Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the node takes too long')), OPTIONAL_READ_TIMEOUT_MS)
  })
  try {
    return await Promise.race([read(), timeout])
  } catch (error) {
    log.warn({ err: error }, message)
    return null
  }
}
