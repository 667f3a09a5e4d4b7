/** Who may call, and in which order a request is judged. */
import { describe, expect, it } from 'vitest'
import { lists, MINIMAL, routes } from '../api/bodies.ts'
import { type Service, sharedService, startService } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const shared = sharedService()
const A = wallet(1)
const TREE = 'A'.repeat(46)
const BIG = 'x'.repeat(1024 * 1024 + 1)

/** The operations that only the user's wallet may sign, as the document lists them. */
const USER_SIGNED: [string, string, object][] = [
  ['POST', `/v2/airdrops/${TREE}/claims`, MINIMAL['airdrops.claim']!],
  ['POST', '/v2/stakes', MINIMAL['stakes.create']!],
  ['DELETE', `/v2/stakes/${A}`, MINIMAL['stakes.release']!],
  ['POST', '/v2/nfts', MINIMAL['nfts.create']!],
  ['DELETE', `/v2/nfts/${A}`, MINIMAL['nfts.burn']!],
  ['POST', '/v2/collections', MINIMAL['collections.create']!],
  ['POST', '/v2/gold-locks', MINIMAL['goldLocks.create']!],
  ['DELETE', `/v2/gold-locks/${A}`, MINIMAL['goldLocks.unlock']!],
  ['POST', '/v2/tokens', MINIMAL['tokens.create']!],
  ['DELETE', `/v2/tokens/${A}/authorities/mint`, MINIMAL['tokens.revokeAuthority']!],
  ['POST', '/v2/pool-presets/standard/shared-config', MINIMAL['pools.share']!],
]

describe('a request that breaks two rules is refused for the first', () => {
  const exhausted = async (service: Service, scopes: string[] = []) => {
    const key = await service.key({ scopes, perMinute: 1 })
    expect((await service.request('GET', '/v2/pools', { key })).status).toBe(200)
    return key
  }
  const smallBodies = sharedService({ settings: { 'json-limit-kib': 1024 } })

  it('request id before body limit', async () => {
    const { request } = await smallBodies()
    const { json } = await request('POST', '/v2/stakes', { body: BIG, headers: { 'x-request-id': 'a b' } })
    expect(json.error.param).toBe('X-Request-Id')
  })

  it('declared length of the body before bearer, but bearer before a body that grows over the limit', async () => {
    const { request } = await smallBodies()
    const undeclared = await request('POST', '/v2/stakes', { body: BIG, key: null })
    expect(undeclared.status).toBe(401)
    const headers = { 'content-length': String(BIG.length) }
    const { json } = await request('POST', '/v2/stakes', { body: BIG, key: null, headers })
    expect([json.error.code, json.error.message]).toEqual(['bad_request', 'The request body is larger than 1 MiB'])
  })

  it('bearer before rate limit, and before the body is read', async () => {
    const service = await shared()
    const key = await exhausted(service, ['*'])
    const { json } = await service.request('GET', '/v2/api-keys', { key: service.operator })
    const { id } = json.data.find(({ name }: { name: string }) => name === 'test')
    await service.request('DELETE', `/v2/api-keys/${id}`)
    expect((await service.request('GET', '/v2/pools', { key })).status).toBe(403)
    expect((await service.request('POST', '/v2/stakes', { key: null, body: '{' })).status).toBe(401)
  })

  it('rate limit before mode refusal, and before the body is parsed', async () => {
    const service = await shared()
    const key = await exhausted(service)
    for (const body of [{ mode: 'signed' }, '{']) {
      expect((await service.request('POST', '/v2/stakes', { key, body })).status).toBe(429)
    }
  })

  it('rate limit before scope', async () => {
    const service = await shared()
    const key = await exhausted(service)
    expect((await service.request('GET', '/v2/api-keys', { key })).status).toBe(429)
  })

  it('mode refusal before scope and before validation', async () => {
    const { request, key } = await shared()
    const none = await key()
    for (const [method, path] of USER_SIGNED) {
      const { status, json } = await request(method, path, { key: none, body: { mode: 'signed', splits: 1 } })
      expect([status, json.error.code, json.error.param], path).toEqual([400, 'bad_request', 'mode'])
    }
  })

  it('scope before validation, in body, path and query', async () => {
    const { request, key } = await shared()
    const none = await key()
    const wrong: [string, string, object?][] = [
      ['POST', '/v2/pools', { mode: 'signed', nonsense: 1 }],
      ['POST', '/v2/pools/x/fee-claims', { mode: 'signed' }],
      ['POST', '/v2/airdrops', { mode: 'signed' }],
      ['POST', '/v2/merkle-trees', { entries: 1 }],
      ['POST', '/v2/airdrops/x/vault-withdrawals', {}],
      ['GET', '/v2/api-keys?limit=abc'],
      ['POST', '/v2/api-keys', {}],
      ['DELETE', '/v2/api-keys/!', {}],
    ]
    for (const [method, path, body] of wrong) {
      const { status } = await request(method, path, { key: none, ...(body ? { body } : {}) })
      expect([path, status]).toEqual([path, 403])
    }
  })

  it('validation before idempotency', async () => {
    const { request } = await shared()
    const headers = { 'idempotency-key': 'used' }
    const first = await request('POST', '/v2/api-keys', { body: { name: 'a' }, headers })
    expect(first.status).toBe(201)
    const invalid = await request('POST', '/v2/api-keys', { body: { name: '' }, headers })
    expect([invalid.status, invalid.json.error.param]).toEqual([400, 'name'])
    const tree = await request('POST', '/v2/merkle-trees', { body: { mint: A, entries: [] }, headers })
    expect([tree.status, tree.json.error.param]).toEqual([400, 'entries'])
    const long = { 'idempotency-key': 'k'.repeat(256) }
    const both = await request('POST', '/v2/api-keys', { body: { name: '' }, headers: long })
    expect(both.json.error.param).toBe('name')
    const key = await request('POST', '/v2/api-keys', { body: { name: 'a' }, headers: long })
    expect(key.json.error.param).toBe('Idempotency-Key')
  })

  it('idempotency before the operation', async () => {
    const { request } = await shared()
    const headers = { 'idempotency-key': 'used before' }
    await request('POST', '/v2/api-keys', { body: { name: 'a' }, headers })
    const other = await request('DELETE', '/v2/webhook-subscriptions/absent', { body: {}, headers })
    expect([other.status, other.json.error.code, other.json.error.param]).toEqual([409, 'conflict', 'Idempotency-Key'])
  })
})

