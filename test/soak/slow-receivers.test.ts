/** Receivers that never answer, or never end their answers: each has its share of the connections, and delays no other. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { numbers } from '../store/databases.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { happen, subscribe } from '../webhooks/replaying.ts'

/** More than a subscription may have under way, all delivered before a silent receiver's ten seconds are over. */
const MANY = 100
const ALLOWED = { settings: { 'webhooks.allow-private': true } }

it('a subscription whose answers never end keeps at most 32 connections, and gets everything a little at a time', async () => {
  const service = await startService(ALLOWED)
  let [open, most, got] = [0, 0, 0]
  const server = createServer((_, response) => {
    got++
    most = Math.max(most, ++open)
    response.writeHead(200)
    const drip = setInterval(() => response.write('x'), 50)
    response.on('close', () => {
      open--
      clearInterval(drip)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const id = await subscribe(service, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await happen(service, 80)
  await deliverRound(service.services)
  expect(got).toBe(80)
  // The receiver sees a connection close a little after it was let go.
  await expect.poll(() => open).toBe(0)
  expect(most).toBeGreaterThanOrEqual(32)
  expect(most).toBeLessThan(40)
  const { data } = (await service.request('GET', `/v2/webhook-subscriptions/${id}/deliveries?limit=100`)).json
  expect(data.filter(({ status }: { status: string }) => status === 'succeeded')).toHaveLength(80)
  const durations = data
    .map(({ duration_ms }: { duration_ms: number }) => duration_ms)
    .toSorted((a: number, b: number) => a - b)
  expect(durations[40]).toBeLessThan(900)
})

it('six origins that never answer leave a share to a seventh, which gets everything', async () => {
  const service = await startService(ALLOWED)
  const silent = await Promise.all(numbers(6).map(() => startReceiver(() => 0)))
  for (const { url } of silent) await subscribe(service, url)
  const quick = await startReceiver()
  await subscribe(service, quick.url)
  await happen(service, MANY)
  const round = deliverRound(service.services)
  await expect.poll(() => quick.all.length).toBe(MANY)
  // None of the others has had an end yet.
  expect(silent.every(({ all }) => all.length <= 32)).toBe(true)
  await Promise.all(silent.map((receiver) => receiver.close()))
  await round
})
