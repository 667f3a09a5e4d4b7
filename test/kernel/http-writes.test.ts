/** Writes over HTTP: every byte of their answers and what they leave behind, whatever the body is and however it arrives. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { exchange, listen, transcript } from './listening.ts'

const KIB = 1024
const HEALTH = 'GET /v2/health HTTP/1.1\r\nhost: svc.test\r\nconnection: close\r\n\r\n'

/** A request as it is sent; `continued` waits for the server's word before its pieces, one round trip between two. */
interface Sent {
  head: readonly string[]
  pieces?: readonly string[]
  continued?: boolean
}

interface Server {
  send(request: Sent): Promise<string>
  /** Sends the request without its end, and hangs up when the server has it. */
  hangUp(request: Sent): Promise<void>
  port: number
  counted(): string
  service: Service
}

/** A daemon of its own on a database of its own, which begins like every other. */
async function startServer(): Promise<Server> {
  const service = await startService()
  const { port, counted } = await listen(service)
  const roundTrip = () => exchange(port, (socket) => void socket.write(HEALTH))
  return {
    service,
    port,
    counted: () => counted(/^svc_http_requests_(?!.*\/v2\/health)/),
    send: ({ head, pieces = [], continued = false }) =>
      exchange(port, async (socket) => {
        const lines = [...head, 'connection: close', ...(continued ? ['expect: 100-continue'] : [])]
        socket.write(`${lines.join('\r\n')}\r\n\r\n${continued ? '' : pieces.join('')}`)
        if (!continued) return
        await once(socket, 'data')
        for (const piece of pieces) {
          socket.write(piece)
          await roundTrip()
        }
      }),
    async hangUp({ head, pieces = [] }) {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`${head.join('\r\n')}\r\n\r\n${pieces.join('')}`)
      await roundTrip()
      socket.destroy()
    },
  }
}

/** What the writes left behind. */
async function storedBy({ service: { services } }: Server): Promise<unknown[]> {
  const { db } = services.store
  const keys = db.selectFrom('idempotency_keys').select(['key', 'request_hash', 'state', 'status', 'lease_until'])
  const entries = db.selectFrom('audit_entries').select(['sequence', 'at', 'action', 'signer'])
  const made = db.selectFrom('api_keys').select(['seq', 'name', 'scopes_json', 'per_minute', 'status'])
  return [
    await keys.orderBy('key').execute(),
    await entries.orderBy('sequence').execute(),
    await made.orderBy('seq').execute(),
  ]
}

