/** Account reads through the app, on the embedded chain. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listening } from './support/ports.ts'
import { type Service, sharedService, startService } from './support/service.ts'
import { someAddress } from './support/wallets.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const SYSTEM = '11111111111111111111111111111111'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const shared = sharedService()

async function funded({ services }: Service, lamports: bigint): Promise<string> {
  const address = someAddress()
  const chain = await services.chain.local()
  chain.airdrop(address, lamports)
  return address
}

describe('one account', () => {
  it('is read with its data, owner and slot', async () => {
    const service = await shared()
    const { status, json } = await service.request('GET', `/v2/accounts/${MINT}`)
    const chain = await service.services.chain.local()
    const known = chain.account(MINT)!
    expect([status, json.data]).toEqual([
      200,
      {
        address: MINT,
        lamports: String(known.lamports),
        owner: TOKEN_PROGRAM,
        executable: false,
        data: Buffer.from(known.data).toString('base64'),
        space: 82,
        slot: expect.any(Number),
      },
    ])
  })

  it('of a program is marked as executable', async () => {
    const { request } = await shared()
    const { json } = await request('GET', `/v2/accounts/${TOKEN_PROGRAM}`)
    expect(json.data).toMatchObject({ executable: true })
    expect(Buffer.from(json.data.data, 'base64')).toHaveLength(json.data.space)
  })

  it('keeps every lamport of a balance above 2^53', async () => {
    const { request, services } = await shared()
    const address = someAddress()
    const whale = { lamports: 2n ** 53n + 1n, owner: SYSTEM, executable: false, data: new Uint8Array(), rentEpoch: 0n }
    const chain = await services.chain.local()
    chain.setAccount(address, whale)
    const one = await request('GET', `/v2/accounts/${address}`)
    expect(one.json.data).toMatchObject({ lamports: '9007199254740993', owner: SYSTEM, data: '', space: 0 })
    const { json } = await request('POST', '/v2/accounts/batch-fetch', { body: { addresses: [address] } })
    expect(json.data.accounts[0].lamports).toBe('9007199254740993')
  })

  it('that does not exist is not_found, with its address', async () => {
    const { request } = await shared()
    const address = someAddress()
    const { status, json } = await request('GET', `/v2/accounts/${address}`)
    expect([status, json.error.code]).toEqual([404, 'not_found'])
    expect(json.error.message).toContain(address)
  })

  it('with an invalid address is a bad request', async () => {
    const { request } = await shared()
    const { status, json } = await request('GET', `/v2/accounts/${'1'.repeat(33)}`)
    expect([status, json.error.param]).toEqual([400, 'address'])
  })
})

describe('a batch', () => {
  it('keeps order and repeats, has null for each missing account, and is read at one slot', async () => {
    const service = await shared()
    const wallet = await funded(service, 5_000_000n)
    const addresses = [someAddress(), MINT, wallet, someAddress(), MINT]
    const { status, json } = await service.request('POST', '/v2/accounts/batch-fetch', { body: { addresses } })
    expect(status).toBe(200)
    const { accounts } = json.data
    expect(accounts.map((account: { address: string } | null) => account?.address ?? null)).toEqual([
      null,
      MINT,
      wallet,
      null,
      MINT,
    ])
    expect(accounts[2].lamports).toBe('5000000')
    expect(new Set([accounts[1].slot, accounts[2].slot, accounts[4].slot]).size).toBe(1)
  })

  it('has 1 to 100 addresses', async () => {
    const { request } = await shared()
    const ask = (addresses: unknown[]) => request('POST', '/v2/accounts/batch-fetch', { body: { addresses } })
    const full = await ask(Array.from({ length: 100 }, someAddress))
    expect([full.status, full.json.data.accounts]).toEqual([200, Array(100).fill(null)])
    for (const addresses of [[], Array(101).fill(MINT)]) {
      const { status, json } = await ask(addresses)
      expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'addresses'])
    }
    expect((await ask([MINT, 'x'])).json.error.param).toBe('addresses.1')
  })
})

it('an RPC node that cannot be reached is an internal_error without its URL', async () => {
  const { request } = await startService({ settings: { url: 'http://127.0.0.1:1/secret-path' } })
  const answer = await request('GET', `/v2/accounts/${MINT}`)
  expect([answer.status, answer.json.error.code]).toEqual([500, 'internal_error'])
  expect(answer.json.error.message).toMatch(/cannot be reached/)
  expect(answer.text).not.toContain('secret-path')
})

/** A node that answers as it should not. */
async function node(status: number, body: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse(await text(request))
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body.replace('ID', JSON.stringify(id)))
  })
  onTestFinished(() => void server.close())
  return listening(server)
}

it.each([
  [
    'an error',
    200,
    '{"jsonrpc":"2.0","id":ID,"error":{"code":-32005,"message":"Node is behind by 50 slots"}}',
    /behind by 50/,
  ],
  ['no JSON', 200, '<html>', /failed at the RPC node/],
  ['a server error', 503, 'overloaded', /503/],
  ['another shape', 200, '{"jsonrpc":"2.0","id":ID,"result":{"value":3}}', /failed at the RPC node/],
])('a node that answers with %s is an internal_error that names the fault', async (_, status, body, message) => {
  const url = await node(status, body)
  const { request } = await startService({ settings: { url } })
  for (const answer of [
    await request('GET', `/v2/accounts/${MINT}`),
    await request('POST', '/v2/accounts/batch-fetch', { body: { addresses: [MINT] } }),
  ]) {
    expect([answer.status, answer.json.error.code]).toEqual([500, 'internal_error'])
    expect(answer.json.error.message).toMatch(message)
    expect(answer.text).not.toContain('node_modules')
  }
})
