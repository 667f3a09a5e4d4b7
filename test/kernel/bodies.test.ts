/** Bodies: how large, how deep and how wide they may be, and that nobody without a key has one read. */
import { describe, expect, it } from 'vitest'
import { routes, writes } from '../api/bodies.ts'
import { ORIGIN, type Service, sharedService, startService } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const shared = sharedService()
const KIB = 1024
const MINT = wallet(0)
const TREE = 'A'.repeat(46)
const filled = (path: string) => path.replace(/\{id\}/g, TREE).replace(/\{\w+\}/g, MINT)

/** A body that counts how often it is asked for more, and never ends: all of it the one field that may be large. */
function endless(start = '{"image":"'): { stream: ReadableStream<Uint8Array>; pulls(): number } {
  let pulls = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = Buffer.alloc(64 * KIB, ' ')
        if (pulls++ === 0) piece.write(start)
        controller.enqueue(new Uint8Array(piece))
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, pulls: () => pulls }
}

async function stream({ app }: Service, path: string, method: string, headers: Record<string, string>, start?: string) {
  const { stream: body, pulls } = endless(start)
  const init = { method, body, duplex: 'half', headers: { 'content-type': 'application/json', ...headers } }
  const response = await app.fetch(new Request(`${ORIGIN}${path}`, init as RequestInit))
  return { status: response.status, pulls: pulls(), text: await response.text() }
}

describe('the body of a request that is refused in any case', () => {
  it('is not read: without a key, with a wrong or revoked one, over its limit, without the scope of the route', async () => {
    const service = await shared()
    const spent = await service.key({ perMinute: 1 })
    await service.request('GET', '/v2/pools', { key: spent })
    const none = await service.key()
    expect(writes.length).toBeGreaterThan(30)
    for (const [name, route] of writes) {
      const refused: [number, Record<string, string>][] = [
        [401, {}],
        [403, { authorization: 'Bearer svc_live_nobody' }],
        [429, { authorization: `Bearer ${spent}` }],
        ...(route.scope ? [[403, { authorization: `Bearer ${none}` }] as [number, Record<string, string>]] : []),
      ]
      for (const [status, headers] of refused) {
        const answer = await stream(service, filled(route.path), route.method.toUpperCase(), headers)
        expect([name, answer.status, answer.pulls]).toEqual([name, status, 0])
      }
    }
  })

  it('is not read on an unknown path or with an unknown method', async () => {
    const service = await shared()
    for (const path of ['/v2/nothing', '/v1/pools', '/v2/health', '/']) {
      const answer = await stream(service, path, 'POST', {})
      expect([path, answer.status, answer.pulls]).toEqual([path, 404, 0])
    }
  })
})

