/** The embedded chain's listeners: HTTP, WebSocket and their limits. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveLocalnet } from '../../src/localnet/server.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { createSubscriptions } from '../../src/localnet/websocket.ts'
import { openChain, openServer } from './serving.ts'

let server: Awaited<ReturnType<typeof openServer>>
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.stop())

const json = { 'content-type': 'application/json' }
const request = (method: string, params: unknown[] = []) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
// biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
const answerOf = async (response: Promise<Response>): Promise<any> => (await response).json()
const post = (body: string, headers: Record<string, string> = json, path = '/') =>
  fetch(server.url + path, { method: 'POST', headers, body })

describe('the embedded chain over HTTP', () => {
  it('answers health, calls, batches and the bundle path', async () => {
    expect(await (await fetch(`${server.url}/health`)).text()).toBe('ok')
    expect(await (await post(request('getHealth'))).json()).toEqual({ jsonrpc: '2.0', result: 'ok', id: 1 })
    expect(await (await post(`[${request('getHealth')},${request('getVersion')}]`)).json()).toHaveLength(2)
    expect((await answerOf(post(request('getTipAccounts'), json, '/api/v1/bundles'))).result).toHaveLength(8)
    const nothing = await post('{"jsonrpc":"2.0","method":"getSlot"}')
    expect([nothing.status, await nothing.text()]).toEqual([200, ''])
  })

  it('ignores a client that hangs up during a request', async () => {
    const { port } = new URL(server.url)
    const socket = connectTcp(Number(port), '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
    // Answered after the other's head was read.
    expect((await post(request('getHealth'))).status).toBe(200)
    socket.resetAndDestroy()
    await once(socket, 'close')
    expect((await post(request('getHealth'))).status).toBe(200)
    expect(server.faults).toEqual([])
  })

  it('accepts pages of a browser, but not for the clock', async () => {
    const preflight = await fetch(server.url, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    const fromPage = post(request('svc_advance', [60]), { ...json, origin: 'https://example.com' })
    expect((await answerOf(fromPage)).error.code).toBe(-32601)
    expect((await answerOf(post(request('svc_advance', [60])))).result.slot).toBeGreaterThan(0)
  })

  it('refuses other methods, paths, types and bodies that are too large', async () => {
    expect((await fetch(server.url)).status).toBe(405)
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404)
    expect((await post(request('getHealth'), { 'content-type': 'text/plain' })).status).toBe(415)
    const large = await post(`"${'x'.repeat(1024 * 1024)}"`).then(
      ({ status }) => status,
      () => 413, // The connection may end before all is sent.
    )
    expect(large).toBe(413)
  })

  it('names the used port, whether the first or the second of the pair', async () => {
    const port = Number(new URL(server.url).port)
    const options = { chain: server.chain, host: '127.0.0.1' }
    await expect(serveLocalnet({ ...options, port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`)
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const taken = (blocker.address() as { port: number }).port
    await expect(serveLocalnet({ ...options, port: taken - 1 })).rejects.toThrow(/is in use/)
    blocker.close()
  })
})

/** A socket with its messages in order. */
async function connect(url = server.wsUrl) {
  const socket = new WebSocket(url)
  const messages: unknown[] = []
  const waiting: ((message: never) => void)[] = []
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString())
    const next = waiting.shift()
    if (next) next(message as never)
    else messages.push(message)
  })
  await once(socket, 'open')
  return {
    socket,
    // biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
    next: (): Promise<any> =>
      messages.length > 0 ? Promise.resolve(messages.shift()) : new Promise((resolve) => waiting.push(resolve)),
    send: (method: string, params: unknown[] = []) => socket.send(request(method, params)),
  }
}

describe('the embedded chain over WebSocket', () => {
  it('answers on the HTTP port too, and pings', async () => {
    const { socket, next, send } = await connect(server.url.replace('http', 'ws'))
    send('slotSubscribe')
    expect(await next()).toEqual({ jsonrpc: '2.0', result: expect.any(Number), id: 1 })
    expect(await next()).toMatchObject({ method: 'slotNotification', params: { result: { slot: expect.any(Number) } } })
    socket.ping()
    await once(socket, 'pong')
    socket.close()
  })

  it('reports once that a signature was received and processed, then forgets it', async () => {
    const { socket, next, send } = await connect()
    const signature = server.chain.airdrop(Keypair.generate().publicKey.toBase58(), 1_000_000_000n)
    send('signatureSubscribe', [signature, { commitment: 'processed', enableReceivedNotification: true }])
    const { result: subscription } = await next()
    const notified = (value: unknown) => ({
      jsonrpc: '2.0',
      method: 'signatureNotification',
      params: { result: { context: { slot: expect.any(Number) }, value }, subscription },
    })
    expect(await next()).toEqual(notified('receivedSignature'))
    expect(await next()).toEqual(notified({ err: null }))
    send('signatureUnsubscribe', [subscription])
    expect((await next()).error).toEqual({ code: -32602, message: 'Invalid subscription id.' })
    socket.close()
  })

  it.each([
    ['logsSubscribe', [{ mentions: ['x', 'y'] }], 'Invalid Request: Only 1 address supported'],
    ['logsSubscribe', [{ mentions: ['x'] }], 'Invalid param: WrongSize'],
    ['accountSubscribe', ['0'], 'Invalid param: Invalid'],
    ['accountUnsubscribe', [999], 'Invalid subscription id.'],
    ['getSlot', [], 'Method not found'],
    ['signatureSubscribe', [], '`params` should have at least 1 argument(s)'],
  ])('refuses %s %j', async (method, params, message) => {
    const { socket, next, send } = await connect()
    send(method, params)
    expect((await next()).error.message).toBe(message)
    socket.send('{')
    expect((await next()).error).toEqual({ code: -32700, message: 'Parse error' })
    socket.close()
  })
})

