/** What an operator sees of a receiver: its state in every record, each attempt with its answer, and figures of a day. */
import { describe, expect, it } from 'vitest'
import { answerText } from '../../src/operations/webhook-deliveries/answer-text.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { shapeRedactor } from '../../src/settings/redaction.ts'
import { insertWebhookDeliveries } from '../../src/store/webhooks/deliveries.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { DATABASES, happen, startOn, subscribe } from './replaying.ts'

const postgres = await startPostgres()
const MINUTE = 60_000

const text = (answer: string | Uint8Array, isFailure = true) =>
  answerText(typeof answer === 'string' ? Buffer.from(answer) : answer, { isFailure, redactor: shapeRedactor })

describe('The stored answer of a receiver', () => {
  it('is printable text, whatever bytes came, and null for none', () => {
    expect(text('{"error":\t"no"}\r\nline\u001b[31m\u0000')).toBe('{"error": "no"}\nline\\u001b[31m\\u0000')
    expect(text(Uint8Array.from([0xff, 0xfe, 0x41]))).toBe('\ufffd\ufffdA')
    expect([text(''), answerText(undefined, { isFailure: true, redactor: shapeRedactor })]).toEqual([null, null])
  })

  it('has at most 2 KiB of a failure, 256 characters of a success, and no half of a character', () => {
    expect(text('x'.repeat(4_096))).toHaveLength(2_048)
    expect(text('x'.repeat(4_096), false)).toHaveLength(256)
    expect(text(`${'x'.repeat(2_047)}🚀`)).toBe('x'.repeat(2_047))
  })

  it('has no secret or signature that a receiver repeats', () => {
    const echo = [
      'whsec_bm90LWEtcmVhbC1zZWNyZXQ=',
      `x-service-signature: t=1,v1=${'ab'.repeat(32)},v1=${'cd'.repeat(32)}`,
      `webhook-signature: v1,${'Ab+/'.repeat(10)}= v1,${'Cd+/'.repeat(10)}=`,
      'authorization: Bearer abc.def',
      'https://user:pass@example.com/?token=hidden',
    ].join('\n')
    expect(text(echo)).toBe(
      [
        'whsec_***',
        'x-service-signature: t=1,v1=***,v1=***',
        'webhook-signature: v1,*** v1,***',
        'authorization: Bearer ***',
        'https://***@example.com/?token=***',
      ].join('\n'),
    )
    // One that the end cuts off is masked before.
    expect(text(`${'x'.repeat(2_040)}whsec_bm90LWEt`)).toBe(`${'x'.repeat(2_040)}whsec_**`)
  })
})

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async () => {
    const service = await startOn(name, postgres)
    const at = (milliseconds: number) => new Date(milliseconds).toISOString()
    const read = async (path: string) => (await service.request('GET', `/v2/webhook-subscriptions${path}`)).json.data
    return { service, at, read }
  }

  it.skipIf(missing)('a subscription says since when its receiver fails, and when it is asked again', async () => {
    const { service, at, read } = await start()
    const receiver = await startReceiver()
    const id = await subscribe(service, receiver.url)
    const quiet = await subscribe(service, 'http://127.0.0.1:9/hook', ['nft.created'])
    const none = { failing_since: null, next_attempt_at: null, last_attempt_at: null }
    expect(await read(`/${id}`)).toMatchObject({ ...none, last_status: null, last_response_code: null })
    await happen(service, 1)
    await deliverRound(service.services)
    const begun = service.clock.now()
    expect(await read(`/${id}`)).toMatchObject({
      ...{ ...none, last_attempt_at: at(begun), last_status: 'succeeded', last_response_code: 200 },
    })
    receiver.answer = () => 503
    receiver.says = 'out of order'
    service.clock.advance(MINUTE)
    const failed = service.clock.now()
    await happen(service, 1)
    await deliverRound(service.services)
    service.clock.advance(MINUTE)
    await deliverRound(service.services)
    const state = {
      failing_since: at(failed),
      last_attempt_at: at(failed + MINUTE),
      last_status: 'failed',
      last_response_code: 503,
      next_attempt_at: at(failed + MINUTE + 2 * MINUTE),
    }
    expect(await read(`/${id}`)).toMatchObject(state)
    const listed = await read('')
    expect(listed.map((each: { id: string }) => each.id)).toEqual([quiet, id])
    expect(listed).toMatchObject([{ ...none, last_status: null }, state])
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: false } })
    expect(await read(`/${id}`)).toMatchObject({ ...state, next_attempt_at: null })
    receiver.answer = () => 200
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
    service.clock.advance(10 * MINUTE)
    await deliverRound(service.services)
    expect(await read(`/${id}`)).toMatchObject({ failing_since: null, next_attempt_at: null, last_status: 'succeeded' })
  })

  it.skipIf(missing)('an attempt shows what was sent and answered, and one event is sent again', async () => {
    const { service, read } = await start()
    const receiver = await startReceiver(() => 500)
    receiver.says = 'broken\u0007 whsec_c2VjcmV0'
    const id = await subscribe(service, receiver.url)
    const other = await subscribe(service, 'http://127.0.0.1:9/hook', ['nft.created'])
    await happen(service, 1)
    await deliverRound(service.services)
    const [attempt] = await read(`/${id}/deliveries?status=failed`)
    expect(attempt).toMatchObject({ status: 'failed', response_body: 'broken\\u0007 whsec_***' })
    expect(await read(`/${id}/deliveries?status=succeeded`)).toEqual([])
    const details = await read(`/${id}/deliveries/${attempt.id}`)
    expect(details).toEqual({ ...attempt, request: details.request })
    const [sent] = receiver.all
    expect(JSON.stringify(details.request.body)).toBe(sent!.body)
    const { headers } = details.request
    for (const header of ['webhook-id', 'webhook-timestamp']) expect(headers[header]).toBe(sent!.headers[header])
    const masked = (value: unknown) => String(value).replace(/v1(.)[^, ]+/g, 'v1$1***')
    expect(headers['webhook-signature']).toBe(masked(sent!.headers['webhook-signature']))
    expect(headers['X-Service-Signature']).toBe(masked(sent!.headers['x-service-signature']))
    for (const path of [`/${other}/deliveries/${attempt.id}`, `/${id}/deliveries/whd_none`]) {
      const { status, json } = await service.request('GET', `/v2/webhook-subscriptions${path}`)
      expect([status, json.error.code], path).toEqual([404, 'not_found'])
    }
    receiver.answer = () => 200
    receiver.says = ''
    const body = { event_ids: [attempt.event_id] }
    const replay = await service.request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body })
    expect(replay.json.data).toEqual({ queued: 1 })
    await deliverRound(service.services)
    expect(await read(`/${id}/deliveries`)).toMatchObject([
      { attempt: 1, status: 'succeeded', response_body: null },
      {},
    ])
    await service.services.store.write((tx) => tx.deleteFrom('events').execute())
    expect((await read(`/${id}/deliveries/${attempt.id}`)).request.body).toBeNull()
  })

  it.skipIf(missing)('figures count the attempts of a day, and the times of those that were answered', async () => {
    const { service, at, read } = await start()
    const id = await subscribe(service, 'http://127.0.0.1:9/hook')
    const empty = { attempts: 0, succeeded: 0, failed: 0, success_percent: null, p50_ms: null, p95_ms: null }
    expect(await read(`/${id}/stats`)).toMatchObject({ ...empty, truncated: false })
    const now = service.clock.now()
    const attempt = (n: number, over: object) => ({
      ...{ id: `whd_${n}`, subscription_id: id, event_id: `evt_${n}`, attempt: 1, status: 'succeeded', error: null },
      ...{ response_code: 200, duration_ms: n, response_body: null, next_attempt_at: null, created_at: now, ...over },
    })
    await service.services.store.write((tx) =>
      insertWebhookDeliveries(tx, [
        attempt(1_000, { created_at: now - 25 * 60 * MINUTE, duration_ms: 9_999 }),
        ...numbers(99).map((n) => attempt(n + 1, {})),
        attempt(100, { status: 'failed', response_code: 500 }),
        attempt(101, { status: 'failed', response_code: null, duration_ms: 10_000, error: 'no answer' }),
      ]),
    )
    expect(await read(`/${id}/stats`)).toEqual({
      ...{ since: at(now - 24 * 60 * MINUTE), attempts: 101, succeeded: 99, failed: 2, success_percent: 98 },
      ...{ p50_ms: 50, p95_ms: 95, truncated: false },
    })
    await service.services.store.write((tx) =>
      insertWebhookDeliveries(
        tx,
        numbers(5_000).map((n) => attempt(2_000 + n, { duration_ms: 3 })),
      ),
    )
    expect(await read(`/${id}/stats`)).toMatchObject({
      attempts: 5_000,
      success_percent: 100,
      p95_ms: 3,
      truncated: true,
    })
  })
})
