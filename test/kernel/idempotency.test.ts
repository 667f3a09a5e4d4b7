/** Idempotency keys: one effect per key, its answer replayed. */
import { readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKernel } from '../../daemon/create-kernel.ts'
import { mountOn } from '../../daemon/mount.ts'
import { type RequestEnv, recordRequest } from '../../daemon/pipeline/request-record.ts'
import { api } from '../../src/api/index.ts'
import type { Operation } from '../../src/operations/registry.ts'
import { badRequest } from '../../src/platform/errors.ts'
import { storeOptions } from '../../src/store/open.ts'
import * as records from '../../src/store/requests/idempotency.ts'
import type { TableName } from '../../src/store/transfer/whole.ts'
import { withWhole } from '../../src/store/transfer/with-whole.ts'
import { onPostgres } from '../support/database.ts'
import { type Answer, requester } from '../support/request.ts'
import { ORIGIN, openService, type Service, startService, temporaryFolder, testClock } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const A = wallet(1)
const HOUR = 3_600_000
const under = (key: string, more: Record<string, string> = {}) => ({ headers: { 'idempotency-key': key, ...more } })
const newKey = (name: string) => ({ body: { name } })
const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

async function names({ request }: Service): Promise<string[]> {
  const { json } = await request('GET', '/v2/api-keys?limit=100')
  return json.data.map(({ name }: { name: string }) => name)
}

const bytesOfFiles = (dataDir: string) =>
  Buffer.concat(
    readdirSync(dataDir)
      .filter((file) => file.startsWith('svc.db'))
      .map((file) => readFileSync(join(dataDir, file))),
  )

/** Every cell of every table, as far as another user of the database could read it. */
async function rowsOf({ services: { config } }: Service): Promise<Buffer> {
  const cells: Buffer[] = []
  await withWhole(storeOptions(config), 'read', async (whole) => {
    for (const table of (await whole.sizes()).keys())
      for await (const row of whole.rows(table as TableName, await whole.columns(table as TableName)))
        for (const cell of Object.values(row)) cells.push(Buffer.isBuffer(cell) ? cell : Buffer.from(String(cell)))
  })
  return Buffer.concat(cells)
}

/** The pool route with an operation of the test's own: it counts its runs, and waits for `release`. */
async function startGated(operation?: Operation<typeof api.pools.create>) {
  const service = await startService()
  const kernel = await createKernel(service.services)
  onTestFinished(() => kernel.limiter.close())
  let runs = 0
  let release = () => {}
  const gate = new Promise<void>((open) => {
    release = open
  })
  const hono = new Hono<RequestEnv>()
  mountOn(hono, kernel)(api.pools.create, async (context, input) => {
    runs++
    await gate
    return operation ? operation(context, input) : ({ run: runs, name: input.name } as never)
  })
  const recording = { metrics: kernel.metrics.http, access: undefined }
  const send = (sent: Request) => recordRequest(recording, sent, undefined, (record) => hono.fetch(sent, record))
  const request = requester(ORIGIN, send, service.operator, { documented: false })
  return { service, request, release, runs: () => runs }
}

const POOL = { creator: A, name: 'My Token', symbol: 'MTK', image: 'AQID' }

