/** The HTTP listener of the app; input that is not valid HTTP gets the error envelope too. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { badRequest } from '../src/platform/errors.ts'
import type { Config } from '../src/settings/config.ts'
import type { Answering } from './starting.ts'
import { restOfBody } from './unread-body.ts'

const FAULTS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request was not sent in time',
}

/** Milliseconds between Node's checks for slow clients; its default would add up to 30 s to every timeout. */
const SILENCE_CHECK_MS = 1_000
/** Milliseconds without traffic after which a connection with a request is closed. The longest takes half of that. */
const SILENCE_MS = 300_000
/** A connection with more unanswered requests is closed. Clients that use pipelining at all send a few. */
const MOST_UNANSWERED = 100

/**
 * Limits the time and the number of connections: an idle connection takes a place and is closed by a timeout. Once
 * `stopping` is aborted, each answer is the last of its connection, so proxies open the next one to another daemon.
 */
export function createHttpServer(app: Answering, { values }: Pick<Config, 'values'>, stopping?: AbortSignal): Server {
  const fetchApp = async (request: Request, bindings: object): Promise<Response> => {
    // The server only speaks HTTP/1, so the bindings are those of HTTP/1.
    const { incoming } = bindings as HttpBindings
    const response = await app.fetch(request, incoming)
    // A write needs no wait: the answers of one group commit come together already.
    if (request.method === 'GET') await endOfTurn()
    const rest = request.method === 'GET' ? undefined : restOfBody(incoming)
    return rest === undefined ? response : endingAfter(rest, response)
  }
  const errorHandler = (error: unknown) =>
    app.refuse(badRequest(error instanceof Error ? error.message : 'Malformed request'))
  const listener = getRequestListener(fetchApp, { errorHandler })
  // HTTP/1.0 requests have no Host, and probes of load balancers use HTTP/1.0.
  const withoutHost = getRequestListener(fetchApp, { errorHandler, hostname: 'localhost' })
  const requestTimeout = values['request-timeout-seconds'] * 1_000
  const server = createServer(
    {
      // The listener refuses a missing Host with the error envelope; Node would answer only with a status.
      requireHostHeader: false,
      headersTimeout: Math.min(values['header-timeout-seconds'] * 1_000, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: SILENCE_CHECK_MS,
    },
    (request, response) => {
      if (stopping?.aborted) response.shouldKeepAlive = false
      if (hasTooMany(request, response)) return
      void (request.httpVersion === '1.0' ? withoutHost : listener)(request, response)
    },
  )
  server.timeout = SILENCE_MS
  // A proxy that keeps a connection for longer would send a POST into the closing one, and answer 502. The timeouts
  // for headers and bodies begin with the first byte of a request, so idleness does not use them up.
  server.keepAliveTimeout = values['idle-timeout-seconds'] * 1_000
  server.maxConnections = values['max-connections']
  // Idle connections give way before a client is refused.
  server.on('connection', () =>
    server.getConnections((_, count) => {
      if (count >= server.maxConnections) server.closeIdleConnections()
    }),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else void answerRaw(socket, app.refuse(badRequest(FAULTS[error.code ?? ''] ?? 'The request is not valid HTTP')))
  })
  return server
}

const unanswered = new WeakMap<Socket, number>()

/** Node starts all requests of a packet at once. 64 KiB can hold 1,800 of them. */
function hasTooMany({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const count = (unanswered.get(socket) ?? 0) + 1
  unanswered.set(socket, count)
  response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
  if (count > MOST_UNANSWERED) socket.destroy()
  return socket.destroyed
}

let turn: Promise<void> | undefined

/**
 * Resolves when the event loop has processed what had arrived. Answers that are written together wake a client only
 * once; waking it for each one costs more than a quick answer.
 */
function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) =>
    setImmediate(() => {
      turn = undefined
      resolve()
    }),
  )
  return turn
}

/** Sends the answer at once, with its length, and ends it after the request's body. */
async function endingAfter(rest: Promise<void>, response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('content-length', String(bytes.byteLength))
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes)
      await rest
      controller.close()
    },
  })
  return new Response(body, { status: response.status, headers })
}

async function answerRaw(socket: Duplex, response: Response): Promise<void> {
  const body = await response.text()
  const headers = [...response.headers, ['content-length', String(Buffer.byteLength(body))], ['connection', 'close']]
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${response.status} Bad Request\r\n${head}\r\n${body}`)
}
