/** Server of the embedded chain: JSON-RPC over HTTP, and subscriptions over WebSocket on the next port. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { createRpc, type LocalRpc, type LocalRpcOptions } from './rpc/index.ts'
import type { LocalChain } from './types.ts'
import { createSubscriptions, type Subscriptions } from './websocket.ts'

/** Size limit that allows a batch of about six hundred transactions. */
const MAX_BODY_BYTES = 1024 * 1024
const MAX_MESSAGE_BYTES = 64 * 1024
/** Maximum bytes queued for a client that does not read; beyond it the socket is closed. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024
const TRY_AGAIN_LATER = 1013
const PAIR_ATTEMPTS = 20
/** Node's default of five seconds would close connections that clients are about to reuse. */
const KEEP_ALIVE_MS = 65_000

const PATHS = ['/', '/api/v1/bundles', '/api/v1/transactions']
/** Browser wallets may call from any page, as with a validator. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': 'content-type, solana-client',
  'access-control-max-age': '86400',
}

interface ServeLocalnetOptions extends LocalRpcOptions {
  /** The chain, or a function that opens it: called once at the first request, and again after a failure. */
  chain: LocalChain | (() => Promise<LocalRpc>)
  /** Address to listen on; the default is 127.0.0.1. */
  host?: string
  /** HTTP port, with the WebSocket on the next one; the default is 8899, and 0 selects a free pair. */
  port?: number
}

export interface LocalnetServer {
  url: string
  wsUrl: string
  /** Closes the listeners and all connections; the chain stays open. */
  close(): Promise<void>
}

/** A port of the pair is in use. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'
  readonly port: number

  constructor(host: string, port: number) {
    super(`Port ${port} on ${host} is in use; stop the program that listens there, or choose another port`)
    this.port = port
  }
}

function reply(response: ServerResponse, status: number, body = '', type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    ...CORS,
    ...(body && { 'content-type': type }),
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Returns the body, or null when it is too large; its remainder is then not read. */
async function readRpcBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function answerPost(open: Open, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.headers['content-type']?.toLowerCase().startsWith('application/json')) {
    return reply(response, 415, 'Supplied content type is not allowed. Content-Type: application/json is required\n')
  }
  const body = await readRpcBody(request)
  if (body === null) {
    response.setHeader('connection', 'close')
    return reply(response, 413, `The request is larger than ${MAX_BODY_BYTES} bytes\n`)
  }
  // Pages in a browser do not get the operator's methods, so that they cannot move the clock.
  const operator = request.headers.origin === undefined
  let opened: OpenedServer
  try {
    opened = await open()
  } catch (error) {
    return reply(response, 503, `${error instanceof Error ? error.message : error}\n`)
  }
  const answer = await opened.rpc.handle(body, { operator })
  // A client that waits for a signature is notified before it reads the same outcome: web3.js throws for an error that
  // it reads first.
  if (body.includes('getSignatureStatuses')) opened.subscriptions.flush()
  reply(response, 200, answer ?? '', 'application/json; charset=utf-8')
}

async function respondJson(open: Open, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1)
  const { method } = request
  if (method === 'OPTIONS') return reply(response, 204)
  if (method === 'GET' && path === '/health') return reply(response, 200, 'ok')
  if (!PATHS.includes(path)) return reply(response, 404, 'Not found\n')
  if (method !== 'POST') {
    response.setHeader('allow', 'POST, OPTIONS')
    return reply(response, 405, 'Used HTTP Method is not allowed. POST or OPTIONS is required\n')
  }
  await answerPost(open, request, response)
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortInUse(host, port) : error)
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.off('error', refuse)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Listens on a port and the next one. Throws PortInUse. */
async function listenOnPair(http: Server, ws: Server, host: string, port: number): Promise<[number, number]> {
  for (let attempt = 1; ; attempt++) {
    const first = await listenOn(http, host, port)
    try {
      if (first === 65_535) throw new PortInUse(host, first + 1)
      return [first, await listenOn(ws, host, first + 1)]
    } catch (error) {
      await closeServer(http)
      if (port !== 0 || attempt >= PAIR_ATTEMPTS || !(error instanceof PortInUse)) throw error
    }
  }
}

/** Passes a socket's messages to its subscriptions, and closes a socket that is too slow. */
function attach(socket: WebSocket, subscriptions: Subscriptions): void {
  const connection = subscriptions.connect((text) => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      connection.close()
      socket.close(TRY_AGAIN_LATER, 'Too slow')
      return
    }
    socket.send(text)
  })
  socket.on('message', (data) => connection.receive(data.toString()))
  socket.on('close', () => connection.close())
  socket.on('error', () => socket.terminate())
}

function upgradeWith(sockets: WebSocketServer, open: Open) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    open().then(
      ({ subscriptions }) => sockets.handleUpgrade(request, socket, head, (client) => attach(client, subscriptions)),
      () => socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    )
  }
}

interface OpenedServer {
  rpc: LocalRpc
  subscriptions: Subscriptions
}
type Open = () => Promise<OpenedServer>

/** Opens at the first call; a failure rejects all pending callers, and the next call tries again. */
function opener({ chain, onError }: ServeLocalnetOptions): { open: Open; close(): Promise<void> } {
  const serve = async (): Promise<OpenedServer> => {
    const rpc = typeof chain === 'function' ? await chain() : createRpc(chain, onError ? { onError } : {})
    return { rpc, subscriptions: createSubscriptions(rpc.chain, onError ? { onError } : {}) }
  }
  let opened: Promise<OpenedServer> | undefined
  return {
    open() {
      opened ??= serve().catch((error) => {
        opened = undefined
        throw error
      })
      return opened
    },
    async close() {
      ;(await opened?.catch(() => undefined))?.subscriptions.close()
    },
  }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Serves a chain on `port` (HTTP; WebSocket as well) and `port + 1` (WebSocket). Throws PortInUse. */
export async function serveLocalnet(options: ServeLocalnetOptions): Promise<LocalnetServer> {
  const { host = '127.0.0.1', port = 8899, onError } = options
  const { WebSocketServer } = await import('ws')
  const opening = opener(options)
  const http = createServer((request, response) => {
    respondJson(opening.open, request, response).catch((error) => {
      // A client that closed the connection is not an error.
      if (error.code !== 'ECONNRESET') onError?.(error, 'http')
      response.destroy()
    })
  })
  http.keepAliveTimeout = KEEP_ALIVE_MS
  const ws = createServer((_, response) => reply(response, 426, 'Upgrade to WebSocket required\n'))
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const [httpPort, wsPort] = await listenOnPair(http, ws, host, port)
  for (const server of [http, ws]) server.on('upgrade', upgradeWith(sockets, opening.open))

  return {
    url: `http://${urlHost(host)}:${httpPort}`,
    wsUrl: `ws://${urlHost(host)}:${wsPort}`,
    async close() {
      await opening.close()
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      await Promise.all([closeServer(http), closeServer(ws)])
    },
  }
}
