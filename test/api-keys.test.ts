/** API keys that expire, that are bound to addresses, that were rotated, and their last use. */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../daemon/app.ts'
import { createHttpServer } from '../daemon/http-server.ts'
import { operatorKey } from '../daemon/services.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/platform/timing.ts'
import { apiKeyUses, recordKeyUses } from '../src/store/requests/api-keys.ts'
import { commandLine } from './cli/command-line.ts'
import { type PostgresServer, startPostgres } from './store/postgres-server.ts'
import { startDaemon } from './support/daemon.ts'
import { requester } from './support/request.ts'
import { ORIGIN, type Service, type ServiceOptions, START, startService } from './support/service.ts'

const MESSAGE = 'Invalid or revoked API key'

interface Made {
  id: string
  key: string
}

async function makeKey({ request }: Service, fields: object = {}): Promise<Made> {
  const { status, json } = await request('POST', '/v2/api-keys', { body: { name: 'made', ...fields } })
  expect(status).toBe(201)
  return json.data
}

const rotate = async ({ request }: Service, id: string, body: object = {}) =>
  (await request('POST', `/v2/api-keys/${id}/rotations`, { body })).json.data

/** The status of a request with this key, and why it was refused. */
async function outcome({ request }: Service, key: string): Promise<unknown> {
  const { status, json } = await request('GET', '/v2/pools', { key })
  if (status !== 403) return status
  expect(json.error).toMatchObject({ code: 'forbidden', message: MESSAGE })
  return json.error.details?.reason ?? 'no reason'
}

const listed = async ({ request }: Service, id: string) =>
  (await request('GET', '/v2/api-keys')).json.data.find((key: { id: string }) => key.id === id)

const entries = async ({ request }: Service, action: string) =>
  (await request('GET', `/v2/audit-entries?action=${action}`)).json.data

const isIntact = async ({ request }: Service) =>
  expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })

describe('a key that expires', () => {
  it('is accepted until then, also while it is remembered, and is refused with its reason', async () => {
    const service = await startService()
    const { id, key } = await makeKey(service, { expires_in: 90 * 86_400 })
    expect((await listed(service, id)).expires_at).toBe(new Date(START + 90 * DAY_MS).toISOString())
    service.clock.advance(90 * DAY_MS - 1)
    expect([await outcome(service, key), await outcome(service, key)]).toEqual([200, 200])
    service.clock.advance(1)
    expect(await outcome(service, key)).toBe('expired')
    expect((await service.request('GET', '/metrics', { key })).status).toBe(403)
  })

  it('is accepted again after a change, and forever with null', async () => {
    const service = await startService()
    const { id, key } = await makeKey(service, { expires_in: 60 })
    service.clock.advance(MINUTE_MS)
    expect(await outcome(service, key)).toBe('expired')
    const change = (body: object) => service.request('PATCH', `/v2/api-keys/${id}`, { body })
    expect((await change({ expires_in: 60 })).status).toBe(200)
    expect(await outcome(service, key)).toBe(200)
    expect((await change({ expires_in: null })).json.data.expires_at).toBeNull()
    service.clock.advance(10 * 365 * DAY_MS)
    expect(await outcome(service, key)).toBe(200)
    const [last, first] = await entries(service, 'api_key.updated')
    expect(first.details).toMatchObject({ key: id, expires_at: new Date(START + 2 * MINUTE_MS).toISOString() })
    expect(last.details).not.toHaveProperty('expires_at')
    await change({})
    expect(await entries(service, 'api_key.updated')).toHaveLength(2)
    await isIntact(service)
  })

  it('lets no wallet fetch another transaction of its pay requests', async () => {
    const service = await startService({ settings: { 'public-url': 'https://pay.example' } })
    const { key } = await makeKey(service, { expires_in: 3_600 })
    const account = '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78'
    const request = { method: 'POST', path: '/v2/sol-transfers', body: { recipient: account, lamports: '1000000' } }
    const app = await createApp({ ...service.services, role: 'all' })
    const ask = requester(ORIGIN, app.fetch, key)
    const made = await ask('POST', '/v2/pay-requests', { body: { request, expires_in: 86_400 } })
    service.clock.advance(HOUR_MS)
    expect(made.status, made.text).toBe(201)
    const path = `/v2/pay/${made.json.data.id}`
    const { status, json } = await ask('POST', path, { key: null, body: { account } })
    expect([status, json.message]).toEqual([400, 'This was revoked: ask for a new QR code'])
  })
})

