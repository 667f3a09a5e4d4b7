/** Draws what fee claims have paid over time: the SOL of partner and creator, or the number of claims if none paid SOL. */
import type { FeeClaim } from '../../src/api/fee-claims.ts'
import { ratioOf, solOf } from '../cli/amounts.ts'
import type { Drawing } from '../ui/drawing.ts'
import { timeSpans } from '../ui/time-spans.ts'

/** The parties as they are named, from the axis upwards. */
const PARTIES = ['partner', 'creator'] as const

/** Null without a claim whose time is known. */
export function historyDrawing(claims: readonly FeeClaim[]): Drawing | null {
  const timed = claims.flatMap((claim) => {
    const at = Date.parse(claim.occurred_at ?? '')
    return Number.isNaN(at) ? [] : [{ ...claim, at }]
  })
  const spans = timeSpans(timed.map(({ at }) => at))
  if (spans === null) return null
  const paysSol = timed.some(({ sol }) => BigInt(sol ?? '0') > 0n)
  const sums = Array.from({ length: spans.count }, () => PARTIES.map(() => 0n))
  for (const { at, sol, beneficiary } of timed) {
    const span = sums[spans.placeOf(at)]
    const party = beneficiary === 'creator' ? 1 : 0
    if (span !== undefined) span[party] = (span[party] ?? 0n) + (paysSol ? BigInt(sol ?? '0') : 1n)
  }
  const totalOf = (span: readonly bigint[]) => span.reduce((sum, part) => sum + part, 0n)
  const most = sums.map(totalOf).reduce((highest, sum) => (sum > highest ? sum : highest), 0n)
  return {
    kind: 'bars',
    names: PARTIES,
    bars: sums.map((span) => span.map((part) => ratioOf(part, most))),
    labels: {
      title: paysSol ? `SOL claimed each ${spans.name} (UTC)` : `Claims each ${spans.name} (UTC)`,
      highest: paysSol ? solOf(most) : String(most),
      lowest: '0',
      first: spans.first,
      last: spans.count > 1 ? spans.last : '',
    },
  }
}
