/** What one API key may take of the deliveries: so many subscriptions, and a share of the places while its receivers are slow. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { numbers } from '../store/databases.ts'
import { startService } from '../support/service.ts'
import { happen } from './replaying.ts'

const AT = '/v2/webhook-subscriptions'
const body = (url: string) => ({ url, enabled_events: ['*'] })

describe('the webhook subscriptions of an API key', () => {
  it('leave places for those of others, however many slow receivers they have', async () => {
    const service = await startService({ settings: { 'webhooks.allow-private': true } })
    const [many, one] = [await service.key(), await service.key()]
    const subscribe = async (key: string, url: string) =>
      expect((await service.request('POST', AT, { key, body: body(url) })).status).toBe(201)
    for (const n of numbers(60)) await subscribe(many, `http://127.0.0.1:${2_000 + n}/slow`)
    await subscribe(one, 'http://127.0.0.1:9/quick')
    const EVENTS = 40
    await happen(service, EVENTS)
    let [slow, mostSlow, quick, slowEnded] = [0, 0, 0, 0]
    const held: (() => void)[] = []
    await deliverRound(service.services, {
      // No slow receiver answers before the other one has every event, so that the round ends only if it gets them.
      async send({ url }) {
        if (url.endsWith('/quick')) {
          quick++
          if (quick === EVENTS) for (const end of held) end()
        } else {
          mostSlow = Math.max(mostSlow, ++slow)
          if (quick < EVENTS) await new Promise<void>((end) => held.push(end))
          slow--
          slowEnded++
        }
        return { status: 200, error: null, duration_ms: 1 }
      },
    })
    expect([quick, slowEnded]).toEqual([EVENTS, 60 * EVENTS])
    expect(mostSlow).toBeLessThanOrEqual(256)
    expect(mostSlow).toBeGreaterThan(128)
  })

  it('take half of the places that others leave where three keys have slow receivers', async () => {
    const service = await startService({ settings: { 'webhooks.allow-private': true } })
    const inUse = new Map<string, number>()
    for (const name of ['a', 'b', 'c']) {
      const key = await service.key()
      for (const n of numbers(20))
        await service.request('POST', AT, { key, body: body(`http://127.0.0.1:${2_000 + n}/${name}`) })
    }
    await happen(service, 64)
    const stop = new AbortController()
    const held: (() => void)[] = []
    const round = deliverRound(service.services, {
      stopping: stop.signal,
      async send({ url }) {
        const name = new URL(url).pathname.slice(1)
        inUse.set(name, (inUse.get(name) ?? 0) + 1)
        if (!stop.signal.aborted) await new Promise<void>((end) => held.push(end))
        return { status: 200, error: null, duration_ms: 1 }
      },
    })
    const under = () => [...inUse.values()]
    await expect.poll(() => under().length, { timeout: 60_000 }).toBe(3)
    // Each may have half of what the others leave when it begins, which they do in any order; few places stay free.
    const all = () => under().reduce((sum, count) => sum + count, 0)
    await expect.poll(all, { timeout: 60_000 }).toBeGreaterThanOrEqual(384)
    for (const count of under()) {
      expect(count).toBeGreaterThanOrEqual(56)
      expect(count).toBeLessThanOrEqual(256)
    }
    stop.abort()
    for (const end of held) end()
    await round
  })

  it('are at most as many as the settings say for a key and for all, and the refusal says which', async () => {
    const settings = { 'webhooks.max-per-key': 2, 'webhooks.max': 4 }
    const { request, key } = await startService({ settings })
    const [one, other] = [await key(), await key()]
    const make = async (bearer?: string) => {
      const { status, json } = await request('POST', AT, {
        ...(bearer === undefined ? {} : { key: bearer }),
        body: body('https://example.com/hooks'),
      })
      return status === 201 ? json.data.id : [status, json.error.code, json.error.message, json.error.details]
    }
    const made = await Promise.all(numbers(6).map(() => make(one)))
    const refused = made.filter((answer) => typeof answer !== 'string')
    expect(refused).toEqual(
      Array(4).fill([
        400,
        'bad_request',
        expect.stringContaining(
          'This API key has 2 webhook subscriptions, the maximum of the setting webhooks.max-per-key',
        ),
        { limit: 'webhooks.max-per-key', most: 2 },
      ]),
    )
    expect(await make(other)).toEqual(expect.any(String))
    // A key with * is bound by the second alone.
    const mine = await make()
    expect(mine).toEqual(expect.any(String))
    for (const bearer of [undefined, other])
      expect(await make(bearer)).toEqual([
        400,
        'bad_request',
        expect.stringContaining('This installation has 4 webhook subscriptions'),
        { limit: 'webhooks.max', most: 4 },
      ])
    expect((await request('DELETE', `${AT}/${mine}`, { body: {} })).status).toBe(200)
    expect(await make(other)).toEqual(expect.any(String))
  })
})
