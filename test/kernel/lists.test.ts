/** Lists: limits, cursors and filters of every list route. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { addToTotals } from '../../src/store/ledger/totals.ts'
import {
  decodeAddressCursor,
  decodeCursor,
  decodeTextCursor,
  encodeAddressCursor,
  encodeCursor,
  encodeTextCursor,
} from '../../src/store/queries/paging.ts'
import { pageApiKeys } from '../../src/store/requests/api-keys.ts'
import { insertHolderSnapshot } from '../../src/store/resources/holder-snapshots.ts'
import { lists as allLists } from '../api/bodies.ts'
import { holderSnapshotRow } from '../support/holder-snapshot-rows.ts'
import { inSoak } from '../support/runs.ts'
import { type Service, sharedService, startService } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const A = wallet(1)

/** Without the trades of a pool, which need one on a chain: test/pools.test.ts. */
const lists = allLists.filter(([name]) => name !== 'pools.trades')

/** What other readers of numbers take for one from 1 to 100. */
const DISGUISED = ['1e1', '0x10', '010', '+5', '%205', '5%20', '5.0', '1_0', '٣', '5&limit=5']

interface Listed {
  id: string
  sequence: number
  type: string
}

const UNSIGNED = { signature: null, recipients_json: null }

async function subscribe({ request }: Service, count: number, prefix = 'a'): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const body = { url: `https://${prefix}${n}.example.com`, enabled_events: ['*'] }
    ids.push((await request('POST', '/v2/webhook-subscriptions', { body })).json.data.id)
  }
  return ids
}

/** Paths of all lists, their parameters filled with what exists. */
async function listPaths(service: Service): Promise<string[]> {
  const recorded = { external_uid: null, metadata_json: null, created_at: 0, occurred_at: 0 }
  const claim = { id: 'fc_1', type: 'fee_claim.executed' as const, pool_address: A, ...recorded, ...UNSIGNED }
  await service.services.store.write((tx) => tx.insertInto('fee_claims').values(claim).execute())
  const [hook] = await subscribe(service, 1)
  const schedule = await service.request('POST', '/v2/fee-schedules', { body: { cron: '0 6 * * *' } })
  await service.services.store.write((tx) => insertHolderSnapshot(tx, holderSnapshotRow(1), []))
  const { json } = await service.request('POST', '/v2/merkle-trees', { body: { mint: A, entries: entries(3) } })
  const ids: Record<string, string> = {
    'merkleTrees.entries': json.data.id,
    'airdrops.claims': json.data.id,
    'feeSchedules.runs': schedule.json.data.id,
    'holderSnapshots.holders': 'hsn_1',
  }
  return lists.map(([name, { path }]) =>
    path
      .replace('{id}', ids[name] ?? hook!)
      .replace('{address}', A)
      .replace('{wallet}', A),
  )
}

async function walk({ request }: Service, path: string, between = async () => {}): Promise<Listed[]> {
  const found: Listed[] = []
  let cursor: string | null = null
  do {
    const { json } = await request('GET', cursor === null ? path : `${path}&cursor=${cursor}`)
    expect(json.meta.count).toBe(json.data.length)
    expect(json.meta.has_more).toBe(json.meta.next_cursor !== null)
    found.push(...json.data)
    cursor = json.meta.next_cursor
    if (cursor !== null) expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
    await between()
  } while (cursor !== null)
  return found
}

