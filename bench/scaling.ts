/** What carries how many launches and deliveries: measures what they cost here, checks the model against a real load, and simulates larger ones. */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Measurement } from './measurement.ts'
import type { MeasuredCosts } from './scaling/costs.ts'
import { openFleet } from './scaling/fleet.ts'
import { measureCosts } from './scaling/measure.ts'
import { openReceivers } from './scaling/receivers.ts'
import { breakLines, scalingTable } from './scaling/report.ts'
import { processorStretch } from './scaling/stretch.ts'
import { compareWithReal } from './scaling/validate.ts'

/** The share of the machine that the real load is to use. */
const REAL_LOAD = 0.4
const LEAST_LAUNCHES = 20

/** Ten minutes or so. Costs are written to the file that `SVC_BENCH_COSTS` names. */
export async function scaling(): Promise<Measurement[]> {
  const fleet = await openFleet()
  if (fleet === null) return []
  const [storm, single] = [await openReceivers(4), await openReceivers(1)]
  try {
    const costs = await measureCosts(fleet, storm)
    const file = process.env.SVC_BENCH_COSTS
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(costs, null, 2)}\n`)
    const stretch = await processorStretch()
    const cores = availableParallelism() / stretch
    const launchesPerMinute = Math.max(LEAST_LAUNCHES, Math.floor((REAL_LOAD * cores * 60_000) / launchMs(costs)))
    const compared = await compareWithReal(fleet, single, costs, { stretch, launchesPerMinute })
    process.stdout.write(`\n${scalingTable(costs)}\n\n${breakLines(costs)}\n\n`)
    return [
      ...stepsOf(costs),
      ...compared.map(({ what, predicted, measured }) => ({
        name: `${launchesPerMinute} launches a minute, work takes ${stretch.toFixed(1)} times as long: ${what}, ${measured.toFixed(1)} measured`,
        value: predicted,
        unit: '',
        ratio: predicted / measured,
        floor: 'measured',
      })),
    ]
  } finally {
    storm.close()
    single.close()
    await fleet.close()
  }
}

/** Processor milliseconds of a launch with one subscription, wherever they are spent. */
function launchMs({ build, submit, follow, delivery, eventsPerLaunch }: MeasuredCosts): number {
  const of = ({ daemonMs, postgresMs }: { daemonMs: number; postgresMs: number }) => daemonMs + postgresMs
  return of(build) + of(submit) + of(follow) + eventsPerLaunch * of(delivery)
}

/** The processor time of each step, as a share of the launch's. */
function stepsOf(costs: MeasuredCosts): Measurement[] {
  const whole = launchMs(costs)
  return (['build', 'submit', 'follow', 'delivery'] as const).map((step) => {
    const { daemonMs, postgresMs, statements, rpcCalls } = costs[step]
    const counts = `${statements.toFixed(0)} statements, ${rpcCalls.toFixed(1)} calls`
    return {
      name: `${step}: processor ${daemonMs.toFixed(1)} + ${postgresMs.toFixed(1)} ms, ${counts}`,
      value: daemonMs + postgresMs,
      unit: 'ms',
      ratio: (daemonMs + postgresMs) / whole,
      floor: 'a launch with its deliveries',
    }
  })
}
