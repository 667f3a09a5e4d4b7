/** What a frame needs in a test: real services on one database, and a clock, timers and a schedule held in the hand. */
import { onTestFinished } from 'vitest'
import { createMetrics } from '../../daemon/metrics.ts'
import type { WorkerDefinition } from '../../daemon/workers/definition.ts'
import { startWorkers, type Workers } from '../../daemon/workers/frame.ts'
import type { Timing } from '../../daemon/workers/timing.ts'
import { openChain } from '../../src/chain/connection.ts'
import { openProgramVerdicts } from '../../src/operations/programs/program-state.ts'
import type { Log } from '../../src/platform/log.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { openVault } from '../../src/store/installation/vault.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../store/databases.ts'
import { type TestClock, testClock } from '../support/service.ts'

export interface HandTiming extends Timing {
  /** Moves the clock and runs what has come due, in order. */
  advance(milliseconds: number): void
  /** Lets the schedule of every worker come to this moment. */
  reach(slot: number): void
  /** Calls off every timer. */
  clear(): void
  /** Timers and schedules that still stand. */
  standing(): number
}

export function handTiming(clock: TestClock): HandTiming {
  const timers = new Set<{ at: number; act: () => void }>()
  const schedules = new Set<(slot: number) => void>()
  return {
    after(milliseconds, act) {
      const timer = { at: clock.now() + milliseconds, act }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    every(_schedule, act) {
      schedules.add(act)
      return () => void schedules.delete(act)
    },
    advance(milliseconds) {
      clock.advance(milliseconds)
      const due = [...timers].filter(({ at }) => at <= clock.now()).sort((a, b) => a.at - b.at)
      for (const timer of due) if (timers.delete(timer)) timer.act()
    },
    reach(slot) {
      for (const act of schedules) act(slot)
    },
    elapsed: () => clock.now(),
    clear: () => timers.clear(),
    standing: () => timers.size + schedules.size,
  }
}

export interface Logged {
  level: string
  fields: object
  message: string
}

export interface Setting {
  workers: Workers
  clock: TestClock
  timing: HandTiming
  store: Store
  logged: Logged[]
  metricsText(): Promise<string>
}

let owners = 0

/** A frame over `store`; the tick that a start asks for is left out unless `firstTick` says so, and then waits for the clock. */
export async function startFrame(
  store: Store,
  definitions: readonly WorkerDefinition[],
  { clock = testClock(), firstTick = false }: { clock?: TestClock; firstTick?: boolean } = {},
): Promise<Setting> {
  const dataDir = temporaryFolder()
  const logged: Logged[] = []
  const write = (level: string) => (fields: object, message: string) => void logged.push({ level, fields, message })
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env: {}, cwd: dataDir })
  const chain = openChain(config)
  onTestFinished(() => chain.close())
  const vault = await openVault({ store, dataDir, keyText: 'ab'.repeat(32) })
  const timing = handTiming(clock)
  const metrics = createMetrics()
  const options = { owner: `test/${++owners}`, metrics, timing }
  const workers = startWorkers(
    {
      config,
      store,
      vault,
      clock,
      log,
      chain,
      programs: openProgramVerdicts(store),
      signer: async () => null,
      wake() {},
      repeat: async () => undefined,
      ending: new AbortController().signal,
    },
    definitions,
    options,
  )
  if (!firstTick) timing.clear()
  return { workers, clock, timing, store, logged, metricsText: () => metrics.text() }
}

/** A promise that is settled from outside, and tells when it is waited for. */
export function gate() {
  let open!: () => void
  let enter!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const entered = new Promise<void>((resolve) => {
    enter = resolve
  })
  return {
    open,
    entered,
    pass: () => {
      enter()
      return opened
    },
  }
}
