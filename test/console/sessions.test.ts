/** Who gets into the console: links, keys, the end of sessions, and what comes from elsewhere. */
import { describe, expect, it } from 'vitest'
import { consoleBrowser, consoleLink, fieldsOf, signedIn } from '../support/console.ts'
import { type Service, startService } from '../support/service.ts'

const HOUR_MS = 3_600_000

describe('a link of `svc console`', () => {
  it('opens the console once, for twelve hours', async () => {
    const service = await startService()
    const path = await consoleLink(service)
    const browser = consoleBrowser(service)
    const entered = await browser.submit(path, 'console/enter')
    expect(entered.status).toBe(303)
    expect(entered.headers.get('location')).toBe('../console')
    expect(entered.headers.get('set-cookie')).toMatch(
      /^svc_console_8787=[0-9A-Za-z]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    expect((await browser.get('/console')).text).toMatch(/^Needs you/)

    const second = consoleBrowser(service)
    const again = await second.submit(path, 'console/enter')
    expect([again.status, again.text]).toEqual([403, expect.stringContaining('This link was used or has expired')])
    expect(second.cookie).toBe('')

    service.clock.advance(12 * HOUR_MS)
    expect((await browser.get('/console')).status).toBe(404)
  })

  it('opens one session for browsers that use it at once', async () => {
    const service = await startService()
    const link = (await consoleLink(service)).split('/').at(-1)!
    const enter = () => consoleBrowser(service).post('/console/enter', { link })
    const statuses = (await Promise.all([enter(), enter()])).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([303, 403])
  })

  it('is not used up by a program that only reads it', async () => {
    const service = await startService()
    const path = await consoleLink(service)
    for (let i = 0; i < 3; i++) expect((await consoleBrowser(service).get(path)).status).toBe(200)
    expect((await consoleBrowser(service).submit(path, 'console/enter')).status).toBe(303)
  })

  it('is not the secret of a cookie', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    const link = browser.cookie.split('=')[1]!
    expect((await consoleBrowser(service).post('/console/enter', { link })).status).toBe(403)
    expect((await browser.get('/console')).status).toBe(200)
  })

  it('for a viewer reads without the scopes of the key that made it', async () => {
    const viewer = await signedIn(await startService(), 'viewer')
    expect((await viewer.get('/console/webhooks')).status).toBe(200)
    expect((await viewer.get('/console/keys')).status).toBe(403)
  })

  it('expires after 60 seconds', async () => {
    const service = await startService()
    const [early, late] = [await consoleLink(service), await consoleLink(service)]
    service.clock.advance(59_999)
    expect((await consoleBrowser(service).submit(early, 'console/enter')).status).toBe(303)
    service.clock.advance(1)
    expect((await consoleBrowser(service).submit(late, 'console/enter')).status).toBe(403)
  })

  it('has a cookie that needs https, unless the browser is on this machine', async () => {
    const service = await startService()
    const browser = consoleBrowser(service, 'https://svc.example.com')
    const entered = await browser.submit(await consoleLink(service), 'console/enter')
    expect(entered.headers.get('set-cookie')).toMatch(/^__Host-svc_console=\w{32}; Path=\/; HttpOnly; .*; Secure$/)
    expect((await browser.get('/console')).status).toBe(200)
  })

  it('is stored as a hash, and so is the secret of the cookie', async () => {
    const service = await startService()
    const path = await consoleLink(service)
    const stored = async () =>
      JSON.stringify(await service.services.store.db.selectFrom('console_sessions').selectAll().execute())
    expect(await stored()).not.toContain(path.split('/').at(-1))
    const browser = consoleBrowser(service)
    await browser.submit(path, 'console/enter')
    expect(await stored()).not.toContain(browser.cookie.split('=')[1])
  })

  it('names the public URL if there is one', async () => {
    const service = await startService({ settings: { 'public-url': 'https://svc.example.com/tools/' } })
    const { json } = await service.request('POST', '/v2/console/links', { body: {} })
    expect(json.data.url).toBe(`https://svc.example.com/tools${json.data.path}`)
  })

  it('needs the scope *', async () => {
    const service = await startService()
    const key = await service.key({ scopes: ['fees:claim'] })
    for (const [method, path] of [
      ['POST', '/v2/console/links'],
      ['GET', '/v2/console/sessions'],
    ] as const) {
      const body = method === 'POST' ? { body: {} } : {}
      expect((await service.request(method, path, { key, ...body })).status).toBe(403)
    }
  })
})

