/** WebSockets of endpoints: they wake who waits for a signature, and nothing that they say or fail to say does harm. */
import { EventEmitter } from 'node:events'
import type { AddressInfo } from 'node:net'
import { base58 } from '@scure/base'
import { SystemProgram } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  createNodeSocket,
  MOST_SIGNATURES,
  type SocketTarget,
  socketTargets,
} from '../../src/chain/nodes/node-socket.ts'
import { serveLocalnet } from '../../src/localnet/server.ts'
import { openTestChain } from '../support/local-chain.ts'

interface Call {
  id: number
  method: string
  params: [string | number, unknown?]
}

/** A WebSocket server that notes what it is asked; `on` answers. */
async function openServer(on: (call: Call, socket: WebSocket) => void = () => {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((done) => server.once('listening', done))
  const asked: Call[] = []
  const arrivals = new EventEmitter()
  server.on('connection', (socket) => {
    arrivals.emit('connection')
    socket.on('message', (data) => {
      const call = JSON.parse(String(data)) as Call
      asked.push(call)
      on(call, socket)
    })
  })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return { asked, server, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Its timers run when a test says so. */
function socketAt(targets: () => readonly SocketTarget[]) {
  const timers: { milliseconds: number; act: () => void }[] = []
  const socket = createNodeSocket({
    targets,
    after(milliseconds, act) {
      const timer = { milliseconds, act }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer) >>> 0, timers.includes(timer) ? 1 : 0)
    },
  })
  onTestFinished(() => socket.close())
  const run = (least: number, most: number) => {
    for (const timer of timers.filter(({ milliseconds }) => milliseconds >= least && milliseconds <= most)) {
      timers.splice(timers.indexOf(timer), 1)
      timer.act()
    }
  }
  return { socket, timers, run }
}

const at = (url: string): SocketTarget[] => [{ url, headers: {} }]
const subscribing = (call: Call, socket: WebSocket) => {
  if (call.method === 'signatureSubscribe')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: 100 + call.id }))
}
const notified = (subscription: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'signatureNotification',
    params: { subscription, result: { value: { err: null } } },
  })
const everybody = ({ server }: { server: WebSocketServer }, text: string) => {
  for (const client of server.clients) client.send(text)
}

describe('a wait for a signature', () => {
  it('ends as soon as the embedded chain has confirmed the transaction', async () => {
    const test = await openTestChain()
    const served = await serveLocalnet({ chain: test.chain, port: 0 })
    onTestFinished(() => served.close())
    const [target] = socketTargets({ url: served.url, weight: 1, headers: {} })
    let hasSubscribed = false
    const onSubscribed = () => {
      hasSubscribed = true
    }
    const { socket } = socketAt(() => [{ ...target!, onSubscribed }])
    const payer = test.wallet()
    const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })
    const raw = test.sign([transfer], [payer])
    const seen = new Promise<void>((done) => void socket.onSignature(base58.encode(raw.subarray(1, 65)), done))
    await expect.poll(() => hasSubscribed).toBe(true)
    test.chain.send(raw)
    test.wall.ms += 800
    await seen
  })

  it('is called once, only for its own signature', async () => {
    const opened = await openServer(subscribing)
    const { socket } = socketAt(() => at(opened.url))
    const seen: string[] = []
    for (const name of ['one', 'two']) socket.onSignature(name, () => seen.push(name))
    await expect.poll(() => opened.asked.length).toBe(2)
    const two = opened.asked.find(({ params }) => params[0] === 'two')!
    for (let i = 0; i < 3; i++) everybody(opened, notified(100 + two.id))
    await expect.poll(() => seen).toEqual(['two'])
    expect(seen).toEqual(['two'])
  })

  it('that is abandoned is unsubscribed, and an unused connection is closed', async () => {
    const opened = await openServer(subscribing)
    const { socket, run } = socketAt(() => at(opened.url))
    const end = socket.onSignature('one', () => expect.unreachable())
    await expect.poll(() => opened.asked.length).toBe(1)
    everybody(opened, JSON.stringify({ jsonrpc: '2.0', method: 'other', params: {} }))
    await new Promise<void>((done) => void setImmediate(done))
    await expect
      .poll(() => {
        end()
        return opened.asked.map(({ method }) => method)
      })
      .toContain('signatureUnsubscribe')
    run(10_000, 10_000)
    await expect.poll(() => opened.server.clients.size).toBe(0)
  })

  it('is repeated after a break, after a pause, and at the next endpoint', async () => {
    const [first, second] = [await openServer(subscribing), await openServer(subscribing)]
    const { socket, timers, run } = socketAt(() => [...at(first.url), ...at(second.url)])
    const seen: string[] = []
    socket.onSignature('one', () => seen.push('one'))
    await expect.poll(() => first.asked.length).toBe(1)
    for (const client of first.server.clients) client.terminate()
    await expect.poll(() => timers.some(({ milliseconds }) => milliseconds >= 500 && milliseconds <= 4_000)).toBe(true)
    run(500, 4_000)
    await expect.poll(() => second.asked.length).toBe(1)
    everybody(second, notified(100 + second.asked[0]!.id))
    await expect.poll(() => seen).toEqual(['one'])
  })

  it('that cannot be subscribed falls back to polling, with pauses that grow to a minute', async () => {
    const { socket, timers, run } = socketAt(() => at('ws://127.0.0.1:1'))
    socket.onSignature('one', () => expect.unreachable())
    const pauses: number[] = []
    for (let i = 0; i < 9; i++) {
      await expect.poll(() => timers.filter(({ milliseconds }) => milliseconds <= 60_000).length).toBe(1)
      pauses.push(timers.find(({ milliseconds }) => milliseconds <= 60_000)!.milliseconds)
      run(0, 60_000)
    }
    expect(pauses[0]).toBeLessThanOrEqual(2_000)
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(30_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000)
  })

  it('does not postpone the next try to connect', async () => {
    const { socket, timers } = socketAt(() => at('ws://127.0.0.1:1'))
    socket.onSignature('one', () => expect.unreachable())
    const retries = () => timers.filter(({ milliseconds }) => milliseconds <= 60_000)
    await expect.poll(() => retries().length).toBe(1)
    const before = retries()
    socket.onSignature('two', () => expect.unreachable())
    expect(retries()).toEqual(before)
    expect(retries()[0]).toBe(before[0])
  })

  it('is limited in number', async () => {
    const opened = await openServer()
    const { socket } = socketAt(() => at(opened.url))
    for (let i = 0; i < MOST_SIGNATURES + 50; i++) socket.onSignature(`s${i}`, () => {})
    await expect.poll(() => opened.asked.length).toBe(MOST_SIGNATURES)
  })
})