describe('every list', () => {
  const shared = sharedService()
  let made: Promise<string[]> | undefined
  const pathsOf = (service: Service) => {
    made ??= listPaths(service)
    return made
  }

  it('answers an array and list meta', async () => {
    const service = await shared()
    const paths = await pathsOf(service)
    expect(paths).toHaveLength(lists.length)
    for (const path of paths) {
      const { status, json, headers } = await service.request('GET', path)
      expect([path, status, Array.isArray(json.data)]).toEqual([path, 200, true])
      expect(json.meta).toEqual({
        request_id: headers.get('x-request-id'),
        has_more: false,
        next_cursor: null,
        count: json.data.length,
      })
    }
  })

  it('takes a limit of 1 to 100 and refuses any other', { tags: 'sampled' }, async () => {
    const service = await shared()
    const wrong = ['-1', 'abc', '', '1.5', '9'.repeat(400), 'Infinity', ...DISGUISED]
    for (const [n, path] of (await pathsOf(service)).entries()) {
      for (const limit of ['1', '100']) {
        expect((await service.request('GET', `${path}?limit=${limit}`)).status, `${path} ${limit}`).toBe(200)
      }
      for (const limit of ['0', '101', ...(inSoak || n < 2 ? wrong : [])]) {
        const { status, json } = await service.request('GET', `${path}?limit=${limit}`)
        expect([path, limit, status, json.error?.param]).toEqual([path, limit, 400, 'limit'])
      }
    }
  })

  it('refuses truncated, invented and foreign cursors by name', { tags: 'sampled' }, async () => {
    const service = await shared()
    await subscribe(service, 2)
    const { json } = await service.request('GET', '/v2/webhook-subscriptions?limit=1')
    const own = json.meta.next_cursor as string
    const flipped = own.slice(0, -2) + (own.at(-2) === 'A' ? 'B' : 'A') + own.at(-1)
    const torn = [
      '',
      'x',
      own.slice(0, -1),
      `${own}A`,
      flipped,
      own.toLowerCase(),
      '0',
      'eyJpZCI6MX0',
      '%00',
      'A'.repeat(24),
    ]
    for (const [n, path] of (await pathsOf(service)).entries()) {
      const foreign = path === '/v2/webhook-subscriptions' ? [] : [own]
      for (const cursor of [...(inSoak || n < 2 ? torn : torn.slice(0, 3)), ...foreign]) {
        const { status, json } = await service.request('GET', `${path}?cursor=${cursor}`)
        expect([path, cursor, status, json.error?.param]).toEqual([path, cursor, 400, 'cursor'])
      }
    }
  })
})

describe('a cursor of numbers, addresses or texts', () => {
  it('is refused if any part of it is missing, added or changed', () => {
    const kinds: [cursor: string, decode: (list: string, cursor: string) => unknown][] = [
      [encodeCursor('a', 7), decodeCursor],
      [encodeAddressCursor('a', new Uint8Array(32).fill(7)), decodeAddressCursor],
      [encodeTextCursor('a', `2026-11\tplatform\t${A}`), decodeTextCursor],
    ]
    const damaged = (cursor: string) => [
      ...Array.from({ length: cursor.length }, (_, n) => cursor.slice(0, n)),
      ...Array.from({ length: cursor.length }, (_, n) => cursor.slice(n + 1)),
      ...Array.from(cursor, (was, n) => `${cursor.slice(0, n)}${was === 'A' ? 'B' : 'A'}${cursor.slice(n + 1)}`),
      `${cursor}A`,
      `${cursor}==`,
    ]
    for (const [own, decode] of kinds) {
      expect(() => decode('a', own)).not.toThrow()
      const others = kinds.map(([cursor]) => cursor).filter((cursor) => cursor !== own)
      for (const cursor of [...damaged(own), ...others]) {
        expect(() => decode('a', cursor), cursor).toThrow(expect.objectContaining({ param: 'cursor' }))
      }
      expect(() => decode('b', own)).toThrow('belongs to another list')
    }
    expect(() => decodeTextCursor('a', encodeTextCursor('a', 'a\0'))).toThrow('is damaged')
  })

  it('is made in one place', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    const making = files.filter((name) => {
      const text = readFileSync(`src/${name}`, 'utf8')
      return /toString\('base64url'\)/.test(text) && /cursor/i.test(text)
    })
    expect(making).toEqual(['store/queries/paging.ts'])
  })
})

describe('the cursor of GET /v2/ledger/summary', () => {
  it('is refused if it is torn, and continues if it is whole', async () => {
    const service = await startService()
    const { store, chain } = service.services
    const genesis = await chain.genesisHash()
    const total = { genesis, pool: null, kind: 'network_fee', party: 'network', token: '', symbol: null, decimals: 9 }
    await store.write((tx) =>
      addToTotals(
        tx,
        ['2026-09', '2026-10', '2026-11'].map((month) => ({ ...total, month, amount: '5' }) as never),
      ),
    )
    const page = async (cursor: string) => service.request('GET', `/v2/ledger/summary?limit=1&cursor=${cursor}`)
    const { json } = await service.request('GET', '/v2/ledger/summary?limit=1')
    const own = json.meta.next_cursor as string
    expect((await page(own)).json.data[0].key).toBe('2026-10')
    for (const torn of [own.slice(0, -1), own.slice(0, -4), own.slice(0, 20), own.slice(4), `${own}AAAA`]) {
      const { status, json } = await page(torn)
      expect([torn, status, json.error?.param]).toEqual([torn, 400, 'cursor'])
    }
  })
})

