/** The pages of the console: what they show, how they act, and what text from strangers becomes in them. */
import { describe, expect, it } from 'vitest'
import { PAGES } from '../../daemon/console/pages/index.ts'
import { createStreams } from '../../daemon/console/stream.ts'
import type { OnWake } from '../../src/store/store.ts'
import {
  consoleBrowser,
  failedDelivery,
  fieldsOf,
  HOSTILE,
  signedIn,
  subscribe,
  switchOff,
} from '../support/console.ts'
import { startService } from '../support/service.ts'

/** The most bytes of the first view over the wire. */
const MOST_BYTES = 100_000

describe('every page of the console', () => {
  const paths = PAGES.map(({ path }) => path).filter((path) => !path.includes('{'))

  it('answers with and without data, asks nothing of other hosts, and allows no script but its own', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    const look = async (path: string) => {
      const { status, html, headers, text } = await browser.get(path)
      expect([path, status], text).toEqual([path, 200])
      const policy = headers.get('content-security-policy') ?? ''
      const [, nonce] = /script-src 'nonce-([\w-]{22})'/.exec(policy) ?? []
      expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/)
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      for (const [, attributes] of html.matchAll(/<script([^>]*)>/g)) expect(attributes).toContain(`nonce="${nonce}"`)
      expect(html).not.toMatch(/ (?:style|on\w+)="/)
      const named = Array.from(html.matchAll(/ (?:src|href|action)="([^"]*)"/g), ([, to]) => to!)
      expect(named.filter((to) => !/^(?:console|\.\.?\/|data:,$)/.test(to))).toEqual([])
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('same-origin')
    }
    for (const path of paths) await look(path)
    const id = await subscribe(service)
    await failedDelivery(service, id, 'HTTP 500')
    for (const path of [...paths, `/console/webhooks/${id}`, `/console/webhooks/${id}/whd_000000000000000000000001`])
      await look(path)
  })

  it('is small at first view', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    const { html } = await browser.get('/console')
    let bytes = Buffer.byteLength(html)
    const files = Array.from(html.matchAll(/ (?:src|href)="(console\/assets\/[^"]*)"/g), ([, path]) => path!)
    expect(files).toHaveLength(3)
    for (const file of files) {
      const answer = await browser.get(`/${file}`, { 'accept-encoding': 'gzip' })
      expect(answer.headers.get('cache-control')).toContain('immutable')
      bytes += Number(answer.headers.get('content-length'))
    }
    expect(bytes).toBeLessThan(MOST_BYTES)
    expect((await browser.get('/console/assets/0000-console.js')).status).toBe(404)
  })

  it('finds its links below any path of a proxy', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    for (const [path, base] of [
      ['/console', './'],
      ['/console/keys', '../'],
    ] as const) {
      const { html } = await browser.get(path)
      expect(html).toContain(`<base href="${base}"/>`)
      const root = new URL(base, `https://example.com/tools${path}`)
      expect(new URL('console/system', root).href).toBe('https://example.com/tools/console/system')
    }
  })

  it('answers a path that no page has with a page', async () => {
    const browser = await signedIn(await startService())
    const { status, text } = await browser.get('/console/nothing')
    expect([status, text]).toEqual([404, 'It did not work The console has no such page Back to the console'])
  })
})

