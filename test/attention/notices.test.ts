/** Notices of what needs a person: to whom, in which form, how often, and what failures and kills change. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { attentionNoticesWorker } from '../../daemon/workers/attention.ts'
import { requireReceivers } from '../../src/operations/attention/notices/receivers.ts'
import { ConfigError } from '../../src/platform/errors.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { loadConfig, shownSetting } from '../../src/settings/config.ts'
import { redactorOf } from '../../src/settings/redaction.ts'
import { type Observation, storeLook } from '../../src/store/attention/looks.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const KINDS = ['node_unreachable', 'worker_late'] as const
const { signal } = new AbortController()

const node = (n: number): Observation => ({
  kind: 'node_unreachable',
  subject: `endpoint-${n}`,
  facts: { endpoint: `rpc-a.example.com#${n}`, error: 'no answer in time' },
})
const worker = (name: string, reason = 'no tick was completed for 95 s'): Observation => ({
  kind: 'worker_late',
  subject: `${name}.web-1`,
  facts: { worker: name, reason, observer: 'web-1' },
})

/** Sets what holds now. */
const hold = ({ services, clock }: Service, ...held: Observation[]) =>
  services.store.write((tx) => storeLook(tx, { kinds: KINDS, observer: null, held, now: clock.now() }))

const round = ({ services }: Service) => attentionNoticesWorker.tick({ ...services, signal, stopping: signal } as never)

interface Settings {
  urls: string
  root?: string
}
const open = ({ urls, root }: Settings) =>
  startService({
    settings: {
      'webhooks.allow-private': true,
      'attention-secret': SECRET,
      ...(root === undefined ? {} : { 'public-url': root }),
    },
  }).then((service) => {
    const config = loadConfig({ env: { SVC_ATTENTION_URLS: urls }, flags: {}, cwd: service.dataDir })
    service.services.config.values['attention-urls'] = config.values['attention-urls']
    return service
  })

const bodies = (receiver: Receiver) => receiver.all.map(({ body }) => JSON.parse(body))

