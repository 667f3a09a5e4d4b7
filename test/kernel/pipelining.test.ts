/** A connection with several requests: sent together, or after a time without any. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../../daemon/http-server.ts'
import { type Config, loadConfig } from '../../src/settings/config.ts'

const ask = 'GET /v2/health HTTP/1.1\r\nHost: a\r\n\r\n'

/** Sends the requests in one packet; `started` counts those that the app got. */
async function sendTogether(requests: number) {
  let answer = () => {}
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  const started = { count: 0 }
  const app = {
    async fetch() {
      started.count++
      await mayAnswer
      return new Response('x')
    },
    refuse: () => new Response('refused', { status: 400 }),
  }
  const server = createHttpServer(app, loadConfig({ env: {} }))
  onTestFinished(() => void server.close().closeAllConnections())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(ask.repeat(requests))
  return { started, socket, answer }
}

describe('a connection', () => {
  it('is closed if it sends more than 100 requests without waiting for the answers', async () => {
    const { started, socket } = await sendTogether(5_000)
    await new Promise((resolve) => socket.resume().once('close', resolve))
    expect(started.count).toBe(100)
  })

  it('gets every answer to 100 requests that it sends together', async () => {
    const { socket, answer } = await sendTogether(100)
    answer()
    let text = ''
    for await (const piece of socket) {
      text += piece
      if (text.split('HTTP/1.1 200').length > 100) break
    }
    expect(text.split('HTTP/1.1 200')).toHaveLength(101)
  })

  it('stays open without a request for idle-timeout-seconds, which every answer announces', async () => {
    const { values } = loadConfig({ env: {}, cwd: '/' })
    // 0.4 s, and the second that Node adds; the timeout for headers is shorter and has not begun.
    const short = { ...values, 'idle-timeout-seconds': 0.4, 'header-timeout-seconds': 0.2 }
    const { open } = await listening(short)
    const [line, idle] = [await open(), await open()]
    for (const { socket } of [line, idle]) socket.write(ask)
    await delay(700)
    line.socket.write(ask)
    await Promise.all([line.closed, idle.closed])
    expect(line.text().split('HTTP/1.1 200')).toHaveLength(3)
    const standard = await (await listening(values)).open()
    standard.socket.write(ask)
    await expect.poll(standard.text).toMatch(/\r\nkeep-alive: timeout=90\r\n/i)
  })

  it('gives its place to a new one if it is idle and max-connections are open', async () => {
    const { values } = loadConfig({ env: {}, cwd: '/' })
    const { open } = await listening({ ...values, 'max-connections': 2 })
    const first = await open()
    first.socket.write(ask)
    await expect.poll(first.text).toContain('HTTP/1.1 200')
    const second = await open()
    await first.closed
    second.socket.write(ask)
    await expect.poll(second.text).toContain('HTTP/1.1 200')
    const third = await open()
    await second.closed
    third.socket.write(ask)
    await expect.poll(third.text).toContain('HTTP/1.1 200')
  })
})

/** A server that answers everything at once, and connections to it. */
async function listening(values: Config['values']) {
  const app = { fetch: async () => new Response('x'), refuse: () => new Response('refused', { status: 400 }) }
  const server = createHttpServer(app, { values })
  onTestFinished(() => void server.close().closeAllConnections())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    async open() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => {})
      const closed = new Promise((resolve) => socket.once('close', resolve))
      let text = ''
      socket.on('data', (piece) => {
        text += piece
      })
      await once(socket, 'connect')
      return { socket, closed, text: () => text }
    },
  }
}
