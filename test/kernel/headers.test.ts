/** What every answer says of itself, and names that every object has: neither is left to a route. */
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'

describe('the headers of an answer', () => {
  it('prevent content sniffing, and keep answers with a secret out of caches', async () => {
    const { request, app } = await startService()
    const key = { headers: { 'idempotency-key': 'one' }, body: { name: 'a' } }
    const hook = { url: 'https://example.com/hooks', enabled_events: ['*'] }
    const answers = [
      await request('POST', '/v2/api-keys', key),
      await request('POST', '/v2/api-keys', key),
      await request('POST', '/v2/webhook-subscriptions', { body: hook }),
      await request('POST', '/v2/api-keys', { body: {} }),
      await request('GET', '/v2/absent'),
      await request('GET', '/v2/health'),
    ]
    expect(answers[1]!.headers.get('idempotent-replayed')).toBe('true')
    for (const { headers, text } of answers) {
      expect([headers.get('cache-control'), headers.get('x-content-type-options')], text).toEqual([
        'no-store',
        'nosniff',
      ])
    }
    for (const path of ['/ready', '/v2/openapi.json', '/assets/absent', '/v1/pools']) {
      const { headers } = await app.fetch(new Request(`http://svc.test${path}`))
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
    }
  })
})

describe('a name that every JavaScript object has', () => {
  it('is neither a file of the docs page nor an asset', async () => {
    const { app } = await startService()
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
      for (const folder of ['/assets/docs', '/assets', '/v2']) {
        const answer = await app.fetch(new Request(`http://svc.test${folder}/${name}`))
        expect([
          folder,
          name,
          answer.status,
          ((await answer.json()) as { error: { code: string } }).error.code,
        ]).toEqual([folder, name, 404, 'not_found'])
      }
    }
  })
})
