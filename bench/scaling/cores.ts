/** How many cores the machine gives to whoever wants all: fewer than it has where others work beside. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { processorMs } from '../fleet/processor-time.ts'

const MEASURED_MS = 4_000

export async function coresToBeHad(): Promise<number> {
  // As many again as there are cores, because a fleet has more processes than that too.
  const count = 2 * availableParallelism()
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  try {
    await delay(500)
    const used = () => busy.reduce((sum, { pid }) => sum + processorMs(pid ?? 0), 0)
    const [before, from] = [used(), performance.now()]
    await delay(MEASURED_MS)
    return (used() - before) / (performance.now() - from)
  } finally {
    await Promise.all(
      busy.map(async (child) => {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }),
    )
  }
}
