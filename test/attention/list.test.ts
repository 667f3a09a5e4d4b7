/** The list of what needs a person, over HTTP: its order, its pages, its filters, and snoozes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ATTENTION_KINDS } from '../../src/api/attention-kinds.ts'
import { STORED_KINDS } from '../../src/operations/attention/kinds.ts'
import { OBSERVED_KINDS } from '../../src/operations/attention/observed-kinds.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/timing.ts'
import { storeLook } from '../../src/store/attention/looks.ts'
import { encodeTextCursor, filteredList } from '../../src/store/queries/paging.ts'
import { runs } from '../support/runs.ts'
import { type Service, START, sharedService, startService } from '../support/service.ts'

const itemsOf = async (service: Service, query = '') => (await service.request('GET', `/v2/attention${query}`)).json

/** Receivers that were switched off, and pools whose migration failed, at given times. */
async function waiting(service: Service, { receivers, pools }: { receivers: number[]; pools: number[] }) {
  await service.services.store.write(async (tx) => {
    await tx.deleteFrom('webhook_subscriptions').execute()
    await tx.deleteFrom('pools').execute()
    await tx.deleteFrom('attention_snoozes').execute()
    for (const [i, updated_at] of receivers.entries())
      await tx
        .insertInto('webhook_subscriptions')
        .values({
          id: `whs_${i}`,
          api_key_id: null,
          url: 'https://example.com/',
          enabled_events_json: '["*"]',
          active: 0,
          secret: Buffer.alloc(0),
          secret_preview: 'abcd',
          disabled_reason: 'it answered 410 Gone',
          created_at: START,
          updated_at,
        })
        .execute()
    for (const [i, crank_failed_at] of pools.entries())
      await tx
        .insertInto('pools')
        .values({
          address: `pool${i}`,
          type: 'dbc',
          base_mint: 'mint',
          quote_mint: 'mint',
          status: 'migration_triggered',
          crank_failures: 1,
          crank_failed_at,
          crank_error: 'the policy refused it',
          config: null,
          creator: null,
          name: null,
          symbol: null,
          metadata_uri: null,
          preset: null,
          migrated_to: null,
          dbc_pool: null,
          next_check_at: null,
          crank_signing: null,
          crank_signature: null,
          external_uid: null,
          metadata_json: null,
          created_at: START,
        })
        .execute()
  })
}

