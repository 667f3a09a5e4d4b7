/** A few of the random schedules of faults at three endpoints; test/soak/node-schedules.test.ts runs 200. */
import { expect, it, onTestFinished } from 'vitest'
import { runSchedules } from '../support/endpoint-schedules.ts'
import { openFaultyCluster } from '../support/faulty-endpoints.ts'
import { temporaryFolder } from '../support/service.ts'

it('three endpoints that fail at random leave every act with one effect and no false end', async () => {
  const seeds = [1, 2, 3]
  const clusters = await Promise.all(seeds.map(() => openFaultyCluster(temporaryFolder())))
  onTestFinished(async () => {
    await Promise.all(clusters.map((cluster) => cluster.close()))
  })
  const seen = await runSchedules(clusters, seeds)
  expect(seen.acts).toBeGreaterThanOrEqual(3 * 6)
  expect(seen.failoverMs.length).toBeGreaterThan(0)
})
