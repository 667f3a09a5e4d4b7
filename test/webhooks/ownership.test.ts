/** Who may change a webhook subscription: whoever changes its URL or its secret receives what is sent there. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Requester } from '../support/request.ts'
import { startService } from '../support/service.ts'

const AT = '/v2/webhook-subscriptions'
const BODY = { url: 'https://example.com/hooks', enabled_events: ['*'] }

const writes = (id: string): [string, string, object][] => [
  ['PATCH', `${AT}/${id}`, { url: 'https://stranger.example.com/' }],
  ['PATCH', `${AT}/${id}`, { active: false }],
  ['POST', `${AT}/${id}/test`, {}],
  ['POST', `${AT}/${id}/replays`, { since: '0' }],
  ['POST', `${AT}/${id}/secret-rotations`, {}],
  ['DELETE', `${AT}/${id}`, {}],
]

async function statuses(request: Requester, id: string, key: string) {
  const found: number[] = []
  for (const [method, path, body] of writes(id)) found.push((await request(method, path, { key, body })).status)
  return found
}

describe('a webhook subscription', () => {
  it('is changed by the key that made it and by one with *; any other key learns why it may not', async () => {
    const { request, key } = await startService()
    const [mine, other, all] = [
      await key(),
      await key({ scopes: ['airdrop:admin', 'fees:claim'] }),
      await key({ scopes: ['*'] }),
    ]
    const made = async () => (await request('POST', AT, { key: mine, body: BODY })).json.data
    const subscription = await made()
    for (const [method, path, body] of writes(subscription.id)) {
      const { status, json } = await request(method, path, { key: other, body })
      expect([method, path, status, json.error.code]).toEqual([method, path, 403, 'forbidden'])
      expect(json.error.message).toContain('was made by another API key')
      expect(JSON.stringify(json)).not.toContain('whsec_')
    }
    const { secret: _, sample_event: __, ...record } = subscription
    const read = await request('GET', `${AT}/${subscription.id}`, { key: other })
    expect(read.json.data).toEqual(record)
    expect((await request('GET', `${AT}/${subscription.id}/deliveries`, { key: other })).status).toBe(200)
    expect(await statuses(request, subscription.id, mine)).toEqual([200, 200, 200, 200, 200, 200])
    expect(await statuses(request, (await made()).id, all)).toEqual([200, 200, 200, 200, 200, 200])
  })

  it('goes on when its key is revoked, and is deleted with *', async () => {
    const service = await startService({ settings: { 'webhooks.allow-private': true } })
    const { request, services } = service
    const receiver = await startReceiver()
    const { key, id: keyId } = (await request('POST', '/v2/api-keys', { body: { name: 'mine' } })).json.data
    const { id } = (await request('POST', AT, { key, body: { ...BODY, url: receiver.url } })).json.data
    expect((await request('DELETE', `/v2/api-keys/${keyId}`, { body: {} })).status).toBe(200)
    expect(await statuses(request, id, key)).toEqual([403, 403, 403, 403, 403, 403])
    expect((await request('POST', `${AT}/${id}/test`, { body: {} })).status).toBe(200)
    await deliverRound(services)
    expect(receiver.all).toHaveLength(1)
    expect((await request('GET', `${AT}/${id}`)).json.data).toMatchObject({ active: true, disabled_reason: null })
    expect((await request('DELETE', `${AT}/${id}`, { body: {} })).status).toBe(200)
  })

  it('that is not there is a 404 to every key', async () => {
    const { request, key } = await startService()
    expect(await statuses(request, 'whs_absent', await key())).toEqual([404, 404, 404, 404, 404, 404])
  })

  it('of an earlier version, whose key nobody knows, is changed with * alone', async () => {
    const { request, key, services } = await startService()
    const mine = await key()
    const { id } = (await request('POST', AT, { key: mine, body: BODY })).json.data
    await services.store.write((tx) => tx.updateTable('webhook_subscriptions').set({ api_key_id: null }).execute())
    const { status, json } = await request('DELETE', `${AT}/${id}`, { key: mine, body: {} })
    expect([status, json.error.message]).toEqual([403, expect.stringContaining('only a key with the scope *')])
    expect((await request('DELETE', `${AT}/${id}`, { body: {} })).status).toBe(200)
  })

  it('answers a retry of its rotation with the stored answer to the key that asked first, and to no other', async () => {
    const { request, key } = await startService()
    const [mine, other] = [await key(), await key()]
    const { id } = (await request('POST', AT, { key: mine, body: BODY })).json.data
    const rotate = (by: string) =>
      request('POST', `${AT}/${id}/secret-rotations`, { key: by, body: {}, headers: { 'idempotency-key': 'one' } })
    const first = await rotate(mine)
    const again = await rotate(mine)
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect((await rotate(other)).status).toBe(403)
  })
})
