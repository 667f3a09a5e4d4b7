/** Pay requests as a wallet uses them: the library of Solana Pay fetches from the running daemon, signs and sends. */
import { parseURL, type TransactionRequestURL } from '@solana/pay'
import { SystemProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkOf } from '../../src/operations/pay-requests/payments.ts'
import { LIGHTHOUSE } from '../../src/solana/programs/lighthouse.ts'
import { addressOf } from '../support/gold.ts'
import { lacksGuards } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'
import { PUBLIC_URL, type ServedPay, servePay } from './served-pay.ts'

const transferTo = (recipient: string, lamports = '1500000') => ({
  request: { method: 'POST', path: '/v2/sol-transfers', body: { recipient, lamports } },
})

describe('a pay request', () => {
  let pay: ServedPay
  beforeAll(async () => {
    pay = await servePay()
  })
  afterAll(() => pay?.stop())

  const eventsOf = async (id: string) => {
    const { json } = await pay.request('GET', `/v2/events?resource_id=${id}&limit=100`)
    return json.data.map(({ type }: { type: string }) => type)
  }
  const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(pay.here(url), { method: 'POST', body, headers: sent })
    return { status: answer.status, json: (await answer.json()) as { message: string; error: { code: string } } }
  }

  it('is fetched, signed and sent by a wallet, and then paid, with its events once', async () => {
    const [recipient, wallet] = [someAddress(), await pay.wallet()]
    const made = await pay.create({ ...transferTo(recipient), externalUid: 'order-7' })
    expect(made).toMatchObject({ state: 'open', account: null, signature: null, builds: 0 })
    expect(made.url).toBe(`${PUBLIC_URL}/v2/pay/${made.id}`)
    const signature = await pay.send(await pay.fetch(made.link, wallet), wallet)
    const paid = await pay.until(made.id, 'paid')
    expect(paid).toMatchObject({ signature, builds: 1 })
    expect((await pay.local()).account(recipient)?.lamports).toBe(1_500_000n)
    const { json } = await pay.request('GET', `/v2/transactions/${signature}`)
    expect(json.data.lifecycle).toMatch(/confirmed|finalized/)
    const types = await eventsOf(signature)
    expect(types.filter((type: string) => type === 'transaction.submitted')).toHaveLength(1)
    expect(types.filter((type: string) => type === 'transaction.confirmed')).toHaveLength(1)
    const again = await post(made.url, JSON.stringify({ account: addressOf(wallet) }))
    expect([again.status, again.json.message]).toEqual([400, 'This is paid already: nothing is left to sign'])
  })

  it('of a token is signed by its generated key too, and its record and event come', async () => {
    const wallet = await pay.wallet()
    const body = {
      name: 'Paid',
      symbol: 'PAID',
      decimals: 6,
      initial_supply: '5',
      uri: 'https://example.com/a.json',
      token_program: 'token2022',
    }
    const made = await pay.create({ request: { method: 'POST', path: '/v2/tokens', body } })
    const signature = await pay.send(await pay.fetch(made.link, wallet), wallet)
    const { tracked_resource } = await pay.until(made.id, 'paid')
    expect(tracked_resource.resource_type).toBe('token')
    for (let tries = 0; (await eventsOf(tracked_resource.resource_id)).length === 0; tries++) {
      expect(tries).toBeLessThan(100)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const types = await eventsOf(tracked_resource.resource_id)
    expect(types.filter((type: string) => type === 'token.created')).toHaveLength(1)
    const { json } = await pay.request('GET', `/v2/tokens/${tracked_resource.resource_id}`)
    expect(json.data.mint).toBe(tracked_resource.resource_id)
    expect(signature).toBeDefined()
  })

  it('tells a wallet its label and an icon that the daemon serves, to any page', async () => {
    const { url } = await pay.create(transferTo(someAddress()))
    const answer = await fetch(pay.here(url), { headers: { origin: 'https://wallet.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const { label, icon } = (await answer.json()) as { label: string; icon: string }
    expect(label).toBe('svc')
    const picture = await fetch(pay.here(icon))
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const preflight = await fetch(pay.here(url), { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })

  it('gives two phones that ask at once one transaction', async () => {
    const made = await pay.create(transferTo(someAddress()))
    const wallets = await Promise.all([pay.wallet(), pay.wallet()])
    const answers = await Promise.all(
      wallets.map((wallet) => post(made.url, JSON.stringify({ account: addressOf(wallet) }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429])
    const refused = answers.find(({ status }) => status === 429)?.json
    expect(refused?.message).toMatch(/^Another wallet has just opened this: try again in \d+ seconds$/)
    expect(refused?.error.code).toBe('rate_limited')
  })

  it('for one wallet tells any other so', async () => {
    const [own, other] = [await pay.wallet(), await pay.wallet()]
    const made = await pay.create({ ...transferTo(someAddress()), account: addressOf(own) })
    const answer = await post(made.url, JSON.stringify({ account: addressOf(other) }))
    expect([answer.status, answer.json.message]).toEqual([
      400,
      `This is for the wallet ${addressOf(own)}, and yours is ${addressOf(other)}: choose that one in your wallet`,
    ])
    expect((await pay.fetch(made.link, own)).feePayer?.toBase58()).toBe(addressOf(own))
  })

  it('that was revoked gives no transaction', async () => {
    const made = await pay.create(transferTo(someAddress()))
    const { status } = await pay.request('DELETE', `/v2/pay-requests/${made.id}`)
    expect([status, (await pay.get(made.id)).state]).toEqual([200, 'revoked'])
    const answer = await post(made.url, JSON.stringify({ account: someAddress() }))
    expect([answer.status, answer.json.message]).toEqual([400, 'This was revoked: ask for a new QR code'])
  })

  it('of a revoked API key gives no transaction', async () => {
    const key = await pay.request('POST', '/v2/api-keys', { body: { name: 'shop' } })
    const { json } = await pay.request('POST', '/v2/pay-requests', {
      body: transferTo(someAddress()),
      key: key.json.data.key,
    })
    await pay.request('DELETE', `/v2/api-keys/${key.json.data.id}`)
    const answer = await post(json.data.url, JSON.stringify({ account: someAddress() }))
    expect(answer.json.message).toBe('This was revoked: ask for a new QR code')
  })

  it('that nobody made is unknown, and shows nothing of others', async () => {
    for (const id of ['pay_000000000000000000000000', 'pay_', 'x'.repeat(300)]) {
      const answer = await post(`${PUBLIC_URL}/v2/pay/${id}`, JSON.stringify({ account: someAddress() }))
      expect([answer.status, answer.json.message], id).toEqual([
        404,
        'This QR code is not known here: ask for a new one',
      ])
    }
  })

  it('takes only a small body with an address', async () => {
    const { url } = await pay.create(transferTo(someAddress()))
    const bodies = [
      ['{"account":"x"}', /account/],
      ['[]', /JSON object/],
      ['{', /JSON/],
      [JSON.stringify({ account: someAddress(), more: 'x'.repeat(2_000) }), /larger than/],
    ] as const
    for (const [body, message] of bodies) {
      const answer = await post(url, body)
      expect(answer.status, body).toBe(400)
      expect(answer.json.message).toMatch(message)
    }
    const typed = await post(url, '{}', { 'content-type': 'text/plain' })
    expect(typed.status).toBe(400)
  })

  itInSoak('is not a payment if a transaction with its reference does something else', async () => {
    const wallet = await pay.wallet()
    const made = await pay.create(transferTo(someAddress()))
    const transaction = await pay.fetch(made.link, wallet)
    // Only the transfer of 0, which names the reference.
    const transfers = transaction.instructions.filter(({ programId }) => programId.equals(SystemProgram.programId))
    transaction.instructions = transfers.slice(-1)
    await pay.send(transaction, wallet)
    const real = await pay.send(await pay.fetch(made.link, wallet), wallet)
    expect((await pay.until(made.id, 'paid')).signature).toBe(real)
  })

  it('builds without guards if its request wants none', async () => {
    const { request } = transferTo(someAddress())
    const made = await pay.create({ request: { ...request, body: { ...request.body, guard: 'off' } } })
    const { instructions } = await pay.fetch(made.link, await pay.wallet())
    expect(instructions.map(({ programId }) => programId.toBase58())).not.toContain(LIGHTHOUSE.id)
  })

  it.skipIf(lacksGuards || !inSoak)('is paid by a wallet that leaves the guards out', { tags: 'sampled' }, async () => {
    const wallet = await pay.wallet()
    const made = await pay.create(transferTo(someAddress()))
    const transaction = await pay.fetch(made.link, wallet)
    const own = transaction.instructions.filter(({ programId }) => programId.toBase58() !== LIGHTHOUSE.id)
    expect(own.length).toBeLessThan(transaction.instructions.length)
    transaction.instructions = own
    const signature = await pay.send(transaction, wallet)
    expect((await pay.until(made.id, 'paid')).signature).toBe(signature)
  })

  const transfer = (body: object) => ({ method: 'POST', path: '/v2/sol-transfers', body })
  it.each([
    ['a route that builds nothing', { method: 'POST', path: '/v2/api-keys' }, 'request.path', /is not a route/],
    ['a route with several transactions', { method: 'POST', path: '/v2/pools' }, 'request.path', /one transaction/],
    ['a body that its route refuses', transfer({ lamports: '1' }), 'recipient', /is required/],
    ['version 1', transfer({ tx_version: 1 }), 'request.body.tx_version', /must be 0/],
    ['mode signed', transfer({ mode: 'signed' }), 'request.body.mode', /must be "unsigned"/],
    ['a large body', transfer({ more: 'x'.repeat(40_000) }), 'request.body', /more than 32768 bytes/],
  ])('with %s is refused', async (_, request, param, message) => {
    const { status, json } = await pay.request('POST', '/v2/pay-requests', { body: { request } })
    expect([status, json.error?.param]).toEqual([400, param])
    expect(json.error.message).toMatch(message)
  })

  it('belongs to the key that made it', async () => {
    const made = await pay.create(transferTo(someAddress()))
    const key = (await pay.request('POST', '/v2/api-keys', { body: { name: 'other' } })).json.data.key
    const path = `/v2/pay-requests/${made.id}`
    for (const method of ['GET', 'DELETE']) expect((await pay.request(method, path, { key })).status).toBe(404)
    expect((await pay.request('GET', '/v2/pay-requests', { key })).json.data).toEqual([])
  })

  it('links any URL so that a wallet reads the same one', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https'] }), (url) => {
        const { link } = parseURL(linkOf(url)) as TransactionRequestURL
        expect(link.href).toBe(new URL(url).href)
      }),
    )
  })
})
