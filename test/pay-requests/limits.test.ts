/** What strangers can do with a pay request: it expires, its builds are counted, and old ones are removed. */
import { describe, expect, it } from 'vitest'
import { showCode } from '../../commands/pay/code.ts'
import type { Kernel } from '../../daemon/kernel.ts'
import { makeContext, UNLINKED } from '../../daemon/pipeline/context.ts'
import type { Context } from '../../src/context.ts'
import { buildPayment } from '../../src/operations/pay-requests/build-payment.ts'
import { createPayRequest } from '../../src/operations/pay-requests/verbs.ts'
import { DAY_MS } from '../../src/platform/timing.ts'
import { findPayRequest, prunePayRequests, updatePayRequest } from '../../src/store/resources/pay-requests.ts'
import { type Service, type ServiceOptions, startService } from '../support/service.ts'
import { someAddress } from '../support/wallets.ts'

/** A service as that of a daemon, with one request for a transfer. */
async function started(options: ServiceOptions = {}) {
  const service = await startService({ settings: { 'public-url': 'https://pay.example.com' }, ...options })
  const { json } = await service.request('GET', '/v2/api-keys')
  const key = { id: json.data[0].id, scopes_json: '["*"]' }
  const kernel = { ...service.services, role: 'all' } as unknown as Kernel
  const context = makeContext(kernel, key as never, { request_id: 'test' }, UNLINKED, (work) =>
    service.services.store.write(work),
  )
  const body = { recipient: someAddress(), lamports: '1500000' }
  const asked = { request: { method: 'POST' as const, path: '/v2/sol-transfers', body }, expires_in: 60 }
  const made = await createPayRequest(context, { ...asked, mode: 'unsigned' })
  const wallet = someAddress()
  ;(await service.services.chain.local()).airdrop(wallet, 1_000_000_000n)
  return { service, context, wallet, made, post: (account: string) => post(service, made.id, account) }
}

async function post({ app }: Service, id: string, account: string) {
  const headers = { 'content-type': 'application/json' }
  const request = new Request(`http://svc.test/v2/pay/${id}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ account }),
  })
  const answer = await app.fetch(request)
  const { message, transaction } = (await answer.json()) as { message: string; transaction?: string }
  return { status: answer.status, message, isBuilt: transaction !== undefined }
}

const row = async ({ store }: Pick<Context, 'store'>, id: string) => (await findPayRequest(store.db, id))!

describe('a pay request', () => {
  it('that has expired gives no transaction', async () => {
    const { service, wallet, made, post } = await started()
    expect(await post(wallet)).toMatchObject({ status: 200, isBuilt: true })
    service.clock.advance(60_000)
    expect(await post(wallet)).toMatchObject({ status: 400, message: 'This has expired: ask for a new QR code' })
    expect((await service.request('GET', `/v2/pay-requests/${made.id}`)).json.data.state).toBe('expired')
  })

  it('is reserved for one wallet for a minute, and for none if its build failed', async () => {
    const { service, context, wallet, made, post } = await started()
    await service.services.store.write((tx) =>
      updatePayRequest(tx, made.id, { expires_at: service.clock.now() + 600_000 }),
    )
    expect((await post(someAddress())).status).toBe(400)
    expect(await row(context, made.id)).toMatchObject({ held_by: null, recent_builds_json: '[]' })
    expect((await post(wallet)).isBuilt).toBe(true)
    const other = await post(someAddress())
    expect(other).toMatchObject({
      status: 429,
      message: 'Another wallet has just opened this: try again in 60 seconds',
    })
    service.clock.advance(60_001)
    expect((await post(someAddress())).message).not.toMatch(/Another wallet/)
  })

  it('gives 20 transactions within minutes and 200 in all', async () => {
    const { service, context, wallet, made } = await started()
    const build = async () => buildPayment(context, await row(context, made.id), wallet)
    for (let i = 0; i < 20; i++) await build()
    await expect(build()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 60 })
    expect(JSON.parse((await row(context, made.id)).recent_builds_json)).toHaveLength(20)
    const { store } = service.services
    await store.write((tx) => updatePayRequest(tx, made.id, { builds: 200, recent_builds_json: '[]' }))
    await expect(build()).rejects.toMatchObject({ message: 'It was opened 200 times: ask for a new QR code' })
  })

  it('answers 30 requests a minute of one address', async () => {
    const { service, made, post } = await started()
    const answers: number[] = []
    for (let i = 0; i < 31; i++) answers.push((await post('x')).status)
    expect(answers.slice(0, 30).every((status) => status === 400)).toBe(true)
    expect(answers[30]).toBe(429)
    service.clock.advance(60_000)
    expect((await service.app.fetch(new Request(`http://svc.test/v2/pay/${made.id}`))).status).toBe(200)
  })

  it('hides the cause of an internal error from wallets', async () => {
    const { service, context, wallet, made } = await started({ production: true })
    const { store } = service.services
    await store.write((tx) => updatePayRequest(tx, made.id, { body_json: '{' }))
    expect(await post(service, made.id, wallet)).toMatchObject({ status: 500, message: 'Something went wrong' })
    expect(await row(context, made.id)).toMatchObject({ held_by: null })
  })

  it('is removed 30 days after its end', async () => {
    const { service, made } = await started()
    const { store } = service.services
    const end = service.clock.now() + 60_000
    expect(await store.write((tx) => prunePayRequests(tx, end, 10))).toBe(0)
    expect(await store.write((tx) => prunePayRequests(tx, end + 30 * DAY_MS, 10))).toBe(1)
    expect(await findPayRequest(store.db, made.id)).toBeNull()
  })

  it('needs a public https address on every cluster but the embedded one', async () => {
    for (const [url, why] of [
      [undefined, /public-url is not set: wallets fetch transactions from there/],
      ['http://pay.example.com', /public-url is not https/],
      ['https://10.0.0.1', /others cannot reach/],
    ] as const) {
      const settings = { url: 'https://rpc.example.com', ...(url === undefined ? {} : { 'public-url': url }) }
      await expect(started({ settings })).rejects.toThrow(why)
    }
  })
})

describe('the QR code of a pay request', () => {
  it.each([
    'https://evil.example',
    'solana:\u001b[2J',
    'solana:javascript%3A1',
    `solana:https%3A%2F%2F${'x'.repeat(2_000)}`,
  ])('is not shown for the link %j', async (link) => {
    const ui = { draw: async () => true, note() {} }
    const shown = showCode({ ui } as never, { link, expires_at: '2026-01-01T00:00:00Z' }, '')
    await expect(shown).rejects.toThrow('the API answered with a link that is not one of Solana Pay')
  })
})
