/** Reads that are answered on their connection: the same in every byte as through hono, and never older than the database. */

import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLocal } from '../../daemon/local.ts'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { onPostgres } from '../support/database.ts'
import { type Service, startService } from '../support/service.ts'
import { entries } from '../support/trees.ts'
import { listenDirectly } from './direct-listening.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const ID = 'x-request-id: one'
/** The rest of an id of a tree that was never stored, after its first letter. */
const UNKNOWN = 'puIV_6rgYT7aH9jRhjANdrEOdwa6ztVmKDwAAAAAAEAAA'

/** Sends the lines as one request on a connection of its own, and answers every byte but the date and ids that were made. */
async function raw(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`))
  let text = ''
  for await (const piece of socket.setEncoding('utf8')) text += piece
  return text.replace(/\r\nDate: [^\r]+/, '').replaceAll(/req_[0-9a-f]{32}/g, 'req_made')
}

interface Listening {
  ask(...lines: string[]): Promise<string>
  /** How many requests were answered without hono. */
  direct(): number
  /** The metrics of requests, without times. */
  counted(): string
}

async function listen(service: Service, isDirect: boolean): Promise<Listening> {
  const { port, direct, counted } = await listenDirectly(service, isDirect)
  return {
    ask: (...lines) => raw(port, lines),
    direct,
    counted: () => counted((line) => /^svc_http_(requests_total|response_bytes_total|requests_in_flight)/.test(line)),
  }
}

describe('a read', () => {
  it('is the same in every byte, header and metric whether hono or its connection answers it', async () => {
    const service = await startService()
    const { request, operator, key } = service
    const made = await request('POST', '/v2/merkle-trees', { body: { mint: MINT, entries: entries(2) } })
    for (let n = 1; n < 4; n++)
      await request('POST', '/v2/merkle-trees', { body: { mint: MINT, airdrop_count: n, entries: entries(2) } })
    const limited = await key({ perMinute: 1_000, perDay: 5_000 })
    const bearer = `authorization: Bearer ${operator}`
    const tree = `/v2/merkle-trees/${made.json.data.id}`
    const cursor = (await request('GET', '/v2/merkle-trees?limit=1')).json.meta.next_cursor
    const get = (target: string, ...more: string[]) => [`GET ${target} HTTP/1.1`, 'host: svc.test', ID, ...more]
    const requests = [
      get('/v2/health'),
      get('/v2/health?x=1'),
      get('/v2/health/'),
      get('//v2//health'),
      get('/v2/./health'),
      get('/v2/%68ealth'),
      get('/V2/health'),
      get('/v2/health#top'),
      get('http://svc.test/v2/health'),
      get('/v2/health', 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
      get('/v2/health', 'x-request-id: two'),
      ['GET /v2/health HTTP/1.1', 'host: svc.test', `x-request-id: ${'x'.repeat(129)}`],
      ['GET /v2/health HTTP/1.1', 'host: Svc.Test:8080', ID],
      ['GET /v2/pools HTTP/1.1', 'host: 1', ID],
      ['HEAD /v2/health HTTP/1.1', 'host: svc.test', ID],
      ['OPTIONS /v2/health HTTP/1.1', 'host: svc.test', ID],
      ['DELETE /v2/health HTTP/1.1', 'host: svc.test', ID],
      get('/v2/merkle-trees', bearer),
      get('/v2/merkle-trees?limit=2', bearer),
      get(`/v2/merkle-trees?limit=2&cursor=${cursor}`, bearer),
      get('/v2/merkle-trees?limit=2&limit=3', bearer),
      get('/v2/merkle-trees?limit=&&x', bearer),
      get('/v2/merkle-trees?cursor=a.b:c', bearer),
      get('/v2/merkle-trees?mint=%20', bearer),
      get(tree, bearer),
      get(tree, 'Authorization: bearer   x'),
      get(tree, `authorization: Bearer ${operator}`, 'authorization: Bearer other'),
      get(tree),
      get(`${tree}x`, bearer),
      get('/v2/merkle-trees/..', bearer),
      get(`${tree}/proof`, bearer),
      get('/v2/nothing', bearer),
      get('/v2/api-keys', bearer),
      get('/v2/pools', bearer),
      get('/v2/events', bearer),
      get('/v2/service/event-types', bearer),
      // Twice, so that the second is answered with the text of the first.
      get('/v2/merkle-trees', bearer),
      get(tree, bearer),
    ]
    const [direct, throughHono] = [await listen(service, true), await listen(service, false)]
    for (const lines of requests) {
      const [one, other] = [await direct.ask(...lines), await throughHono.ask(...lines)]
      // Names of headers may be written in capitals, and where the length stands is Node's choice.
      expect([lines, sortedHead(one)]).toEqual([lines, sortedHead(other)])
    }
    expect(direct.counted()).toBe(throughHono.counted())
    expect([direct.direct() > 20, throughHono.direct()]).toEqual([true, 0])
    const limits = get(tree, `authorization: Bearer ${limited}`)
    for (const left of [999, 998, 997]) {
      const answer = await direct.ask(...limits)
      expect(answer).toContain(`"minute";r=${left};t=60, "day";r=${left + 4_000};t=86400`)
      expect(answer).toContain('RateLimit-Policy: "minute";q=1000;w=60, "day";q=5000;w=86400')
    }
  })

  it('is answered with its own, in order, however many arrive together and one behind another', async () => {
    const service = await startService()
    const { ask, direct } = await listen(service, true)
    const bearer = `authorization: Bearer ${await service.key({ perMinute: 10_000, scopes: ['*'] })}`
    const targets = ['/v2/health', '/v2/api-keys', '/v2/merkle-trees', '/v2/nothing', '/v2/health']
    const connection = async (n: number) => {
      const requests = targets.map((target, at) => [
        `GET ${target} HTTP/1.1`,
        'host: svc.test',
        bearer,
        `x-request-id: ${n}-${at}`,
      ])
      const answers = await ask(requests.map((lines) => lines.join('\r\n')).join('\r\n\r\n'))
      return [...answers.matchAll(/"request_id":"([^"]+)"/g)].map(([, id]) => id)
    }
    const found = await Promise.all(Array.from({ length: 32 }, (_, n) => connection(n)))
    expect(found).toEqual(found.map((_, n) => targets.map((_target, at) => `${n}-${at}`)))
    expect(direct()).toBe(32 * (targets.length - 1))
  })

  it('is the same in a command that answers itself, where only an escaped path takes the way through a Request', async () => {
    const { services, operator, request } = await startService()
    await request('POST', '/v2/api-keys', { body: { name: 'one', scopes: ['*'] } })
    const local = await openLocal(services.config)
    onTestFinished(() => local.close())
    const asked = [
      ['/v2/api-keys?limit=1', '/v2/api-keys?limit=%31', operator, 200],
      ['/v2/api-keys?limit=0', '/v2/api-keys?limit=%30', operator, 400],
      ['/v2/merkle-trees/none', '/v2/merkle-trees/%6eone', operator, 400],
      [`/v2/merkle-trees/B${UNKNOWN}`, `/v2/merkle-trees/%42${UNKNOWN}`, operator, 404],
      ['/v2/api-keys?limit=2', '/v2/api-keys?limit=%32', 'no-key', 403],
    ] as const
    for (const [plain, escaped, key, status] of asked) {
      const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'one' }
      const [direct, throughHono] = [
        await local.send({ method: 'GET', path: plain, headers }),
        await local.send({ method: 'GET', path: escaped, headers }),
      ]
      expect([plain, direct]).toEqual([plain, throughHono])
      expect([plain, direct.status, direct.headers['x-request-id']]).toEqual([plain, status, 'one'])
    }
  })

  it('shows every commit at once, and a revoked key opens nothing', async () => {
    const service = await startService()
    const { ask } = await listen(service, true)
    const made = await service.request('POST', '/v2/api-keys', { body: { name: 'one', scopes: ['*'] } })
    const lines = ['GET /v2/api-keys HTTP/1.1', 'host: svc.test', `authorization: Bearer ${made.json.data.key}`]
    const count = async () => JSON.parse((await ask(...lines)).split('\r\n\r\n')[1] ?? '').meta?.count
    for (let n = 2; n < 6; n++) {
      expect([await count(), await count()]).toEqual([n, n])
      await service.request('POST', '/v2/api-keys', { body: { name: `key ${n}` } })
    }
    expect(await ask(...lines)).toContain('HTTP/1.1 200')
    await service.request('DELETE', `/v2/api-keys/${made.json.data.id}`)
    expect(await ask(...lines)).toContain('HTTP/1.1 403')
  })

  it.skipIf(onPostgres)('shows what another process commits, too', async () => {
    const service = await startService()
    const { ask } = await listen(service, true)
    const key = await service.key({ scopes: ['*'] })
    const lines = ['GET /v2/api-keys HTTP/1.1', 'host: svc.test', `authorization: Bearer ${key}`]
    expect(await ask(...lines)).toContain('"name":"test"')
    const other = new Database(join(service.dataDir, DATABASE_FILE))
    onTestFinished(() => void other.close())
    other.exec("update api_keys set name = 'renamed' where name = 'test'")
    expect(await ask(...lines)).toContain('"name":"renamed"')
    other.exec("update api_keys set status = 'revoked' where name = 'renamed'")
    expect(await ask(...lines)).toContain('HTTP/1.1 403')
  })
})

function sortedHead(answer: string): string[] {
  const [head = '', ...body] = answer.split('\r\n\r\n')
  const [status = '', ...headers] = head.split('\r\n')
  const lower = headers.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
  return [status, ...lower.toSorted(), ...body]
}
