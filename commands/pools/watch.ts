/** `svc pools watch`: a pool followed until it has migrated, redrawn on a terminal, a line for each change elsewhere. */
import { paths } from '../../src/api/paths.ts'
import type { Pool } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/errors.ts'
import { LAMPORT_DIGITS } from '../amounts.ts'
import { required, text, verb } from '../command.ts'
import { type Output, terminal } from '../terminal.ts'
import { shortOf } from '../ui/curve.ts'
import { EXIT } from '../ui/problem.ts'
import { progressLines } from './progress.ts'
import { percentOf, stateOf } from './state.ts'
import { columnsOf } from './width.ts'

const LOOK_MS = 2_000
const QUOTA_MS = 5_000
const ENDS: readonly string[] = ['migrated', 'failed']

export const watch = verb({
  about: 'Follow a pool until it has migrated',
  details:
    'Looks every two seconds. On a terminal the curve is drawn anew; elsewhere every change is a line on stderr. The answer is the pool as it then is.',
  calls: [paths.pools.get, paths.pools.list],
  args: { address: required(text('Address of the pool')) },
  examples: ['svc pools watch <address>', 'svc pools watch <address> --json 2> changes.log'],
  async run({ address }, session) {
    const { client, clock, ui } = session
    const screen = ui.interactive ? liveScreen(terminal().stderr) : null
    session.lastWords(null)
    let said = ''
    for (;;) {
      let pause = LOOK_MS
      try {
        const { data } = await client.pools.get({ address })
        const line = changeLine(data)
        const time = new Date(clock.now()).toISOString()
        if (screen !== null) screen.draw([...drawn(data, line), '', `${time}  Ctrl-C ends this`])
        else if (line !== said) ui.note(`${time}  ${line}`)
        said = line
        if (ENDS.includes(data.status) || data.type === 'damm_v2') {
          screen?.end()
          return {
            data: ended(data),
            notes: await nextPool(client, data),
            exitCode: data.status === 'failed' ? EXIT.failed : EXIT.done,
          }
        }
      } catch (error) {
        // Once it was seen, a node or an API that fails for a while is only waited for.
        const passing = error instanceof ApiError && ['internal_error', 'rate_limited'].includes(error.code)
        if (!passing || said === '') throw error
        const line = `not read: ${error.message}`
        if (screen === null && line !== said) ui.note(`${new Date(clock.now()).toISOString()}  ${line}`)
        if (screen === null) said = line
        pause = error.code === 'rate_limited' ? QUOTA_MS : LOOK_MS
      }
      await clock.sleep(pause)
    }
  },
})

/** State, share, SOL and price: a change of any of them is worth a line. */
export function changeLine(pool: Pick<Pool, 'type' | 'state' | 'status' | 'curve_progress'>): string {
  const { price, curve } = stateOf(pool)
  return [
    pool.status,
    ...(pool.curve_progress === null ? [] : [percentOf(pool.curve_progress)]),
    ...(curve === null
      ? []
      : [`${shortOf(curve.raised, LAMPORT_DIGITS)} of ${shortOf(curve.threshold, LAMPORT_DIGITS)} SOL`]),
    ...(price === null ? [] : [`price ${price} SOL`]),
  ].join('  ')
}

const drawn = (pool: Pool, line: string) =>
  progressLines(pool, { progress: pool.curve_progress ?? 0 }, columnsOf(terminal().stderr)) ?? [line]

/** Without the raw state: that is for `svc pools get`. */
function ended(pool: Pool): Omit<Pool, 'state' | 'fee_metrics'> {
  const { state, fee_metrics, ...rest } = pool
  return rest
}

/** Where a migrated token trades from now on; nothing where no record tells. */
async function nextPool(client: Client, { status, base_mint, creator }: Pool): Promise<string[]> {
  if (status !== 'migrated') return []
  const { data } = await client.pools.list({ type: 'damm_v2', limit: '100', ...(creator === null ? {} : { creator }) })
  const next = data.find((pool) => pool.base_mint === base_mint)
  return next === undefined ? [] : [`It trades in ${next.address} now.`]
}

/** Lines that take the place of those before them. */
function liveScreen(stream: Output) {
  let height = 0
  const up = () => (height === 0 ? '' : `\u001b[${height}A\r\u001b[J`)
  return {
    draw(lines: readonly string[]) {
      // A line that wraps would be counted as one, and leave its rest behind.
      const cut = lines.map((line) => line.slice(0, Math.max(1, columnsOf(stream) - 1)))
      stream.write(`${up()}${cut.join('\n')}\n`)
      height = cut.length
    },
    end() {
      height = 0
    },
  }
}
