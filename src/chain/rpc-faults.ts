/** What an RPC node did wrong, told to the caller as one kind of error. */
import { ApiError, internal } from '../errors.ts'

const LONGEST_REASON = 300

/** Runs one question to the RPC node; its faults become internal_error with their cause, an ApiError stays itself. */
export async function askNode<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw internal(`${what} failed at the RPC node: ${reasonOf(error)}`, { cause: error })
  }
}

/** First line of an error, as nodes put whole pages into theirs. */
export function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON)}…` : line
}