describe('a notice', () => {
  it('is signed and sent once when an item begins, and once when it is over', async () => {
    const receiver = await startReceiver()
    const service = await open({ urls: receiver.url, root: 'https://svc.example.com/' })
    await hold(service, node(1))
    for (let i = 0; i < 3; i++) await round(service)
    expect(receiver.all).toHaveLength(1)
    await hold(service)
    for (let i = 0; i < 3; i++) await round(service)
    expect(receiver.all).toHaveLength(2)
    const [began, ended] = receiver.all
    expect(JSON.parse(began!.body)).toEqual({
      type: 'attention.began',
      timestamp: '2026-06-01T12:00:00.000Z',
      data: {
        id: 'node_unreachable.endpoint-1',
        kind: 'node_unreachable',
        since: '2026-06-01T12:00:00.000Z',
        ends_at: null,
        subject: { type: 'node', id: 'endpoint-1' },
        summary: 'The node rpc-a.example.com#1 does not answer: no answer in time.',
        command: 'svc doctor',
        page: '/console/system',
        snoozed_until: null,
        snooze_reason: null,
        url: 'https://svc.example.com/console/system',
      },
    })
    expect(JSON.parse(ended!.body)).toMatchObject({
      type: 'attention.ended',
      data: { id: 'node_unreachable.endpoint-1' },
    })
    expect(began!.headers['webhook-id']).not.toBe(ended!.headers['webhook-id'])
    // The library checks the time against its own clock, which the test's is not.
    const { headers } = began!
    const signed = new Webhook(SECRET).sign(
      String(headers['webhook-id']),
      new Date(Number(headers['webhook-timestamp']) * 1000),
      began!.body,
    )
    expect(headers['webhook-signature']).toBe(signed)
  })

  it('has the form of Slack, Discord or ntfy, in which names of strangers are no markup', async () => {
    const receiver = await startReceiver()
    const place = receiver.url.replace('/hook', '')
    const urls = `slack:${place}/services/T0/B0/KEY,discord:${place}/api/webhooks/1/KEY,ntfy:${place}/my-topic`
    const service = await open({ urls, root: 'https://svc.example.com' })
    await hold(service, worker('ledger', 'it met <!channel> @everyone [here](https://evil.example) *now*'))
    await round(service)
    const link = 'https://svc.example.com/console/system'
    const said = 'The worker ledger of web-1 is late: it met <!channel> @everyone [here](https://evil.example) *now*.'
    const [slack, discord, ntfy] = ['text', 'content', 'topic'].map((field) =>
      bodies(receiver).find((body) => field in body),
    )
    expect(slack).toEqual({
      text: `Needs you: ${said.replace('<', '&lt;').replace('>', '&gt;')}\nsvc status\n${link}`,
      mrkdwn: false,
    })
    expect(discord).toEqual({
      content: `Needs you: ${said.replace(/[*<>[\]()@]/g, '\\$&')}\nsvc status\n${link}`,
      allowed_mentions: { parse: [] },
    })
    expect(ntfy).toEqual({
      topic: 'my-topic',
      title: 'Needs you',
      message: `${said}\nsvc status`,
      tags: ['warning'],
      click: link,
    })
    expect(receiver.all.every(({ headers }) => headers['webhook-signature'] === undefined)).toBe(true)
    await hold(service)
    await round(service)
    expect(bodies(receiver).slice(3)).toEqual(
      expect.arrayContaining([expect.objectContaining({ title: 'Over', tags: ['white_check_mark'], message: said })]),
    )
  })

  it('is sent only of the kinds that its receiver wants', async () => {
    const [all, some] = [await startReceiver(), await startReceiver()]
    const urls = JSON.stringify([all.url, { url: some.url, kinds: ['worker_late'] }])
    const service = await open({ urls })
    await hold(service, node(1), worker('ledger'))
    await round(service)
    expect([all.all.length, some.all.length]).toEqual([2, 1])
    expect(bodies(some)[0].data.kind).toBe('worker_late')
  })

  it('waits for the end of a snooze, and is not sent again after one', async () => {
    const receiver = await startReceiver()
    const service = await open({ urls: receiver.url })
    await hold(service, node(1), node(2))
    const snooze = async (id: string) => {
      const until = (service.clock.now() + 10 * MINUTE_MS) / 1000
      const body = { until, reason: 'known' }
      const { status, json } = await service.request('POST', `/v2/attention/${id}/snooze`, { body })
      expect([status, json.error]).toEqual([200, undefined])
    }
    await snooze('node_unreachable.endpoint-1')
    await round(service)
    await snooze('node_unreachable.endpoint-2')
    await round(service)
    expect(bodies(receiver).map(({ data }) => data.subject.id)).toEqual(['endpoint-2'])
    service.clock.advance(11 * MINUTE_MS)
    await round(service)
    await round(service)
    expect(bodies(receiver).map(({ data }) => data.subject.id)).toEqual(['endpoint-2', 'endpoint-1'])
  })

  it('of many at once is one digest, and no minute has more than five messages', async () => {
    const receiver = await startReceiver()
    const service = await open({ urls: receiver.url })
    const many = Array.from({ length: 20 }, (_, i) => node(i + 1))
    await hold(service, ...many, worker('ledger'))
    await round(service)
    expect(bodies(receiver).map(({ type, data }) => [type, data])).toEqual([
      ['attention.digest', { began: { node_unreachable: 20, worker_late: 1 }, ended: {} }],
    ])
    for (let i = 0; i < 6; i++) {
      await hold(service, ...many, worker('ledger'), ...Array.from({ length: i }, (_, n) => worker(`w${n}`)))
      service.clock.advance(5_000)
      await round(service)
    }
    expect(receiver.all).toHaveLength(5)
    service.clock.advance(MINUTE_MS)
    await hold(service)
    await round(service)
    expect(bodies(receiver).at(-1)).toMatchObject({
      type: 'attention.digest',
      data: { began: {}, ended: { node_unreachable: 20, worker_late: 5 } },
    })
    expect(await service.services.store.db.selectFrom('attention_notices').selectAll().execute()).toEqual([])
  })
})

