/** The lock of the API: which changes of the OpenAPI document it reports. */
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../src/api/openapi.ts'
import { brokenOperations, operationHashes } from '../tools/api-lock.ts'
import { routes } from './api/bodies.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document that tests change anywhere
type Document = any

const document: Document = JSON.parse(JSON.stringify(openApiDocument()))
const before = operationHashes(document)

/** The operations that are reported after this change of the document. */
function reportedAfter(change: (changed: Document) => void): string[] {
  const changed = structuredClone(document)
  change(changed)
  return brokenOperations(before, operationHashes(changed)).map((fault) => fault.split(' ')[0]!)
}

describe('the lock of the API', () => {
  it('has every operation and every webhook', () => {
    expect(Object.keys(before)).toHaveLength(routes.length + Object.keys(document.webhooks).length)
    expect(before).toMatchObject({
      postPools: expect.stringMatching(/^[0-9a-f]{16}$/),
      onPoolMigrated: expect.any(String),
    })
  })

  it('names an operation that is gone, with the command that accepts it', () => {
    const { postPools: _, ...rest } = before
    expect(brokenOperations(before, rest)).toEqual([
      'postPools is gone. Once its callers are safe or know what to change: npm run docs -- --accept postPools',
    ])
  })

  it('names an operation whose request, answer or scope has changed', () => {
    const changes: ((changed: Document) => void)[] = [
      ({ paths }) => delete paths['/v2/api-keys'].post.requestBody.content['application/json'].schema.properties.name,
      ({ paths }) => delete paths['/v2/api-keys'].post.responses['201'],
      ({ paths }) => paths['/v2/api-keys'].post.parameters.pop(),
      ({ paths }) => delete paths['/v2/api-keys'].post['x-scopes'],
    ]
    for (const change of changes) expect(reportedAfter(change)).toEqual(['postApiKeys'])
    const shared = reportedAfter(({ components }) => components.schemas.ApiKeyCreated.allOf.pop())
    expect(shared).toEqual(['postApiKeys', 'postApiKeysIdRotations'])
  })

  it('names every operation that returns a changed schema', () => {
    const reported = reportedAfter(({ components }) => delete components.schemas.Pool.properties.status)
    expect(reported).toEqual(expect.arrayContaining(['getPools', 'getPoolsAddress', 'postPools']))
    expect(reported).not.toContain('getTokens')
  })

  it('names an operation that lost a field called `description`', () => {
    const field = 'description'
    expect(
      reportedAfter(({ paths }) => {
        delete paths['/v2/pools'].post.requestBody.content['application/json'].schema.properties[field]
      }),
    ).toEqual(['postPools'])
  })

  it('ignores new operations, new texts, new examples and the order of fields', () => {
    expect(
      reportedAfter((changed) => {
        changed.paths['/v2/more'] = { get: { operationId: 'getMore', responses: {} } }
        const { post } = changed.paths['/v2/api-keys']
        Object.assign(post, { summary: 'Another', description: 'Another.', tags: ['Another'] })
        const body = post.requestBody.content['application/json']
        body.example = { name: 'other' }
        body.schema.properties.name.description = 'Another'
        body.schema.properties = Object.fromEntries(Object.entries(body.schema.properties).reverse())
        changed.components.schemas.Pool.required.reverse()
      }),
    ).toEqual([])
  })
})
