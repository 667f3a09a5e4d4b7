/** Receivers that need a person: one that fails, one that was switched off, and events that failed for the last time. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/timing.ts'
import { startReceiver } from '../support/receiver.ts'
import { START, startService } from '../support/service.ts'
import { happen, subscribe } from '../webhooks/replaying.ts'
import { listed, only } from './listed.ts'

async function failing() {
  const service = await startService({ settings: { 'webhooks.allow-private': true } })
  const receiver = await startReceiver(() => 500)
  const id = await subscribe(service, receiver.url)
  await happen(service, 1)
  const round = async (milliseconds = 0) => {
    service.clock.advance(milliseconds)
    await deliverRound(service.services)
  }
  const ids = async () => {
    const kinds = ['receiver_failing', 'receiver_off', 'deliveries_exhausted'] as const
    const items = await Promise.all(kinds.map((kind) => listed(service, kind)))
    return items.flat().map((item) => item.id)
  }
  await round()
  return { service, receiver, id, round, ids }
}

describe('receiver_failing', () => {
  it('says since when, and goes with the first delivery that succeeds', async () => {
    const { service, receiver, id, round, ids } = await failing()
    await round(HOUR_MS)
    expect(await only(service, 'receiver_failing')).toMatchObject({
      id: `receiver_failing.${id}`,
      since: new Date(START).toISOString(),
      subject: { type: 'webhook_subscription', id },
      summary: expect.stringContaining('has failed since 2026-06-01T12:00:00Z.'),
      command: `svc webhooks deliveries ${id}`,
      page: `/console/webhooks/${id}`,
    })
    receiver.answer = () => 200
    await round(HOUR_MS)
    expect(await ids()).toEqual([])
  })
})

describe('receiver_off and deliveries_exhausted', () => {
  it('follow once an event has failed seven times, and go when the subscription is switched on', async () => {
    const { service, receiver, id, round, ids } = await failing()
    for (let attempt = 2; attempt <= 7; attempt++) await round(DAY_MS)
    expect(await ids()).toEqual([`receiver_off.${id}`, `deliveries_exhausted.${id}`])
    for (const kind of ['receiver_off', 'deliveries_exhausted'] as const)
      expect((await only(service, kind)).command).toBe(`svc webhooks update ${id} --active true`)
    expect((await only(service, 'receiver_off')).summary).toMatch(/failed 7 times, the last with: .*500/)
    receiver.answer = () => 200
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
    expect(await ids()).toEqual([])
    await round()
    expect(await ids()).toEqual([])
  })

  it('name only the events, if a person has switched the subscription off', async () => {
    const { service, id, round, ids } = await failing()
    for (let attempt = 2; attempt <= 7; attempt++) await round(DAY_MS)
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: false } })
    expect(await ids()).toContain(`deliveries_exhausted.${id}`)
  })
})
