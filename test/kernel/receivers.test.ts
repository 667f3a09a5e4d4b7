/** Where webhooks may be sent, over HTTP: checked when a receiver is set and when it is changed. */
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import type { Resolve } from '../../src/operations/webhook-subscriptions/receiver-address.ts'
import { requester } from '../support/request.ts'
import { ORIGIN, type ServiceOptions, startService } from '../support/service.ts'

const PATH = '/v2/webhook-subscriptions'

/** A service whose names resolve as `names` says; any other name fails as it does where nobody answers. */
async function serviceWith(names: Record<string, readonly string[]>, settings: ServiceOptions['settings'] = {}) {
  const { services, operator } = await startService({ settings })
  const asked: string[] = []
  const resolve: Resolve = async (name) => {
    asked.push(name)
    if (names[name] === undefined) throw new Error('getaddrinfo ENOTFOUND 10.255.255.53')
    return names[name]
  }
  const app = await createApp(Object.assign({ ...services }, { resolve }))
  return { asked, names, request: requester(ORIGIN, app.fetch, operator) }
}

const bodyFor = (url: string) => ({ body: { url, enabled_events: ['*'] } })

describe('the URL of a receiver', () => {
  it('is checked when it is set and when it is changed, by every address of its name', async () => {
    const names = {
      'example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
      'mixed.example.com': ['93.184.215.14', '10.7.7.7', '192.168.9.9'],
      'nothing.example.com': [],
    }
    const { request, asked } = await serviceWith(names)
    const { status, json } = await request('POST', PATH, bodyFor('https://example.com/'))
    expect(status).toBe(201)
    expect(asked).toEqual(['example.com'])
    const refused = [
      ['https://10.0.0.1/', 'url: 10.0.0.1 is not a public host: it is a private address; use a public'],
      ['https://intranet./', 'url: intranet is not a public host'],
      ['https://mixed.example.com/', 'url: mixed.example.com is not a public host: it resolves to 10.7.7.7, a private'],
      ['https://nothing.example.com/', 'url: nothing.example.com does not resolve; check the name and try again'],
      ['https://unknown.example.com/', 'url: unknown.example.com does not resolve; check the name and try again'],
      ['https://example.com:22/', 'url: port 22 is not allowed; use 443 or 8443, or add it to webhooks.ports'],
    ] as const
    for (const [url, message] of refused) {
      const answers = [
        await request('POST', PATH, bodyFor(url)),
        await request('PATCH', `${PATH}/${json.data.id}`, { body: { url } }),
      ]
      for (const { status, json, text } of answers) {
        expect([status, json.error.code, json.error.param], url).toEqual([400, 'bad_request', 'url'])
        expect(json.error.message).toContain(message)
        // The other addresses of the name, and the resolver's own words, stay inside.
        expect(text).not.toMatch(/93\.184|192\.168|10\.255|ENOTFOUND/)
      }
    }
    const after = await request('GET', `${PATH}/${json.data.id}`)
    expect(after.json.data.url).toBe('https://example.com/')
  })

  it('is not resolved again by a PATCH that leaves it unchanged', async () => {
    const { request, asked, names } = await serviceWith({ 'example.com': ['93.184.215.14'] })
    const { json } = await request('POST', PATH, bodyFor('https://example.com/'))
    names['example.com'] = ['10.0.0.1']
    const { status } = await request('PATCH', `${PATH}/${json.data.id}`, { body: { active: false } })
    expect([status, asked]).toEqual([200, ['example.com']])
  })

  it('may be private, http and on any port if a setting allows that', async () => {
    const { request, asked } = await serviceWith({}, { 'webhooks.allow-private': true })
    for (const url of ['http://localhost:3000/', 'https://10.0.0.1:22/', 'http://[::1]:9/', 'https://printer.local/']) {
      expect((await request('POST', PATH, bodyFor(url))).status, url).toBe(201)
    }
    expect(asked).toEqual([])
    const { json } = await request('POST', PATH, bodyFor('http://user:pass@localhost/'))
    expect(json.error.param).toBe('url')
  })
})
