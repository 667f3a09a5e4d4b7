/** Random schedules of faults at three endpoints: one effect of each act, no false end, and how long a failover takes. */
import { expect, it, onTestFinished } from 'vitest'
import { runSchedules, spread } from '../support/endpoint-schedules.ts'
import { ENDPOINT_FAULTS, openFaultyCluster } from '../support/faulty-endpoints.ts'
import { temporaryFolder } from '../support/service.ts'

const SCHEDULES = 80
const FIRST_SEED = Number(process.env.SVC_SOAK_SEED || 20_261_123)
/** Most of their time schedules wait for endpoints that hang. */
const LANES = 12

it('acts over three endpoints that fail at random have one effect each and no false end', async () => {
  const clusters = await Promise.all(Array.from({ length: LANES }, () => openFaultyCluster(temporaryFolder())))
  onTestFinished(async () => {
    await Promise.all(clusters.map((cluster) => cluster.close()))
  })
  const seeds = Array.from({ length: SCHEDULES }, (_, i) => FIRST_SEED + i)
  const { faults, acts, failed, failoverMs } = await runSchedules(clusters, seeds)
  for (const fault of ENDPOINT_FAULTS) expect(faults.get(fault), fault).toBeGreaterThan(20)
  process.stdout.write(
    `${SCHEDULES} schedules from seed ${FIRST_SEED}: ${acts} acts, ${failed} requests made again, ${failoverMs.length} failovers: ${spread(failoverMs)}\n`,
  )
  // A call has eight seconds in all, and whoever fails over does so within them.
  expect(failoverMs.at(-1)).toBeLessThan(10_000)
})
