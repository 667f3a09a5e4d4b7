/** Draws the attempts to deliver over time: how many were taken, and how many failed. */
import type { WebhookDelivery } from '../../src/api/webhook-subscriptions.ts'
import type { Drawing } from '../ui/drawing.ts'
import { timeSpans } from '../ui/time-spans.ts'

const OUTCOMES = ['succeeded', 'failed', 'pending'] as const

/** Null without attempts. */
export function deliveriesDrawing(attempts: readonly WebhookDelivery[]): Drawing | null {
  const spans = timeSpans(attempts.map(({ created_at }) => Date.parse(created_at)).filter(Number.isFinite))
  if (spans === null) return null
  const counts = Array.from({ length: spans.count }, () => OUTCOMES.map(() => 0))
  for (const { created_at, status } of attempts) {
    const span = counts[spans.placeOf(Date.parse(created_at))]
    const outcome = OUTCOMES.indexOf(status)
    if (span !== undefined && outcome >= 0) span[outcome] = (span[outcome] ?? 0) + 1
  }
  const most = Math.max(1, ...counts.map((span) => span.reduce((sum, count) => sum + count, 0)))
  const used = OUTCOMES.filter((name, i) => name !== 'pending' || counts.some((span) => (span[i] ?? 0) > 0))
  return {
    kind: 'bars',
    names: used,
    bars: counts.map((span) => span.slice(0, used.length).map((count) => count / most)),
    labels: {
      title: `Attempts each ${spans.name} (UTC)${durationText(attempts)}`,
      highest: String(most),
      lowest: '0',
      first: spans.first,
      last: spans.count > 1 ? spans.last : '',
    },
  }
}

/** The median of the answers' times; nothing if no attempt was answered. */
function durationText(attempts: readonly WebhookDelivery[]): string {
  const durations = attempts.flatMap(({ duration_ms }) => duration_ms ?? []).sort((a, b) => a - b)
  const median = durations[Math.floor(durations.length / 2)]
  return median === undefined ? '' : `, half of them within ${median} ms`
}
