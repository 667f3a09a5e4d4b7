/** Envelope, headers and the ways a request fails. */
import { describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '../../src/platform/errors.ts'
import { type Answer, read } from '../support/request.ts'
import { ORIGIN, sharedService, startService } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const shared = sharedService()
const MINT = wallet(0)
const MIB = 1024 * 1024

function expectFailure(answer: Answer, code: keyof typeof ERROR_STATUS, param?: string): void {
  expect(answer.status, answer.text).toBe(ERROR_STATUS[code])
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(answer.json).sort()).toEqual(['error', 'meta'])
  const allowed = ['code', 'details', 'doc_url', 'message', 'param']
  expect(Object.keys(answer.json.error).filter((name) => !allowed.includes(name))).toEqual([])
  expect(answer.json.error.code).toBe(code)
  expect(answer.json.error.param, answer.text).toBe(param)
  expect(answer.json.error.message).toMatch(/\S/)
  expect(answer.json.error.doc_url).toBe(`${ORIGIN}/v2/docs#error-${code}`)
  expect(answer.json.meta).toEqual({ request_id: answer.headers.get('x-request-id') })
  expect(answer.json.meta.request_id).toMatch(/^[\x21-\x7e]{1,128}$/)
}

describe('a failure', () => {
  it('on an unknown path is not_found in the envelope, with and without a key', async () => {
    const { request } = await shared()
    for (const path of ['/v2', '/v2/', '/v2/nothing', '/v2/pools/a/b/c', '/v3/pools', '/assets/docs/package.json']) {
      expectFailure(await request('GET', path), 'not_found')
      expectFailure(await request('POST', path, { key: null, body: {} }), 'not_found')
    }
  })

  it('for a method that the path does not accept names the accepted ones', async () => {
    const { request } = await shared()
    const answer = await request('PUT', '/v2/pools', { body: {} })
    expectFailure(answer, 'not_found')
    expect(answer.json.error.message).toBe('PUT is not a method of /v2/pools; it takes POST, GET')
    expectFailure(await request('PATCH', `/v2/stakes/${MINT}`, { body: {} }), 'not_found')
    expectFailure(await request('POST', '/v2/openapi.json'), 'not_found')
    expectFailure(await request('DELETE', '/metrics'), 'not_found')
  })

  it('for malformed JSON, a wrong type or broken UTF-8 is bad_request', async () => {
    const { request } = await shared()
    for (const path of ['/v2/api-keys', '/v2/merkle-trees']) {
      for (const body of ['{', '{"name":}', 'null', '[]', '"x"', '1', '{"name":"a"}}', "{'name':'a'}", '\u0000']) {
        const answer = await request('POST', path, { body })
        expectFailure(answer, 'bad_request')
      }
      const broken = Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')])
      const answer = await request('POST', path, { body: new Uint8Array(broken) })
      expect(answer.status, answer.text).toBe(400)
    }
  })

  it('for a body without the JSON content type names Content-Type', async () => {
    const { request } = await shared()
    for (const path of ['/v2/api-keys', '/v2/merkle-trees', '/v2/stakes']) {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'multipart/form-data; boundary=x',
        '',
      ]) {
        const answer = await request('POST', path, { body: '{"name":"a"}', headers: { 'content-type': type } })
        expectFailure(answer, 'bad_request', 'Content-Type')
      }
    }
    const json = await request('POST', '/v2/api-keys', {
      body: { name: 'a' },
      headers: { 'content-type': 'Application/JSON;charset=UTF-8' },
    })
    expect(json.status).toBe(201)
  })

  it('for an empty body names the missing field', async () => {
    const { request } = await shared()
    expectFailure(await request('POST', '/v2/api-keys'), 'bad_request', 'name')
    expectFailure(await request('POST', '/v2/merkle-trees', { body: '{}' }), 'bad_request', 'entries')
    expectFailure(await request('POST', '/v2/merkle-trees', { body: '' }), 'bad_request')
    expectFailure(await request('POST', '/v2/merkle-trees'), 'bad_request', 'Content-Type')
  })

  it('for a body over the limit names its declared length or its actual length', async () => {
    const { request, app, operator } = await startService({
      settings: { 'body-limit-mib': 1, 'json-limit-kib': 1024 },
    })
    const limit = { limit_bytes: MIB }
    const declared = await request('POST', '/v2/api-keys', {
      body: '{}',
      headers: { 'content-length': String(MIB + 1) },
    })
    expectFailure(declared, 'bad_request')
    expect(declared.json.error.details).toEqual(limit)

    const exact = JSON.stringify({ name: 'a', metadata: {} }).padEnd(MIB)
    expect((await request('POST', '/v2/api-keys', { body: exact })).status).toBe(201)
    expectFailure(await request('POST', '/v2/api-keys', { body: `${exact} ` }), 'bad_request')

    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(64 * 1024).fill(32))
      },
    })
    const streamed = await app.fetch(
      new Request(`${ORIGIN}/v2/merkle-trees`, {
        method: 'POST',
        body: endless,
        duplex: 'half',
        headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      } as RequestInit),
    )
    const answer = await read(streamed)
    expectFailure(answer, 'bad_request')
    expect(answer.json.error.message).toBe('The request body is larger than 1 MiB')
    expect(pulled).toBeLessThan(20)
  })

  it('with many wrong fields lists the first twenty, and param is the dotted path of the first', async () => {
    const { request } = await shared()
    const splits = [
      { recipient: MINT, bps: 5000 },
      { recipient: MINT, bps: 0 },
    ]
    const one = await request('POST', `/v2/pools/${MINT}/fee-claims`, { body: { payer: MINT, splits } })
    expectFailure(one, 'bad_request', 'splits.1.bps')
    expect(one.json.error.message).toMatch(/^splits\.1\.bps: /)
    expect(one.json.error.details.issues[0].param).toBe('splits.1.bps')

    const addresses = Array.from({ length: 30 }, (_, n) => `bad${n}`)
    const many = await request('POST', '/v2/accounts/batch-fetch', { body: { addresses } })
    expectFailure(many, 'bad_request', 'addresses.0')
    expect(many.json.error.details.issues).toHaveLength(20)
    expect(many.json.error.details.issues.at(-1).param).toBe('addresses.19')

    const list = entries(40).map((entry, n) => (n >= 10 ? { ...entry, wallet: 'x' } : entry))
    const tree = await request('POST', '/v2/merkle-trees', { body: { mint: MINT, entries: list } })
    expectFailure(tree, 'bad_request', 'entries.10.wallet')
    expect(tree.json.error.details.issues).toHaveLength(20)
    expect(tree.json.error.details.issue_count).toBe(30)
  })

  it('for an unknown field names it, in the body, in nested objects and in the query', async () => {
    const { request } = await shared()
    const claim = { payer: MINT, split: [] }
    expectFailure(await request('POST', `/v2/pools/${MINT}/fee-claims`, { body: claim }), 'bad_request', 'split')
    const tree = { mint: MINT, entries: [{ wallet: MINT, amount: '1', note: 'x' }] }
    expectFailure(await request('POST', '/v2/merkle-trees', { body: tree }), 'bad_request', 'entries.0.note')
    const extra = { mint: MINT, entries: entries(1), extra: 1 }
    expectFailure(await request('POST', '/v2/merkle-trees', { body: extra }), 'bad_request', 'extra')
    expectFailure(await request('GET', '/v2/pools?offset=20'), 'bad_request', 'offset')
    expectFailure(await request('GET', '/v2/pools?limit=1&limit=2'), 'bad_request', 'limit')
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expectFailure(await request('GET', `/v2/pools?${name}=1`), 'bad_request', name)
      const body = `{"name":"a","${name}":{"scopes":["*"]}}`
      expectFailure(await request('POST', '/v2/api-keys', { body }), 'bad_request', name)
      const raw = `{"mint":"${MINT}","entries":[],"${name}":1}`
      expectFailure(await request('POST', '/v2/merkle-trees', { body: raw }), 'bad_request', name)
    }
  })

  it('for a very long field name does not send it back whole', async () => {
    const { request } = await shared()
    const long = 'x'.repeat(200_000)
    const top = await request('POST', '/v2/api-keys', { body: { name: 'a', [long]: 1 } })
    expect([top.status, top.json.error.param]).toEqual([400, `${'x'.repeat(256)}…`])
    const below = await request('POST', '/v2/api-keys', { body: { name: 'a', metadata: { [long]: 1 } } })
    expect(below.json.error.param).toMatch(/^metadata\.x+…$/)
    for (const { text } of [top, below]) expect(text.length).toBeLessThan(2000)
  })

  it('for a path parameter names it, also if its escapes are broken', async () => {
    const { request } = await shared()
    expectFailure(await request('GET', '/v2/pools/0OIl'), 'bad_request', 'address')
    expectFailure(await request('GET', `/v2/pools/${'z'.repeat(44)}`), 'bad_request', 'address')
    expectFailure(await request('GET', '/v2/pools/%E0%A4%A'), 'bad_request', 'address')
    expectFailure(await request('GET', '/v2/pools/%00'), 'bad_request', 'address')
    expectFailure(await request('GET', '/v2/merkle-trees/short'), 'bad_request', 'id')
    expectFailure(await request('POST', '/v2/pdas/vault', { body: { args: {} } }), 'bad_request', 'kind')
    const path = `/v2/tokens/${MINT}/authorities/owner`
    expectFailure(await request('DELETE', path, { body: { payer: MINT } }), 'bad_request', 'type')
  })

  it('has a doc_url with an anchor that the docs page has', async () => {
    const { request } = await shared()
    const { info } = (await request('GET', '/v2/openapi.json', { key: null })).json
    for (const code of Object.keys(ERROR_STATUS)) expect(info.description).toContain(`id="error-${code}"`)
    const elsewhere = await startService({ settings: { 'public-url': 'https://api.example.com/' } })
    const { json } = await elsewhere.request('GET', '/v2/nothing')
    expect(json.error.doc_url).toBe('https://api.example.com/v2/docs#error-not_found')
  })
})

