/** The deliveries of a round: how they wait for a place at their origin, and how many may. */
import { describe, expect, it } from 'vitest'
import { DeliveriesUnderWay, type Delivery } from '../../src/operations/webhook-deliveries/deliveries-under-way.ts'

function delivery(name: string, log: string[], lastsMs = 0): Delivery {
  return {
    origin: 'http://receiver.test',
    subscriptionId: name,
    apiKeyId: 'key',
    send: async () => {
      log.push(`${name} sent`)
      await new Promise((done) => setTimeout(done, lastsMs))
    },
    release: () => void log.push(`${name} given back`),
  }
}

async function allEnded(underWay: DeliveriesUnderWay): Promise<void> {
  while (underWay.size > 0) await underWay.ended(100)
}

describe('a delivery that waits', () => {
  it('is sent when a place is free', async () => {
    const [underWay, log]: [DeliveriesUnderWay, string[]] = [new DeliveriesUnderWay(), []]
    underWay.add(delivery('first', log), 1)
    underWay.add(delivery('second', log), 1)
    expect([underWay.sending, underWay.waiting]).toEqual([1, 1])
    await allEnded(underWay)
    expect(log).toEqual(['first sent', 'second sent'])
  })

  it('is given back at the end of the round', async () => {
    const [underWay, log]: [DeliveriesUnderWay, string[]] = [new DeliveriesUnderWay(), []]
    underWay.add(delivery('first', log), 1)
    underWay.add(delivery('second', log), 1)
    underWay.releaseWaiting()
    await allEnded(underWay)
    expect(log).toEqual(['first sent', 'second given back'])
  })

  it('is claimed ahead for an origin that answers quickly alone, within a bound for all', async () => {
    const [underWay, log]: [DeliveriesUnderWay, string[]] = [new DeliveriesUnderWay(), []]
    const origin = 'http://receiver.test'
    expect(underWay.ahead(origin, 0)).toBe(0)
    underWay.add(delivery('quick', log), 1)
    await allEnded(underWay)
    expect([0, 1_000, 2_000].map((granted) => underWay.ahead(origin, granted))).toEqual([256, 24, 0])
    underWay.add(delivery('slow', log, 800), 1)
    await allEnded(underWay)
    expect(underWay.ahead(origin, 0)).toBe(0)
  })
})
