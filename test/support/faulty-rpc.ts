/** A node of the embedded chain over HTTP, whose answers a test can replace or withhold. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'

export interface FaultyRpc {
  url: string
  /** Methods that were called, in order. */
  calls: string[]
  /** Answers in place of the chain: a result, `undefined` for the chain's own, or 'lost' for no answer at all. */
  answer: (method: string, params: unknown[]) => { result: unknown } | 'lost' | undefined
  close(): Promise<void>
}

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' }

export async function serveFaultyRpc(chain: LocalChain): Promise<FaultyRpc> {
  const rpc = createRpc(chain, {})
  const server = createServer(async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end()
    const body = Buffer.concat(await request.toArray().catch(() => []))
    // The caller went away in the middle of its request.
    if (!request.complete || body.length === 0) return request.socket.destroy()
    const { id, method, params = [] } = JSON.parse(body.toString())
    node.calls.push(method)
    const answer = node.answer(method, params)
    if (answer === 'lost') return request.socket.destroy()
    const text = answer ? JSON.stringify({ jsonrpc: '2.0', id, ...answer }) : await rpc.handle(body)
    return response.writeHead(200, { ...CORS, 'content-type': 'application/json' }).end(text)
  })
  const node: FaultyRpc = {
    url: '',
    calls: [],
    answer: () => undefined,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()))
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}
