/** How much longer work takes here than its processor time, because others use the same cores. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

const PIECE_MS = 15
const PAUSE_MS = 50
const PIECES = 40

/** 1 on a machine of one's own. Of short pieces of work with pauses, as requests are. */
export async function processorStretch(): Promise<number> {
  let [wall, used] = [0, 0]
  for (let n = 0; n < PIECES; n++) {
    await delay(PAUSE_MS)
    const [from, before] = [performance.now(), process.cpuUsage()]
    let spent = 0
    while (spent < PIECE_MS) {
      const { user, system } = process.cpuUsage(before)
      spent = (user + system) / 1_000
    }
    wall += performance.now() - from
    used += spent
  }
  return Math.max(1, wall / used)
}
