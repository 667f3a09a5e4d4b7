/** Three HTTP servers in front of one embedded chain, each with a fault of its own, and the app that asks them. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { base58 } from '@scure/base'
import { createApp } from '../../daemon/app.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import { openChain } from '../../src/chain/connection.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { databaseSettings } from './database.ts'
import { createFaultyNode, type FaultyNode } from './faulty-node.ts'
import { openTestChain } from './local-chain.ts'
import { requester } from './request.ts'
import { ORIGIN } from './service.ts'

/** `split brain`: its fork is dead; it knows nothing newer, and what it is sent goes nowhere. */
export const ENDPOINT_FAULTS = [
  '429',
  '503',
  'hang',
  'stale slot',
  'wrong genesis',
  'truncated body',
  'split brain',
] as const
export type EndpointFault = (typeof ENDPOINT_FAULTS)[number]

/** How far a stale endpoint lags: its blockhashes have ten slots left. */
const STALE_SLOTS = 140
const FOREIGN = 'FoRe1gnChain11111111111111111111111111111111'

export interface FaultyEndpoint {
  url: string
  /** Undefined while it is sound. */
  fault: EndpointFault | undefined
  /** Bodies of sendTransaction. */
  sent: string[]
  node: FaultyNode
  close(): Promise<void>
}

interface Rpc {
  id: unknown
  method: string
  params: [unknown, { commitment?: string } | undefined]
}

export async function openFaultyEndpoint(chain: LocalChain): Promise<FaultyEndpoint> {
  const node = createFaultyNode(chain)
  const sockets = new Set<Socket>()
  let forkedAt: number | undefined
  const server = createServer((request, response) => {
    // Whoever looks for a WebSocket here finds none.
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => void answer(JSON.parse(body) as Rpc, body, response).catch(() => response.destroy()))
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  async function answer(call: Rpc, body: string, response: ServerResponse): Promise<void> {
    const { fault } = endpoint
    const { id, method, params } = call
    forkedAt = fault === 'split brain' ? (forkedAt ?? chain.slot()) : undefined
    if (method === 'sendTransaction') endpoint.sent.push(String(params[0]))
    if (fault === 'hang') return
    if (fault === '429') return void response.writeHead(429, id === 1 ? { 'retry-after': '1' } : {}).end('slow down')
    if (fault === '503') return void response.writeHead(503).end('<html>no backend</html>')
    const result = (value: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: value })
    if (fault === 'wrong genesis' && method === 'getGenesisHash') return void response.end(result(FOREIGN))
    if (fault === 'split brain' && method === 'sendTransaction') {
      return void response.end(result(signatureIn(String(params[0]))))
    }
    node.lag = lagOf(call)
    let text = await (await node.fetch('', { method: 'POST', body })).text()
    if (forkedAt !== undefined) text = onFork(call, text, forkedAt)
    if (fault !== 'truncated body') return void response.end(text)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.write(text.slice(0, Math.max(1, text.length >> 1)))
    setImmediate(() => response.destroy())
  }

  /** Nobody votes for a dead fork, so that its newest bank goes on while no other one does. */
  function lagOf({ method, params }: Rpc): number {
    if (endpoint.fault === 'stale slot') return STALE_SLOTS
    if (forkedAt === undefined || method === 'getSignatureStatuses' || params[1]?.commitment === 'processed') return 0
    return chain.slot() - forkedAt
  }

  const endpoint: FaultyEndpoint = {
    url: '',
    fault: undefined,
    sent: [],
    node,
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => done())
      }),
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api-key=TOPSECRET`
  return endpoint
}

function onFork({ method }: Rpc, text: string, forkedAt: number): string {
  if (method !== 'getSignatureStatuses') return text
  const answer = JSON.parse(text) as { result: { value: ({ slot: number } | null)[] } }
  answer.result.value = answer.result.value.map((status) => (status !== null && status.slot > forkedAt ? null : status))
  return JSON.stringify(answer)
}

const signatureIn = (base64: string) => base58.encode(Buffer.from(base64, 'base64').subarray(1, 65))

/** The chain and its endpoints with one clock, which stands until it is moved, and apps that know nothing of each other. */
export async function openFaultyCluster(dataDir: string, count = 3) {
  const test = await openTestChain({ consensus: 'tower' })
  const { chain, wall } = test
  const clock = {
    now: () => wall.ms,
    advance(milliseconds: number) {
      wall.ms += milliseconds
    },
  }
  clock.advance(120_000)
  const endpoints = await Promise.all(Array.from({ length: count }, () => openFaultyEndpoint(chain)))
  const urls = endpoints.map(({ url }) => url).join(',')
  const flags = { 'data-dir': dataDir, 'rpc-urls': urls, ...(await databaseSettings(dataDir)) }
  const config = loadConfig({ flags, env: {}, cwd: dataDir })
  const opened = await openServices(config)
  return {
    ...test,
    clock,
    endpoints,
    /** The app as a process that has just started: it has asked no endpoint yet. */
    async start() {
      const ender = new AbortController()
      // Pauses end as the clock is moved; endpoints that hang take their real time.
      const elapsed = () => performance.now() + wall.ms
      const services = { ...opened, clock, chain: openChain(config, { ending: ender.signal, elapsed }) }
      const app = await createApp(services)
      return {
        services,
        request: requester(ORIGIN, app.fetch, await operatorKey(services)),
        async stop() {
          await app.close()
          ender.abort()
        },
      }
    },
    async close() {
      await opened.close()
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  }
}

export type FaultyCluster = Awaited<ReturnType<typeof openFaultyCluster>>
