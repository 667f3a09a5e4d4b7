/** Requests that a client sends on one connection without waiting for the answers. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../../daemon/http-server.ts'
import { loadConfig } from '../../src/settings/config.ts'

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
  const server = createHttpServer(app, loadConfig())
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
})
