/** `svc pools watch`: follows a pool until it has migrated, redrawn on a terminal, one line per change elsewhere. */

import { paths } from '../../src/api/paths.ts'
import type { Pool } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { groupedShortOf, percentOf, poolState } from '../../src/solana/launch-curve.ts'
import { poolAddress, required, verb } from '../cli/command.ts'
import { terminal } from '../cli/terminal.ts'
import { drawingWidth } from '../ui/curve.ts'
import { liveScreen } from '../ui/live-screen.ts'
import { showsBraille } from '../ui/plot.ts'
import { EXIT, isTransient } from '../ui/problem.ts'
import { sparkline } from '../ui/sparkline.ts'
import { timeText } from '../ui/times.ts'
import { brokenAtWords, terminalWidth } from '../ui/words.ts'
import { nextStep } from './next-step.ts'
import { progressLines } from './progress.ts'

const WATCH_PAUSE_MS = 2_000
const WATCH_RATE_LIMIT_PAUSE_MS = 5_000
const FINAL_STATUSES: readonly string[] = ['migrated', 'failed']

export const watch = verb({
  about: 'Follow a pool until it has migrated',
  details:
    'Looks every two seconds. A terminal redraws the curve; elsewhere every change is a line on stderr. The answer is the pool at the end.',
  calls: [paths.pools.get, paths.pools.list, paths.service.workers],
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools watch CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools watch CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json 2> changes.log',
  ],
  async run({ address }, session) {
    const { client, clock, ui } = session
    const screen = ui.interactive ? liveScreen(terminal().stderr) : null
    session.setInterruptNote(null)
    let [lastLine, lastStep] = ['', '']
    const prices: number[] = []
    for (;;) {
      let pause = WATCH_PAUSE_MS
      try {
        const { data } = await client.pools.get({ address })
        ui.stream()
        const line = changeLine(data)
        const next = await nextStep(session, data)
        const time = timeText(clock.now())
        notePrice(prices, data)
        if (screen !== null)
          screen.draw([
            ...watchLines(data, line),
            ...priceLine(prices),
            ...wrapped(next),
            '',
            `${time}  Ctrl-C ends this`,
          ])
        else if (line !== lastLine) ui.note(`${time}  ${line}`)
        if (screen === null && next.join() !== lastStep) for (const text of next) ui.note(`${time}  ${text}`)
        lastLine = line
        lastStep = next.join()
        if (FINAL_STATUSES.includes(data.status) || data.type === 'damm_v2') {
          screen?.end()
          return {
            data: poolWithoutState(data),
            notes: await nextPool(client, data),
            exitCode: data.status === 'failed' ? EXIT.failed : EXIT.done,
          }
        }
      } catch (error) {
        // After a first success, temporary failures of the node or the API are retried.
        if (!isTransient(error) || lastLine === '') throw error
        const line = `not read: ${error.message}`
        if (screen === null && line !== lastLine) ui.note(`${timeText(clock.now())}  ${line}`)
        if (screen === null) lastLine = line
        pause = error.code === 'rate_limited' ? WATCH_RATE_LIMIT_PAUSE_MS : WATCH_PAUSE_MS
      }
      await clock.sleep(pause)
    }
  },
})

/** A screen crops its lines, and the reason why a full curve waits is longer than most. */
const wrapped = (lines: readonly string[]) =>
  lines.flatMap((text) => brokenAtWords(text, terminalWidth(terminal().stderr)))

/** The line of a pool's status, share, SOL and price, which is printed when any of them changes. */
function changeLine(
  pool: Pick<Pool, 'type' | 'state' | 'status' | 'curve_progress'> & { quote_mint?: string },
): string {
  const { price, curve, quote } = poolState(pool)
  return [
    pool.status,
    ...(pool.curve_progress === null ? [] : [percentOf(pool.curve_progress)]),
    ...(curve === null
      ? []
      : [
          `${groupedShortOf(curve.raised, quote.decimals)} of ${groupedShortOf(curve.threshold, quote.decimals)} ${quote.unit}`,
        ]),
    ...(price === null ? [] : [`price ${price} ${quote.unit}`]),
  ].join('  ')
}

const watchLines = (pool: Pool, line: string) =>
  progressLines(pool, { progress: pool.curve_progress ?? 0 }, drawingWidth(terminal().stderr)) ?? [line]

/** The number of looks whose prices are kept: two minutes of them. */
const MOST_PRICES = 60

function notePrice(prices: number[], pool: Pool): void {
  const { price } = poolState(pool)
  if (price !== null) prices.push(Number(price))
  if (prices.length > MOST_PRICES) prices.shift()
}

/** The prices since the beginning, drawn from the lowest to the highest; nothing before the second look. */
function priceLine(prices: readonly number[]): string[] {
  if (prices.length < 2 || !showsBraille()) return []
  const least = Math.min(...prices)
  return ['', `price of the last ${prices.length} looks  ${sparkline(prices.map((price) => price - least))}`]
}

/** The pool without its raw state, which `svc pools get` shows. */
function poolWithoutState(pool: Pool): Omit<Pool, 'state' | 'fee_metrics'> {
  const { state, fee_metrics, ...rest } = pool
  return rest
}

/** The pool in which a migrated token trades; empty if no record names that pool. */
async function nextPool(client: Client, { status, base_mint, creator }: Pool): Promise<string[]> {
  if (status !== 'migrated') return []
  const { data } = await client.pools.list({ type: 'damm_v2', limit: '100', ...(creator === null ? {} : { creator }) })
  const next = data.find((pool) => pool.base_mint === base_mint)
  return next === undefined ? [] : [`It trades in ${next.address} now.`]
}
