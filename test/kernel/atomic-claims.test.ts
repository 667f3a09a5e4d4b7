/** Idempotency keys of operations that only commit: claimed in that commit, and still one effect and one answer. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { type Answer, type Requester, requester } from '../support/request.ts'
import { ORIGIN, type Service, startService } from '../support/service.ts'

const HOOK = { url: 'https://example.com', enabled_events: ['*'] }
const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

/**
 * A daemon on the service's database that resolves no name before `release`, and then to `address`; `reached` resolves at
 * its first look.
 */
async function gatedDaemon({ services, operator }: Service, address = '93.184.215.14') {
  let release = () => {}
  let looked = () => {}
  const gate = new Promise<void>((open) => {
    release = open
  })
  const reached = new Promise<void>((seen) => {
    looked = seen
  })
  const resolve = () => {
    looked()
    return gate.then(() => [address])
  }
  const app = await createApp({ ...services, resolve })
  onTestFinished(() => app.close())
  return { request: requester(ORIGIN, app.fetch, operator), release, reached }
}

const subscribe = (request: Requester, body: object = HOOK) =>
  request('POST', '/v2/webhook-subscriptions', { body, headers: { 'idempotency-key': 'k' } })

const keysOf = ({ services }: Service) => services.store.db.selectFrom('idempotency_keys').selectAll().execute()

async function hooksOf({ request }: Service): Promise<number> {
  return (await request('GET', '/v2/webhook-subscriptions')).json.data.length
}

describe('an Idempotency-Key that is claimed in the commit of its request', () => {
  it('is in use while its request runs, although nothing is stored, and has an answer afterwards', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service)
    const first = subscribe(request)
    await reached
    expect(await keysOf(service)).toEqual([])
    const [same, other, elsewhere] = [
      await subscribe(request),
      await subscribe(request, { ...HOOK, url: 'https://example.org' }),
      await request('POST', '/v2/api-keys', { body: { name: 'a' }, headers: { 'idempotency-key': 'k' } }),
    ]
    expect([same.status, same.json.error.message]).toEqual([409, expect.stringMatching(/still in progress/)])
    for (const { status, json } of [other, elsewhere])
      expect([status, json.error.message]).toEqual([409, expect.stringMatching(/used with another request/)])
    release()
    const done = await first
    expect([done.status, isReplay(done)]).toEqual([201, false])
    const again = await subscribe(request)
    expect([again.status, isReplay(again), again.text]).toEqual([201, true, done.text])
    expect([(await keysOf(service)).map(({ state }) => state), await hooksOf(service)]).toEqual([['done'], 1])
  })

  it('gets the answer of the daemon that commits first, and the other daemon repeats it', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service)
    const slow = subscribe(request)
    await reached
    const quick = await subscribe(service.request)
    expect([quick.status, isReplay(quick)]).toEqual([201, false])
    release()
    const repeated = await slow
    expect([repeated.status, isReplay(repeated), repeated.text]).toEqual([201, true, quick.text])
    expect(await hooksOf(service)).toBe(1)
  })

  it('has its answer while another request, which will be refused, runs under it in the same daemon', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service)
    const done = await subscribe(service.request)
    const wrong = subscribe(request, { ...HOOK, url: 'https://example.org' })
    await reached
    const again = await subscribe(request)
    expect([again.status, isReplay(again), again.text]).toEqual([201, true, done.text])
    release()
    expect((await wrong).status).toBe(409)
    expect(await hooksOf(service)).toBe(1)
  })

  it('is refused if another daemon has used it for another request meanwhile, and nothing is stored', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service)
    const slow = subscribe(request)
    await reached
    const quick = await subscribe(service.request, { ...HOOK, url: 'https://example.org' })
    expect(quick.status).toBe(201)
    release()
    const refused = await slow
    expect([refused.status, refused.json.error.param]).toEqual([409, 'Idempotency-Key'])
    expect(await hooksOf(service)).toBe(1)
  })

  it('answers a request that fails after another daemon has answered it', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service, '127.0.0.1')
    const slow = subscribe(request)
    await reached
    const quick = await subscribe(service.request)
    release()
    const repeated = await slow
    expect([repeated.status, isReplay(repeated), repeated.text]).toEqual([201, true, quick.text])
    expect(await hooksOf(service)).toBe(1)
  })

  it('is the reason of the refusal if the request fails after another daemon has used the key for another', async () => {
    const service = await startService()
    const { request, release, reached } = await gatedDaemon(service, '127.0.0.1')
    const slow = subscribe(request)
    await reached
    await subscribe(service.request, { ...HOOK, url: 'https://example.org' })
    release()
    const refused = await slow
    expect([refused.status, refused.json.error.param]).toEqual([409, 'Idempotency-Key'])
  })

  it('is free again after a failure, at once and for any request', async () => {
    const service = await startService()
    const refused = await subscribe(service.request, { ...HOOK, url: 'https://127.0.0.1' })
    expect([refused.status, await keysOf(service)]).toEqual([400, []])
    expect((await subscribe(service.request)).status).toBe(201)
  })
})