describe('the page of a webhook subscription', () => {
  it('delivers an event again, once for a form that is sent twice', async () => {
    const service = await startService()
    const id = await subscribe(service)
    const event = await failedDelivery(service, id, 'HTTP 500')
    const browser = await signedIn(service)
    const { html, text } = await browser.get(`/console/webhooks/${id}`)
    expect(text).toContain(`svc webhooks replay ${id} --events ${event}`)
    expect(text).toContain('Success percent 0 ')
    const attempt = await browser.get(`/console/webhooks/${id}/whd_000000000000000000000001`)
    expect(attempt.text).toContain('webhook.test_event')
    expect(attempt.text).toContain(`svc webhooks delivery ${id} whd_000000000000000000000001`)
    const fields = fieldsOf(html, 'console/acts/deliver-again')
    for (let i = 0; i < 2; i++) {
      const answer = await browser.post('/console/acts/deliver-again', fields)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `../../console/webhooks/${id}?done=deliver-again`,
      ])
    }
    const { db } = service.services.store
    const done = await db.selectFrom('idempotency_keys').select('key').where('key', 'like', 'console-%').execute()
    expect(done).toEqual([{ key: `console-${fields.once}` }])
    expect((await browser.get(`/console/webhooks/${id}?done=deliver-again`)).text).toContain('The event is queued')
  })

  it('lets a viewer see, and not act', async () => {
    const service = await startService()
    const id = await subscribe(service)
    await failedDelivery(service, id, 'HTTP 500')
    const [operator, viewer] = [await signedIn(service), await signedIn(service, 'viewer')]
    const { html, text } = await viewer.get(`/console/webhooks/${id}`)
    expect(html).not.toContain('console/acts/')
    expect(text).toContain('svc webhooks replay')
    const fields = fieldsOf((await operator.get(`/console/webhooks/${id}`)).html, 'console/acts/deliver-again')
    const csrf = fieldsOf(html, 'console/sign-out').csrf!
    const refused = await viewer.post('/console/acts/deliver-again', { ...fields, csrf })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('A viewer cannot act')])
  })

  it('retries everything since the receiver fails', async () => {
    const service = await startService()
    const id = await subscribe(service)
    await failedDelivery(service, id, 'HTTP 500')
    const browser = await signedIn(service)
    const path = `/console/webhooks/${id}`
    expect((await browser.get(path)).text).toContain(`svc webhooks replay ${id} --since 2026-06-01T12:00:00.000Z`)
    const done = await browser.submit(path, 'console/acts/retry')
    expect([done.status, done.text]).toEqual([303, ''])
  })

  it('switches a subscription on again', async () => {
    const service = await startService()
    const id = await subscribe(service)
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: false } })
    const browser = await signedIn(service)
    expect((await browser.submit(`/console/webhooks/${id}`, 'console/acts/switch-on')).status).toBe(303)
    expect((await service.request('GET', `/v2/webhook-subscriptions/${id}`)).json.data.active).toBe(true)
  })
})

describe('the page of what needs you', () => {
  it('lists what waits with its command, and snoozes it for a reason', async () => {
    const service = await startService()
    const id = await subscribe(service)
    await switchOff(service)
    const browser = await signedIn(service)
    const { html, text } = await browser.get('/console')
    expect(text).toContain('receiver_off')
    expect(text).toMatch(new RegExp(`svc webhooks (?:get|update|deliveries) ${id}`))
    expect(html).toContain(`href="console/webhooks/${id}"`)
    const fields = fieldsOf(html, 'console/acts/snooze')
    expect(fields.until).toBe('2026-06-02T12:00:00Z')
    expect((await browser.post('/console/acts/snooze', { ...fields, reason: '' })).status).toBe(400)
    const reason = 'moved on Friday'
    const done = await browser.post('/console/acts/snooze', { ...fields, reason })
    expect([done.status, done.headers.get('location')]).toEqual([303, '../../console?done=snooze'])
    expect((await browser.get('/console?done=snooze')).text).toContain('It is left out of the list until then.')
    expect((await browser.get('/console')).text).toContain('Nothing waits for you.')
    expect((await browser.get('/console?snoozed=true')).text).toContain(reason)
  })
})

describe('the page of the system', () => {
  it('shows readiness, figures, retention and the chain', async () => {
    const service = await startService()
    const { text } = await (await signedIn(service, 'viewer')).get('/console/system')
    for (const shown of ['Size of the database', 'Checks', 'retention.deliveries-days', 'Genesis hash']) {
      expect(text).toContain(shown)
    }
  })
})

describe('text from strangers', () => {
  it('is escaped on pages, and is no formula in CSV', async () => {
    const service = await startService()
    const id = await subscribe(service, 'https://receiver.example/%3Cscript%3E')
    await failedDelivery(service, id, `${HOSTILE}\u202e`)
    await service.request('POST', '/v2/api-keys', { body: { name: '=HYPERLINK("x")' } })
    const browser = await signedIn(service)
    const { html } = await browser.get(`/console/webhooks/${id}`)
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).toContain('\\u202e')
    const csv = await browser.get(`/console/webhooks/${id}?format=csv`)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.html).toContain('"<script>alert(1)</script>""\'=1+1\\u202e"')
    const keys = (await browser.get('/console/keys?format=csv')).html
    expect(keys.split('\r\n')[0]).toMatch(/^id,name,preview,scopes,status/)
    expect(keys).toContain('"\'=HYPERLINK(""x"")"')
  })

  it('in the address of a page changes nothing else', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    const { status, html } = await browser.get(`/console/webhooks?active=${encodeURIComponent(HOSTILE)}`)
    expect(status).toBe(400)
    expect(html).not.toContain('<script>alert')
    const link = await consoleBrowser(service).get(`/console/enter/${encodeURIComponent(HOSTILE)}`)
    expect(link.html).not.toContain('<script>alert')
  })
})