describe('the sessions of the console', () => {
  it('are listed with where they come from, and end by the API', async () => {
    const service = await startService()
    const browser = await signedIn(service, 'viewer')
    const listed = (await service.request('GET', '/v2/console/sessions')).json.data
    expect(listed).toEqual([
      {
        id: expect.stringMatching(/^cse_/),
        role: 'viewer',
        api_key_id: expect.stringMatching(/^key_/),
        created_at: '2026-06-01T12:00:00.000Z',
        last_seen_at: '2026-06-01T12:00:00.000Z',
        last_seen_from: 'local',
        expires_at: '2026-06-02T00:00:00.000Z',
      },
    ])
    service.clock.advance(90_000)
    await browser.get('/console')
    const [seen] = (await service.request('GET', '/v2/console/sessions')).json.data
    expect(seen.last_seen_at).toBe('2026-06-01T12:01:30.000Z')
    expect((await service.request('DELETE', `/v2/console/sessions/${listed[0].id}`, { body: {} })).status).toBe(200)
    expect((await browser.get('/console')).status).toBe(404)
    const entries: { action: string }[] = (await service.request('GET', '/v2/audit-entries')).json.data
    const actions = entries.map(({ action }) => action)
    expect(actions.slice(0, 3)).toEqual(['console_session.ended', 'console_session.opened', 'console_link.created'])
  })

  it('end by the button of their page', async () => {
    const service = await startService()
    const browser = await signedIn(service, 'viewer')
    expect((await browser.submit('/console', 'console/sign-out')).status).toBe(303)
    expect((await browser.get('/console')).status).toBe(404)
  })

  it('end when their key is revoked', async () => {
    const service = await startService({ settings: { console: true } })
    const key = await service.key({ scopes: ['*'] })
    const byKey = consoleBrowser(service)
    expect((await byKey.submit('/console', 'console/sign-in', { key })).status).toBe(303)
    const byLink = consoleBrowser(service)
    await byLink.submit(await consoleLink(service, 'operator', key), 'console/enter')
    for (const browser of [byKey, byLink]) expect((await browser.get('/console')).status).toBe(200)
    const [own] = (await service.request('GET', '/v2/api-keys')).json.data
    await service.request('DELETE', `/v2/api-keys/${own.id}`, { body: {} })
    for (const browser of [byKey, byLink]) expect((await browser.get('/console')).status).toBe(401)
    expect((await service.request('GET', '/v2/console/sessions')).json.data).toEqual([])
  })
})

describe('a session of a key', () => {
  const signIn = async (service: Service, key: string) => {
    const browser = consoleBrowser(service)
    expect((await browser.submit('/console', 'console/sign-in', { key })).status).toBe(303)
    return browser
  }

  it('ends when the key is rotated, whatever the overlap', async () => {
    const service = await startService({ settings: { console: true } })
    const { id, key } = (await service.request('POST', '/v2/api-keys', { body: { name: 'own' } })).json.data
    const browser = await signIn(service, key)
    await service.request('POST', `/v2/api-keys/${id}/rotations`, { body: {} })
    expect((await browser.get('/console')).status).toBe(401)
    expect((await (await signIn(service, key)).get('/console')).status).toBe(200)
  })

  it('is accepted only from the addresses of the key, whatever a header says', async () => {
    const service = await startService({ settings: { console: true } })
    const body = { name: 'bound', allow_ips: ['203.0.113.0/24'] }
    const { cookie } = await signIn(service, (await service.request('POST', '/v2/api-keys', { body })).json.data.key)
    const statusFrom = async (remoteAddress: string, path = '/console') => {
      const headers = { cookie, host: '127.0.0.1:8787', 'x-forwarded-for': '203.0.113.9' }
      const incoming = { socket: { remoteAddress }, headers } as never
      return (await service.app.fetch(new Request(`http://127.0.0.1:8787${path}`, { headers }), incoming)).status
    }
    expect(await statusFrom('::ffff:203.0.113.7')).toBe(200)
    expect(await statusFrom('198.51.100.7')).toBe(401)
    expect(await statusFrom('198.51.100.7', '/console/stream')).toBe(403)
  })

  it('of an earlier text ends with that text', async () => {
    const service = await startService({ settings: { console: true } })
    const { id, key } = (await service.request('POST', '/v2/api-keys', { body: { name: 'own' } })).json.data
    await service.request('POST', `/v2/api-keys/${id}/rotations`, { body: { overlap_hours: 1 } })
    const browser = await signIn(service, key)
    service.clock.advance(HOUR_MS - 1)
    expect((await browser.get('/console')).status).toBe(200)
    service.clock.advance(1)
    expect((await browser.get('/console')).status).toBe(401)
  })

  it('ends when the key expires', async () => {
    const service = await startService({ settings: { console: true } })
    const body = { name: 'own', expires_in: 600 }
    const browser = await signIn(service, (await service.request('POST', '/v2/api-keys', { body })).json.data.key)
    service.clock.advance(599_999)
    expect((await browser.get('/console')).status).toBe(200)
    service.clock.advance(1)
    expect((await browser.get('/console')).status).toBe(401)
  })
})

