/** The reference page as it is made of the OpenAPI document: whole, escaped, linked, and small. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtReferencePage } from '../bin/reference-page/built-page.ts'
import type { ShownDocument } from '../bin/reference-page/document.ts'
import { referencePage } from '../bin/reference-page/page.ts'
import { sampleValue } from '../bin/reference-page/sample-values.ts'
import { openApiDocument } from '../src/api/openapi.ts'
import { ERROR_STATUS } from '../src/platform/errors.ts'
import { routes } from './api/bodies.ts'

const document = openApiDocument() as ShownDocument
const page = await builtReferencePage('1.2.3')
const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)

/** The section of an entry, up to the next one. */
function entry(id: string): string {
  const begin = page.indexOf(`id="${id}"`)
  expect(begin, id).toBeGreaterThan(0)
  const end = page.indexOf('<section', begin)
  return page.slice(begin, end < 0 ? undefined : end)
}

/** A document of one operation with these parts. */
function documentWith(parts: object, schemas: ShownDocument['components']['schemas'] = {}): ShownDocument {
  const operation = { operationId: 'readThing', tags: ['Things'], summary: 'Read a thing', responses: {}, ...parts }
  return {
    info: { title: 'svc', version: '2.0.0' },
    tags: [{ name: 'Things' }],
    paths: { '/v2/things': { get: operation } },
    components: { schemas },
  }
}

describe('the reference page', () => {
  it('has every operation with its path, its summary and the fields that it takes', () => {
    for (const [, { method, path }] of routes) {
      const operation = (document.paths[path] as Record<string, { operationId: string; summary: string }>)[method]!
      const section = entry(operation.operationId)
      expect(section).toContain(`data-title="${path}"`)
      expect(section).toContain(`>${method.toUpperCase()}</span>`)
    }
    const trees = entry('postMerkleTrees')
    for (const field of ['mint', 'airdrop_count', 'decimals', 'duplicates', 'persist', 'replace', 'entries']) {
      expect(trees).toContain(`<code class="name">${field}</code>`)
    }
    expect(entry('getPools')).toContain('<code class="name">cursor</code>')
  })

  it('has every error where its doc_url leads, every schema and every event', () => {
    for (const code of Object.keys(ERROR_STATUS)) expect(entry(`error-${code}`)).toContain(`&quot;${code}&quot;`)
    for (const name of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${name}`)
    for (const type of Object.keys(document.webhooks ?? {})) expect(ids).toContain(`event-${type}`)
  })

  it('gives each id once, and leads with every link to one', () => {
    expect(ids.length).toBe(new Set(ids).size)
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    expect(links.length).toBeGreaterThan(500)
    expect(links.filter((id) => !ids.includes(id))).toEqual([])
  })

  it('is at most 1 MB with its style and its script, and names no other host', () => {
    const files = ['page.css', 'page.js'].map((file) => readFileSync(`${import.meta.dirname}/../dist/docs/${file}`))
    const bytes = [Buffer.from(page), ...files].reduce((sum, { length }) => sum + length, 0)
    expect(bytes).toBeLessThan(1_000_000)
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    // Its policy would refuse them.
    expect(page).not.toMatch(/<style| style=| on[a-z]+="|<script(?! src="\.\.\/assets\/docs\/page\.js"><\/script>)/)
  })

  it('shows texts as texts, whatever they are', () => {
    const hostile = '<script>alert(1)</script> " \' & `<b>`'
    const made = referencePage(
      documentWith(
        {
          summary: hostile,
          description: `${hostile}\n\n${hostile}`,
          parameters: [{ name: hostile, in: 'query', description: hostile, schema: { enum: [hostile] } }],
          responses: {
            200: {
              description: hostile,
              content: { 'application/json': { example: { [hostile]: hostile }, schema: {} } },
            },
          },
        },
        { Thing: { description: hostile, type: 'object', properties: { [hostile]: { pattern: hostile } } } },
      ),
      hostile,
      new Map([
        [
          'get /v2/things',
          { requests: [{ label: 'svc', source: hostile }], errors: { 400: { code: hostile, message: hostile } } },
        ],
      ]),
    )
    expect(made).not.toMatch(/<script>alert|<b>`|"alert/)
    expect(made.match(/<script/g)).toHaveLength(1)
    expect(made).toContain('<code>&lt;b&gt;</code>')
  })

  it('tells what a value may be in words', () => {
    const made = referencePage(
      documentWith(
        {},
        {
          Thing: {
            type: 'object',
            required: ['wallet'],
            properties: {
              wallet: { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' },
              count: { type: 'integer', minimum: 1, maximum: 1000, default: 20 },
              kind: { type: 'string', enum: ['one', 'two'] },
              parts: { type: ['array', 'null'], items: { type: 'object', properties: { deep: { type: 'boolean' } } } },
              other: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] },
            },
          },
        },
      ),
      '1',
    ).replace(/<[^>]+>/g, '')
    expect(made).toContain('wallet string · base58 address required')
    expect(made).toContain('count integer · 1–1,000 · default 20')
    expect(made).toContain('kind one, two')
    expect(made).toContain('parts array of object or null')
    expect(made).toContain('deep boolean')
    expect(made).toContain('other Thing or null')
  })

  it('shows only examples that their schema allows, and an end of a schema that holds itself', () => {
    const thing = { type: 'object', properties: { below: { $ref: '#/components/schemas/Thing' } } }
    expect(JSON.stringify(sampleValue(documentWith({}, { Thing: thing }), thing)).length).toBeLessThan(200)
    expect(sampleValue(document, { type: 'string', enum: ['a', 'b'] })).toBe('a')
    expect(sampleValue(document, { type: ['integer', 'null'], minimum: 3 })).toBe(3)
    expect(sampleValue(document, { $ref: '#/components/schemas/Health' })).toMatchObject({ status: expect.any(String) })
  })

  it('refuses a document that names what it lacks', () => {
    const lost = { $ref: '#/components/schemas/Lost' }
    const answer = { 200: { description: 'Success', content: { 'application/json': { schema: lost } } } }
    expect(() => referencePage(documentWith({ responses: answer }), '1')).toThrow(
      'the document has no #/components/schemas/Lost',
    )
  })
})
