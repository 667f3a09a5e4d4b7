/** Converts faults of an RPC node to one kind of error. */
import { ApiError, internal } from '../../platform/errors.ts'

const LONGEST_REASON = 300

/**
 * Runs one request to the RPC node. Its faults become internal_error with their cause, and an ApiError is unchanged.
 */
export async function askNode<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw internal(`${what} failed at the RPC node: ${nodeReason(error)}`, { cause: error })
  }
}

/** Returns the first line of an error, because nodes may send whole pages. */
export function nodeReason(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON)}…` : line
}
