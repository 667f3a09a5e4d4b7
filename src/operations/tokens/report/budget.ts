/** Limits what one report asks of the node: a part that would take more calls or time is given up, and is a gap. */

import type { TokenReport } from '../../../api/token-report.ts'
import type { Chain } from '../../../chain/connection.ts'
import { UnbelievableAnswer } from '../../../chain/holders/scan.ts'
import { ApiError, internal } from '../../../platform/errors.ts'
import { rejectLate } from '../../../platform/timing.ts'

export type ReportChain = Pick<Chain, 'call' | 'callLarge'>

export interface Budget {
  /** Most calls to the node. */
  calls: number
  /** Milliseconds from the start of the report. */
  milliseconds: number
}

export type ReportBudgets = Readonly<Record<'holders' | 'locks' | 'pools', Budget>>

/** With the reading of the mint, a report takes 200 calls at most, and no call is waited for after the time. */
export const REPORT_BUDGETS: ReportBudgets = {
  holders: { calls: 110, milliseconds: 25_000 },
  locks: { calls: 25, milliseconds: 25_000 },
  pools: { calls: 64, milliseconds: 25_000 },
}

/** Returns the chain with calls that throw internal_error once the budget is spent. */
export function withinBudget(chain: ReportChain, what: string, { calls, milliseconds }: Budget): ReportChain {
  const end = performance.now() + milliseconds
  const late = () => internal(`${what} could not be read within the ${milliseconds / 1_000} s of a report`)
  let left = calls
  const spend = async <T>(ask: () => Promise<T>): Promise<T> => {
    const rest = end - performance.now()
    if (rest <= 0) throw late()
    if (left === 0) throw internal(`${what} would take more than the ${calls} calls to the node of a report`)
    left--
    return rejectLate(rest, ask(), late)
  }
  return {
    call: (method, params) => spend(() => chain.call(method, params)),
    callLarge: (call, onItem) => spend(() => chain.callLarge(call, onItem)),
  }
}

// Parts of a report that could not be read: each is missing for its own reason, and the rest is shown.

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
