/** Parts of a report that could not be read: each is missing for its own reason, and the rest is shown. */
import type { TokenReport } from '../../../api/token-report.ts'
import { UnbelievableAnswer } from '../../../chain/holders/scan.ts'
import { ApiError } from '../../../platform/errors.ts'

export type Gaps = TokenReport['gaps']

/** Returns what is read; for a fault of the node or a refusal, null and a gap. Other errors are thrown. */
export async function readOrNoteGap<T>(
  gaps: Gaps,
  part: Gaps[number]['part'],
  read: () => Promise<T>,
  say: (reason: string) => string = (reason) => reason,
): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof UnbelievableAnswer)) throw error
    const reason = error instanceof ApiError ? error.message : `The RPC node contradicts itself: ${error.message}`
    gaps.push({ part, reason: say(reason) })
    return null
  }
}
