/** `/`: what people and programs get there, without a key. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/platform/version.ts'
import { startService } from '../support/service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

describe('/', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html;q=0.5, application/json', 'application/json'],
    ['image/png', 'application/json'],
    ['text/html', 'text/html'],
    [BROWSER, 'text/html'],
  ])('answers Accept: %s with %s', async (accept, type) => {
    const { request } = await startService()
    const headers: Record<string, string> = accept === undefined ? {} : { accept }
    const answer = await request('GET', '/', { key: null, headers: { ...headers, 'x-request-id': 'mine' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(new RegExp(`^${type}`))
    expect(answer.headers.get('vary')).toContain('Accept')
    expect(answer.headers.get('x-request-id')).toBe('mine')
  })

  it('lists all places for programs, and each one exists', async () => {
    const { request } = await startService()
    const { json } = await request('GET', '/', { key: null })
    const { status, service, version, timestamp, ...links } = json.data
    expect({ status, service, version }).toEqual({ status: 'healthy', service: 'svc', version: VERSION })
    expect(Date.parse(timestamp)).toBeGreaterThan(0)
    expect(Object.keys(links)).toEqual(['reference', 'openapi', 'health', 'ready'])
    for (const path of Object.values(links)) {
      expect((await request('GET', String(path), { key: null })).status, String(path)).not.toBe(404)
    }
    expect(json.meta.request_id).toBeTruthy()
  })

  it('is a page whose only style is allowed by hash, and which loads and reveals nothing else', async () => {
    const { request } = await startService()
    const { text, headers } = await request('GET', '/', { key: null, headers: { accept: BROWSER } })
    const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? ''
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    expect(policy).not.toContain('unsafe')
    expect(text).not.toMatch(/<script|https?:\/\//)
    expect(text).toContain('href="/v2/docs"')
    expect(text.length).toBeLessThan(4_096)
  })

  it('accepts only GET and HEAD', async () => {
    const { request } = await startService()
    expect((await request('HEAD', '/', { key: null })).status).toBe(200)
    expect((await request('POST', '/', { key: null, body: {} })).status).toBe(404)
    expect((await request('GET', '/', { key: null, headers: { 'x-request-id': 'ü' } })).status).toBe(400)
  })
})