describe('the cursor of a verification', () => {
  const signature = '2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY'
  const place = '.7.100.50.-50'

  it.each([
    ['event-verification?since=2026-01-01T00:00:00Z&', [`accounts.0.${signature}`, 'events.12']],
    ['ledger/verification?', ['transactions.12', `accounts.0${place}`, `holdings.0.${A}${place}`]],
  ])('of GET /v2/%s is refused if it is torn, and read if it is whole', async (path, whole) => {
    const service = await startService()
    const faultOf = async (cursor: string) => {
      const { status, json } = await service.request('GET', `/v2/${path}cursor=${encodeURIComponent(cursor)}`)
      return [cursor, status, json.error?.param]
    }
    for (const cursor of whole) {
      expect(await faultOf(cursor)).toEqual([cursor, 200, undefined])
      const torn = [cursor.slice(1), cursor.slice(0, 5), `${cursor}.`, `${cursor}.x`, `${cursor} `]
      for (const each of cursor.includes(signature) ? [...torn, cursor.slice(0, -9)] : torn) {
        expect(await faultOf(each)).toEqual([each, 400, 'cursor'])
      }
    }
  })
})

describe('a cursor', () => {
  it('of one list is refused by every other, also if both list the same rows', async () => {
    const service = await startService()
    const { request } = service
    const hooks = await subscribe(service, 2)
    for (const hook of hooks)
      for (let n = 0; n < 2; n++) await request('POST', `/v2/webhook-subscriptions/${hook}/test`)
    await service.services.store.write(async (tx) => {
      for (let n = 0; n < 4; n++) {
        const about = { subscription_id: hooks[n % 2]!, event_id: 'evt', attempt: 1, status: 'failed', created_at: n }
        const nothing = { response_code: null, duration_ms: null, error: null, next_attempt_at: null }
        await tx
          .insertInto('webhook_deliveries')
          .values({ id: `whd_${n}`, ...about, ...nothing })
          .execute()
        const recorded = { external_uid: null, metadata_json: null, created_at: n, occurred_at: n }
        await tx
          .insertInto('fee_claims')
          .values({ id: `fc_${n}`, type: 'fee_claim.executed', pool_address: wallet(n % 2), ...recorded, ...UNSIGNED })
          .execute()
      }
    })
    for (let n = 0; n < 2; n++) {
      await request('POST', '/v2/merkle-trees', { body: { mint: A, airdrop_count: n, entries: entries(3) } })
    }
    const { json } = await request('GET', '/v2/merkle-trees')
    const families = [
      ['/v2/merkle-trees', '/v2/airdrops', `/v2/wallets/${wallet(1)}/airdrops`],
      json.data.map(({ id }: Listed) => `/v2/merkle-trees/${id}/entries`),
      ['/v2/fee-claims', `/v2/pools/${wallet(0)}/fee-claims`, `/v2/pools/${wallet(1)}/fee-claims`],
      hooks.map((hook) => `/v2/webhook-subscriptions/${hook}/deliveries`),
    ]
    for (const paths of families) {
      for (const path of paths) {
        const first = await request('GET', `${path}?limit=1`)
        const cursor = first.json.meta.next_cursor
        expect([path, typeof cursor]).toEqual([path, 'string'])
        for (const other of paths) {
          const { status, json } = await request('GET', `${other}?cursor=${cursor}`)
          const expected = path === other ? [200, undefined] : [400, 'cursor']
          expect([path, other, status, json.error?.param]).toEqual([path, other, ...expected])
        }
      }
    }
  })
})