describe('a receiver', () => {
  it('that refuses is tried again with growing pauses, delays no other, and misses nothing', async () => {
    const [sick, sound] = [await startReceiver(() => 500), await startReceiver()]
    const service = await open({ urls: `${sick.url},${sound.url}` })
    await hold(service, node(1))
    for (let i = 0; i < 60; i++) {
      await round(service)
      service.clock.advance(10_000)
    }
    expect(sound.all).toHaveLength(1)
    // After 10, 20, 40, 80, 160 and 320 seconds.
    expect(sick.all).toHaveLength(6)
    expect(new Set(sick.all.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    sick.answer = () => 204
    await hold(service)
    service.clock.advance(30 * MINUTE_MS)
    await round(service)
    // What was over before the receiver was told needs no notice.
    expect([sick.all.length, sound.all.length]).toEqual([6, 2])
    await hold(service, node(2))
    await round(service)
    expect(bodies(sick).at(-1)).toMatchObject({ type: 'attention.began', data: { subject: { id: 'endpoint-2' } } })
  })

  it('that no longer is in the settings leaves nothing behind', async () => {
    const receiver = await startReceiver()
    const service = await open({ urls: receiver.url })
    await hold(service, node(1))
    await round(service)
    service.services.config.values['attention-urls'] = []
    await round(service)
    const { db } = service.services.store
    expect(await db.selectFrom('attention_notices').selectAll().execute()).toEqual([])
    expect(await db.selectFrom('attention_receivers').selectAll().execute()).toEqual([])
  })

  it('at a private address is refused unless webhooks may go there', async () => {
    const receiver = await startReceiver()
    const service = await open({ urls: receiver.url })
    Object.assign(service.services.config.values, { 'webhooks.allow-private': false })
    await hold(service, node(1))
    await round(service)
    expect(receiver.all).toEqual([])
  })
})

describe('attention-urls', () => {
  const load = (text: string) => loadConfig({ env: { SVC_ATTENTION_URLS: text }, flags: {}, cwd: '/' })

  it('shows hosts, forms and kinds, and no key', () => {
    const text = JSON.stringify([
      'slack:https://hooks.slack.com/services/T0/B0/SECRETKEY',
      { url: 'https://a.example/x', kinds: ['wallet_low'] },
    ])
    const config = load(text)
    const shown = shownSetting('attention-urls', config.values['attention-urls'])
    expect(shown).toEqual(['slack:hooks.slack.com', 'a.example (wallet_low)'])
    expect(shownSetting('attention-urls', text)).toEqual(shown)
    expect(redactorOf(config).text('no answer of https://hooks.slack.com/services/T0/B0/SECRETKEY')).not.toContain(
      'SECRETKEY',
    )
    expect(redactorOf(config).text('SECRETKEY')).toBe('***')
  })

  it.each([
    ['nothing', 'is not an http or https URL, alone or after slack:, discord: or ntfy: (receiver 1)'],
    ['teams:https://a.example', 'is not an http or https URL'],
    ['ntfy:https://ntfy.sh', 'is not a server of ntfy with one topic'],
    ['https://a.example,https://a.example', 'names one URL twice (receiver 2)'],
    [JSON.stringify([{ url: 'https://a.example', kind: 'x' }]), 'has a field other than url, form and kinds'],
    [JSON.stringify([{ url: 'https://a.example', kinds: [] }]), 'has kinds that are not a list of names'],
    [Array.from({ length: 9 }, (_, i) => `https://${i}.example`).join(','), 'has 9 receivers; at most 8'],
  ])('refuses %s', (text, why) => {
    expect(() => load(text)).toThrow(why)
    expect(() => load(text)).toThrow(ConfigError)
  })

  it('stops a start without a secret for a signed receiver, and with a kind that does not exist', () => {
    expect(() => requireReceivers(load('https://a.example'))).toThrow(/signed, and there is no secret/)
    expect(() => requireReceivers(load('slack:https://a.example'))).not.toThrow()
    const kinds = JSON.stringify([{ url: 'slack:https://a.example', kinds: ['node_gone'] }])
    expect(() => requireReceivers(load(kinds))).toThrow(/names the kind node_gone, which does not exist/)
  })
})
