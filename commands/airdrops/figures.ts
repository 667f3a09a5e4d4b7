/** Shows the figures of an airdrop: what was claimed, how fast, and what is left. */
import type { AirdropStats } from '../../src/api/airdrop-claims.ts'
import { tokensText } from '../cli/amounts.ts'
import type { Drawing } from '../ui/drawing.ts'
import { plotLines, showsBraille } from '../ui/plot.ts'
import { sparkline } from '../ui/sparkline.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'

/** A share as a percentage, rounded down so that 100 % means all. */
export const shareText = (share: number | null): string =>
  share === null ? 'unknown' : `${(Math.floor(share * 1_000 + 1e-6) / 10).toFixed(1)} %`

/** The fields of the recorded claims, for `svc airdrops status`. */
export function claimFields(
  { recorded, hours }: AirdropStats,
  decimals: number | null,
): [name: string, value: string][] {
  const { claims, median_amount, claims_per_hour, last_claim_at, missing_count } = recorded
  const missing = missing_count ? `, ${missing_count} not recorded` : ''
  return [
    ['RECORDED', `${counted(claims, 'claim')}${missing}`],
    ['MEDIAN CLAIM', tokensText(median_amount, decimals)],
    ['CLAIMS AN HOUR', `${claims_per_hour}${hourLine(hours)}`],
    ['LAST CLAIM', last_claim_at === null ? '-' : timeText(last_claim_at)],
  ]
}

/** The claims of each hour as a line of blocks; empty if there were none, or if the terminal has no such characters. */
const hourLine = (hours: AirdropStats['hours']) =>
  showsBraille() && hours.some(({ claims }) => claims > 0)
    ? `  ${sparkline(hours.map(({ claims }) => claims))}  the last ${counted(hours.length, 'hour')}`
    : ''

/** One line of progress, printed when any part of it changes. */
export function figuresLine(stats: AirdropStats, decimals: number | null): string {
  const { status, claimed_count, leaf_count, claimed_amount, claimed_amount_share, left_amount } = stats
  return [
    status,
    `${claimed_count ?? '?'} of ${leaf_count || '?'} wallets`,
    `${tokensText(claimed_amount, decimals)} claimed (${shareText(claimed_amount_share)})`,
    `${tokensText(left_amount, decimals)} left`,
  ].join('  ')
}

const FILLED = ['█', '░'] as const
const FILLED_ASCII = ['#', '.'] as const

/** A bar of the share of the tokens that was claimed; full only when all of them were. */
export function shareBar(share: number | null, width: number, braille = showsBraille()): string {
  const [full, empty] = braille ? FILLED : FILLED_ASCII
  const filled = Math.floor((share ?? 0) * width)
  return full.repeat(filled) + empty.repeat(Math.max(0, width - filled))
}

const PLOT_HEIGHT = 6

/** The claims of each hour; null before the first claim. */
export function claimDrawing({ hours }: Pick<AirdropStats, 'hours'>): (Drawing & { kind: 'line' }) | null {
  const most = Math.max(0, ...hours.map(({ claims }) => claims))
  if (most === 0 || hours.length < 2) return null
  return {
    kind: 'line',
    points: hours.map(({ claims }, i) => ({ x: i / (hours.length - 1), y: claims / most })),
    labels: {
      title: `Claims an hour, the last ${counted(hours.length, 'hour')}`,
      highest: String(most),
      lowest: '0',
      first: `${hours.length - 1} h ago`,
      last: 'now',
    },
  }
}

/** The same as a small plot; nothing before the first claim. */
export function claimPlot(stats: Pick<AirdropStats, 'hours'>, width: number, braille = showsBraille()): string[] {
  const drawing = claimDrawing(stats)
  return drawing === null ? [] : plotLines(drawing.points, drawing.labels, width, braille, PLOT_HEIGHT)
}
