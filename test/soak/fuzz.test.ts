/** Every operation of the OpenAPI document, with requests that its schema allows and that it does not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '../../src/platform/errors.ts'
import { routes } from '../api/bodies.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import type { Answer, Ask } from '../support/request.ts'
import { broken, fitting, hostile, type Schema } from '../support/schema-arbitrary.ts'
import { ORIGIN, type Service, startService, temporaryFolder } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

/** FUZZ_SEED=n asks other questions; a failure prints the seed and the request. */
const SEED = Number(process.env.FUZZ_SEED || 20_261_121)
const SLOW_MS = 5000

interface Operation {
  name: string
  method: string
  path: string
  schema: Schema
  parameters: Schema[]
  statuses: string[]
}

function operationsOf(document: Schema): Operation[] {
  // A check of programs runs all of them in another process, which takes longer than any answer here may.
  const paths = Object.entries<Schema>(document.paths).filter(([path]) => path !== '/v2/program-checks')
  return paths.flatMap(([path, item]) =>
    Object.entries<Schema>(item).map(([method, { requestBody, parameters = [], responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      schema: requestBody?.content['application/json'].schema,
      parameters,
      statuses: Object.keys(responses),
    })),
  )
}

/** Things to be found: ids by the name of the path parameter. */
async function furnish({ request }: Service) {
  const ids: Record<string, string[]> = { id: [], address: [], wallet: [], kind: [] }
  for (let n = 0; n < 3; n++) {
    const tree = await request('POST', '/v2/merkle-trees', { body: { mint: wallet(n), entries: entries(4) } })
    const body = { url: `https://example.com/${n}`, enabled_events: ['*'] }
    const hook = await request('POST', '/v2/webhook-subscriptions', { body })
    const event = await request('POST', `/v2/webhook-subscriptions/${hook.json.data.id}/test`)
    const key = await request('POST', '/v2/api-keys', { body: { name: `key ${n}` } })
    ids.id!.push(...[tree, hook, event, key].map(({ json }) => json.data.id))
    ids.wallet!.push(wallet(n))
  }
  return ids
}

interface Question {
  path: string
  ask: Ask
}

/** The path with its parameters, and the query; `strict` gives only what the schemas allow. */
function pathOf(
  operation: Operation,
  document: Schema,
  ids: Record<string, string[]>,
  strict: boolean,
): fc.Arbitrary<string> {
  const value = ({ schema, name }: Schema): fc.Arbitrary<string> => {
    const fits = fitting(schema, document).map(String)
    const known = ids[name]?.length ? [{ arbitrary: fc.constantFrom(...ids[name]), weight: 3 }] : []
    const odd = hostile.map((put) => (typeof put === 'string' ? put.slice(0, 2000) : JSON.stringify(put)))
    return fc.oneof(...known, { arbitrary: fits, weight: 2 }, ...(strict ? [] : [{ arbitrary: odd, weight: 3 }]))
  }
  const encode = (text: string) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd'))
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query')
  const made = fc.record({
    params: fc.tuple(...inPath.map(value)),
    query: fc.tuple(...inQuery.map((parameter) => fc.option(value(parameter), { nil: undefined }))),
    extra: strict
      ? fc.constant('')
      : fc.constantFrom('', '', '&', '=', '&__proto__=1', '&limit=1&limit=2', '&%', '&a[b]=c'),
  })
  return made.map(({ params, query, extra }) => {
    const path = inPath.reduce(
      (text, { name }, n) => text.replace(`{${name}}`, encode(params[n]!) || '%20'),
      operation.path,
    )
    const pairs = inQuery.flatMap(({ name }, n) => (query[n] === undefined ? [] : [`${name}=${encode(query[n])}`]))
    return `${path}?${pairs.join('&')}${extra}`.replace(/\?$/, '')
  })
}

const headersOf = fc.record(
  {
    'x-request-id': fc.constantFrom('a', 'b c', '', 'x'.repeat(128), 'x'.repeat(129)),
    'idempotency-key': fc.constantFrom('one', 'two', 'three', '', 'k'.repeat(256)),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`
const rawBodies = fc.oneof(
  fc.constantFrom<string | Uint8Array>(
    '',
    '{',
    '}',
    'null',
    '[]',
    '{"a":1,}',
    '{"__proto__":{"mode":"signed"}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"mode":"signed","mode":"unsigned"}',
    '{"decimals":1e400}',
    `{"metadata":{"__proto__":"a","constructor":"b"}}`,
    '\ufeff{}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
    '{"entries":[{"wallet":1e999,"amount":-0}]}',
    nested('[', ']', 100_000),
    `{"metadata":${nested('{"a":', '', 50_000)}1${'}'.repeat(50_001)}`,
    `{"entries":${nested('[', ']', 100_000)}}`,
    `{"args":${nested('{"a":', '', 5_000)}1${'}'.repeat(5_001)}`,
    new Uint8Array([0xff, 0xfe, 0x7b, 0x00]),
    new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
    new Uint8Array(1000),
  ),
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 100 }).map((text) => text.replace(/[\ud800-\udfff]/g, '?')),
  fc.json(),
)
const contentTypes = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'text/plain',
  '',
)

function questionsOf(operation: Operation, document: Schema, ids: Record<string, string[]>, scale: number): Question[] {
  const { schema } = operation
  const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number) =>
    fc.sample(arbitrary, { seed: SEED, numRuns: Math.max(1, Math.round(count * scale)) })
  const strict = pathOf(operation, document, ids, true)
  const loose = pathOf(operation, document, ids, false)
  if (schema === undefined) {
    const reads = sample(fc.record({ path: strict }), 30)
    const odd = sample(fc.record({ path: loose, headers: headersOf }), 20)
    return [
      ...reads.map(({ path }) => ({ path, ask: {} })),
      ...odd.map(({ path, headers }) => ({ path, ask: { headers } })),
    ]
  }
  const valid = sample(fc.record({ path: strict, body: fitting(schema, document) }), 20)
  const spoilt = sample(fc.record({ path: loose, body: broken(schema, document), headers: headersOf }), 30)
  const raw = sample(fc.record({ path: strict, body: rawBodies, type: contentTypes, headers: headersOf }), 30)
  return [
    ...valid.map(({ path, body }) => ({ path, ask: { body } })),
    ...spoilt.map(({ path, body, headers }) => ({ path, ask: { body: JSON.stringify(body), headers } })),
    ...raw.map(({ path, body, type, headers }) => ({
      path,
      ask: { body, headers: { ...headers, 'content-type': type } },
    })),
  ]
}

/** A platform wallet, so that what it signs is asked for too. */
const platformSettings = () => ({ signer: 'keypair', 'signer.keypair': keypairFile(temporaryFolder()) })

/** What is wrong with an answer, or nothing. */
function wrongWith(operation: Operation, { status, json, headers, text }: Answer, took: number): string | undefined {
  if (took > SLOW_MS) return `took ${took} ms`
  if (json === undefined) return `answered no JSON: ${text.slice(0, 100)}`
  const [name, route] = routes.find(([, { method, path }]) => `${method.toUpperCase()} ${path}` === operation.name)!
  if (json.meta?.request_id !== headers.get('x-request-id') && headers.get('idempotent-replayed') === null) {
    return 'request_id is not the one of the header'
  }
  if (status < 300) {
    if (Object.keys(json).sort().join() !== 'data,meta') return `is not the envelope: ${Object.keys(json)}`
    const items = route.list ? json.data : [json.data]
    for (const item of items) {
      const { error } = route.data.safeParse(item)
      if (error) return `data is not what the document says: ${error.message.slice(0, 300)}`
    }
    return operation.statuses.includes(String(status)) || status === 200 ? undefined : `undocumented status ${status}`
  }
  if (Object.keys(json).sort().join() !== 'error,meta') return `is not the envelope: ${Object.keys(json)}`
  const { code, message } = json.error
  if (ERROR_STATUS[code as keyof typeof ERROR_STATUS] !== status) return `code ${code} with status ${status}`
  if (status === 500) {
    if (/^(tokens|pools|collections)\.create$/.test(name) && /fill the program cache/.test(message)) return undefined
    if (/^goldLocks\.(create|token)$/.test(name) && /^gold\.mint is not set/.test(message)) return undefined
    if (name === 'storage.delegate' && /^storage-key is not set/.test(message)) return undefined
    return `500: ${message}`
  }
  if (![400, 404, 409].includes(status)) return `answered ${status}: ${message}`
  if (/\bat .*:\d+:\d+|node_modules|\.ts\b|SQLITE|kysely|undefined/.test(message))
    return `tells its insides: ${message}`
  return undefined
}

async function fuzz(service: Service, scale: number) {
  const document = (await service.request('GET', '/v2/openapi.json')).json
  const ids = await furnish(service)
  const faults: string[] = []
  const statuses: Record<number, number> = {}
  let asked = 0
  for (const operation of operationsOf(document)) {
    for (const { path, ask } of questionsOf(operation, document, ids, scale)) {
      const began = performance.now()
      let answer: Answer
      try {
        answer = await service.request(operation.method, path, ask)
      } catch (error) {
        faults.push(`${operation.method} ${path}: threw ${error}`)
        continue
      }
      asked++
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      const fault = wrongWith(operation, answer, performance.now() - began)
      if (fault !== undefined) {
        faults.push(`${operation.method} ${path.slice(0, 300)} ${shown(ask)}\n  → ${fault} (FUZZ_SEED=${SEED})`)
      }
    }
  }
  return { asked, faults, statuses }
}

const shown = ({ body, headers }: Ask) =>
  `${JSON.stringify(headers ?? {}).slice(0, 200)} ${(typeof body === 'string' ? body : (JSON.stringify(body) ?? '')).slice(0, 400)}`

describe(`the API (FUZZ_SEED=${SEED})`, () => {
  it('answers more than 2,000 random requests with the envelope, without an unexpected 500 or a hang', async () => {
    const { asked, faults, statuses } = await fuzz(await startService({ settings: platformSettings() }), 1)
    expect(faults.slice(0, 10), `${faults.length} faults`).toEqual([])
    expect(asked).toBeGreaterThan(2000)
    // The generator is worth nothing if it never gets through.
    expect(statuses[200]).toBeGreaterThan(200)
    expect(statuses[201]).toBeGreaterThan(20)
    expect(statuses[400]).toBeGreaterThan(500)
    expect(statuses[404]).toBeGreaterThan(20)
  })

  it('answers random paths without an error of the router', async () => {
    const { request } = await startService()
    const segment = fc.oneof(
      fc.constantFrom(
        'v2',
        'v1',
        'pools',
        'merkle-trees',
        'docs',
        'assets',
        '..',
        '.',
        '',
        '%',
        '%2F',
        '%00',
        '%ff',
        ':id',
        '*',
        '{id}',
        '__proto__',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }).map((text) => encodeURI(text.replace(/[\ud800-\udfff]/g, '?'))),
    )
    for (const path of fc.sample(
      fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
      { seed: SEED, numRuns: 300 },
    )) {
      if (!URL.canParse(`${ORIGIN}${path}`)) continue
      const { status, json } = await request('GET', path)
      expect([200, 400, 404, 500], path).toContain(status)
      if (status === 500) expect(json.error.message).toMatch(/fill the program cache/)
    }
  })
})

const server = await startPostgres()
if ('missing' in server) {
  it.skip(`the API answers random requests on PostgreSQL too: PostgreSQL cannot be run here (${server.missing})`, () => {})
} else {
  it('the API answers random requests on PostgreSQL too', async () => {
    const settings = { 'database-url': await server.createDatabase(), 'encryption-key': 'ab'.repeat(32) }
    const { faults } = await fuzz(await startService({ settings: { ...platformSettings(), ...settings } }), 0.5)
    expect(faults.slice(0, 10), `${faults.length} faults`).toEqual([])
  })
}