describe('a cursor of a filtered list', () => {
  it('is refused without its filter, with another filter or with an added one, and works with the same', async () => {
    const service = await startService()
    await subscribe(service, 3)
    const hooks = (await service.request('GET', '/v2/webhook-subscriptions')).json.data
    for (const { id } of hooks) await service.request('POST', `/v2/webhook-subscriptions/${id}/test`)
    for (const [list, filter, other] of [
      ['/v2/webhook-subscriptions', 'active=true', 'active=false'],
      ['/v2/events', 'type=webhook.test_event', 'type=pool.live'],
      ['/v2/events', 'resource_type=webhook_subscription', 'order=asc'],
      ['/v2/events', 'created_after=1', 'created_after=2'],
      ['/v2/audit-entries', 'action=api_key.created', 'action=api_key.revoked'],
    ] as const) {
      if (list === '/v2/audit-entries')
        for (const name of ['a', 'b']) await service.request('POST', '/v2/api-keys', { body: { name, scopes: [] } })
      const cursorOf = async (query: string) =>
        (await service.request('GET', `${list}?limit=1&${query}`)).json.meta.next_cursor
      const [filtered, unfiltered] = [await cursorOf(filter), await cursorOf('')]
      expect([list, filter, typeof filtered, typeof unfiltered]).toEqual([list, filter, 'string', 'string'])
      const uses: [query: string, cursor: string, status: number][] = [
        [filter, filtered, 200],
        ['', filtered, 400],
        [other, filtered, 400],
        [filter, unfiltered, 400],
        ['', unfiltered, 200],
      ]
      for (const [query, cursor, expected] of uses) {
        const { status, json } = await service.request('GET', `${list}?${query}&cursor=${cursor}`)
        const param = expected === 400 ? 'cursor' : undefined
        expect([list, query, status, json.error?.param]).toEqual([list, query, expected, param])
      }
    }
  })
})

describe('paging', () => {
  it('returns every record once, newest first, while others are added', async () => {
    const service = await startService()
    const before = await subscribe(service, 25)
    let added = 0
    const found = await walk(service, '/v2/webhook-subscriptions?limit=4', async () => {
      added += (await subscribe(service, 1, `late${added}`)).length
    })
    expect(found.map(({ id }) => id)).toEqual(before.toReversed())
    expect(added).toBe(7)
    expect((await walk(service, '/v2/webhook-subscriptions?limit=100')).length).toBe(32)
  })

  it('skips nothing if records behind it are deleted', async () => {
    const service = await startService()
    const ids = await subscribe(service, 9)
    const first = await service.request('GET', '/v2/webhook-subscriptions?limit=3')
    for (const id of ids.slice(5)) await service.request('DELETE', `/v2/webhook-subscriptions/${id}`)
    const rest = await service.request('GET', `/v2/webhook-subscriptions?cursor=${first.json.meta.next_cursor}`)
    expect(rest.json.data.map(({ id }: Listed) => id)).toEqual(ids.slice(0, 5).toReversed())
  })

  it('has no empty last page: has_more is false on a page that is just full', async () => {
    const service = await startService()
    await subscribe(service, 6)
    const first = await service.request('GET', '/v2/webhook-subscriptions?limit=3')
    expect(first.json.meta).toMatchObject({ has_more: true, count: 3 })
    const second = await service.request(
      'GET',
      `/v2/webhook-subscriptions?limit=3&cursor=${first.json.meta.next_cursor}`,
    )
    expect(second.json.meta).toMatchObject({ has_more: false, next_cursor: null, count: 3 })
  })

  it('has 20 records on a page by default', async () => {
    const service = await startService()
    for (let n = 0; n < 30; n++) await service.key()
    expect((await service.request('GET', '/v2/api-keys')).json.meta.count).toBe(20)
    expect((await pageApiKeys(service.services.store.db, { limit: 100 })).rows).toHaveLength(31)
    expect(await walk(service, '/v2/api-keys?limit=7')).toHaveLength(31)
  })
})