describe('an API key', () => {
  it('signs in once the setting is on, and not before', async () => {
    const off = await startService()
    const refused = await consoleBrowser(off).post('/console/sign-in', { key: off.operator })
    expect(refused.status).toBe(404)
    const closed = await consoleBrowser(off).get('/console')
    expect([closed.status, closed.text]).toEqual([404, expect.stringContaining('Run svc console')])

    const on = await startService({ settings: { console: true } })
    const browser = consoleBrowser(on)
    expect((await browser.get('/console')).status).toBe(401)
    expect((await browser.submit('/console', 'console/sign-in', { key: on.operator })).status).toBe(303)
    expect(browser.cookie).not.toContain(on.operator)
    expect((await browser.get('/console/keys')).status).toBe(200)
  })

  it('reads what it may read', async () => {
    const service = await startService({ settings: { console: true } })
    const browser = consoleBrowser(service)
    await browser.submit('/console', 'console/sign-in', { key: await service.key() })
    expect((await browser.get('/console/webhooks')).status).toBe(200)
    const keys = await browser.get('/console/keys')
    expect([keys.status, keys.text]).toEqual([403, expect.stringContaining('API key missing required scope(s): *')])
  })

  it('over its limit is told so at once, on a later page of a list too', async () => {
    const service = await startService({ settings: { console: true } })
    const body = { name: 'few', rate_limit_per_minute: 2 }
    const { key } = (await service.request('POST', '/v2/api-keys', { body })).json.data
    const browser = consoleBrowser(service)
    await browser.submit('/console', 'console/sign-in', { key })
    const statuses: number[] = []
    for (const query of ['', '', '?cursor=x']) statuses.push((await browser.get(`/console/webhooks${query}`)).status)
    expect(statuses).toEqual([200, 429, 429])
  })

  it('may be tried ten times a minute', async () => {
    const service = await startService({ settings: { console: true } })
    const browser = consoleBrowser(service)
    const statuses: number[] = []
    for (let i = 0; i < 11; i++)
      statuses.push((await browser.post('/console/sign-in', { key: `svc_live_${i}` })).status)
    expect(statuses).toEqual([...Array(10).fill(403), 429])
    service.clock.advance(60_000)
    expect((await browser.post('/console/sign-in', { key: service.operator })).status).toBe(303)
  })
})

describe('a request from elsewhere', () => {
  it('signs nobody in, and does not act', async () => {
    const service = await startService()
    const path = await consoleLink(service)
    const [link] = path.split('/').slice(-1)
    const stranger = consoleBrowser(service)
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) {
      expect((await stranger.post('/console/enter', { link: link! }, headers)).status).toBe(403)
    }
    const browser = await signedIn(service)
    const { html } = await browser.get('/console/sessions')
    const fields = fieldsOf(html, 'console/acts/end-session')
    for (const headers of foreign) {
      expect((await browser.post('/console/acts/end-session', fields, headers)).status).toBe(403)
    }
    expect((await browser.get('/console')).status).toBe(200)
  })

  it('is told from one through a proxy that changes the Host by the public URL', async () => {
    const behind = { host: '127.0.0.1:8787', origin: 'https://svc.example.com' }
    for (const [url, status] of [
      [undefined, 403],
      ['https://svc.example.com/tools', 303],
    ] as const) {
      const service = await startService({ settings: url === undefined ? {} : { 'public-url': url } })
      const link = (await consoleLink(service)).split('/').at(-1)!
      const answer = await consoleBrowser(service).post('/console/enter', { link }, behind)
      expect(answer.status).toBe(status)
    }
  })

  it('is refused with the token of another session, or none', async () => {
    const service = await startService()
    const [one, other] = [await signedIn(service), await signedIn(service)]
    const fields = fieldsOf((await one.get('/console/sessions')).html, 'console/acts/end-session')
    expect(fields.csrf).toHaveLength(43)
    for (const csrf of [fieldsOf((await other.get('/console')).html, 'console/sign-out').csrf!, '', 'x']) {
      expect((await one.post('/console/acts/end-session', { ...fields, csrf })).status).toBe(403)
    }
    expect((await one.post('/console/acts/end-session', fields)).status).toBe(303)
  })

  it('leads to the page by a link on another site, which brings no cookie', async () => {
    const service = await startService()
    const across = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    const answer = await consoleBrowser(service).get('/console/webhooks', across)
    expect([answer.status, answer.headers.get('refresh')]).toEqual([200, '0'])
  })

  it('is in no session by a cookie that a sibling of the host has set', async () => {
    const service = await startService()
    const local = await signedIn(service)
    const secret = local.cookie.split('=')[1]!
    for (const [host, name, status] of [
      ['http://127.0.0.1:8787', 'svc_console_8787', 200],
      ['https://svc.example.com', 'svc_console_80', 404],
      ['https://svc.example.com', '__Host-svc_console', 200],
    ] as const) {
      const browser = consoleBrowser(service, host)
      browser.cookie = `${name}=${secret}`
      expect([host, name, (await browser.get('/console')).status]).toEqual([host, name, status])
    }
  })

  it('reaches no route of the API with the cookie of a session alone', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    for (const headers of [{}, { caller: 'key', 'x-caller': 'key' }] as Record<string, string>[]) {
      expect((await browser.get('/v2/api-keys', headers)).status).toBe(401)
    }
  })
})