describe('a bearer key', () => {
  it('is missing or malformed: 401 with the documented message', async () => {
    const { request, operator } = await shared()
    const headers = [
      '',
      'Bearer',
      'Bearer ',
      operator,
      `Basic ${operator}`,
      `Bearer ${operator} x`,
      `Bearer${operator}`,
    ]
    const answers = await Promise.all([
      request('GET', '/v2/pools', { key: null }),
      ...headers.map((authorization) => request('GET', '/v2/pools', { headers: { authorization } })),
    ])
    for (const { status, json } of answers) {
      expect([status, json.error.code, json.error.message]).toEqual([401, 'unauthorized', 'Missing or invalid API key'])
    }
  })

  it('is missing: only this answer has WWW-Authenticate', async () => {
    const { request, operator } = await shared()
    for (const path of ['/v2/pools', '/metrics']) {
      const answers = [null, 'nonsense', operator].map((key) => request('GET', path, { key }))
      const [missing, unknown, known] = await Promise.all(answers)
      expect([missing!.status, missing!.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="svc"'])
      expect([unknown!.status, unknown!.headers.get('www-authenticate')]).toEqual([403, null])
      expect([known!.status, known!.headers.get('www-authenticate')]).toEqual([200, null])
    }
  })

  it('is unknown or revoked: 403 with the documented message', async () => {
    const { request, services } = await startService()
    const made = await request('POST', '/v2/api-keys', { body: { name: 'mine', scopes: ['airdrop:write'] } })
    const { key, id, ...record } = made.json.data
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{32}$/)
    expect(record).toMatchObject({ rate_limit_per_minute: 120, rate_limit_per_day: 50_000, status: 'active' })
    expect((await request('GET', '/v2/pools', { key })).status).toBe(200)
    expect((await request('DELETE', `/v2/api-keys/${id}`)).json.data).toEqual({ id, deleted: true })
    for (const refused of [key, `${key}x`, key.toLowerCase(), 'x', "' or 1=1 --".replaceAll(' ', '')]) {
      const { status, json } = await request('GET', '/v2/pools', { key: refused })
      expect([status, json.error.code, json.error.message]).toEqual([403, 'forbidden', 'Invalid or revoked API key'])
    }
    const list = await request('GET', '/v2/api-keys')
    expect(list.text).not.toContain(key)
    expect(list.json.data[0]).toMatchObject({ id, status: 'revoked', revoked_at: expect.any(String) })
    const rows = await services.store.db.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(key)
  })

  it('may follow the word Bearer in any letter case', async () => {
    const { request, operator } = await shared()
    for (const authorization of [`bearer ${operator}`, `BEARER ${operator}`, `Bearer   ${operator}`]) {
      expect((await request('GET', '/v2/pools', { headers: { authorization } })).status).toBe(200)
    }
  })

  it('is required everywhere except on the public paths', async () => {
    const { request } = await shared()
    const open = ['/v2/health', '/v2/openapi.json', '/v2/docs', '/v2/webhook-event-types', '/ready']
    for (const path of open) expect([path, (await request('GET', path, { key: null })).status]).toEqual([path, 200])
    const filled = (path: string) => path.replace(/\{id\}/g, TREE).replace(/\{\w+\}/g, A)
    const closed = routes.filter(([, route]) => !open.includes(route.path))
    expect(closed.length).toBe(routes.length - 2)
    for (const [name, route] of closed) {
      const { status } = await request(route.method.toUpperCase(), filled(route.path), { key: null })
      expect([name, status]).toEqual([name, 401])
    }
    expect((await request('GET', '/v2/health', { key: 'nonsense' })).status).toBe(200)
  })
})

describe('scopes', () => {
  const gated: [string, string, string, object | undefined][] = [
    ['fees:claim', 'POST', `/v2/pools/${A}/fee-claims`, { payer: A, mode: 'signed' }],
    ['fees:claim', 'POST', `/v2/pools/${A}/fee-claims`, { payer: A, mode: 'signed', kind: 'surplus' }],
    ['airdrop:admin', 'POST', '/v2/airdrops', { ...MINIMAL['airdrops.create'], mode: 'signed' }],
    ['airdrop:admin', 'POST', `/v2/airdrops/${TREE}/vault-withdrawals`, { amount: '1' }],
    ['airdrop:write', 'POST', '/v2/merkle-trees', { mint: A, entries: entries(1) }],
    ['storage:delegate', 'POST', '/v2/storage/delegations', MINIMAL['storage.delegate']],
    ['*', 'POST', '/v2/pools', { ...MINIMAL['pools.create'], mode: 'signed' }],
    ['*', 'GET', '/v2/api-keys', undefined],
    ['*', 'POST', '/v2/api-keys', { name: 'a' }],
    ['*', 'DELETE', '/v2/api-keys/absent', {}],
  ]

  it('allow what the document says, each alone, and * everything', async () => {
    const { request, key } = await shared()
    const all = ['fees:claim', 'airdrop:admin', 'airdrop:write', 'storage:delegate']
    for (const [scope, method, path, body] of gated) {
      const ask = async (scopes: string[]) =>
        request(method, path, { key: await key({ scopes }), ...(body ? { body } : {}) })
      const refused = await ask(all.filter((other) => other !== scope))
      expect([path, refused.status, refused.json.error.code]).toEqual([path, 403, 'forbidden'])
      expect(refused.json.error.message).toBe(`API key missing required scope(s): ${scope}`)
      for (const scopes of [[scope], ['*']]) expect([401, 403]).not.toContain((await ask(scopes)).status)
    }
  })

  it('are not required for an unsigned build, a submit or a read', async () => {
    const { request, key } = await shared()
    const none = await key()
    const filled = (path: string) =>
      path
        .replace(/\{id\}/g, TREE)
        .replace(/\{kind\}/g, 'ata')
        .replace(/\{\w+\}/g, A)
    for (const [name, route] of routes) {
      if (route.scope !== undefined) continue
      const body = route.method === 'get' ? {} : { body: { ...MINIMAL[name], mode: 'unsigned' } }
      const { status } = await request(route.method.toUpperCase(), filled(route.path), { key: none, ...body })
      expect([401, 403, 429], name).not.toContain(status)
    }
  })

  it('let every key see every record', async () => {
    const { request, key } = await shared()
    const { json } = await request('POST', '/v2/merkle-trees', { body: { mint: A, entries: entries(1) } })
    const other = await request('GET', `/v2/merkle-trees/${json.data.id}`, { key: await key() })
    expect(other.json.data).toEqual(json.data)
  })

  it('that do not exist cannot be given to a key', async () => {
    const { request } = await shared()
    const { status, json } = await request('POST', '/v2/api-keys', { body: { name: 'a', scopes: ['*', 'admin'] } })
    expect([status, json.error.param]).toEqual([400, 'scopes.1'])
  })
})

describe('mode signed', () => {
  it('is refused on every operation that only users sign, whatever scopes the key has', async () => {
    const { request, key } = await shared()
    const keys = [await key({ scopes: ['*'] }), await key({ scopes: ['airdrop:admin', 'fees:claim'] }), await key()]
    expect(USER_SIGNED).toHaveLength(11)
    for (const [method, path, body] of USER_SIGNED) {
      for (const bearer of keys) {
        for (const more of [{}, { approver: { kind: 'squads', multisig: A } }]) {
          const asked = { key: bearer, body: { ...body, ...more, mode: 'signed' } }
          const { status, json } = await request(method, path, asked)
          expect([path, status, json.error?.code, json.error?.param]).toEqual([path, 400, 'bad_request', 'mode'])
        }
      }
      const unsigned = await request(method, path, { body })
      expect(unsigned.json.error?.param, path).not.toBe('mode')
    }
    expect(routes.filter(([, { signed }]) => signed === 'refused')).toHaveLength(22)
  })
})

describe('an empty service', () => {
  it('answers every list', async () => {
    const { request } = await startService()
    for (const [name, route] of lists) {
      const path = route.path.replace('{address}', A).replace('{wallet}', A).replace('{id}', TREE)
      const answer = await request('GET', path)
      // A list below a record that does not exist, which is another answer than an empty list.
      // Claims are recorded of airdrops whose tree is not stored too, so that any id may have some.
      const isOfRecord = path.includes(TREE) && name !== 'airdrops.claims'
      const below = isOfRecord || path.startsWith(`/v2/pools/${A}/`)
      if (below) expect([name, answer.status]).toEqual([name, 404])
      else expect([name, answer.status, answer.json.data.length <= 1]).toEqual([name, 200, true])
    }
  })
})