describe('one Idempotency-Key in simultaneous requests', () => {
  it('makes one API key of 32 requests; the others are told to wait, or get its answer', async () => {
    const service = await startService()
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => service.request('POST', '/v2/api-keys', { ...newKey('once'), ...under('k') })),
    )
    const first = answers.filter((answer) => answer.status === 201 && !isReplay(answer))
    expect(first).toHaveLength(1)
    for (const answer of answers) {
      if (answer === first[0]) continue
      if (answer.status === 201) expect([isReplay(answer), answer.text]).toEqual([true, first[0]!.text])
      else {
        expect([answer.status, answer.json.error.code]).toEqual([409, 'conflict'])
        expect(answer.json.error.message).toMatch(/still in progress/)
        expect(answer.json.error.param).toBe('Idempotency-Key')
      }
    }
    expect((await names(service)).filter((name) => name === 'once')).toHaveLength(1)
  })

  it('stores one tree and one event', async () => {
    const { request, services } = await startService()
    const body = { mint: A, entries: entries(20) }
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => request('POST', '/v2/merkle-trees', { body, ...under('tree') })),
    )
    expect(answers.filter((answer) => answer.status === 201 && !isReplay(answer))).toHaveLength(1)
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
    expect((await request('GET', '/v2/merkle-trees')).json.data).toHaveLength(1)
    expect((await request('GET', '/v2/events')).json.data).toHaveLength(1)
    const keys = await services.store.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(keys.map(({ state }) => state)).toEqual(['done'])
  })

  it('is refused while the first request runs, and replayed once it is done', async () => {
    const { request, release, runs } = await startGated()
    const ask = () => request('POST', '/v2/pools', { body: POOL, ...under('slow') })
    const first = ask()
    const during: Answer[] = []
    while (!during.some(({ status }) => status === 409)) during.push(await ask())
    const other = await request('POST', '/v2/pools', { body: { ...POOL, name: 'Other' }, ...under('slow') })
    expect([other.status, runs()]).toEqual([409, 1])
    release()
    const done = await first
    expect([done.status, done.json.data]).toEqual([201, { run: 1, name: 'My Token' }])
    const replay = await ask()
    expect([isReplay(replay), replay.text, runs()]).toEqual([true, done.text, 1])
  })
})

describe('a replay', () => {
  it('is the first answer byte for byte, under the new request id', async () => {
    const { request } = await startService()
    const body = { name: 'a', externalUid: 'u', metadata: { é: '✓' } }
    const first = await request('POST', '/v2/api-keys', { body, ...under('k', { 'x-request-id': 'first' }) })
    const replay = await request('POST', '/v2/api-keys', { body, ...under('k', { 'x-request-id': 'second' }) })
    expect([first.status, isReplay(first)]).toEqual([201, false])
    expect([replay.status, isReplay(replay), replay.text]).toEqual([201, true, first.text])
    expect([replay.headers.get('x-request-id'), replay.json.meta.request_id]).toEqual(['second', 'first'])
    expect(replay.headers.get('content-type')).toBe(first.headers.get('content-type'))
  })

  it('keeps the status of the first answer, also of a build that stores nothing', async () => {
    const { request, services } = await startService()
    const built = { mint: A, entries: entries(3), persist: false }
    const first = await request('POST', '/v2/merkle-trees', { body: built, ...under('pure') })
    const replay = await request('POST', '/v2/merkle-trees', { body: built, ...under('pure') })
    expect([first.status, replay.status, isReplay(replay), replay.text]).toEqual([200, 200, true, first.text])
    expect(await services.store.db.selectFrom('merkle_trees').selectAll().execute()).toEqual([])
  })

  it('of a deletion is its answer, although the record is gone', async () => {
    const { request } = await startService()
    const made = await request('POST', '/v2/api-keys', newKey('a'))
    const path = `/v2/api-keys/${made.json.data.id}`
    const first = await request('DELETE', path, under('d'))
    const replay = await request('DELETE', path, under('d'))
    expect([replay.status, isReplay(replay), replay.text]).toEqual([200, true, first.text])
  })

  it('survives a restart', async () => {
    const dataDir = temporaryFolder()
    const clock = testClock()
    const before = await openService({ dataDir, clock })
    const first = await before.request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') })
    await before.close()
    const after = await startService({ dataDir, clock })
    const replay = await after.request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') })
    expect([isReplay(replay), replay.text]).toEqual([true, first.text])
  })
})