describe('subscriptions', () => {
  /** A client's connection, and the messages that it was sent. */
  function subscribed(chain: LocalChain) {
    const subscriptions = createSubscriptions(chain, {
      onError(error) {
        throw error
      },
    })
    const told: {
      method?: string
      params?: { subscription: number; result: { context: { slot: number }; value: unknown } }
    }[] = []
    return { subscriptions, told, connection: subscriptions.connect((text) => void told.push(JSON.parse(text))) }
  }

  it('report accounts, programs and logs at the requested commitment', async () => {
    let now = Date.UTC(2026, 0, 1)
    const opened = await openChain({ now: () => now, consensus: 'tower' })
    const { chain } = opened
    const { subscriptions, connection, told } = subscribed(chain)
    const watched = Keypair.generate().publicKey.toBase58()
    const subscribe = (method: string, ...params: unknown[]) => connection.receive(request(method, params))
    subscribe('accountSubscribe', watched, { commitment: 'processed', encoding: 'base64' })
    subscribe('accountSubscribe', watched, { commitment: 'confirmed', encoding: 'base64' })
    subscribe('logsSubscribe', { mentions: [watched] }, { commitment: 'finalized' })
    subscribe('programSubscribe', '11111111111111111111111111111111', {
      commitment: 'confirmed',
      encoding: 'base64',
      filters: [{ dataSize: 0 }],
    })
    told.length = 0
    const signature = chain.airdrop(watched, 1_000_000_000n)
    const slot = chain.slot()
    expect(told.map(({ params }) => params?.subscription)).toEqual([1])
    expect(told[0]?.params?.result).toMatchObject({ context: { slot }, value: { lamports: 1_000_000_000, space: 0 } })
    told.length = 0
    const until = (count: number) => expect.poll(() => told.length, { timeout: 60_000 }).toBe(count)
    now += opened.chain.slotMs()
    await until(3) // The account, then as System accounts it and the faucet.
    expect(told.map(({ method }) => method)).toEqual([
      'accountNotification',
      'programNotification',
      'programNotification',
    ])
    now += 31 * opened.chain.slotMs()
    await until(4)
    expect(told[3]).toMatchObject({
      method: 'logsNotification',
      params: { result: { value: { signature, err: null } } },
    })
    connection.close()
    chain.airdrop(watched, 5n)
    expect(told).toHaveLength(4)
    subscriptions.close()
    opened.close()
  })

  it('report what landed before them, and only reaches their commitment after', async () => {
    let now = Date.UTC(2026, 0, 1)
    const opened = await openChain({ now: () => now, consensus: 'tower' })
    const { chain } = opened
    const { subscriptions, connection, told } = subscribed(chain)
    const watched = Keypair.generate().publicKey.toBase58()
    chain.airdrop(watched, 1_000_000_000n)
    for (const commitment of ['processed', 'confirmed', 'finalized']) {
      connection.receive(request('accountSubscribe', [watched, { commitment, encoding: 'base64' }]))
      connection.receive(request('logsSubscribe', [{ mentions: [watched] }, { commitment }]))
    }
    const heard = () => told.flatMap(({ method }) => method ?? [])
    const each = ['accountNotification', 'logsNotification']
    now += chain.slotMs()
    await expect.poll(heard).toEqual(each)
    // It is confirmed already, so only a subscription to what is final hears of it.
    for (const commitment of ['confirmed', 'finalized']) {
      connection.receive(request('accountSubscribe', [watched, { commitment, encoding: 'base64' }]))
    }
    now += 31 * chain.slotMs()
    await expect.poll(heard).toEqual([...each, ...each, 'accountNotification'])
    connection.close()
    subscriptions.close()
    opened.close()
  })
})