describe('an internal error', () => {
  const faulty = async (production: boolean) => {
    const logged: object[] = []
    const quiet = () => {}
    const log = { debug: quiet, info: quiet, warn: quiet, error: (fields: object) => void logged.push(fields) }
    const service = await startService({ production, log })
    const fail = async () => {
      throw new Error('connect postgres://svc:hunter2@10.0.0.1/db?api_key=s3cr3t failed for svc_live_abcDEF123')
    }
    service.services.trees.buildFromRequest = fail
    const body = { mint: MINT, entries: entries(1) }
    return { service, logged, answer: await service.request('POST', '/v2/merkle-trees', { body }) }
  }

  it('tells its cause without the credentials in it', async () => {
    const { answer, logged } = await faulty(false)
    expectFailure(answer, 'internal_error')
    expect(answer.json.error.message).toBe('connect postgres://***@10.0.0.1/db?api_key=*** failed for svc_live_***')
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ request_id: answer.json.meta.request_id })
  })

  it('says only "Something went wrong" in production, and also if a setting is missing', async () => {
    const { answer, service, logged } = await faulty(true)
    expectFailure(answer, 'internal_error')
    expect(answer.json.error.message).toBe('Something went wrong')
    expect(answer.json.error.details).toBeUndefined()
    expect(logged).toHaveLength(1)
    const lock = { user: MINT, platform_id: 'p', amount: '1', lock_duration_days: 1 }
    const later = await service.request('POST', '/v2/gold-locks', { body: lock })
    expect(later.json.error.message).toBe('Something went wrong')
  })
})