describe('the table of a page', () => {
  it('filters, goes on by cursor, and shows the command and the request', async () => {
    const service = await startService()
    for (let i = 0; i < 21; i++) await subscribe(service, `https://receiver.example/${i}`)
    const browser = await signedIn(service)
    const first = await browser.get('/console/webhooks?active=true')
    expect(first.text).toContain('svc webhooks list --active true')
    expect(first.text).toContain(
      `curl -H "Authorization: Bearer $SVC_API_KEY" 'http://127.0.0.1:8787/v2/webhook-subscriptions?active=true'`,
    )
    const [, older = ''] = /href="(console\/webhooks\?[^"]*cursor=[^"]*)"/.exec(first.html) ?? []
    const second = await browser.get(`/${older.replaceAll('&amp;', '&')}`)
    expect(second.text).toContain('https://receiver.example/0')
    expect(second.text).not.toContain('https://receiver.example/20')
    expect((await browser.get('/console/webhooks?active=false')).text).toContain('There are no receivers.')
  })
})

describe('a command that a page shows', () => {
  it('has nothing invisible from the address of the page, which a link may have brought', async () => {
    const browser = await signedIn(await startService())
    const { status, text } = await browser.get('/console/tokens/%1b%5b201~%0aevil%e2%80%ae/report')
    expect([status, text]).toEqual([200, expect.stringContaining("'\\u001b[201~\\u000aevil\\u202e'")])
    expect(text).not.toMatch(/[\u001b\u202e]/)
  })
})

/** Streams without a service; `heard` receives what wakes them. */
function quietStreams(heard: (onWake: OnWake) => void = () => {}) {
  const listen = async (onWake: OnWake) => {
    heard(onWake)
    return async () => {}
  }
  const { signal: stopping } = new AbortController()
  return createStreams({ store: { wakeups: { listen } }, stopping } as never)
}

describe('the stream of the console', () => {
  it('names the parts that changed, and ends with its session', async () => {
    const service = await startService()
    const browser = await signedIn(service)
    const request = new Request('http://127.0.0.1:8787/console/stream', {
      headers: { cookie: browser.cookie, host: '127.0.0.1:8787' },
    })
    const answer = await service.app.fetch(request)
    const reader = answer.body!.getReader()
    const next = async () => Buffer.from((await reader.read()).value ?? []).toString()
    expect(await next()).toBe(': open\n\n')
    const id = await subscribe(service)
    await service.request('POST', `/v2/webhook-subscriptions/${id}/test`, { body: {} })
    // On PostgreSQL a new listener looks at everything once.
    let told = await next()
    while (told === 'data: time\n\n') told = await next()
    expect(told).toBe('data: events\n\n')
    service.services.announceStop()
    expect((await reader.read()).done).toBe(true)
    expect((await consoleBrowser(service).get('/console/stream')).status).toBe(403)
  })
  /** Sends requests for the stream of one session. */
  async function streaming() {
    const service = await startService()
    const { cookie } = await signedIn(service)
    const headers = { cookie, host: '127.0.0.1:8787' }
    const ask = (method: string) =>
      service.app.fetch(new Request('http://127.0.0.1:8787/console/stream', { method, headers }))
    return { service, ask }
  }

  it('is open eight times for a session at most, and HEAD opens none', async () => {
    const { service, ask } = await streaming()
    for (let i = 0; i < 9; i++) expect((await ask('HEAD')).status).toBe(200)
    for (let i = 0; i < 8; i++) expect((await ask('GET')).status).toBe(200)
    expect((await ask('GET')).status).toBe(429)
    service.services.announceStop()
  })

  it('is open 32 times for the sessions of a key, and 64 times in all', () => {
    const streams = quietStreams()
    const open = (session: string, key: string) => () =>
      streams.open({ id: session, key: { id: key } }, async () => true)
    for (let i = 0; i < 32; i++) open(`cse_${i % 4}`, 'key_1')()
    expect(open('cse_4', 'key_1')).toThrow('Too many pages')
    for (let i = 0; i < 32; i++) open(`cse_${5 + (i % 4)}`, 'key_2')()
    expect(open('cse_9', 'key_3')).toThrow('Too many pages')
  })

  it('ends for a browser that reads nothing', async () => {
    let wake: OnWake = () => {}
    const streams = quietStreams((onWake) => {
      wake = onWake
    })
    const reader = streams.open({ id: 'cse_1', key: { id: 'key_1' } }, async () => true).getReader()
    for (let i = 0; i < 1_000; i++) wake('webhook-delivery')
    let messages = 0
    for (; !(await reader.read()).done; messages++) if (messages > 100) break
    expect(messages).toBeLessThan(100)
  })
})
