/** Deliveries that wait for a place at their origin: none is sent once its claim may end during it. */
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
    failed: (error) => void log.push(`${name} failed: ${error}`),
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
    await allEnded(underWay)
    expect(log).toEqual(['first sent', 'second sent'])
  })

  it('is given back when that takes too long, although nobody looks meanwhile', async () => {
    const [underWay, log]: [DeliveriesUnderWay, string[]] = [new DeliveriesUnderWay(), []]
    underWay.add(delivery('first', log, 1_700), 1)
    underWay.add(delivery('second', log), 1)
    await allEnded(underWay)
    expect(log).toEqual(['first sent', 'second given back'])
  })

  it('takes part of a bound for all: what a look has granted is no longer to be had', async () => {
    const [underWay, log]: [DeliveriesUnderWay, string[]] = [new DeliveriesUnderWay(), []]
    for (let n = 0; n < 400; n++) underWay.add(delivery(`${n}`, log), 400)
    await allEnded(underWay)
    expect(underWay.ahead('http://receiver.test', 0)).toBe(256)
    expect(underWay.ahead('http://receiver.test', 1_000)).toBe(24)
    expect(underWay.ahead('http://receiver.test', 2_000)).toBe(0)
  })
})
