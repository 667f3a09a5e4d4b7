/** Where webhooks may be sent: https to public hosts, whatever way a private one is written. */
import { describe, expect, it } from 'vitest'
import { checkReceiver } from '../../src/operations/webhook-subscriptions/check-receiver.ts'
import { startService } from '../support/service.ts'

const PUBLIC = [
  'https://example.com/hooks',
  'https://example.com./hooks',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://localhost.example.com:8443/?a=b',
]
const PRIVATE = [
  'https://localhost/',
  'https://a.localhost./',
  'https://intranet/',
  'https://intranet./',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://10.1.2.3/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://172.31.255.255/',
  'https://192.168.0.1/',
  'https://0.0.0.0/',
  'https://255.255.255.255/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
]

describe('a receiver', () => {
  it('is any https URL of a public host, and no other', async () => {
    const { services } = await startService()
    for (const url of PUBLIC) expect(() => checkReceiver(services, url), url).not.toThrow()
    for (const url of PRIVATE) expect(() => checkReceiver(services, url), url).toThrow('is not a public host')
    expect(() => checkReceiver(services, 'http://example.com/')).toThrow('must be https')
    expect(() => checkReceiver(services, 'https://user:pass@example.com/')).toThrow('must not hold credentials')
  })

  it('is checked when it is set and when it is changed', async () => {
    const { request } = await startService()
    const path = '/v2/webhook-subscriptions'
    const body = { url: 'https://example.com/', enabled_events: ['*'] }
    const { json } = await request('POST', path, { body })
    for (const answer of [
      await request('POST', path, { body: { ...body, url: 'https://10.0.0.1/' } }),
      await request('PATCH', `${path}/${json.data.id}`, { body: { url: 'https://intranet./' } }),
    ]) {
      expect([answer.status, answer.json.error.param]).toEqual([400, 'url'])
    }
  })

  it('may be private, and http, where that is allowed for development', async () => {
    const { services } = await startService({ settings: { 'webhooks.allow-private': true } })
    for (const url of [...PUBLIC, ...PRIVATE, 'http://localhost:3000/']) {
      expect(() => checkReceiver(services, url), url).not.toThrow()
    }
    expect(() => checkReceiver(services, 'http://user:pass@localhost/')).toThrow('must not hold credentials')
  })
})
