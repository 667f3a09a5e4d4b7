/** `svc airdrops watch`: follows the claims of an airdrop, redrawn on a terminal, one line per change elsewhere. */

import type { AirdropClaimRecord, AirdropStats } from '../../src/api/airdrop-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { tokensText } from '../cli/amounts.ts'
import { type CommandOutcome, required, text, verb } from '../cli/command.ts'
import { terminal } from '../cli/terminal.ts'
import { openEventLines } from '../events/lines.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { drawingWidth } from '../ui/curve.ts'
import { liveScreen } from '../ui/live-screen.ts'
import { isTransient } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { localTime, timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { claimPlot, figuresLine, shareBar, shareText } from './figures.ts'

const LOOK_PAUSE_MS = 3_000
const REFUSED_PAUSE_MS = 10_000
const LAST_CLAIMS = 4
const FINISHED: readonly string[] = ['fully_claimed', 'vault_drained']
/** The time over which the pace of a watched airdrop is measured. */
const PACE_MS = 60_000

export const airdropWatchVerb = verb({
  about: 'Follow the claims of an airdrop until all is claimed or withdrawn',
  details:
    'Reads the airdrop every three seconds. A terminal shows a bar, the claims of each hour and the last claims. Elsewhere every change is a line; with -o json and -o plain it is a line of JSON. Ctrl-C stops it at any time.',
  calls: [paths.airdrops.stats, paths.airdrops.claims, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  examples: [
    'svc airdrops watch 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops watch 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --json',
  ],
  async run({ id }, session): Promise<CommandOutcome> {
    const { client, clock, ui } = session
    const lines = await openEventLines(session)
    const isDrawn = ui.interactive && lines.readable
    const screen = isDrawn ? liveScreen(terminal().stderr) : null
    session.setInterruptNote(null)
    let decimals: number | null = null
    let lastLine = ''
    const readings: Reading[] = []
    for (;;) {
      let pause = LOOK_PAUSE_MS
      try {
        const { data: stats } = await client.airdrops.stats({ id })
        if (lastLine === '') decimals = await mintDecimals(session, stats.mint)
        ui.stream()
        const now = clock.now()
        const time = timeText(now)
        const line = figuresLine(stats, decimals)
        if (screen !== null) {
          const { data: claims } = await client.airdrops.claims({ id, limit: String(LAST_CLAIMS) })
          const pace = paceOf(readings, { at: now, claimed: stats.claimed_count })
          screen.draw([
            ...watchLines(stats, { claims, pace, decimals, width: drawingWidth(terminal().stderr) }),
            ...['', `${time}  Ctrl-C ends this`],
          ])
        } else if (line !== lastLine) lines.print({ at: time, ...withoutWindows(stats) }, `${time}  ${line}`)
        lastLine = line
        if (FINISHED.includes(stats.status)) {
          screen?.end()
          return isDrawn ? { data: withoutWindows(stats), text: line } : { data: undefined }
        }
      } catch (error) {
        // After a first success, temporary failures of the node or the API are waited for.
        if (!isTransient(error) || lastLine === '') throw error
        const line = `not read: ${error.message}`
        if (screen === null && line !== lastLine) ui.note(`${timeText(clock.now())}  ${line}`)
        if (screen === null) lastLine = line
        if (error.code === 'rate_limited') pause = REFUSED_PAUSE_MS
      }
      await clock.sleep(pause)
    }
  },
})

function withoutWindows({ hours, days, ...figures }: AirdropStats): Omit<AirdropStats, 'hours' | 'days'> {
  return figures
}

interface Reading {
  at: number
  claimed: number
}

/** Adds a reading, and returns the claims a minute of the last minute; null before two readings. */
export function paceOf(readings: Reading[], { at, claimed }: { at: number; claimed: number | null }): number | null {
  if (claimed !== null) readings.push({ at, claimed })
  while (readings.length > 2 && (readings[0]?.at ?? at) < at - PACE_MS) readings.shift()
  const [first, last] = [readings[0], readings.at(-1)]
  if (first === undefined || last === undefined || last.at === first.at) return null
  return Math.round(((last.claimed - first.claimed) / (last.at - first.at)) * 60_000)
}

interface Drawn {
  claims: readonly AirdropClaimRecord[]
  pace: number | null
  decimals: number | null
  width: number
}

/** The lines of a drawing, at most 22 of them, so that a terminal of 24 shows it whole. */
export function watchLines(stats: AirdropStats, { claims, pace, decimals, width }: Drawn): string[] {
  const { status, leaf_count, claimed_count, left_count, recorded, clawback_at, clawed_back, note } = stats
  const share = shareText(stats.claimed_amount_share)
  const amount = (raw: string | null) => tokensText(raw, decimals)
  const clawback = clawed_back
    ? 'The vault was withdrawn'
    : clawback_at === null
      ? 'Not on chain'
      : `Clawback from ${timeText(clawback_at)}`
  const plot = claimPlot(stats, width - 1)
  const noted = note === null ? [] : noteLines(printable(note), width - 1)
  return [
    `${status}  ${share} of the tokens  ${shareText(stats.claimed_count_share)} of the wallets`,
    shareBar(stats.claimed_amount_share, Math.max(10, Math.min(width - 2, 100))),
    `${amount(stats.claimed_amount)} of ${amount(stats.total)} claimed by ${claimed_count ?? '?'} of ${leaf_count || '?'} wallets`,
    `${amount(stats.left_amount)} left for ${left_count ?? '?'} wallets`,
    `${counted(recorded.claims_per_hour, 'claim')} an hour${pace === null ? '' : `, now ${pace} a minute`}, median ${amount(recorded.median_amount)}`,
    clawback,
    ...noted,
    ...(plot.length === 0 ? [] : ['', ...plot]),
    ...(claims.length === 0 ? [] : ['']),
    ...claims.slice(0, LAST_CLAIMS - noted.length).map((claim) => claimLine(claim, decimals, width)),
  ]
}

/** The beginning of a note in at most two lines; `svc airdrops status` shows the whole. */
function noteLines(note: string, width: number): string[] {
  const [first, rest] = [note.slice(0, width), note.slice(width)]
  if (rest === '') return [first]
  return [first, rest.length <= width ? rest : `${rest.slice(0, width - 1)}…`]
}

/**
 * A line of a claim that fits the width: the time of day, the wallet, shortened if there is no room, and the amount.
 */
function claimLine(
  { claimed_at, wallet, amount, amount_locked }: AirdropClaimRecord,
  decimals: number | null,
  width: number,
) {
  const tokens = tokensText(String(BigInt(amount) + BigInt(amount_locked)), decimals)
  const time = localTime(claimed_at).slice(11)
  const room = width - 1 - time.length - tokens.length - 4
  const shown = wallet.length <= room ? wallet : `${wallet.slice(0, 4)}…${wallet.slice(-4)}`
  return `${time}  ${printable(shown)}  ${tokens}`
}