describe('a rotated key', () => {
  it('has a new text, and its old one works until the overlap ends', async () => {
    const service = await startService()
    const { id, key: old } = await makeKey(service, { scopes: ['airdrop:write'] })
    const next = await rotate(service, id)
    expect(next).toMatchObject({
      id,
      scopes: ['airdrop:write'],
      rotated_at: new Date(START).toISOString(),
      previous_key_expires_at: new Date(START + DAY_MS).toISOString(),
    })
    expect(next.key).not.toBe(old)
    service.clock.advance(DAY_MS - 1)
    expect([await outcome(service, old), await outcome(service, next.key)]).toEqual([200, 200])
    service.clock.advance(1)
    expect([await outcome(service, old), await outcome(service, next.key)]).toEqual(['rotated', 200])
    await isIntact(service)
  })

  it('refuses every earlier text at once with an overlap of 0', async () => {
    const service = await startService()
    const { id, key: first } = await makeKey(service)
    const { key: second } = await rotate(service, id, { overlap_hours: 168 })
    const { key: third } = await rotate(service, id, { overlap_hours: 0 })
    expect(await Promise.all([first, second, third].map((key) => outcome(service, key)))).toEqual([
      'rotated',
      'rotated',
      200,
    ])
    await isIntact(service)
  })

  it('keeps earlier overlaps when it is rotated again, and forgets the text that ended first', async () => {
    const service = await startService()
    const { id, key } = await makeKey(service)
    const texts = [key]
    for (let n = 0; n < 5; n++) texts.push((await rotate(service, id, { overlap_hours: 10 - n })).key)
    expect(await Promise.all(texts.map((text) => outcome(service, text)))).toEqual(Array(6).fill(200))
    const full = await service.request('POST', `/v2/api-keys/${id}/rotations`, { body: {} })
    expect([full.status, full.json.error.param]).toEqual([400, 'overlap_hours'])
    expect(full.json.error.message).toContain(new Date(START + 6 * HOUR_MS).toISOString())
    service.clock.advance(6 * HOUR_MS)
    texts.push((await rotate(service, id, { overlap_hours: 1 })).key)
    const outcomes = await Promise.all(texts.map((text) => outcome(service, text)))
    expect(outcomes).toEqual([200, 200, 200, 200, 'no reason', 200, 200])
    await isIntact(service)
  })

  it('continues limits, Idempotency-Keys, subscriptions and the audit log', async () => {
    const service = await startService()
    const { id, key: old } = await makeKey(service, { rate_limit_per_minute: 4 })
    const hook = { url: 'https://example.com/hook', enabled_events: ['*'] }
    const idempotency = { 'idempotency-key': randomUUID() }
    const ask = (key: string) =>
      service.request('POST', '/v2/webhook-subscriptions', { key, body: hook, headers: idempotency })
    const made = await ask(old)
    const { key } = await rotate(service, id)
    const again = await ask(key)
    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', made.text])
    const path = `/v2/webhook-subscriptions/${made.json.data.id}`
    expect((await service.request('PATCH', path, { key, body: { active: false } })).status).toBe(200)
    expect([await outcome(service, old), await outcome(service, key), await outcome(service, old)]).toEqual([
      200, 429, 429,
    ])
    const [entry] = await entries(service, 'api_key.rotated')
    expect(entry.details).toMatchObject({ key: id, previous: [{ expires_at: expect.any(String) }] })
  })

  it('is refused whole once it is revoked, and cannot be rotated or changed any more', async () => {
    const service = await startService()
    const { id, key: old } = await makeKey(service)
    const { key } = await rotate(service, id)
    await service.request('DELETE', `/v2/api-keys/${id}`)
    expect([await outcome(service, old), await outcome(service, key)]).toEqual(['no reason', 'no reason'])
    for (const [method, path] of [
      ['POST', `/v2/api-keys/${id}/rotations`],
      ['PATCH', `/v2/api-keys/${id}`],
    ] as const) {
      const { status, json } = await service.request(method, path, { body: {} })
      expect([status, json.error.message]).toEqual([400, expect.stringContaining(`The API key ${id} was revoked`)])
    }
    expect((await service.request('POST', '/v2/api-keys/key_none/rotations', { body: {} })).status).toBe(404)
  })

  it('answers a repeated rotation with the same text', async () => {
    const service = await startService()
    const { id } = await makeKey(service)
    const headers = { 'idempotency-key': randomUUID() }
    const ask = () => service.request('POST', `/v2/api-keys/${id}/rotations`, { body: {}, headers })
    expect((await ask()).text).toBe((await ask()).text)
    expect(await entries(service, 'api_key.rotated')).toHaveLength(1)
  })

  it("of the operator's file stops the start once its overlap has ended, and is not made anew", async () => {
    const service = await startService()
    const [{ id }] = (await service.request('GET', '/v2/api-keys')).json.data
    await rotate(service, id, { overlap_hours: 1 })
    expect(await operatorKey(service.services)).toBe(service.operator)
    service.clock.advance(HOUR_MS)
    await expect(operatorKey(service.services)).rejects.toThrow(/was rotated; remove the file to get a new key/)
  })
})