describe('the largest body', () => {
  it('of every write is 256 KiB, or 16 MiB for lists, pools and rehearsals; a larger one is refused with the limit', async () => {
    const service = await shared()
    const authorization = `Bearer ${service.operator}`
    const large = ['merkleTrees.create', 'pools.create', 'pools.rehearse', 'raises.storeAllowlist']
    expect(routes.filter(([, route]) => route.large).map(([name]) => name)).toEqual(expect.arrayContaining(large))
    for (const [name, route] of writes) {
      const limit = (large.includes(name) ? 16 * KIB : 256) * KIB
      const method = route.method.toUpperCase()
      const streamed = await stream(service, filled(route.path), method, { authorization })
      const declared = await stream(service, filled(route.path), method, {
        authorization,
        'content-length': String(limit + 1),
      })
      for (const { status, text } of [streamed, declared]) {
        const { error } = JSON.parse(text)
        expect([name, status, error.code, error.details]).toEqual([name, 400, 'bad_request', { limit_bytes: limit }])
        expect(error.message).toBe(`The request body is larger than ${large.includes(name) ? '16 MiB' : '256 KiB'}`)
      }
      expect([name, declared.pulls]).toEqual([name, 0])
      expect(streamed.pulls).toBeLessThanOrEqual(limit / (64 * KIB) + 2)
    }
  })

  it('of a pool is large only because of its image: other large bodies are refused before they are parsed', async () => {
    const service = await shared()
    const long = 'x'.repeat(300 * KIB)
    const broken = [
      `{"name":"${long}"`,
      `{"metadata":{"image":"${long}"}`,
      `{"image":{"image":"${long}"}`,
      `{"image":["${long}"]`,
      `{"a":"image","b":"${long}"`,
      `{"${long}":"image"`,
      `{"image":"x"${' '.repeat(300 * KIB)}`,
    ]
    for (const body of broken) {
      const { error } = (await service.request('POST', '/v2/pools', { body })).json
      expect(error).toMatchObject({ code: 'bad_request', details: { limit_bytes: 256 * KIB } })
      expect(error.message).toBe('The body has more than 256 KiB besides its image: send less')
    }
    const image = await service.request('POST', '/v2/pools', { body: { image: 'QUJD'.repeat(75 * KIB) } })
    expect(image.json.error.param).toBe('creator')
  })

  it('of a pool is read only up to where it is refused', async () => {
    const service = await shared()
    const authorization = `Bearer ${service.operator}`
    const refused: [string, number, object][] = [
      ['', 5, { limit_bytes: 256 * KIB }],
      ['{"name":"', 5, { limit_bytes: 256 * KIB }],
      ['{"image":"x","name":"', 5, { limit_bytes: 256 * KIB }],
      ['['.repeat(40), 1, { limit_depth: 32 }],
      [`[${','.repeat(10_000)}`, 1, { limit_values: 10_000 }],
    ]
    for (const [start, pieces, details] of refused) {
      const { text, pulls } = await stream(service, '/v2/pools', 'POST', { authorization }, start)
      expect([start.slice(0, 30), JSON.parse(text).error.details]).toEqual([start.slice(0, 30), details])
      // One more may have been asked for ahead.
      expect(pulls).toBeLessThanOrEqual(pieces + 1)
    }
    const type = { authorization, 'content-type': 'text/plain' }
    const plain = await stream(service, '/v2/pools', 'POST', type)
    expect(JSON.parse(plain.text).error.param).toBe('Content-Type')
    expect(plain.pulls).toBeLessThanOrEqual(2)
  })

  it('is set by the settings', async () => {
    const service = await startService({ settings: { 'body-limit-mib': 1, 'json-limit-kib': 64 } })
    const asked = (path: string, size: number) => service.request('POST', path, { body: '{}'.padEnd(size) })
    expect((await asked('/v2/api-keys', 64 * KIB)).json.error.param).toBe('name')
    expect((await asked('/v2/api-keys', 64 * KIB + 1)).json.error.details).toEqual({ limit_bytes: 64 * KIB })
    expect((await asked('/v2/pools', 64 * KIB)).json.error.param).toBe('creator')
    expect((await asked('/v2/pools', 1024 * KIB + 1)).json.error.details).toEqual({ limit_bytes: 1024 * KIB })
  })
})

