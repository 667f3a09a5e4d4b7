/** The HTTP listener over the app; what is not even a request is answered in the envelope too. */
import { createServer, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Config } from '../src/config.ts'
import { badRequest } from '../src/errors.ts'
import type { App } from './app.ts'
import { oneAtATime } from './pipelining.ts'

const FAULTS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request was not sent in time',
}

/** How often Node looks for clients that are too slow; its own half minute would add to every bound. */
const SILENCE_CHECK_MS = 1_000
/** A connection on which nothing moves: its client takes no answer. The longest request has its answer in half of that. */
const SILENCE_MS = 300_000

/** Clients are bounded in time and in number: a connection that says nothing costs a place, and loses it soon. */
export function createHttpServer(app: App, { values }: Pick<Config, 'values'>): Server {
  const listener = getRequestListener(app.fetch, {
    errorHandler: (error) => app.refuse(badRequest(error instanceof Error ? error.message : 'Malformed request')),
  })
  const requestTimeout = values['request-timeout-seconds'] * 1_000
  const server = createServer(
    {
      // A missing Host is refused by the listener, in the envelope; Node itself would answer nothing but the status.
      requireHostHeader: false,
      headersTimeout: Math.min(values['header-timeout-seconds'] * 1_000, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: SILENCE_CHECK_MS,
    },
    oneAtATime((request, response) => void listener(request, response)),
  )
  server.timeout = SILENCE_MS
  server.maxConnections = values['max-connections']
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else void answerRaw(socket, app.refuse(badRequest(FAULTS[error.code ?? ''] ?? 'The request is not valid HTTP')))
  })
  return server
}

async function answerRaw(socket: Duplex, response: Response): Promise<void> {
  const body = await response.text()
  const headers = [...response.headers, ['content-length', String(Buffer.byteLength(body))], ['connection', 'close']]
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${response.status} Bad Request\r\n${head}\r\n${body}`)
}
