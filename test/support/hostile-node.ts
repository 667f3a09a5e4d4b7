/** An RPC node over real HTTP that hangs, breaks off or asks to be left alone, as the test says. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const HANGS = ['after accept', 'after headers', 'in mid-body'] as const
export type Hang = (typeof HANGS)[number]

export type Behaviour =
  | { kind: 'answers' }
  | { kind: 'hangs'; where: Hang }
  | { kind: 'busy'; retryAfter?: string }
  | { kind: 'redirects'; to: string }

export interface HostileNode {
  url: string
  behaviour: Behaviour
  /** Methods that were asked, with when, by `performance.now()`. */
  asked: { method: string; at: number }[]
}

export async function openHostileNode(behaviour: Behaviour): Promise<HostileNode> {
  const node: HostileNode = { url: '', behaviour, asked: [] }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    request.on('end', () => {
      const { id, method } = JSON.parse(text) as { id: unknown; method: string }
      node.asked.push({ method, at: performance.now() })
      respond(response, node.behaviour, { id, method })
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}

const RESULTS: Record<string, unknown> = {
  getSlot: 9,
  getGenesisHash: 'hostile',
  sendBundle: 'bundle',
}

function respond(
  response: ServerResponse,
  behaviour: Behaviour,
  { id, method }: { id: unknown; method: string },
): void {
  if (behaviour.kind === 'busy') {
    const { retryAfter } = behaviour
    response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('slow down')
    return
  }
  if (behaviour.kind === 'redirects') {
    response.writeHead(307, { location: behaviour.to }).end()
    return
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? null })
  const head = { 'content-type': 'application/json', 'content-length': String(body.length) }
  if (behaviour.kind === 'answers') response.writeHead(200, head).end(body)
  else if (behaviour.where === 'after headers') response.writeHead(200, head).flushHeaders()
  else if (behaviour.where === 'in mid-body') response.writeHead(200, head).write(body.slice(0, 12))
}
