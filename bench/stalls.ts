/** The longest that a POST of 50,000 entries holds up the event loop of a daemon, and so other requests. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { entries, wallet } from '../test/support/trees.ts'
import { withServers } from './http/server.ts'
import type { Measurement } from './measurement.ts'

const RUNS = 7
const MOST_MS = 10
/**
 * Reports the longest delay of a timer of one millisecond since it was last asked, by a line on standard output. The
 * daemon itself ignores this signal; SIGUSR2 would make it read its settings again meanwhile.
 */
const WATCH = `data:text/javascript,
  import{monitorEventLoopDelay}from'node:perf_hooks';
  const delay=monitorEventLoopDelay({resolution:1});
  delay.enable();
  process.on('SIGWINCH',()=>{console.log(delay.max/1e6);delay.reset()})`.replaceAll('\n', '')

/** The least of some runs, because other processes delay it too. Needs a built dist/. */
export function stalls(): Promise<Measurement[]> {
  return withServers(async ({ folder, daemon }) => {
    const { url, operator, process: child } = await daemon(join(folder, 'daemon'), ['--import', WATCH])
    const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' }
    const list = entries(50_000)
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run <= RUNS; run++) {
      const body = JSON.stringify({ mint: wallet(run), entries: list })
      await longestStall(child)
      const answer = await fetch(`${url}/v2/merkle-trees`, { method: 'POST', headers, body })
      if (answer.status !== 201) throw new Error(await answer.text())
      const stall = await longestStall(child)
      // The first one warms up.
      if (run > 0) least = Math.min(least, stall)
    }
    const name = 'POST of 50,000 entries, longest stall'
    return [{ name, value: least, unit: 'ms', ratio: least / MOST_MS, floor: `${MOST_MS} ms` }]
  })
}

async function longestStall(daemon: ChildProcess): Promise<number> {
  if (daemon.stdout === null) throw new Error('the daemon has no standard output')
  const line = once(daemon.stdout, 'data')
  daemon.kill('SIGWINCH')
  return Number(String((await line)[0]))
}
