/** Which pages of other origins a browser lets call the API. */
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'

const APP = 'https://app.example.com'
const OTHER = 'https://other.example.com'

const preflight = (origin: string) =>
  new Request('http://svc.test/v2/tokens', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  })

describe('a page of another origin', () => {
  it('is allowed nothing unless a setting names its origin', async () => {
    const { app, request } = await startService()
    const answer = await app.fetch(preflight(APP))
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, null])
    const { headers } = await request('GET', '/v2/health', { headers: { origin: APP } })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is allowed every method and header of the API if the setting names its origin; others are not', async () => {
    const { app, request } = await startService({ settings: { 'cors-origins': [APP] } })
    const answer = await app.fetch(preflight(APP))
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP)
    expect(answer.headers.get('vary')).toContain('Origin')
    expect(answer.headers.get('access-control-allow-methods')?.split(',')).toEqual([
      'GET',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
    ])
    expect(answer.headers.get('access-control-allow-headers')).toContain('idempotency-key')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect((await app.fetch(preflight(OTHER))).headers.get('access-control-allow-origin')).toBeNull()

    const paths = ['/v2/health', '/v2/tokens', '/v2/absent', '/v2/tokens/none']
    for (const path of paths) {
      const { headers } = await request('GET', path, { headers: { origin: APP } })
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, APP])
      expect(headers.get('access-control-expose-headers')).toContain('retry-after')
      const { headers: others } = await request('GET', path, { headers: { origin: OTHER } })
      expect([path, others.get('access-control-allow-origin')]).toEqual([path, null])
    }
    const { status, headers } = await request('GET', '/v2/tokens', { key: null, headers: { origin: APP } })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, APP])
  })

  it('is allowed for every origin with *, except outside the API', async () => {
    const { app, request } = await startService({ settings: { 'cors-origins': ['*'] } })
    expect((await app.fetch(preflight(OTHER))).headers.get('access-control-allow-origin')).toBe('*')
    for (const path of ['/metrics', '/ready']) {
      const { headers } = await request('GET', path, { headers: { origin: OTHER } })
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null])
    }
  })
})