function requestsOf(operator: string): Sent[] {
  const bearer = `authorization: Bearer ${operator}`
  const json = 'content-type: application/json'
  const to = (line: string, body: string, ...more: string[]): Sent => ({
    head: [`${line} HTTP/1.1`, 'host: svc.test', `content-length: ${Buffer.byteLength(body)}`, ...more],
    pieces: [body],
  })
  const post = (body: string, ...more: string[]) => to('POST /v2/api-keys', body, bearer, json, ...more)
  const chunked = (line: string, pieces: readonly string[], ...more: string[]): Sent => ({
    head: [`${line} HTTP/1.1`, 'host: svc.test', 'transfer-encoding: chunked', bearer, json, ...more],
    pieces: [...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`), '0\r\n\r\n'],
  })
  const one = '{"name":"one","scopes":["airdrop:write"]}'
  const large = `{"name":"${'x'.repeat(300 * KIB)}"}`
  const key = (name: string) => `idempotency-key: ${name}`
  return [
    post(one, key('k')),
    post(one, key('k')),
    post('{"name":"two"}', key('k')),
    to('POST /v2/api-keys?x=1', one, bearer, json, key('query')),
    post(one),
    post(`{"name":"ümläut ✓"}`, key('utf')),
    post('', key('empty')),
    post('{"name":', key('broken')),
    post('[]', key('list')),
    post('{"name":"a","nothing":1,"scopes":["no"]}', key('unknown')),
    post('{}', key('missing')),
    post(one, key('x'.repeat(256))),
    post(one, 'idempotency-key: '),
    post(`${'['.repeat(40)}`, key('deep')),
    post(large, key('large')),
    {
      ...post(one),
      head: [...post('').head.filter((line) => !line.startsWith('content-length')), 'content-length: 99999999'],
    },
    chunked('POST /v2/api-keys', [one.slice(0, 10), one.slice(10)], key('chunked')),
    chunked('POST /v2/api-keys', [large.slice(0, 200 * KIB), large.slice(200 * KIB)], key('chunked large')),
    { ...post(one, key('slow')), pieces: [one.slice(0, 5), one.slice(5, 20), one.slice(20)], continued: true },
    { ...chunked('POST /v2/api-keys', [one.slice(0, 7), one.slice(7)], key('slow chunks')), continued: true },
    to('POST /v2/api-keys', one, json, key('nobody')),
    to('POST /v2/api-keys', one, 'authorization: Bearer wrong', json),
    to('POST /v2/api-keys', one, bearer, 'content-type: text/plain', key('plain')),
    to('POST /v2/api-keys', one, bearer, key('untyped')),
    to('POST /v2/api-keys', one, bearer, json, 'x-request-id: mine', key('named')),
    to('POST /v2/api-keys', one, bearer, json, `x-request-id: ${'x'.repeat(129)}`, key('misnamed')),
    to('POST /v2/api-keys', one, bearer, json, 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
    to('POST /v2/%61pi-keys', one, bearer, json, key('encoded')),
    to('POST /v2/api-keys/', one, bearer, json),
    to('PUT /v2/api-keys', one, bearer, json),
    to('DELETE /v2/api-keys', '', bearer),
    to('POST /v2/health', one, bearer, json),
    to('POST /v2/nothing', one, bearer, json),
    to('DELETE /v2/api-keys/key_none', '', bearer, key('delete')),
    { head: ['DELETE /v2/api-keys/key_none HTTP/1.1', 'host: svc.test', bearer] },
    to('DELETE /v2/api-keys/key_none', '{"a":1}', bearer, json, key('delete with a body')),
    to(
      'POST /v2/pdas/stake',
      '{"args":{"user":"So11111111111111111111111111111111111111112"}}',
      bearer,
      json,
      key('pda'),
    ),
    to(
      'POST /v2/webhook-subscriptions',
      '{"url":"https://127.0.0.1","enabled_events":["*"]}',
      bearer,
      json,
      key('hook'),
    ),
    to('POST /v2/pools', 'no form', bearer, 'content-type: multipart/form-data', key('form')),
    to('POST /v2/merkle-trees', '{"mint":"a"}', bearer, json, key('tree')),
    {
      head: ['POST /v2/api-keys HTTP/1.0', 'host: svc.test', bearer, json, `content-length: ${one.length}`],
      pieces: [one],
    },
  ]
}

describe('a write', () => {
  it('is answered byte for byte, counted and stored as http-writes.txt says', async () => {
    const server = await startServer()
    const told: string[] = []
    for (const request of requestsOf(server.service.operator)) {
      told.push(transcript(shown(request), await server.send(request)))
    }
    const stored = (await storedBy(server)).map((rows) => JSON.stringify(rows))
    await expect([...told, server.counted(), ...stored].join('\n\n')).toMatchFileSnapshot('http-writes.txt')
  })

  it('of a client that hangs up within its body is counted, and stores nothing', async () => {
    {
      const server = await startServer()
      const before = await storedBy(server)
      await server.hangUp({
        head: [
          'POST /v2/api-keys HTTP/1.1',
          'host: svc.test',
          `authorization: Bearer ${server.service.operator}`,
          'content-type: application/json',
          'content-length: 100',
          'idempotency-key: k',
        ],
        pieces: ['{"name":'],
      })
      const line = 'svc_http_requests_total{method="POST",route="/v2/api-keys",status="400"} 1'
      await expect.poll(() => server.counted()).toContain(line)
      expect(server.counted()).toContain('in_flight 0')
      expect(await storedBy(server)).toEqual(before)
    }
  })

  it('that is refused before its body is read leaves the connection usable for the next request', async () => {
    {
      const { port } = await startServer()
      const body = 'x'.repeat(200 * KIB)
      const refused = `POST /v2/api-keys HTTP/1.1\r\nhost: svc.test\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      const text = await exchange(port, (socket) => void socket.write(refused + HEALTH))
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
    }
  })
})

/** What is sent, without the middle of a large body. */
const shown = ({ head, pieces = [] }: Sent): string[] => [
  ...head,
  ...pieces.map((piece) => (piece.length > 200 ? `${piece.slice(0, 40)}… ${piece.length} characters` : piece)),
]