describe('the kinds', () => {
  it('are each defined once, and in the table of the page', () => {
    const defined = [...Object.keys(STORED_KINDS), ...Object.keys(OBSERVED_KINDS)]
    expect(defined.toSorted()).toEqual(ATTENTION_KINDS.toSorted())
    const table = readFileSync(join(import.meta.dirname, '../../docs/attention.md'), 'utf8')
    const first = [...table.matchAll(/^\| (`[a-z_`, ]+`) \|/gm)].flatMap(([, cell]) => cell!.match(/[a-z_]+/g))
    expect(first).toEqual([...ATTENTION_KINDS])
  })

  it('each have a test here that makes its cause and sees it', () => {
    const files = readdirSync(import.meta.dirname).filter((file) => !['list.test.ts', 'notices.test.ts'].includes(file))
    const text = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('\n')
    expect(ATTENTION_KINDS.filter((kind) => !text.includes(`'${kind}'`))).toEqual([])
  })
})

describe('GET /v2/attention', () => {
  const shared = sharedService()

  it('has every item once, oldest first, whatever the size of a page', async () => {
    const service = await shared()
    const times = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(times, times, fc.integer({ min: 1, max: 5 }), async (receivers, pools, limit) => {
        await waiting(service, { receivers, pools })
        const pages: { id: string; since: string }[][] = []
        let cursor: string | null = ''
        do {
          const more: string = cursor === '' ? '' : `&cursor=${cursor}`
          const { data, meta } = await itemsOf(service, `?limit=${limit}${more}`)
          pages.push(data)
          cursor = meta.next_cursor
        } while (cursor !== null)
        const whole = (await itemsOf(service, '?limit=100')).data
        expect(pages.flat()).toEqual(whole)
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
        expect(new Set(whole.map(({ id }: { id: string }) => id)).size).toBe(receivers.length + pools.length)
        const since = whole.map((item: { since: string }) => Date.parse(item.since))
        expect(since).toEqual(since.toSorted((a: number, b: number) => a - b))
      }),
      { numRuns: runs(20, 200) },
    )
  })

  it('says what an item concerns, in a sentence, with its command and its page', async () => {
    const service = await shared()
    await waiting(service, { receivers: [START], pools: [] })
    expect((await itemsOf(service)).data).toEqual([
      {
        id: 'receiver_off.whs_0',
        kind: 'receiver_off',
        since: new Date(START).toISOString(),
        ends_at: null,
        subject: { type: 'webhook_subscription', id: 'whs_0' },
        summary: 'The webhook subscription whs_0 waits: it answered 410 Gone.',
        command: 'svc webhooks update whs_0 --active true',
        page: '/console/webhooks/whs_0',
        snoozed_until: null,
        snooze_reason: null,
      },
    ])
    expect((await itemsOf(service, '?kind=migration_failed')).data).toEqual([])
    expect((await itemsOf(service, '?subject=whs_0')).data).toHaveLength(1)
    expect((await itemsOf(service, '?subject=whs_1')).data).toEqual([])
    expect((await service.request('GET', '/v2/attention?kind=other')).json.error.param).toBe('kind')
    expect((await service.request('GET', '/v2/attention', { key: await service.key() })).status).toBe(200)
  })

  it('has keys and the signer only with the scope *', async () => {
    const service = await startService()
    await service.request('POST', '/v2/api-keys', { body: { name: 'secret name', expires_in: 600 } })
    const listed = async (key: string, query = '') => {
      const { status, text } = await service.request('GET', `/v2/attention${query}`, { key })
      return [status, text.includes('secret name')]
    }
    const narrow = await service.key({ scopes: ['fees:claim'] })
    expect(await listed(service.operator)).toEqual([200, true])
    expect(await listed(narrow)).toEqual([200, false])
    for (const kind of ['key_expires', 'policy_nearly_spent']) {
      expect(await listed(narrow, `?kind=${kind}`)).toEqual([403, false])
    }
  })

  it('refuses a cursor whose place is no time', async () => {
    const service = await shared()
    const list = filteredList('attention', { kind: undefined, subject: undefined, snoozed: false })
    for (const place of ['x receiver_off.whs_0', '', '1e400 a.b', '1.5 a.b']) {
      const query = `?cursor=${encodeTextCursor(list, place)}`
      const { status, json } = await service.request('GET', `/v2/attention${query}`)
      expect([place, status, json.error?.message]).toEqual([place, 400, 'cursor is damaged'])
    }
  })

  it('shows what a node or a database wrote on one line, clean and bounded', async () => {
    const service = await startService()
    const { store, clock } = service.services
    const facts = { error: `a\u001b[31m\nb\u202ec ${'x'.repeat(2_000)}` }
    const held = [{ kind: 'backup_failed' as const, subject: 'backup', facts }]
    await store.write((tx) => storeLook(tx, { kinds: ['backup_failed'], observer: null, held, now: clock.now() }))
    const [{ summary }] = (await itemsOf(service)).data
    expect(summary).toMatch(/^The last backup failed: a\\u001b\[31m b\\u202ec x+…$/)
    expect(summary.length).toBe(1_000)
  })
})

describe('POST /v2/attention/{id}/snooze', () => {
  const ITEM = '/v2/attention/receiver_off.whs_0/snooze'
  const reason = 'it moves on Friday'

  async function snoozed(): Promise<Service> {
    const service = await startService()
    await waiting(service, { receivers: [START], pools: [] })
    const until = new Date(START + DAY_MS).toISOString()
    const { json } = await service.request('POST', ITEM, { body: { until, reason } })
    expect(json.data).toMatchObject({ id: 'receiver_off.whs_0', snoozed_until: until, snooze_reason: reason })
    return service
  }
  const ids = async (service: Service, query = '') =>
    (await itemsOf(service, query)).data.map(({ id }: { id: string }) => id)

  it('leaves the item out until its time, and writes to the audit log', async () => {
    const service = await snoozed()
    expect(await ids(service)).toEqual([])
    expect(await ids(service, '?snoozed=true')).toEqual(['receiver_off.whs_0'])
    const { data } = (await service.request('GET', '/v2/audit-entries?action=attention.snoozed')).json
    expect(data).toEqual([
      expect.objectContaining({
        details: { item: 'receiver_off.whs_0', until: new Date(START + DAY_MS).toISOString(), reason },
      }),
    ])
    service.clock.advance(DAY_MS)
    expect(await ids(service)).toEqual(['receiver_off.whs_0'])
    expect(await ids(service, '?snoozed=true')).toEqual([])
  })

  it('ends with null, or if the cause begins anew', async () => {
    const service = await snoozed()
    const ended = (await service.request('POST', ITEM, { body: { until: null } })).json.data
    expect([ended.snoozed_until, await ids(service)]).toEqual([null, ['receiver_off.whs_0']])
    const again = { until: new Date(START + DAY_MS).toISOString(), reason }
    await service.request('POST', ITEM, { body: again })
    expect(await ids(service)).toEqual([])
    await service.services.store.write((tx) =>
      tx
        .updateTable('webhook_subscriptions')
        .set({ updated_at: START + HOUR_MS })
        .execute(),
    )
    expect(await ids(service)).toEqual(['receiver_off.whs_0'])
  })

  it('refuses a time that has passed, one without a reason, an item that is not there, and other keys', async () => {
    const service = await startService()
    await waiting(service, { receivers: [START], pools: [] })
    const post = async (body: object, path = ITEM, more = {}) => {
      const { status, json } = await service.request('POST', path, { body, ...more })
      return [status, json.error.param]
    }
    const until = new Date(START + DAY_MS).toISOString()
    expect(await post({ until: new Date(START).toISOString(), reason })).toEqual([400, 'until'])
    expect(await post({ until: '2030-01-01', reason })).toEqual([400, 'until'])
    expect(await post({ until })).toEqual([400, 'reason'])
    expect(await post({ until, reason }, '/v2/attention/receiver_off.whs_9/snooze')).toEqual([404, undefined])
    expect(await post({ until, reason }, '/v2/attention/other.whs_0/snooze')).toEqual([404, undefined])
    expect(await post({ until, reason }, '/v2/attention/x/snooze')).toEqual([400, 'id'])
    expect(await post({ until, reason }, ITEM, { key: await service.key() })).toEqual([403, undefined])
  })
})
