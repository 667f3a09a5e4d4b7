/** The reference page and the document over HTTP: packed for who can read it, not sent again to who has it. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'

const PATHS = [
  '/v2/openapi.json',
  '/v2/docs',
  '/assets/docs/page.css',
  '/assets/docs/page.js',
  '/assets/docs/swagger-ui.css',
  '/assets/docs/swagger-ui-bundle.js',
]

describe('the documentation', () => {
  it.each(PATHS)('sends %s compressed to a client that accepts it, and plain to all others', async (path) => {
    const { app } = await startService()
    const get = (encoding: string) =>
      app.fetch(new Request(`http://svc.test${path}`, { headers: { 'accept-encoding': encoding } }))
    const plain = await get('identity')
    const bytes = Buffer.from(await plain.arrayBuffer())
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(plain.headers.get('content-length')).toBe(String(bytes.length))
    for (const encoding of ['gzip', 'br;q=1, gzip;q=0.5', 'deflate, gzip']) {
      const packed = await get(encoding)
      const body = Buffer.from(await packed.arrayBuffer())
      expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding'])
      expect(body.length).toBeLessThan(bytes.length * 0.7)
      expect(gunzipSync(body).equals(bytes)).toBe(true)
    }
    for (const encoding of ['gzip;q=0', 'br', '*;q=0, identity']) {
      expect((await get(encoding)).headers.get('content-encoding'), encoding).toBeNull()
    }
  })

  it.each(PATHS)('answers 304 for %s to a client that has it, for the encoding that it has', async (path) => {
    const { app } = await startService()
    const get = (headers: Record<string, string>) => app.fetch(new Request(`http://svc.test${path}`, { headers }))
    const tags = new Set<string>()
    for (const encoding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': encoding }
      const tag = (await get(headers)).headers.get('etag')!
      tags.add(tag)
      for (const named of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await get({ ...headers, 'if-none-match': named })
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
      }
      expect((await get({ ...headers, 'if-none-match': '"other"' })).status).toBe(200)
    }
    expect(tags.size).toBe(2)
  })

  it('serves only its own files', async () => {
    const { request } = await startService()
    for (const path of ['..%2f..%2fpackage.json', '%2e%2e/index.html', 'index.html', 'constructor'])
      expect([path, (await request('GET', `/assets/docs/${path}`, { key: null })).status]).toEqual([path, 404])
  })

  it('lets a browser run only scripts and styles of the service, and send requests only to it', async () => {
    const { request } = await startService()
    const policy = (await request('GET', '/v2/docs', { key: null })).headers.get('content-security-policy')!
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
  })
})