describe('a change of keys that the audit log does not have', () => {
  it.each([
    ['expires_at', (db: Writer) => db.updateTable('api_keys').set({ expires_at: 9e12 })],
    ['allow_ips', (db: Writer) => db.updateTable('api_keys').set({ allow_ips_json: null })],
    ['previous', (db: Writer) => db.updateTable('previous_api_keys').set({ expires_at: 9e12 })],
    ['previous', (db: Writer) => db.updateTable('previous_api_keys').set({ hash: 'ab'.repeat(32) })],
  ] as const)('is found: another %s', async (field, change) => {
    const service = await startService()
    const { id } = await makeKey(service, { expires_in: 60, allow_ips: ['10.0.0.0/8'] })
    await rotate(service, id)
    await isIntact(service)
    await service.services.store.write(async (tx) => void (await change(tx).execute()))
    const { json } = await service.request('GET', '/v2/audit-verification')
    expect(json.data).toMatchObject({ intact: false, broken: { why: expect.stringContaining(`another ${field}`) } })
  })
})
type Writer = Parameters<Parameters<Service['services']['store']['write']>[0]>[0]

interface From {
  /** Address of the client's end of the connection. */
  peer?: string
  forwarded?: string
}

/** The app behind a port of both families, so that IPv4 arrives as `::ffff:127.0.0.1`. */
async function listening(options: ServiceOptions = {}) {
  const service = await startService(options)
  const app = await createApp(service.services)
  const server = createHttpServer(app, service.services.config)
  await new Promise<void>((settle) => server.listen(0, '::', settle))
  const { port } = server.address() as AddressInfo
  const end = async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
  }
  onTestFinished(end)
  const call = (key: string, { peer = '127.0.0.1', forwarded }: From = {}): Promise<unknown> =>
    new Promise((settle, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
      }
      const host = peer.includes(':') ? '::1' : '127.0.0.1'
      const request = get({ host, port, localAddress: peer, path: '/v2/pools', headers, agent: false }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece) => {
          text += piece
        })
        answer.on('end', () => settle(answer.statusCode === 200 ? 200 : JSON.parse(text).error.details?.reason))
      })
      request.on('error', reject)
    })
  return { service, call, end }
}

describe('a key that is bound to addresses', () => {
  it('works only from them, whether IPv4 arrives plain or inside IPv6', async () => {
    const { service, call } = await listening()
    const key = async (...allow_ips: string[]) => (await makeKey(service, { allow_ips })).key
    expect(await call(await key('127.0.0.1'))).toBe(200)
    expect(await call(await key('10.0.0.0/8', '127.0.0.0/30'), { peer: '127.0.0.2' })).toBe(200)
    expect(await call(await key('127.0.0.0/30'), { peer: '127.0.0.9' })).toBe('address')
    expect(await call(await key('::ffff:127.0.0.0/104'))).toBe(200)
    expect(await call(await key('::/0'))).toBe('address')
    expect(await call(await key('::1'), { peer: '::1' })).toBe(200)
    expect(await call(await key('0.0.0.0/0'), { peer: '::1' })).toBe('address')
  })

  it('is not fooled by a header of a peer that is no trusted proxy', async () => {
    const { service, call } = await listening()
    const { key } = await makeKey(service, { allow_ips: ['203.0.113.7'] })
    expect(await call(key, { forwarded: '203.0.113.7' })).toBe('address')
    const behind = await listening({ settings: { 'trusted-proxies': 1 } })
    const bound = (await makeKey(behind.service, { allow_ips: ['203.0.113.0/24', '2001:db8::/32'] })).key
    const from = (forwarded: string) => behind.call(bound, { forwarded })
    expect(await from('203.0.113.7')).toBe(200)
    expect(await from('203.0.113.7:4711')).toBe(200)
    expect(await from('::ffff:203.0.113.7')).toBe(200)
    expect(await from('[2001:db8:1::2]:4711')).toBe(200)
    // The client sent the first address; the proxy added the last.
    expect(await from('203.0.113.7, 198.51.100.1')).toBe('address')
    for (const text of ['', 'unknown', '203.0.113.7,', '2001:db9::1']) expect(await from(text), text).toBe('address')
  })

  it('is refused if the request has not passed all trusted proxies', async () => {
    const { service, call } = await listening({ settings: { 'trusted-proxies': 2 } })
    const { key } = await makeKey(service, { allow_ips: ['127.0.0.1', '203.0.113.7'] })
    expect(await call(key, { forwarded: '203.0.113.7, 10.0.0.1' })).toBe(200)
    expect(await call(key, { forwarded: '203.0.113.7' })).toBe('address')
    expect(await call(key)).toBe(200)
  })

  it('obeys a change with the next request, and keeps its earlier text bound too', async () => {
    const { service, call } = await listening()
    const { id, key } = await makeKey(service, { allow_ips: ['10.0.0.0/8', '10.0.0.0/8'] })
    expect((await listed(service, id)).allow_ips).toEqual(['10.0.0.0/8'])
    await rotate(service, id)
    expect(await call(key)).toBe('address')
    await service.request('PATCH', `/v2/api-keys/${id}`, { body: { allow_ips: [] } })
    expect(await call(key)).toBe(200)
    await isIntact(service)
  })

  it('still works for commands without a daemon, which have no address', async () => {
    const service = await startService()
    const { key } = await makeKey(service, { allow_ips: ['10.0.0.1'] })
    expect(await outcome(service, key)).toBe(200)
  })
})

