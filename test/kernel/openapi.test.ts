/** The OpenAPI document: as checked in, as served, as others read it. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { execa } from 'execa'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createKernel } from '../../daemon/kernel.ts'
import { mountOn } from '../../daemon/mount.ts'
import { mountRoutes } from '../../daemon/routes/index.ts'
import { DETECTION } from '../../src/api/events.ts'
import { routes } from '../api/bodies.ts'
import { startService } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const METHODS = ['get', 'post', 'patch', 'delete', 'put']

// biome-ignore lint/suspicious/noExplicitAny: a document from outside, read by its paths
type Document = any

async function served(): Promise<Document> {
  const { request } = await startService()
  return (await request('GET', '/v2/openapi.json', { key: null })).json
}

const operationsOf = (document: Document): string[] =>
  Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method} ${path}`),
  )

describe('the document', () => {
  it('is checked in as it is served', async () => {
    expect(JSON.parse(readFileSync(`${ROOT}/docs/openapi.json`, 'utf8'))).toEqual(await served())
    const check = await execa('npx', ['tsx', 'bin/docs.ts', '--check'], { cwd: ROOT, reject: false })
    expect([check.exitCode, check.stdout]).toEqual([0, ''])
  })

  it('has no fault in the eyes of an independent linter', async () => {
    const { exitCode, stdout, stderr } = await execa('npx', ['redocly', 'lint', 'svc', '--format', 'json'], {
      cwd: ROOT,
      reject: false,
      env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
    })
    const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{')))
    expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([])
    expect([exitCode, totals.errors, totals.warnings], stderr).toEqual([0, 0, 0])
  })

  it('says which version of OpenAPI and of the interface it is', async () => {
    const { openapi, info } = await served()
    expect([openapi, info.version]).toEqual(['3.1.0', '2.0.0'])
  })

  it('names every mounted route, and no other', async () => {
    const documented = operationsOf(await served())
    expect(documented.toSorted()).toEqual(routes.map(([, { method, path }]) => `${method} ${path}`).toSorted())

    const { services } = await startService()
    const hono = new Hono()
    const kernel = await createKernel(services)
    mountRoutes(mountOn(hono, kernel))
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

  it('tells of every operation who may call it and how it fails', async () => {
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
})