describe('a hostile WebSocket endpoint', () => {
  it.each([
    ['sends text that is not JSON', '{'],
    ['sends JSON that is not JSON-RPC', '[1,2,3]'],
    ['sends null', 'null'],
    ['answers what nobody asked', '{"jsonrpc":"2.0","id":99999,"result":1}'],
    ['answers with an id of another kind', '{"jsonrpc":"2.0","id":{"a":1},"result":"x"}'],
    ['notifies subscriptions that nobody has', notified(424242)],
    ['notifies without parts', '{"jsonrpc":"2.0","method":"signatureNotification"}'],
  ])('that %s ends no wait', async (_, text) => {
    const opened = await openServer(subscribing)
    const { socket } = socketAt(() => at(opened.url))
    const seen: string[] = []
    socket.onSignature('one', () => seen.push('one'))
    await expect.poll(() => opened.asked.some(({ method }) => method === 'signatureSubscribe')).toBe(true)
    for (let i = 0; i < 5; i++) everybody(opened, text)
    const own = opened.asked.find(({ method }) => method === 'signatureSubscribe')!
    everybody(opened, notified(100 + own.id))
    await expect.poll(() => seen).toEqual(['one'])
  })

  it('with nonsense or huge messages is closed', async () => {
    for (const text of ['{', `"${'x'.repeat(20_000)}"`]) {
      const opened = await openServer(subscribing)
      const { socket } = socketAt(() => at(opened.url))
      socket.onSignature('one', () => {})
      await expect.poll(() => opened.asked.length).toBe(1)
      for (let i = 0; i < 25; i++) everybody(opened, text)
      await expect.poll(() => opened.server.clients.size).toBe(0)
    }
  })

  it('that falls silent is pinged, and closed without an answer', async () => {
    const opened = await openServer(subscribing)
    const { socket, run } = socketAt(() => at(opened.url))
    socket.onSignature('one', () => {})
    await expect.poll(() => opened.asked.length).toBe(1)
    // The server answers pings by itself; between these two lines it has no time to.
    run(30_000, 30_000)
    run(30_000, 30_000)
    await expect.poll(() => opened.server.clients.size).toBe(0)
  })
})

it('the WebSocket of an endpoint is on the next port or on the same one, with its headers and its user', () => {
  const headers = { 'x-key': 'k' }
  expect(socketTargets({ url: 'http://u:p@node.test:8899/rpc?k=1', weight: 1, headers })).toEqual([
    { url: 'ws://node.test:8900/rpc?k=1', headers: { authorization: 'Basic dTpw', 'x-key': 'k' } },
    { url: 'ws://node.test:8899/rpc?k=1', headers: { authorization: 'Basic dTpw', 'x-key': 'k' } },
  ])
  expect(socketTargets({ url: 'https://node.test/k', weight: 1, headers: {} })).toEqual([
    { url: 'wss://node.test/k', headers: {} },
  ])
})