describe('the last use of a key', () => {
  it('is stored with its address, at most once a minute', async () => {
    const { service, call, end } = await listening()
    const { id, key } = await makeKey(service)
    const unused = await makeKey(service)
    const used = async () => {
      const { last_used_at, last_used_from } = await listed(service, id)
      return [last_used_at && Date.parse(last_used_at) - START, last_used_from]
    }
    expect(await used()).toEqual([null, null])
    await call(key)
    await expect.poll(used, { timeout: 30_000 }).toEqual([0, '127.0.0.1'])
    service.clock.advance(MINUTE_MS - 1)
    await call(key, { peer: '127.0.0.2' })
    service.clock.advance(1)
    await call(key, { peer: '127.0.0.3' })
    service.clock.advance(1)
    await call(key, { peer: '127.0.0.4' })
    await end()
    expect(await used()).toEqual([MINUTE_MS, '127.0.0.3'])
    expect((await listed(service, unused.id)).last_used_at).toBeNull()
  })

  it('is stored once a minute by several daemons, and corrected after a clock that was ahead', async () => {
    const { store } = (await startService()).services
    const storedAfter = async (used_at: number, used_from: string) => {
      await store.write((tx) => recordKeyUses(tx, [{ api_key_id: 'key_1', used_at, used_from }]))
      return (await apiKeyUses(store.db, ['key_1']))[0]?.used_from
    }
    expect(await storedAfter(START, 'one')).toBe('one')
    expect(await storedAfter(START + MINUTE_MS - 1, 'other')).toBe('one')
    expect(await storedAfter(START + MINUTE_MS, 'other')).toBe('other')
    expect(await storedAfter(START + DAY_MS, 'ahead')).toBe('ahead')
    expect(await storedAfter(START + 2 * MINUTE_MS, 'one')).toBe('one')
  })

  it('is not that of a refused request', async () => {
    const { service, call, end } = await listening()
    const { id, key } = await makeKey(service, { allow_ips: ['10.0.0.1'] })
    expect(await call(key)).toBe('address')
    await end()
    expect((await listed(service, id)).last_used_at).toBeNull()
  })

  it('slows no request: one is answered while no use can be stored', async () => {
    const { service, call, end } = await listening()
    const { key } = await makeKey(service)
    const { write } = service.services.store
    service.services.store.write = () => Promise.reject(new Error('the disk is full'))
    onTestFinished(() => {
      service.services.store.write = write
    })
    expect(await call(key)).toBe(200)
    await end()
  })
})

const started = await startPostgres()