describe('the same JSON written differently', () => {
  const raw = (body: string, key: string) => ({ body, ...under(key, { 'content-type': 'application/json' }) })

  it('is the same request: order of fields, white space and escapes do not count', async () => {
    const { request } = await startService()
    const texts = [
      '{"name":"a b","scopes":["airdrop:write"],"metadata":{"x":"1","y":"2"}}',
      ' {\n"scopes" : [ "airdrop:write" ],\t"metadata":{"y":"2","x":"1"},\r\n"name":"a b"}\n',
      '{"name":"\\u0061 b","scopes":["airdrop\\u003awrite"],"metadata":{"x":"0","x":"1","y":"2"}}',
    ]
    const [first, ...others] = texts
    const answer = await request('POST', '/v2/api-keys', raw(first!, 'k'))
    expect(answer.status).toBe(201)
    for (const text of others) {
      const other = await request('POST', '/v2/api-keys', raw(text, 'k'))
      expect([other.status, isReplay(other), other.text]).toEqual([201, true, answer.text])
    }
  })

  it('is another request if a list has another order, or a number another text', async () => {
    const { request } = await startService()
    const text = (scopes: string, limit: string) => `{"name":"a","scopes":${scopes},"rate_limit_per_minute":${limit}}`
    const scopes = '["airdrop:write","fees:claim"]'
    expect((await request('POST', '/v2/api-keys', raw(text(scopes, '1'), 'k'))).status).toBe(201)
    const others = [text('["fees:claim","airdrop:write"]', '1'), text(scopes, '1.0'), text(scopes, '1e0')]
    for (const other of others) expect((await request('POST', '/v2/api-keys', raw(other, 'k'))).status).toBe(409)
    expect((await request('POST', '/v2/api-keys?x=1', raw(text(scopes, '1'), 'k'))).status).toBe(409)
  })

  it('is the same request for a tree of thousands of entries, which is hashed in steps', async () => {
    const { request } = await startService()
    const list = entries(2_000)
    const compact = JSON.stringify({ mint: A, entries: list })
    const turned = JSON.stringify({ entries: list.map(({ wallet, amount }) => ({ amount, wallet })), mint: A }, null, 1)
    const first = await request('POST', '/v2/merkle-trees', raw(compact, 'tree'))
    const second = await request('POST', '/v2/merkle-trees', raw(turned, 'tree'))
    expect([first.status, second.status, isReplay(second), second.text]).toEqual([201, 201, true, first.text])
  })
})

