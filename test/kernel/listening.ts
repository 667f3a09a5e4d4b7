/** A server on a port of its own over the app of a test's service, and raw requests to it. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { createHttpServer } from '../../daemon/http-server.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import { VERSION } from '../../src/platform/version.ts'
import type { Service } from '../support/service.ts'

export interface Listening {
  port: number
  /** The lines of the metrics that match, in alphabetical order. */
  counted(pattern: RegExp): string
}

/** Listens until the test ends. */
export async function listen({ services }: Service): Promise<Listening> {
  const metrics = createMetrics()
  const app = await createApp(services, { metrics })
  const server = createHttpServer(app, services.config)
  onTestFinished(async () => {
    server.close()
    await app.close()
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return {
    port: (server.address() as AddressInfo).port,
    counted: (pattern) =>
      metrics.http
        .text()
        .split('\n')
        .filter((line) => pattern.test(line))
        .toSorted()
        .join('\n'),
  }
}

/** Everything that comes over a connection until it ends, without dates and with one name for all ids and keys. */
export async function exchange(port: number, send: (socket: Socket) => unknown): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  // Some tests write on after the server has closed the connection.
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  await send(socket)
  await closed
  return text
    .replaceAll(/\r\nDate: [^\r]+/gi, '')
    .replaceAll(/(req|key|evt)_[0-9A-Za-z]{16,}/g, '$1_made')
    .replaceAll(/svc_live_[0-9A-Za-z]+/g, 'svc_live_made')
    .replaceAll(/svc_(live|test)_…[0-9A-Za-z]+/g, 'preview')
}

/** Sends the lines as the head of one request without a body. */
export const ask = (port: number, lines: readonly string[]): Promise<string> =>
  exchange(port, (socket) => void socket.write(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`))

/**
 * A request and its answers as text: without keys, and with the headers in alphabetical order, because Node chooses where
 * the length stands.
 */
export function transcript(request: readonly string[], answer: string): string {
  const asked = request.map((line) => `> ${line.replace(/svc_live_\w+/, 'svc_live_made').replaceAll('\r\n', '\n> ')}`)
  const parts = answer.replaceAll(VERSION, 'VERSION').split('\r\n\r\n')
  return [...asked, ...parts.map((part) => (part.startsWith('HTTP/1.1 ') ? sortedHead(part) : part))].join('\n')
}

function sortedHead(part: string): string {
  const [status = '', ...headers] = part.split('\r\n')
  return [status, ...headers.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).toSorted()].join('\n')
}