describe('filters', () => {
  it('limit trees and airdrops to a mint, over all pages', async () => {
    const service = await startService()
    for (let n = 0; n < 6; n++) {
      const body = { mint: wallet(n % 2), airdrop_count: n, entries: entries(1) }
      await service.request('POST', '/v2/merkle-trees', { body })
    }
    for (const path of ['/v2/merkle-trees', '/v2/airdrops']) {
      const found = await walk(service, `${path}?limit=2&mint=${wallet(1)}`)
      expect(found.map((tree) => (tree as never as { airdrop_count: number }).airdrop_count)).toEqual([5, 3, 1])
      expect((await service.request('GET', `${path}?mint=${wallet(7)}`)).json.data).toEqual([])
      expect((await service.request('GET', `${path}?mint=x`)).json.error.param).toBe('mint')
    }
  })

  it('limit subscriptions to the active ones', async () => {
    const service = await startService()
    const [one, other] = await subscribe(service, 2)
    await service.request('PATCH', `/v2/webhook-subscriptions/${one}`, { body: { active: false } })
    const ids = async (query: string) =>
      (await service.request('GET', `/v2/webhook-subscriptions?${query}`)).json.data.map(({ id }: Listed) => id)
    expect([await ids('active=true'), await ids('active=false')]).toEqual([[other], [one]])
  })

  it('limit events to a type, a resource and a time', async () => {
    const service = await startService()
    const { request, clock } = service
    const [hook] = await subscribe(service, 1)
    const tree = await request('POST', '/v2/merkle-trees', { body: { mint: A, entries: entries(1) } })
    clock.advance(1000)
    await request('POST', `/v2/webhook-subscriptions/${hook}/test`)
    const types = async (query: string) =>
      (await request('GET', `/v2/events?${query}`)).json.data?.map(({ type }: Listed) => type)
    expect(await types('')).toEqual(['webhook.test_event', 'airdrop.tree_built'])
    expect(await types('type=airdrop.tree_built')).toEqual(['airdrop.tree_built'])
    expect(await types('resource_type=webhook_subscription')).toEqual(['webhook.test_event'])
    expect(await types(`resource_id=${tree.json.data.id}`)).toEqual(['airdrop.tree_built'])
    expect(await types(`resource_id=${hook}&type=airdrop.tree_built`)).toEqual([])
    const seconds = Math.floor(clock.now() / 1000)
    expect(await types(`created_after=${seconds - 1}`)).toEqual(['webhook.test_event'])
    expect(await types(`created_after=${new Date(clock.now() - 1).toISOString()}`)).toEqual(['webhook.test_event'])
    expect(await types(`created_after=${seconds}`)).toEqual([])
    for (const query of ['type=nothing', 'created_after=yesterday', 'order=up', 'resource_type=']) {
      const { status, json } = await request('GET', `/v2/events?${query}`)
      expect([status, json.error.param]).toEqual([400, query.split('=')[0]])
    }
  })
})

describe('events in ascending order', () => {
  it('can be followed: the last cursor continues with later events', async () => {
    const service = await startService()
    const { request } = service
    const [hook] = await subscribe(service, 1)
    const happen = () => request('POST', `/v2/webhook-subscriptions/${hook}/test`)
    for (let n = 0; n < 5; n++) await happen()
    const all = await walk(service, '/v2/events?order=asc&limit=2')
    expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
    const first = await request('GET', '/v2/events?order=asc&limit=4')
    for (let n = 0; n < 3; n++) await happen()
    const next = await request('GET', `/v2/events?order=asc&cursor=${first.json.meta.next_cursor}`)
    expect(next.json.data.map(({ sequence }: Listed) => sequence)).toEqual([5, 6, 7, 8])
    const turned = await request('GET', `/v2/events?order=desc&cursor=${first.json.meta.next_cursor}`)
    expect([turned.status, turned.json.error?.param]).toEqual([400, 'cursor'])
  })

  it('are each readable by id, with the same content as in the list', async () => {
    const service = await startService()
    const [hook] = await subscribe(service, 1)
    const made = await service.request('POST', `/v2/webhook-subscriptions/${hook}/test`, { body: { externalUid: 'u' } })
    const listed = await service.request('GET', '/v2/events')
    const one = await service.request('GET', `/v2/events/${made.json.data.id}`)
    expect(one.json.data).toEqual(made.json.data)
    expect(listed.json.data).toEqual([made.json.data])
    expect(one.json.data).toMatchObject({
      type: 'webhook.test_event',
      api_version: '2.0',
      external_uid: 'u',
      sequence: 1,
    })
    expect((await service.request('GET', '/v2/events/evt_absent')).status).toBe(404)
  })
})