describe('the same key for another request', () => {
  it('is a conflict if method, path or body differ, and changes nothing', async () => {
    const service = await startService()
    const { request } = service
    const body = { url: 'https://example.com', enabled_events: ['*'] }
    const made = await request('POST', '/v2/webhook-subscriptions', { body, ...under('k') })
    const path = `/v2/webhook-subscriptions/${made.json.data.id}`
    const others: [string, string, object][] = [
      ['POST', '/v2/webhook-subscriptions', { ...body, url: 'https://example.org' }],
      ['PATCH', path, {}],
      ['DELETE', path, {}],
      ['POST', `${path}/test`, {}],
      ['POST', '/v2/api-keys', { name: 'a' }],
      ['POST', '/v2/merkle-trees', { mint: A, entries: entries(1) }],
    ]
    for (const [method, where, sent] of others) {
      const { status, json } = await request(method, where, { body: sent, ...under('k') })
      expect([where, status, json.error.code, json.error.param]).toEqual([where, 409, 'conflict', 'Idempotency-Key'])
      expect(json.error.message).not.toMatch(/in progress/)
    }
    expect((await request('GET', path)).status).toBe(200)
    expect((await request('GET', '/v2/events')).json.data).toEqual([])
    expect(await names(service)).toEqual(['local operator'])
  })

  it('is independent for each API key', async () => {
    const service = await startService()
    const [one, other] = [await service.key({ scopes: ['*'] }), await service.key({ scopes: ['*'] })]
    const first = await service.request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k'), key: one })
    const second = await service.request('POST', '/v2/api-keys', { ...newKey('b'), ...under('k'), key: other })
    expect([first.status, second.status, isReplay(second)]).toEqual([201, 201, false])
  })

  it('is compared by the parts of a form: another boundary is the same request, another file is not', async () => {
    const { request, release, runs } = await startGated()
    release()
    const form = (boundary: string, image: string, name = 'My Token') => ({
      body: [
        ...Object.entries({ creator: A, name, symbol: 'MTK' }).map(
          ([field, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
        ),
        `--${boundary}\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n`,
        `content-type: image/png\r\n\r\n${image}\r\n--${boundary}--\r\n`,
      ].join(''),
      ...under('form', { 'content-type': `multipart/form-data; boundary=${boundary}` }),
    })
    const first = await request('POST', '/v2/pools', form('one', 'PNG'))
    expect([first.status, first.json.data]).toEqual([201, { run: 1, name: 'My Token' }])
    const replay = await request('POST', '/v2/pools', form('another', 'PNG'))
    expect([replay.status, isReplay(replay), replay.text]).toEqual([201, true, first.text])
    expect((await request('POST', '/v2/pools', form('one', 'GIF'))).status).toBe(409)
    expect((await request('POST', '/v2/pools', form('one', 'PNG', 'Other'))).status).toBe(409)
    const json = { ...POOL, image: Buffer.from('PNG').toString('base64') }
    expect((await request('POST', '/v2/pools', { body: json, ...under('form') })).status).toBe(409)
    expect(runs()).toBe(1)
  })
})

describe('a failure', () => {
  it('frees the key for any request', async () => {
    const { request } = await startService()
    await request('POST', '/v2/merkle-trees', { body: { mint: A, entries: entries(1) } })
    const tree = { mint: A, entries: entries(2) }
    for (let n = 0; n < 2; n++) {
      const refused = await request('POST', '/v2/merkle-trees', { body: tree, ...under('k') })
      expect([refused.status, isReplay(refused)]).toEqual([400, false])
    }
    const replaced = await request('POST', '/v2/merkle-trees', { body: { ...tree, replace: true }, ...under('k') })
    expect(replaced.status).toBe(201)
  })

  it('of any kind frees the key: not found, not configured, an internal error', async () => {
    const { request, services } = await startService()
    const lock = { user: A, platform_id: 'p', amount: '1', lock_duration_days: 1 }
    for (let n = 0; n < 2; n++) {
      const absent = await request('DELETE', '/v2/api-keys/absent', under('absent'))
      expect(absent.status).toBe(404)
      const later = await request('POST', '/v2/gold-locks', { body: lock, ...under('later') })
      expect([later.status, later.json.error.message]).toEqual([500, expect.stringMatching(/^gold\.mint is not set/)])
    }
    expect(await services.store.db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([])
  })

  it('after the operation has written stores neither effect nor answer', async () => {
    const { request, release, service } = await startGated(async (context) =>
      context.commit(async (tx) => {
        await tx.insertInto('settings').values({ name: 'effect', value: 'x' }).execute()
        throw badRequest('no')
      }),
    )
    release()
    const ask = () => request('POST', '/v2/pools', { body: POOL, ...under('k') })
    expect([(await ask()).status, (await ask()).status]).toEqual([400, 400])
    const { db } = service.services.store
    expect(await db.selectFrom('settings').selectAll().where('name', '=', 'effect').execute()).toEqual([])
    expect(await db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([])
  })
})

describe('an Idempotency-Key', () => {
  it('has 1 to 255 characters', async () => {
    const { request } = await startService()
    for (const key of ['x', '-'.repeat(255), 'a key with spaces']) {
      expect((await request('POST', '/v2/api-keys', { ...newKey('a'), ...under(key) })).status).toBe(201)
    }
    for (const key of ['', 'x'.repeat(256)]) {
      const { status, json } = await request('POST', '/v2/api-keys', { ...newKey('a'), ...under(key) })
      expect([status, json.error.param]).toEqual([400, 'Idempotency-Key'])
    }
  })

  it('expires after 24 hours', async () => {
    const service = await startService()
    const ask = () => service.request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') })
    const first = await ask()
    service.clock.advance(24 * HOUR - 1)
    expect(isReplay(await ask())).toBe(true)
    service.clock.advance(1)
    const anew = await ask()
    expect([anew.status, isReplay(anew)]).toEqual([201, false])
    expect(anew.json.data.id).not.toBe(first.json.data.id)
    expect(isReplay(await ask())).toBe(true)
  })

  it('expires after the configured time', async () => {
    const { request, clock } = await startService({ settings: { 'idempotency-hours': 1 } })
    await request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') })
    clock.advance(HOUR)
    expect(isReplay(await request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') }))).toBe(false)
  })

  it('has no effect on a read', async () => {
    const { request, services } = await startService()
    const first = await request('GET', '/v2/pools', under('k'))
    const second = await request('GET', '/v2/events', under('k'))
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, false])
    expect(await services.store.db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([])
  })

  it('that an ended process holds is taken over at once', async () => {
    const { request, services, clock } = await startService()
    const made = await request('POST', '/v2/api-keys', { ...newKey('a'), ...under('sample') })
    expect(made.status).toBe(201)
    const sample = await services.store.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
    const held = (key: string, owner: string) =>
      services.store.write((tx) =>
        records.claimKey(tx, {
          apiKeyId: sample.api_key_id,
          key,
          requestHash: sample.request_hash,
          owner,
          now: clock.now(),
          leaseMs: 30_000,
          ttlMs: 24 * HOUR,
        }),
      )
    // No such process; and one that had this process's id before it, as every restart of a container has.
    await held('dead', `${hostname()}/4194304/abc`)
    await held('namesake', `${hostname()}/${process.pid}/abc`)
    await held('elsewhere', `other-${hostname()}/4194304/abc`)
    const ask = async (key: string) => (await request('POST', '/v2/api-keys', { ...newKey('a'), ...under(key) })).status
    expect([await ask('dead'), await ask('namesake'), await ask('elsewhere')]).toEqual([201, 201, 409])
    clock.advance(30_000)
    expect(await ask('elsewhere')).toBe(201)
  })
})

describe('a stored answer', () => {
  it('is encrypted in the database: no key and no secret can be read from it', async () => {
    const service = await startService()
    const { request, dataDir } = service
    const key = await request('POST', '/v2/api-keys', { ...newKey('visible-name'), ...under('visible-key') })
    const hook = await request('POST', '/v2/webhook-subscriptions', {
      body: { url: 'https://example.com', enabled_events: ['*'] },
      ...under('hook'),
    })
    const bytes = onPostgres ? await rowsOf(service) : bytesOfFiles(dataDir)
    expect(bytes.includes('visible-name')).toBe(true)
    expect(bytes.includes('visible-key')).toBe(true)
    expect(bytes.includes(key.json.data.key)).toBe(false)
    expect(bytes.includes(key.json.data.key.slice(9, 30))).toBe(false)
    expect(bytes.includes(hook.json.data.secret)).toBe(false)
    expect(bytes.includes(hook.json.data.secret.slice(6, 30))).toBe(false)
    expect(bytes.includes(service.operator)).toBe(false)
  })

  it('that was changed on disk is an internal error, never a wrong answer', async () => {
    const { request, services } = await startService()
    const ask = () => request('POST', '/v2/api-keys', { ...newKey('a'), ...under('k') })
    await ask()
    const row = await services.store.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
    const response = Buffer.from(row.response!)
    response[20]! ^= 1
    await services.store.write((tx) => tx.updateTable('idempotency_keys').set({ response }).execute())
    const { status, json } = await ask()
    expect([status, json.error.code]).toEqual([500, 'internal_error'])
  })
})
