/** Reads over HTTP: every byte of their answers, their order on a connection, and that none is older than the database. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLocal } from '../../daemon/local.ts'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { onPostgres } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { entries } from '../support/trees.ts'
import { ask, listen, transcript } from './listening.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const ID = 'x-request-id: one'
/** The rest of an id of a tree that was never stored, after its first letter. */
const UNKNOWN = 'puIV_6rgYT7aH9jRhjANdrEOdwa6ztVmKDwAAAAAAEAAA'
/** Metrics of requests that do not depend on time. */
const COUNTED = /^svc_http_(requests_total|response_bytes_total|requests_in_flight)/

describe('a read', () => {
  it('is answered byte for byte like http-reads.txt, and counted by its route', async () => {
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
      // Twice, so that the second is answered with the text of the first.
      get('/v2/merkle-trees', bearer),
      get(tree, bearer),
    ]
    const { port, counted } = await listen(service)
    const told: string[] = []
    for (const lines of requests) told.push(transcript(lines, await ask(port, lines)))
    await expect([...told, counted(COUNTED)].join('\n\n')).toMatchFileSnapshot('http-reads.txt')
    const limits = get(tree, `authorization: Bearer ${limited}`)
    for (const left of [999, 998, 997]) {
      const answer = await ask(port, limits)
      expect(answer).toContain(`"minute";r=${left};t=60, "day";r=${left + 4_000};t=86400`)
      expect(answer).toContain('RateLimit-Policy: "minute";q=1000;w=60, "day";q=5000;w=86400')
    }
  })

  it('is answered with its own data, in order, if many arrive together or one after another', async () => {
    const service = await startService()
    const { port } = await listen(service)
    const bearer = `authorization: Bearer ${await service.key({ perMinute: 10_000, scopes: ['*'] })}`
    const targets = ['/v2/health', '/v2/api-keys', '/v2/merkle-trees', '/v2/nothing', '/v2/health']
    const connection = async (n: number) => {
      const requests = targets.map((target, at) => [
        `GET ${target} HTTP/1.1`,
        'host: svc.test',
        bearer,
        `x-request-id: ${n}-${at}`,
      ])
      const answers = await ask(port, [requests.map((lines) => lines.join('\r\n')).join('\r\n\r\n')])
      return [...answers.matchAll(/"request_id":"([^"]+)"/g)].map(([, id]) => id)
    }
    const found = await Promise.all(Array.from({ length: 32 }, (_, n) => connection(n)))
    expect(found).toEqual(found.map((_, n) => targets.map((_target, at) => `${n}-${at}`)))
  })

  it('is the same in a command that runs without a daemon, with or without escapes in its path', async () => {
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
      const [answer, same] = [
        await local.send({ method: 'GET', path: plain, headers }),
        await local.send({ method: 'GET', path: escaped, headers }),
      ]
      expect([plain, answer]).toEqual([plain, same])
      expect([plain, answer.status, answer.headers['x-request-id']]).toEqual([plain, status, 'one'])
    }
  })

  it('shows every commit at once, and accepts no revoked key', async () => {
    const service = await startService()
    const { port } = await listen(service)
    const made = await service.request('POST', '/v2/api-keys', { body: { name: 'one', scopes: ['*'] } })
    const lines = ['GET /v2/api-keys HTTP/1.1', 'host: svc.test', `authorization: Bearer ${made.json.data.key}`]
    const count = async () => JSON.parse((await ask(port, lines)).split('\r\n\r\n')[1] ?? '').meta?.count
    for (let n = 2; n < 6; n++) {
      expect([await count(), await count()]).toEqual([n, n])
      await service.request('POST', '/v2/api-keys', { body: { name: `key ${n}` } })
    }
    expect(await ask(port, lines)).toContain('HTTP/1.1 200')
    await service.request('DELETE', `/v2/api-keys/${made.json.data.id}`)
    expect(await ask(port, lines)).toContain('HTTP/1.1 403')
  })

  it.skipIf(onPostgres)('shows what another process commits', async () => {
    const service = await startService()
    const { port } = await listen(service)
    const key = await service.key({ scopes: ['*'] })
    const lines = ['GET /v2/api-keys HTTP/1.1', 'host: svc.test', `authorization: Bearer ${key}`]
    expect(await ask(port, lines)).toContain('"name":"test"')
    const other = new Database(join(service.dataDir, DATABASE_FILE))
    onTestFinished(() => void other.close())
    other.exec("update api_keys set name = 'renamed' where name = 'test'")
    expect(await ask(port, lines)).toContain('"name":"renamed"')
    other.exec("update api_keys set status = 'revoked' where name = 'renamed'")
    expect(await ask(port, lines)).toContain('HTTP/1.1 403')
  })
})
