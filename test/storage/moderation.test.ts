/** Moderation against a real HTTP server that speaks the moderations endpoint, and everything that can go wrong with it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../src/platform/errors.ts'
import { type Config, loadConfig, type SettingName } from '../../src/settings/config.ts'
import { moderate, requireAllowed } from '../../src/storage/moderation.ts'
import { IMAGES, png } from './images.ts'

const KEY = 'sk-VERYSECRET0123456789'
const IMAGE = { image: { bytes: png(), contentType: 'image/png' } }

const configWith = (settings: Partial<Record<SettingName, unknown>>): Config =>
  loadConfig({ flags: { moderation: 'openai', ...settings }, env: {}, cwd: '/' })

interface Seen {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

async function provider(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method, url, headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    seen.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { seen, url, config: configWith({ 'moderation-url': `${url}/v1/`, 'moderation-key': KEY }) }
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const verdict = (flagged: boolean, categories: Record<string, boolean> = {}) => ({
  id: 'modr-1',
  model: 'omni-moderation-latest',
  results: [{ flagged, categories, category_scores: {} }],
})

async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => expect.unreachable('it should have failed'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ApiError)
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(KEY)
  return error as ApiError
}

describe('moderation', () => {
  it('sends no request while it is off', async () => {
    const { seen, url } = await provider((response) => json(response, verdict(true)))
    const config = configWith({ moderation: 'off', 'moderation-url': url })
    expect(await moderate(config, { ...IMAGE, texts: ['text'] })).toEqual({ flagged: false })
    await requireAllowed(config, IMAGE)
    expect(seen).toEqual([])
  })

  it('sends texts and image in the documented form', async () => {
    const { seen, config } = await provider((response) => json(response, verdict(false, { violence: false })))
    for (const [contentType, bytes] of [
      ['image/png', IMAGES.png],
      ['image/webp', IMAGES.webpLossy],
    ] as const) {
      await requireAllowed(config, { image: { bytes, contentType }, texts: ['My Token', 'MTK', ''] })
      const { method, url, headers, body } = seen.pop()!
      expect([method, url, headers['content-type'], headers.authorization]).toEqual([
        'POST',
        '/v1/moderations',
        'application/json',
        `Bearer ${KEY}`,
      ])
      expect(JSON.parse(body)).toEqual({
        model: 'omni-moderation-latest',
        input: [
          { type: 'text', text: 'My Token' },
          { type: 'text', text: 'MTK' },
          {
            type: 'image_url',
            image_url: { url: `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}` },
          },
        ],
      })
    }
    expect(seen).toEqual([])
  })

  it('can use another model, and another server without a key', async () => {
    const { seen, url } = await provider((response) => json(response, verdict(false)))
    await requireAllowed(configWith({ 'moderation-url': url, 'moderation-model': 'guard-1' }), IMAGE)
    expect([seen[0]?.url, seen[0]?.headers.authorization, JSON.parse(seen[0]!.body).model]).toEqual([
      '/moderations',
      undefined,
      'guard-1',
    ])
  })

  it('rejects with the categories that apply', async () => {
    const { config } = await provider((response) =>
      json(response, verdict(true, { violence: true, 'sexual/minors': true, harassment: false })),
    )
    expect(await moderate(config, IMAGE)).toEqual({ flagged: true, categories: ['sexual/minors', 'violence'] })
    const { code, message, param, details } = await failureOf(requireAllowed(config, IMAGE))
    expect([code, message, param, details]).toEqual([
      'bad_request',
      'The image or its texts were rejected by content moderation: sexual/minors, violence',
      'image',
      { categories: ['sexual/minors', 'violence'] },
    ])
  })

  it('rejects with any form of the categories', async () => {
    const long = { ['x'.repeat(100)]: true, '<b>': true }
    const { config } = await provider((response) => json(response, verdict(true, long)))
    expect(await moderate(config, IMAGE)).toEqual({ flagged: true, categories: ['unspecified'] })
  })

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['a key that is not accepted', (r) => json(r, { error: { message: KEY } }, 401), /check SVC_MODERATION_KEY/],
    ['a key without rights', (r) => json(r, {}, 403), /check SVC_MODERATION_KEY/],
    ['too many requests', (r) => json(r, {}, 429), /answered with status 429/],
    ['a fault', (r) => json(r, { error: KEY }, 500), /answered with status 500/],
    ['a redirect', (r) => r.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(), /cannot be reached/],
    ['no JSON', (r) => r.end('<html>'), /without a verdict/],
    ['JSON null', (r) => r.end('null'), /without a verdict/],
    ['no results', (r) => json(r, { results: [] }), /without a verdict/],
    ['results without a verdict', (r) => json(r, { results: [{ flagged: 'no' }] }), /without a verdict/],
    ['a null among the results', (r) => json(r, { results: [null] }), /without a verdict/],
    [
      'a torn answer',
      (r) => r.writeHead(200, { 'content-length': 500 }).write('{"results":[', () => r.destroy()),
      /was interrupted/,
    ],
    ['an endless answer', (r) => r.end('x'.repeat(2_000_000)), /cannot be reached, or its answer was interrupted/],
  ])('lets nothing pass on %s', async (_, answer, message) => {
    const { config, seen } = await provider(answer)
    const error = await failureOf(requireAllowed(config, IMAGE))
    expect([error.code, error.message]).toEqual(['internal_error', expect.stringMatching(message)])
    expect(error.message).toMatch(/^The moderation provider at 127\.0\.0\.1:\d+ .*nothing was created/)
    expect(seen).toHaveLength(1)
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['at all', () => {}],
    ['to the end', (response) => void response.writeHead(200).write('{')],
  ])('gives up a provider that does not answer %s', async (_, answer) => {
    const { config } = await provider(answer)
    const error = await failureOf(requireAllowed(config, IMAGE, { timeoutMs: 50 }))
    expect([error.code, error.message]).toEqual([
      'internal_error',
      expect.stringContaining('did not answer within 0.05 s'),
    ])
  })

  it('says that the connection is refused', async () => {
    const config = configWith({ 'moderation-url': 'http://127.0.0.1:9/v1', 'moderation-key': KEY })
    expect((await failureOf(requireAllowed(config, IMAGE))).message).toContain('127.0.0.1:9 cannot be reached')
  })

  it.each<[Partial<Record<SettingName, unknown>>, RegExp]>([
    [
      {},
      /^moderation-key is not set and api\.openai\.com needs one: set SVC_MODERATION_KEY, or set moderation to off$/,
    ],
    [{ 'moderation-key': `${KEY}\n` }, /^moderation-key contains a character that no key has/],
    [{ 'moderation-url': 'http://example.com/v1', 'moderation-key': KEY }, /^moderation-url must be an https URL/],
    [{ 'moderation-url': `https://a:${KEY}@example.com` }, /^moderation-url must be a plain URL/],
  ])('sends nothing if a setting is missing or unsafe', async (settings, message) => {
    const asked: unknown[] = []
    const send: typeof fetch = async (input) => {
      asked.push(input)
      throw new Error('not asked')
    }
    const error = await failureOf(requireAllowed(configWith(settings), IMAGE, { fetch: send }))
    expect([error.code, error.message]).toEqual(['internal_error', expect.stringMatching(message)])
    expect(asked).toEqual([])
  })

  it('does not send the key to a server from a project file', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'svc-moderation-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    writeFileSync(join(cwd, 'svc.json'), JSON.stringify({ 'moderation-url': 'https://example.com' }))
    const refusal = () => loadConfig({ flags: { 'moderation-key': KEY }, env: {}, cwd })
    expect(refusal).toThrow(/svc\.json must not contain moderation-url: its key is sent there/)
  })
})