describe('a body that is too deep or too wide', () => {
  const send = (service: Service, body: string, path = '/v2/api-keys') => service.request('POST', path, { body })

  it('is refused before it is parsed; strings and escapes do not count', async () => {
    const service = await shared()
    const nested = (depth: number) => `{"name":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect((await send(service, nested(32))).json.error.param).toBe('name')
    const deep = await send(service, nested(33))
    expect(deep.json.error).toMatchObject({ code: 'bad_request', details: { limit_depth: 32 } })
    // Depth is reported even if the text is not JSON, because it was not parsed.
    expect((await send(service, '['.repeat(200_000))).json.error.details).toEqual({ limit_depth: 32 })

    const wide = (count: number) => `{"name":[${Array.from({ length: count }, () => 1).join()}]}`
    expect((await send(service, wide(9_000))).json.error.param).toBe('name')
    const many = await send(service, wide(10_000))
    expect(many.json.error).toMatchObject({ code: 'bad_request', details: { limit_values: 10_000 } })
    const keys = `{${Array.from({ length: 20_000 }, (_, n) => `"${n}":0`).join()}}`
    expect((await send(service, keys)).json.error.details).toEqual({ limit_values: 10_000 })

    const texts = ['[{,'.repeat(20_000), '\\"[{,'.repeat(10_000), `${'\\\\'.repeat(9_999)}`, '\\\\\\"[']
    for (const text of texts) {
      const answer = await send(service, `{"name":"${text}${'y'.repeat(101)}","scopes":[]}`)
      expect([answer.status, answer.json.error.param]).toEqual([400, 'name'])
    }
    const hidden = `{"name":"\\\\","x":${'['.repeat(40)}`
    expect((await send(service, hidden)).json.error.details).toEqual({ limit_depth: 32 })
  })

  it('is refused on the routes with large bodies too, and inside a field of a form', async () => {
    const service = await shared()
    const deep = '{"x":'.repeat(40)
    expect((await send(service, deep, '/v2/pools')).json.error.details).toEqual({ limit_depth: 32 })
    expect((await send(service, `{"metadata":${deep}`, '/v2/merkle-trees')).json.error.message).toContain(
      'nested deeper than 32 levels',
    )
    const keys = `{${Array.from({ length: 20_000 }, (_, n) => `"${n}":""`).join()}}`
    const tree = await send(service, `{"metadata":${keys}}`, '/v2/merkle-trees')
    expect(tree.json.error.message).toContain('10000 fields besides its entries')
    const answer = await form(service, [['metadata', '['.repeat(40)]])
    expect(answer.json.error).toMatchObject({ param: 'metadata', details: { limit_depth: 32 } })
  })
})

async function form({ request }: Service, fields: [string, string | Blob][], more: Record<string, string> = {}) {
  const data = new FormData()
  for (const [name, value] of fields) data.append(name, value)
  const sent = new Response(data)
  const headers = { 'content-type': sent.headers.get('content-type')!, ...more }
  return request('POST', '/v2/pools', { body: new Uint8Array(await sent.arrayBuffer()), headers })
}

describe('a form', () => {
  it('with too many parts, or with too much beside its image, is refused by name', async () => {
    const service = await shared()
    const parts = await form(
      service,
      Array.from({ length: 100 }, (_, n): [string, string] => [`f${n}`, '']),
    )
    expect(parts.json.error).toMatchObject({ code: 'bad_request', details: { limit_parts: 32 } })
    const text = await form(service, [['description', 'x'.repeat(257 * KIB)]])
    expect(text.json.error).toMatchObject({ param: 'description', details: { limit_bytes: 256 * KIB } })
    const file = await form(service, [['website', new Blob(['x'.repeat(257 * KIB)])]])
    expect(file.json.error).toMatchObject({ param: 'website', details: { limit_bytes: 256 * KIB } })
    const both = ['description', 'website'].map((name): [string, string] => [name, 'x'.repeat(130 * KIB)])
    expect((await form(service, both)).json.error).toMatchObject({ param: 'website' })
    for (const name of ['n'.repeat(5 * KIB), `image${'n'.repeat(5 * KIB)}`]) {
      const head = (await form(service, [[name, '']])).json.error
      expect(head).toMatchObject({ code: 'bad_request', details: { limit_bytes: 4 * KIB } })
      expect(head.message).toBe('The head of a part of the form is longer than 4 KiB: send shorter names')
    }
    const image = await form(service, [['image', new Blob([new Uint8Array(300 * KIB)])]])
    expect(image.json.error.param).toBe('creator')
  })

  it('is not parsed if JSON is required, also with an Idempotency-Key', async () => {
    const service = await shared()
    for (const path of ['/v2/merkle-trees', '/v2/api-keys']) {
      const headers = { 'content-type': 'multipart/form-data; boundary=x', 'idempotency-key': 'form' }
      const { status, json } = await service.request('POST', path, { body: 'no form at all', headers })
      expect([status, json.error.param]).toEqual([400, 'Content-Type'])
      expect(json.error.message).toContain('Content-Type must be application/json')
    }
  })

  it('without a boundary, or with an invalid one, is refused', async () => {
    const service = await shared()
    for (const boundary of ['', '; boundary=', `; boundary=${'x'.repeat(71)}`]) {
      const answer = await form(service, [['name', 'a']], { 'content-type': `multipart/form-data${boundary}` })
      expect([answer.status, answer.json.error.param]).toEqual([400, 'Content-Type'])
    }
  })
})

describe('metadata', () => {
  const bodies: [string, object][] = [
    ['/v2/api-keys', { name: 'a' }],
    ['/v2/merkle-trees', { mint: MINT, entries: entries(1) }],
  ]
  const told = async (service: Service, metadata: string) => {
    const answers = []
    for (const [path, body] of bodies) {
      const text = `${JSON.stringify(body).slice(0, -1)},"metadata":${metadata}}`
      const { status, json } = await service.request('POST', path, { body: text })
      answers.push(status < 300 ? 'stored' : [status, json.error.param, json.error.message])
    }
    expect(answers[1]).toEqual(answers[0])
    return answers[0]
  }
  const many = (count: number, text = 'v') =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, text])))

  it('has at most 50 entries of 40 and 500 characters, 16 KiB in all; a refusal names the limit', async () => {
    const service = await shared()
    expect(await told(service, many(50))).toBe('stored')
    expect(await told(service, JSON.stringify({ ['k'.repeat(40)]: 'v'.repeat(500) }))).toBe('stored')
    expect(await told(service, many(51))).toEqual([
      400,
      'metadata',
      'metadata: has 51 entries; at most 50 are stored: leave some out',
    ])
    const long = 'k'.repeat(41)
    const name = (length: number) => `has a name of ${length} characters; a name has 1 to 40`
    expect(await told(service, `{"${long}":""}`)).toEqual([400, `metadata.${long}`, `metadata.${long}: ${name(41)}`])
    expect(await told(service, '{"":""}')).toEqual([400, 'metadata.', `metadata.: ${name(0)}`])
    expect((await told(service, JSON.stringify({ a: 'v'.repeat(501) })))?.slice(0, 2)).toEqual([400, 'metadata.a'])
    // 32 entries of 500 are 16,000 characters of values, and a little more as JSON.
    expect(await told(service, many(32, 'v'.repeat(490)))).toBe('stored')
    const heavy = [400, 'metadata', 'metadata: is larger than 16 KiB as JSON: send less']
    expect(await told(service, many(33, 'v'.repeat(490)))).toEqual(heavy)
    expect(await told(service, many(33, '€'.repeat(200)))).toEqual(heavy)
  })

  it('cannot have an entry named __proto__, which is refused by name even if it is the only one', async () => {
    const service = await startService()
    const message = 'metadata.__proto__: cannot be used as a name: choose another'
    for (const text of ['{"__proto__":"x"}', '{"a":"b","__proto__":"x"}', '{"\\u005f_proto__":{"polluted":"x"}}']) {
      expect(await told(service, text)).toEqual([400, 'metadata.__proto__', message])
    }
    expect(await told(service, '{"constructor":"x","toString":"y","hasOwnProperty":"z"}')).toBe('stored')
    const { json } = await service.request('GET', '/v2/events')
    expect(json.data[0].metadata).toEqual({ constructor: 'x', toString: 'y', hasOwnProperty: 'z' })
  })

  it('is an object, and no other object with free names accepts __proto__', async () => {
    const service = await shared()
    for (const value of ['null', '[]', '1', '"x"', 'true']) {
      expect((await told(service, value))?.slice(0, 2)).toEqual([400, 'metadata'])
    }
    const { status, json } = await service.request('POST', '/v2/pdas/gold_lock', {
      body: `{"args":{"user":"${MINT}","__proto__":{}}}`,
    })
    expect([status, json.error?.param]).toEqual([400, 'args.__proto__'])
  })
})