/** Also if the answer is not an envelope, and if it is empty. */
const EVERYWHERE = [
  '/',
  '/v2/health',
  '/v2/pools',
  '/v2/nothing',
  '/v2/openapi.json',
  '/v2/docs',
  '/assets/docs/page.js',
  '/assets/docs/page.css',
  '/assets/docs/nothing',
  '/assets/nothing',
  '/v1/pools',
  '/ready',
  '/metrics',
]

describe('X-Request-Id', () => {
  it('is returned in the header and in meta, on success and on failure', async () => {
    const { request } = await shared()
    const id = `~!${'x'.repeat(126)}`
    for (const path of EVERYWHERE) {
      for (const method of ['GET', 'HEAD', 'PUT']) {
        const answer = await request(method, path, { headers: { 'x-request-id': id } })
        expect(answer.headers.get('x-request-id'), `${method} ${path}`).toBe(id)
        if (answer.json?.meta) expect(answer.json.meta.request_id, path).toBe(id)
      }
    }
    const refused = await request('GET', '/v2/pools', { key: null, headers: { 'x-request-id': 'abc' } })
    expect([refused.status, refused.json.meta.request_id]).toEqual([401, 'abc'])
  })

  it('is made by the server if none is sent, a new one for each request', async () => {
    const { request } = await shared()
    const paths = ['/v2/health', ...EVERYWHERE]
    const made = await Promise.all(paths.map((path) => request('GET', path)))
    const ids = made.map((answer) => answer.headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(paths.length)
    expect(ids.every((id) => /^req_[0-9a-f]{32}$/.test(id ?? ''))).toBe(true)
  })

  it('is bad_request if it is empty, too long or not visible ASCII, wherever it is sent', async () => {
    const { request } = await shared()
    for (const id of ['', 'x'.repeat(129), 'a b', 'a\tb', 'caf\u00e9']) {
      for (const path of EVERYWHERE) {
        const answer = await request('GET', path, { headers: { 'x-request-id': id } })
        expectFailure(answer, 'bad_request', 'X-Request-Id')
        expect(answer.headers.get('x-request-id')).not.toBe(id)
      }
    }
  })
})

describe('externalUid and metadata', () => {
  it('arrive in camelCase, and are returned in meta and on the event of the write', async () => {
    const { request } = await startService()
    const sent = { externalUid: 'order:1_2-3.4', metadata: { campaign: 'spring', '-': 'x', k: 'v'.repeat(500) } }
    const tree = await request('POST', '/v2/merkle-trees', { body: { mint: MINT, entries: entries(2), ...sent } })
    expect(tree.status).toBe(201)
    expect(tree.json.meta).toEqual({
      request_id: tree.headers.get('x-request-id'),
      external_uid: sent.externalUid,
      metadata: sent.metadata,
    })
    const { json } = await request('GET', '/v2/events')
    expect(json.data).toHaveLength(1)
    expect(json.data[0]).toMatchObject({ external_uid: sent.externalUid, metadata: sent.metadata })
  })

  it('are refused outside their rules', async () => {
    const { request } = await shared()
    const send = (more: object) => request('POST', '/v2/api-keys', { body: { name: 'a', ...more } })
    for (const externalUid of ['', 'a b', 'x'.repeat(129), 'é', 1, null]) {
      expectFailure(await send({ externalUid }), 'bad_request', 'externalUid')
    }
    expectFailure(await send({ metadata: { a: 'v'.repeat(501) } }), 'bad_request', 'metadata.a')
    expectFailure(await send({ metadata: { a: 1 } }), 'bad_request', 'metadata.a')
    expectFailure(await send({ metadata: [] }), 'bad_request', 'metadata')
    expectFailure(await send({ external_uid: 'a' }), 'bad_request', 'external_uid')
    expectFailure(await send({ mode: 'Signed' }), 'bad_request', 'mode')
  })

  it('are accepted on every write, and mode is ignored if a write has none', async () => {
    const { request } = await shared()
    const common = { mode: 'signed', externalUid: 'u', metadata: { a: 'b' } }
    const key = await request('POST', '/v2/api-keys', { body: { name: 'a', ...common } })
    expect([key.status, key.json.meta.external_uid]).toEqual([201, 'u'])
    const gone = await request('DELETE', `/v2/api-keys/${key.json.data.id}`, { body: common })
    expect([gone.status, gone.json.data]).toEqual([200, { id: key.json.data.id, deleted: true }])
    expect(gone.json.meta.metadata).toEqual({ a: 'b' })
  })
})

describe('success', () => {
  it('has data and meta, with 201 if a record is stored and 200 otherwise', async () => {
    const { request } = await shared()
    const hook = await request('POST', '/v2/webhook-subscriptions', {
      body: { url: 'https://example.com/hook', enabled_events: ['*'] },
    })
    const path = `/v2/webhook-subscriptions/${hook.json.data.id}`
    const statuses = [
      hook,
      await request('POST', '/v2/api-keys', { body: { name: 'a' } }),
      await request('POST', '/v2/merkle-trees', { body: { mint: MINT, entries: entries(1) } }),
      await request('POST', '/v2/merkle-trees', {
        body: { mint: MINT, airdrop_count: 1, entries: entries(1), persist: false },
      }),
      await request('PATCH', path, { body: { active: false } }),
      await request('POST', `${path}/test`),
      await request('POST', `${path}/secret-rotations`, { body: {} }),
      await request('GET', path),
      await request('DELETE', path),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([201, 201, 201, 200, 200, 200, 200, 200, 200])
    for (const answer of statuses) {
      expect(Object.keys(answer.json).sort()).toEqual(['data', 'meta'])
      expect(answer.json.meta).toEqual({ request_id: answer.headers.get('x-request-id') })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
    expectFailure(await request('GET', path), 'not_found')
    expectFailure(await request('DELETE', path), 'not_found')
  })

  it('of health has the documented fields', async () => {
    const { request, clock } = await shared()
    const { json } = await request('GET', '/v2/health', { key: null })
    expect(json.data).toEqual({
      status: 'healthy',
      timestamp: new Date(clock.now()).toISOString(),
      service: expect.stringMatching(/./),
      version: expect.stringMatching(/./),
    })
    const types = await request('GET', '/v2/webhook-event-types', { key: null })
    expect(types.json.data).toHaveLength(31)
    expect(types.json.meta).toEqual({ request_id: types.headers.get('x-request-id') })
    const workers = await request('GET', '/v2/health/workers')
    expect(workers.json.data.workers.map(({ name }: { name: string }) => name).sort()).toEqual([
      'airdrop-fully-claimed',
      'gold-unlock-eligible',
      'pool-migration',
      'transaction-watcher',
      'webhook-delivery',
    ])
  })
})

describe('version 1 of the API', () => {
  it('answers not_found with the new path, Deprecation and Link, for any request', async () => {
    const { request } = await shared()
    for (const [method, path] of [
      ['GET', '/v1/pools?limit=1'],
      ['POST', '/v1/pools'],
      ['DELETE', '/v1/a/b'],
      ['GET', '/v1'],
    ] as const) {
      const answer = await request(method, path, { key: null })
      expectFailure(answer, 'not_found')
      expect(answer.json.error.message).toContain(path.split('?')[0]!.replace('/v1', '/v2'))
      expect(answer.headers.get('deprecation')).toMatch(/^@\d{10}$/)
      expect(answer.headers.get('link')).toBe('</v2>; rel="successor-version"')
    }
    expect((await request('GET', '/v10/pools')).headers.get('deprecation')).toBeNull()
  })
})

describe('other methods', () => {
  it('HEAD answers like GET without a body, and OPTIONS and unknown methods answer in the envelope', async () => {
    const { request } = await shared()
    for (const path of ['/v2/health', '/v2/docs', '/v2/openapi.json', '/ready', '/v2/pools']) {
      const answer = await request('HEAD', path)
      expect([path, answer.status, answer.text]).toEqual([path, 200, ''])
    }
    expect((await request('HEAD', '/v2/pools', { key: null })).status).toBe(401)
    for (const method of ['OPTIONS', 'PURGE', 'PUT']) {
      expectFailure(await request(method, '/v2/pools'), 'not_found')
      expectFailure(await request(method, '/v2/health'), 'not_found')
    }
  })
})

describe('outside the envelope', () => {
  it('are only the document, the page, its files and the metrics, which need a key', async () => {
    const { request } = await shared()
    const types = await Promise.all(
      ['/v2/openapi.json', '/v2/docs', '/assets/docs/page.js', '/assets/docs/page.css'].map(async (path) => {
        const answer = await request('GET', path, { key: null })
        return [answer.status, answer.headers.get('content-type')]
      }),
    )
    expect(types).toEqual([
      [200, 'application/json; charset=utf-8'],
      [200, 'text/html; charset=utf-8'],
      [200, 'text/javascript; charset=utf-8'],
      [200, 'text/css; charset=utf-8'],
    ])
    expectFailure(await request('GET', '/metrics', { key: null }), 'unauthorized')
    expectFailure(await request('GET', '/metrics', { key: 'svc_live_unknown' }), 'forbidden')
    await request('GET', '/v2/health')
    const metrics = await request('GET', '/metrics')
    expect(metrics.status).toBe(200)
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(metrics.text).toMatch(/^svc_http_requests_total\{.*\} [1-9]/m)
    const ready = await request('GET', '/ready', { key: null })
    expect(ready.json).toMatchObject({ data: { ready: true, checks: { database: 'ok' } } })
  })

  it('is readiness with 503 if the database does not answer', async () => {
    const service = await startService()
    const { store } = service.services
    const probed = store.reserved?.readiness ?? store
    probed.ping = async () => Promise.reject(new Error('gone'))
    const { status, json } = await service.request('GET', '/ready', { key: null })
    expect([status, json.data.checks.database]).toEqual([503, 'failing'])
  })
})
