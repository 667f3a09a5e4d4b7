/** The OpenAPI document: as built, as served, as others read it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createKernel } from '../../daemon/create-kernel.ts'
import { mountOn } from '../../daemon/mount.ts'
import type { RequestEnv } from '../../daemon/pipeline/request-record.ts'
import { mountRoutes } from '../../daemon/routes/index.ts'
import { DETECTION } from '../../src/api/event-types.ts'
import { documentSchemas } from '../../src/api/route.ts'
import { ERROR_STATUS, type ErrorCode } from '../../src/platform/errors.ts'
import { apiDocument, schemaNames } from '../../tools/api-document.ts'
import { A, routes } from '../api/bodies.ts'
import { sharedService, startService, temporaryFolder } from '../support/service.ts'

const shared = sharedService()
const METHODS = ['get', 'post', 'patch', 'delete', 'put']

// biome-ignore lint/suspicious/noExplicitAny: a document from outside, read by its paths
type Document = any

let document: Promise<Document> | undefined

/** Asked for once: what tests do with it changes nothing in it. */
function served(): Promise<Document> {
  document ??= ask()
  return document
}

async function ask(): Promise<Document> {
  const { request } = await shared()
  return (await request('GET', '/v2/openapi.json', { key: null })).json
}

const operationsOf = (document: Document): string[] =>
  Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method} ${path}`),
  )

const orNull = (name: string) => ({ anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }] })

/** What a reference leads to. */
const resolved = (document: Document, { $ref, ...rest }: Document): Document =>
  $ref === undefined
    ? rest
    : ($ref as string)
        .slice(2)
        .split('/')
        .reduce((at: Document, name) => at[name], document)

/** Every object in the document that could be a schema. */
const schemasIn = (value: Document): Document[] =>
  typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(schemasIn)] : []

describe('the OpenAPI document', () => {
  it('is served as the sources describe it', async () => {
    expect(await served()).toEqual(JSON.parse(JSON.stringify(await apiDocument())))
  })

  it('states the version of OpenAPI and of the API', async () => {
    const { openapi, info } = await served()
    expect([openapi, info.version]).toEqual(['3.1.0', '2.0.0'])
  })

  it('names the public URL as its server if that has a path', async () => {
    for (const [url, server] of [
      ['https://example.com/svc/', 'https://example.com/svc'],
      ['https://example.com', '/'],
    ] as const) {
      const { request } = await startService({ settings: { 'public-url': url } })
      const { json } = await request('GET', '/v2/openapi.json', { key: null })
      expect(json.servers).toEqual([{ url: server }])
    }
  })

  it('has every schema under a name of its own, which the build checks', async () => {
    const { components } = await served()
    const names = schemaNames()
    // Each named schema of the document is one that the check has seen.
    expect(
      Object.keys(components.schemas).filter((name) => names.filter((each) => each === name).length !== 1),
    ).toEqual([])
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a.ts'), ".openapi('Twice')\n.openapi(\n  'Twice',")
    expect(schemaNames(folder)).toEqual(['Twice', 'Twice'])
  })

  it('describes an approver and the multisig of a request apart', async () => {
    const document = await served()
    const { Approver, SquadsApprover } = document.components.schemas
    expect(Object.keys(Approver.properties)).toEqual(expect.arrayContaining(['address', 'name', 'status']))
    expect(Object.keys(SquadsApprover.properties)).toEqual(expect.arrayContaining(['kind', 'multisig']))
    const { get } = document.paths['/v2/approvers']
    expect(get.responses[200].content['application/json'].schema.properties.data.items).toEqual({
      $ref: '#/components/schemas/Approver',
    })
  })

  it('has the answer 200 wherever a request may be a dry run', async () => {
    const { paths } = await served()
    const dry = routes.filter(([, { body }]) => body !== undefined && 'dry_run' in body.shape)
    expect(dry.length).toBeGreaterThan(40)
    const lacking = dry.filter(([, { method, path }]) => paths[path][method].responses[200] === undefined)
    expect(lacking.map(([name]) => name)).toEqual([])
    expect(paths['/v2/pools'].post.responses[200].description).toBe('With `dry_run: true`: nothing is stored')
  })

  it('names exactly the mounted routes', async () => {
    const documented = operationsOf(await served())
    expect(documented.toSorted()).toEqual(routes.map(([, { method, path }]) => `${method} ${path}`).toSorted())

    const { services } = await shared()
    const hono = new Hono<RequestEnv>()
    const kernel = await createKernel(services)
    await mountRoutes(mountOn(hono, kernel))
    await kernel.limiter.close()
    const mounted = hono.routes.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
    // The proof path without a wallet is mounted only to be refused.
    const refusals = ['get /v2/merkle-trees/{id}/proofs', 'get /v2/merkle-trees/{id}/proofs/']
    expect(mounted.filter((route) => !refusals.includes(route)).toSorted()).toEqual(documented.toSorted())
  })

  it('has all 31 event types as webhooks, with their payload', async () => {
    const { webhooks } = await served()
    expect(Object.keys(webhooks).toSorted()).toEqual(Object.keys(DETECTION).toSorted())
    expect(Object.keys(webhooks)).toHaveLength(31)
    for (const [type, { post }] of Object.entries<Document>(webhooks)) {
      expect(post.requestBody.content['application/json'].schema, type).toEqual({
        $ref: '#/components/schemas/WebhookPayload',
      })
      expect(post.summary).toContain(DETECTION[type as keyof typeof DETECTION])
    }
  })

  it('states for every operation who may call it and how it fails', async () => {
    const document = await served()
    const open: string[] = []
    const ids = new Set<string>()
    for (const operation of operationsOf(document)) {
      const [method, path] = operation.split(' ') as [string, string]
      const { security, responses, operationId, summary, parameters = [], requestBody } = document.paths[path][method]
      ids.add(operationId)
      expect(summary, operation).toMatch(/\S/)
      if (security.length === 0) open.push(operation)
      else expect(Object.keys(responses), operation).toEqual(expect.arrayContaining(['401', '403', '429']))
      expect(Object.keys(responses), operation).toEqual(expect.arrayContaining(['400', '500']))
      const names = parameters.map(({ name }: { name: string }) => name)
      expect(names.includes('idempotency-key'), operation).toBe(method !== 'get')
      expect(requestBody !== undefined, operation).toBe(method !== 'get')
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(names, operation).toContain(name)
    }
    expect(ids.size).toBe(operationsOf(document).length)
    expect(open.toSorted()).toEqual(['get /v2/health', 'get /v2/webhook-event-types'])
  })

  it('describes every tag and every operation in its own sentences', async () => {
    const document = await served()
    const operations = operationsOf(document).map((operation) => {
      const [method, path] = operation.split(' ') as [string, string]
      return { name: operation, ...document.paths[path][method] }
    })
    const described = [...operations, ...document.tags]
    for (const { name, summary, description } of described) {
      expect(description, name).toMatch(/^(?:`\w|[A-Z])[\s\S]{20,}[.]$/)
      expect(description, name).not.toContain(summary ?? 'nothing of the kind')
    }
    const texts = described.map(({ description }) => description)
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([])
    const tags = document.tags.map(({ name }: { name: string }) => name)
    expect(operations.filter(({ tags: [tag] }) => !tags.includes(tag))).toEqual([])
  })

  it('allows null for a missing account of a batch and for a policy, and never declares it twice', async () => {
    const document = await served()
    const { AccountBatch, Signer, SignerPolicy } = document.components.schemas
    expect(AccountBatch.properties.accounts.items).toEqual(orNull('Account'))
    expect(Signer.properties.policy).toMatchObject(orNull('SignerPolicy'))
    expect(SignerPolicy.type).toBe('object')
    const contradictory = schemasIn(document).filter(({ allOf = [] }) =>
      allOf.some(({ type }: Document) => [type].flat().includes('null')),
    )
    expect(contradictory).toEqual([])
  })

  it('requires a body for exactly the writes that have a required field', async () => {
    const document = await served()
    const bodies = operationsOf(document).flatMap((operation) => {
      const [method, path] = operation.split(' ') as [string, string]
      const { requestBody } = document.paths[path][method]
      return requestBody === undefined ? [] : [{ operation, ...requestBody }]
    })
    expect(bodies).toHaveLength(routes.filter(([, { method }]) => method !== 'get').length)
    for (const { operation, required, content } of bodies) {
      const fields = resolved(document, content['application/json'].schema).required ?? []
      expect([operation, required]).toEqual([operation, fields.length > 0])
    }
    const forms = bodies.filter(({ content }) => content['multipart/form-data'] !== undefined)
    expect(forms.map(({ operation }) => operation)).toEqual(['post /v2/pools', 'post /v2/pool-rehearsals'])
    expect(forms.every(({ required }) => required)).toBe(true)
    const optional = bodies.filter(({ required }) => !required).map(({ operation }) => operation)
    expect(optional).toContain('delete /v2/api-keys/{id}')
  })

  it('has an example error with a matching code for every status of a failure', async () => {
    const document = await served()
    for (const operation of operationsOf(document)) {
      const [method, path] = operation.split(' ') as [string, string]
      for (const [status, response] of Object.entries<Document>(document.paths[path][method].responses)) {
        if (Number(status) < 400) continue
        const examples = Object.values<Document>(response.content['application/json'].examples)
        expect(examples).toHaveLength(1)
        const { value } = resolved(document, examples[0])
        expect(ERROR_STATUS[value.error.code as ErrorCode], operation).toBe(Number(status))
        expect(documentSchemas().errorSchema.parse(value)).toEqual(value)
      }
    }
  })

  it('describes the headers of every answer under their HTTP names', async () => {
    const document = await served()
    const always = ['Cache-Control', 'X-Content-Type-Options', 'X-Request-Id']
    const counted = ['RateLimit', 'RateLimit-Policy']
    for (const operation of operationsOf(document)) {
      const [method, path] = operation.split(' ') as [string, string]
      const { security, responses } = document.paths[path][method]
      for (const [status, { headers }] of Object.entries<Document>(responses)) {
        const wanted = [
          ...always,
          ...(security.length === 0 || status === '401' ? [] : counted),
          ...(status === '401' ? ['WWW-Authenticate'] : []),
          ...(status === '429' ? ['Retry-After'] : []),
          ...(method !== 'get' && status < '300' ? ['Idempotent-Replayed'] : []),
        ]
        expect(Object.keys(headers).toSorted(), `${operation} ${status}`).toEqual(wanted.toSorted())
        for (const header of Object.values(headers)) {
          const { description, schema, name } = resolved(document, header)
          expect([typeof description, typeof schema, name]).toEqual(['string', 'object', undefined])
        }
      }
    }
  })

  it('describes the headers that answers really have', async () => {
    const { request, key } = await shared()
    const limited = await key({ perMinute: 3 })
    const write = { key: limited, body: { mint: A, entries: [{ wallet: A, amount: '1' }] } }
    const under = { ...write, headers: { 'idempotency-key': 'k' } }
    const answers = [
      await request('GET', '/v2/pools', { key: null }),
      await request('POST', '/v2/merkle-trees', under),
      await request('GET', '/v2/pools?limit=0', { key: limited }),
      await request('GET', '/v2/tokens', { key: limited }),
      await request('GET', '/v2/tokens', { key: limited }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 400, 200, 429])
    const document = await served()
    const asked = ['get /v2/pools', 'post /v2/merkle-trees', 'get /v2/pools', 'get /v2/tokens', 'get /v2/tokens']
    for (const [i, { status, headers }] of answers.entries()) {
      const [method, path] = asked[i]!.split(' ') as [string, string]
      const told = document.paths[path][method].responses[status].headers as Record<string, Document>
      const sent = [...headers.keys()].filter((name) => name !== 'content-type')
      expect(
        Object.keys(told).map((name) => name.toLowerCase()),
        `${asked[i]} ${status}`,
      ).toEqual(expect.arrayContaining(sent))
      for (const name of Object.keys(told)) {
        const { required } = resolved(document, told[name])
        if (required) expect(headers.get(name), `${asked[i]} ${status} ${name}`).toMatch(/./)
      }
    }
  })
})