describe.skipIf('missing' in started)('two daemons on PostgreSQL', () => {
  it('agree about rotations, expiry and addresses at once, and store one use a minute', async () => {
    const settings = {
      'database-url': await (started as PostgresServer).createMigratedDatabase(),
      'encryption-key': 'ab'.repeat(32),
    }
    const one = await listening({ settings })
    const other = await listening({ settings })
    const { id, key: old } = await makeKey(one.service, { allow_ips: ['127.0.0.1'], expires_in: 7_200 })
    expect(await other.call(old)).toBe(200)
    const { key } = await rotate(one.service, id, { overlap_hours: 1 })
    expect([await other.call(old), await other.call(key)]).toEqual([200, 200])
    expect(await other.call(key, { peer: '127.0.0.2' })).toBe('address')
    const both = await Promise.all([one, other].map(({ service }) => rotate(service, id, { overlap_hours: 1 })))
    const texts = [old, key, ...both.map((made) => made.key)]
    for (const text of texts) expect(await one.call(text)).toBe(200)
    for (const { service } of [one, other]) service.clock.advance(HOUR_MS)
    const outcomes = await Promise.all(texts.map((text) => other.call(text)))
    expect(outcomes.toSorted()).toEqual([200, 'rotated', 'rotated', 'rotated'])
    for (const { service } of [one, other]) service.clock.advance(HOUR_MS)
    expect(await Promise.all(texts.map((text) => one.call(text)))).toContain('expired')
    for (const { end } of [one, other]) await end()
    expect((await listed(one.service, id)).last_used_at).toBe(new Date(START + HOUR_MS).toISOString())
    await isIntact(one.service)
  })
})

describe('svc keys', () => {
  const cli = commandLine()

  it('makes, changes, lists and rotates keys of a daemon', async () => {
    mkdirSync(cli.dataDir, { recursive: true })
    const daemon = await startDaemon({ dataDir: cli.dataDir, flags: ['--rpc-port', '0'] })
    onTestFinished(() => daemon.stop())
    const status = async (key: string) => (await daemon.request('GET', '/v2/pools', { key })).status
    const terms = ['--expires', '90d', '--allow-ip', '127.0.0.1,10.0.0.0/8']
    const { id, key } = await cli.json(['keys', 'create', '--name', 'deploy', ...terms])
    expect(await status(key)).toBe(200)
    const [shown] = await cli.json(['keys', 'list'])
    expect(shown).toMatchObject({ id, allow_ips: ['127.0.0.1/32', '10.0.0.0/8'] })
    expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBeGreaterThan(89 * DAY_MS)
    await cli.json(['keys', 'update', id, '--allow-ip', '10.0.0.0/8'])
    expect(await status(key)).toBe(403)
    const env = { SVC_API_KEY: key }
    await cli.refused(['pools', 'list', '--api', daemon.url], MESSAGE, 4, { env })
    const free = await cli.json(['keys', 'update', id, '--allow-ip', 'any', '--expires', 'never'])
    expect(free).toMatchObject({ allow_ips: [], expires_at: null })
    const next = await cli.json(['keys', 'rotate', id, '--overlap', '2d'])
    expect([await status(key), await status(next.key)]).toEqual([200, 200])
    expect(Date.parse(next.previous_key_expires_at) - Date.parse(next.rotated_at)).toBe(2 * DAY_MS)
    const last = await cli.svc(['keys', 'rotate', id, '--overlap', '0h'])
    expect(last.stderr).toContain('The old text is refused from now on.')
    expect([await status(key), await status(next.key)]).toEqual([403, 403])
  })

  it('refuses what is no span, no address or no change, and names the flag', async () => {
    const key = 'key_7vQ2mXr9LdT4sYb1WnGe6KpA'
    await cli.refused(['keys', 'rotate', key, '--overlap', '90min'], '--overlap must be whole hours', 2)
    await cli.refused(['keys', 'create', '--name', 'n', '--expires', 'soon'], '--expires', 2)
    await cli.refused(['keys', 'create', '--name', 'n', '--expires', '5s'], '--expires', 2)
    await cli.refused(['keys', 'create', '--name', 'n', '--allow-ip', '10.0.0.0/40'], '--allow-ip', 2)
    await cli.refused(['keys', 'update', key], '--expires', 2)
  })

  it('shows a restored key with its terms, and its log agrees', async () => {
    const { id } = await cli.json(['keys', 'create', '--name', 'kept', '--expires', '90d', '--allow-ip', '10.0.0.1'])
    await cli.json(['keys', 'rotate', id, '--overlap', '24h'])
    const kept = async (env: Record<string, string> = {}) =>
      (await cli.json(['keys', 'list'], { env })).find((key: { id: string }) => key.id === id)
    const before = await kept()
    expect(before.previous_key_expires_at).not.toBeNull()
    const backup = join(cli.home, 'backup')
    expect((await cli.svc(['db', 'backup', backup, '--include', 'encryption-key'])).stderr).not.toContain('error')
    const env = { SVC_DATA_DIR: join(cli.home, 'restored') }
    const restored = await cli.svc(['db', 'restore', backup], { env })
    expect(restored.exitCode, restored.stderr).toBe(0)
    expect(await kept(env)).toEqual(before)
    expect(await cli.json(['audit', 'verify'], { env })).toMatchObject({ intact: true })
  })
})
