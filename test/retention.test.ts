/** Retention by age: what is older than a setting says is removed in steps, what somebody still needs stays, and what is gone is named. */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createMetrics } from '../daemon/metrics.ts'
import { housekeepingWorker } from '../daemon/workers/housekeeping.ts'
import { fanOut } from '../src/operations/webhook-deliveries/enqueuing.ts'
import type { SettingName } from '../src/settings/config.ts'
import { appendEvent, appendEvents, type NewEvent } from '../src/store/events/events.ts'
import { pruneEvents, pruneQueued } from '../src/store/events/retention.ts'
import { newId } from '../src/store/id.ts'
import { insertProposal } from '../src/store/proposals/proposals.ts'
import { insertHolderSnapshot } from '../src/store/resources/holder-snapshots.ts'
import type { NewRow, Row } from '../src/store/schema.ts'
import { addTransaction } from '../src/store/transactions/transactions.ts'
import { inSteps, nextLimit } from '../src/store/writing/in-steps.ts'
import { startPostgres } from './store/postgres-server.ts'
import { holderSnapshotRow } from './support/holder-snapshot-rows.ts'
import { runs } from './support/runs.ts'
import { type Service, START, startService } from './support/service.ts'
import { storedProposal } from './support/stored-proposal.ts'
import { entries, wallet } from './support/trees.ts'

const DAY = 86_400_000
const postgres = await startPostgres()

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** A delivery that was never tried, one that is tried again, and one that its receiver has refused for good. */
const QUEUED_STATES = [
  { state: 'waiting', attempts: 0 },
  { state: 'waiting', attempts: 3 },
  { state: 'held', attempts: 7 },
] as const

const event = (n: number, at: number, dedupe_key = `key ${n}`): NewEvent => ({
  id: newId('evt'),
  type: 'pool.live',
  resource_type: 'pool',
  resource_id: `pool-${n}`,
  object_json: '{}',
  external_uid: null,
  metadata_json: null,
  dedupe_key,
  created_at: at,
})

/** Events of the given days, one each, in their order. */
const happen = ({ services: { store } }: Service, days: readonly number[]) =>
  store.write((tx) =>
    appendEvents(
      tx,
      days.map((day, n) => event(n, START + day * DAY)),
    ),
  )

const tick = ({ services }: Service) =>
  housekeepingWorker.tick({
    ...services,
    metrics: { clockFault() {} },
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
  })

const sequences = async ({ services: { store } }: Service) =>
  (await store.db.selectFrom('events').select('sequence').orderBy('sequence').execute()).map((row) => row.sequence)

const subscribe = async ({ request }: Service): Promise<string> => {
  const body = { url: 'https://receiver.example.com/hook', enabled_events: ['*'] }
  return (await request('POST', '/v2/webhook-subscriptions', { body })).json.data.id
}

const transaction = (signature: string, changes: Partial<NewRow<'transactions'>>): NewRow<'transactions'> => ({
  signature,
  raw: Buffer.from('bytes'),
  lifecycle: 'finalized',
  confirmation_status: 'finalized',
  err_json: null,
  slot: 1,
  confirmations: 32,
  tracked_resource_json: null,
  tracked_id: null,
  bundle_id: null,
  max_retries: 0,
  blockhash: 'x',
  nonce_account: null,
  genesis: '',
  since_slot: null,
  checked_at: 0,
  next_check_at: null,
  next_send_at: null,
  sends: 0,
  external_uid: null,
  metadata_json: null,
  created_at: START,
  ...changes,
})

const proposal = (n: number, changes: Partial<NewRow<'proposals'>>) => storedProposal(n, START, changes)

describe('the removal of old rows', () => {
  it('removes as many rows at a time as fit into ten milliseconds, and lets others write between two steps', async () => {
    expect([nextLimit(50, 100), nextLimit(50, 20), nextLimit(50, 10), nextLimit(50, 1), nextLimit(400, 0.1)]).toEqual([
      5, 25, 50, 100, 500,
    ])
    expect(nextLimit(4, 1_000)).toBe(4)
    const { services } = await startService()
    const limits: number[] = []
    const written: number[] = []
    let [others, isOver] = [0, false]
    // Another writes one after the other; a step runs beside none of them.
    const writing = (async () => {
      while (!isOver) {
        await services.store.write(async () => void others++)
        await new Promise(setImmediate)
      }
    })()
    const total = await inSteps(services.store, async (_, limit) => {
      limits.push(limit)
      written.push(others)
      // As a row that takes a millisecond: nothing else runs meanwhile.
      const until = performance.now() + limit
      while (performance.now() < until);
      return limits.length < 6 ? limit : 0
    })
    isOver = true
    await writing
    for (const [n, before] of written.slice(0, -1).entries()) expect(written[n + 1]).toBeGreaterThan(before)
    expect(limits[0]).toBe(50)
    expect(limits.slice(1).every((limit) => limit >= 4 && limit <= 10)).toBe(true)
    expect(total).toBe(limits.slice(0, -1).reduce((sum, limit) => sum + limit, 0))
  })
})

describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async (settings: Partial<Record<SettingName, unknown>> = {}) =>
    startService({
      settings: {
        ...settings,
        ...(name === 'PostgreSQL' && !('missing' in postgres)
          ? {
              'postgres.pool-timeout-ms': 60_000,
              'database-url': await postgres.createMigratedDatabase(),
              'encryption-key': '7'.repeat(64),
            }
          : {}),
      },
    })

  it.skipIf(missing)('nothing that the contract promises is removed unless a setting says so', async () => {
    const service = await start()
    await happen(service, [0, 1])
    await service.services.store.write((tx) => addTransaction(tx, transaction('s', {})))
    service.clock.advance(10_000 * DAY)
    await tick(service)
    expect(await sequences(service)).toEqual([1, 2])
    const { raw } = await service.services.store.db.selectFrom('transactions').select('raw').executeTakeFirstOrThrow()
    expect(raw.toString()).toBe('bytes')
  })

  it.skipIf(missing)('assets of unfinished uploads are removed, however many there are', async () => {
    const service = await start()
    const { store } = service.services
    const cids = Array.from({ length: 60 }, (_, n) => `cid ${n}`)
    await store.write(async (tx) => {
      const assets = cids.map((cid) => ({ cid, length: 1, complete: 0, created_at: START }))
      await tx.insertInto('assets').values(assets).execute()
      await tx
        .insertInto('asset_pieces')
        .values(cids.map((cid) => ({ cid, n: 0, bytes: Buffer.from('x') })))
        .execute()
    })
    service.clock.advance(2 * DAY)
    await tick(service)
    expect(await store.db.selectFrom('assets').select('cid').execute()).toEqual([])
    expect(await store.db.selectFrom('asset_pieces').select('cid').execute()).toEqual([])
  })

  it.skipIf(missing)('requests of proposals that ended 30 days ago are removed, and the proposals stay', async () => {
    const service = await start()
    const { store } = service.services
    const proposals = [
      ...(
        ['planned', 'active', 'approved', 'executed', 'rejected', 'cancelled', 'stale', 'expired', 'failed'] as const
      ).map((status) => ({ status, updated_at: START })),
      { status: 'executed' as const, updated_at: START + 2 * DAY },
    ]
    await store.write(async (tx) => {
      for (const [n, each] of proposals.entries()) await insertProposal(tx, proposal(n, each))
    })
    service.clock.advance(31 * DAY)
    await tick(service)
    const rows = await store.db.selectFrom('proposals').select(['status', 'request']).orderBy('seq').execute()
    expect(rows.map(({ status, request }) => [status, request?.toString()])).toEqual(
      proposals.map(({ status }, n) => [status, n < 3 || n === 9 ? 'sealed' : undefined]),
    )
  })

  it.skipIf(missing)('removed rows are counted by table', async () => {
    const metrics = createMetrics()
    onTestFinished(metrics.observe())
    const service = await start({ 'retention.events-days': 90, 'retention.transaction-bytes-days': 30 })
    const { store } = service.services
    await happen(service, [0, 1, 2, 100])
    await store.write(async (tx) => {
      for (const n of numbers(2)) await addTransaction(tx, transaction(`s${n}`, {}))
      const assets = numbers(3).map((n) => ({ cid: `cid ${n}`, length: 1, complete: 0, created_at: START }))
      await tx.insertInto('assets').values(assets).execute()
    })
    service.clock.advance(100 * DAY)
    await tick(service)
    await tick(service)
    const counted = [
      ...(await metrics.text()).matchAll(/^svc_retention_rows_removed_total\{table="(\w+)"\} ([1-9]\d*)/gm),
    ]
    expect(counted.map(([, table, rows]) => [table, Number(rows)])).toEqual([
      ['assets', 3],
      ['events', 3],
      ['transactions', 2],
    ])
  })

  it.skipIf(missing)('events are removed from the first on, and the last one stays', async () => {
    const service = await start({ 'retention.events-days': 90 })
    // The clock was ahead for one event: what follows it counts as happened then.
    await happen(service, [0, 1, 40, 2, 100])
    service.clock.advance(91 * DAY + 1)
    await tick(service)
    expect(await sequences(service)).toEqual([2 + 1, 4, 5])
    service.clock.advance(1_000 * DAY)
    await tick(service)
    expect(await sequences(service)).toEqual([5])
    await happen(service, [1_100])
    expect(await sequences(service)).toEqual([5])
    await service.services.store.write((tx) => appendEvent(tx, event(9, START + 1_100 * DAY)))
    expect(await sequences(service)).toEqual([5, 6])
  })

  it.skipIf(missing)('an event that was removed is not reported again', { tags: 'sampled' }, async () => {
    const service = await start({ 'retention.events-days': 1 })
    const count = runs(43, 1_203)
    await happen(service, numbers(count))
    service.clock.advance((count - 2) * DAY)
    await tick(service)
    expect((await sequences(service))[0]).toBe(count - 2)
    const { store } = service.services
    expect(await store.write((tx) => appendEvent(tx, event(0, START)))).toBeNull()
    await happen(service, numbers(count))
    expect(await sequences(service)).toEqual([count - 2, count - 1, count])
    expect((await store.write((tx) => appendEvent(tx, event(0, START, 'another'))))?.sequence).toBe(count + 1)
  })

  it.skipIf(missing)('requests for removed events name the first stored one', async () => {
    const service = await start({ 'retention.events-days': 1 })
    const { request, services } = service
    await happen(service, [0, 1, 2, 3])
    const id = await subscribe(service)
    const ids = (await services.store.db.selectFrom('events').select('id').orderBy('sequence').execute()).map(
      (row) => row.id,
    )
    const cursorBehind = async (limit: number) =>
      (await request('GET', `/v2/events?order=asc&limit=${limit}`)).json.meta.next_cursor as string
    const [first, second] = [await cursorBehind(1), await cursorBehind(2)]
    service.clock.advance(3 * DAY)
    await tick(service)
    expect(await sequences(service)).toEqual([3, 4])

    const since = new Date(START + 2 * DAY).toISOString()
    const details = { first_sequence: 3, first_created: since }
    const named = expect.stringContaining(`the first stored event has the sequence 3, from ${since}`)
    const gone = await request('GET', `/v2/events/${ids[0]}`)
    expect([gone.status, gone.json.error]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found', message: named, details }),
    ])
    expect((await request('GET', `/v2/events/${ids[2]}`)).status).toBe(200)

    const missed = await request('GET', `/v2/events?order=asc&cursor=${first}`)
    expect([missed.status, missed.json.error]).toEqual([
      400,
      expect.objectContaining({ param: 'cursor', message: named, details }),
    ])
    expect(missed.json.error.message).toContain('The events 2 to 2 after this cursor were removed')
    const next = await request('GET', `/v2/events?order=asc&cursor=${second}`)
    expect(next.json.data.map(({ sequence }: Row<'events'>) => sequence)).toEqual([3, 4])

    const replays = `/v2/webhook-subscriptions/${id}/replays`
    const early = await request('POST', replays, { body: { since: 0 } })
    expect([early.status, early.json.error]).toEqual([
      400,
      expect.objectContaining({ param: 'since', message: named, details }),
    ])
    expect((await request('POST', replays, { body: { since } })).json.data).toMatchObject({ queued: 2 })
    const byId = await request('POST', replays, { body: { event_ids: [ids[3], ids[1]] } })
    expect([byId.status, byId.json.error]).toEqual([
      404,
      expect.objectContaining({ param: 'event_ids.1', message: named, details }),
    ])
  })

  it.skipIf(missing)(
    'an active subscription gets every event, and an inactive one those that are not too old',
    async () => {
      const service = await start({ 'retention.events-days': 1 })
      const { request, services } = service
      const { store } = services
      const [active, off] = [await subscribe(service), await subscribe(service)]
      await happen(service, [0, 1])
      await fanOut(services)
      await request('PATCH', `/v2/webhook-subscriptions/${off}`, { body: { active: false } })
      await happen(service, [0, 1, 2, 3, 4])
      const queued = async () =>
        (await store.db.selectFrom('webhook_queue').select(['subscription_id', 'sequence']).execute()).map((row) => [
          row.subscription_id === active ? 'active' : 'off',
          row.sequence,
        ])
      service.clock.advance(1_000 * DAY)
      await tick(service)
      // The active one has the first two in its queue and the others before its cursor.
      expect((await sequences(service))[0]).toBe(1)
      await store.write((tx) => tx.deleteFrom('webhook_queue').where('sequence', '=', 1).execute())
      await tick(service)
      expect((await sequences(service))[0]).toBe(2)
      expect(await queued()).toEqual(
        expect.arrayContaining([
          ['active', 2],
          ['off', 2],
        ]),
      )
      await request('PATCH', `/v2/webhook-subscriptions/${active}`, { body: { active: false } })
      await tick(service)
      const last = (await sequences(service)).at(-1)
      expect(await sequences(service)).toEqual([last])
      expect(await queued()).toEqual([])
      await request('PATCH', `/v2/webhook-subscriptions/${off}`, { body: { active: true } })
      await fanOut(services)
      expect(await queued()).toEqual([['off', last]])
    },
  )

  it.skipIf(missing)(
    'a removal in steps of any size removes the oldest events, and none that is still to be delivered',
    async () => {
      const service = await start()
      const { store } = service.services
      const ids = [await subscribe(service), await subscribe(service), await subscribe(service)]
      const COUNT = 40
      await happen(service, numbers(COUNT))
      const place = fc.integer({ min: 0, max: COUNT })
      const subscription = fc.record({
        active: fc.boolean(),
        cursor: place,
        queued: fc.uniqueArray(fc.integer({ min: 1, max: COUNT }), { maxLength: 4 }),
        replay: fc.option(place, { nil: null }),
      })
      const stored = await store.db.selectFrom('events').selectAll().orderBy('sequence').execute()
      await fc.assert(
        fc.asyncProperty(
          fc.tuple(subscription, subscription, subscription),
          place,
          fc.integer({ min: 1, max: 15 }),
          async (states, age, limit) => {
            await store.write(async (tx) => {
              for (const table of ['events', 'removed_event_keys', 'webhook_queue', 'webhook_replays'] as const)
                await tx.deleteFrom(table).execute()
              await tx.insertInto('events').values(stored).execute()
              await tx.updateTable('counters').set({ value: 1 }).where('name', '=', 'events_first').execute()
              for (const [i, { active, cursor, queued, replay }] of states.entries()) {
                const subscription_id = ids[i]!
                const changes = { active: Number(active), cursor }
                await tx.updateTable('webhook_subscriptions').set(changes).where('id', '=', subscription_id).execute()
                for (const sequence of queued) {
                  const about = { event_id: stored[sequence - 1]!.id, sequence, resource: 'pool:x' }
                  const state = { ...QUEUED_STATES[(sequence + i) % 3]!, next_attempt_at: 0, claimed_until: 0 }
                  await tx
                    .insertInto('webhook_queue')
                    .values({ subscription_id, ...about, ...state })
                    .execute()
                }
                if (replay === null) continue
                const open = { since: 0, types_json: null, come_to: COUNT, through: replay, last: COUNT, created_at: 0 }
                await tx
                  .insertInto('webhook_replays')
                  .values({ subscription_id, ...open })
                  .execute()
              }
            })
            const before = START + age * DAY
            await store.write(async (tx) => {
              while ((await pruneEvents(tx, before, limit)) === limit);
            })
            await inSteps(store, (tx, most) => pruneQueued(tx, most))
            const left = await sequences(service)
            const needed = states
              .filter(({ active }) => active)
              .flatMap(({ cursor, queued, replay }) => [
                cursor + 1,
                ...queued,
                ...(replay === null ? [] : [replay + 1]),
              ])
            const first = Math.min(age + 1, COUNT, ...needed)
            expect(left).toEqual(numbers(COUNT + 1 - first).map((n) => first + n))
            const queue = await store.db.selectFrom('webhook_queue').select('sequence').execute()
            expect(queue.length).toBe(states.flatMap(({ queued }) => queued.filter((n) => n >= first)).length)
          },
        ),
        { numRuns: 15 },
      )
    },
  )

  it.skipIf(missing)('the bytes of ended transactions are removed, and nothing else of them', async () => {
    const service = await start({ 'retention.transaction-bytes-days': 7 })
    const { store } = service.services
    await store.write(async (tx) => {
      await addTransaction(tx, transaction('ended', {}))
      await addTransaction(tx, transaction('followed', { next_check_at: START, lifecycle: 'submitted' }))
      await addTransaction(tx, transaction('sent again', { next_send_at: START }))
      await addTransaction(tx, transaction('young', { created_at: START + DAY }))
    })
    service.clock.advance(7 * DAY + 1)
    await tick(service)
    const rows = await store.db.selectFrom('transactions').selectAll().orderBy('seq').execute()
    expect(rows.map(({ signature, raw }) => [signature, raw.toString()])).toEqual([
      ['ended', ''],
      ['followed', 'bytes'],
      ['sent again', 'bytes'],
      ['young', 'bytes'],
    ])
    expect(rows[0]).toMatchObject({ lifecycle: 'finalized', raw_removed_at: service.clock.now() })
  })

  it.skipIf(missing)(
    'the leaves of a drained tree are removed, its proofs say so, and storing its list restores them',
    async () => {
      const service = await start({ 'retention.trees-days': 30 })
      const { request, services, clock } = service
      const { store } = services
      const list = entries(1_000)
      const body = { mint: wallet(1), airdrop_count: 1, entries: list }
      const [drained, other] = await Promise.all(
        [1, 2].map(async (airdrop_count) => {
          const made = await request('POST', '/v2/merkle-trees', { body: { ...body, airdrop_count } })
          return made.json.data.id as string
        }),
      )
      const proof = (id: string | undefined) => request('GET', `/v2/merkle-trees/${id}/proofs/${wallet(7)}`)
      const pieces = async () =>
        (await store.db.selectFrom('merkle_blobs').select('tree_id').execute()).filter((row) => row.tree_id === drained)
          .length
      const drain = () =>
        store.write((tx) =>
          tx.updateTable('merkle_trees').set({ status: 'vault_drained' }).where('id', '=', drained!).execute(),
        )
      await drain()
      await tick(service)
      clock.advance(30 * DAY)
      await tick(service)
      expect((await proof(drained)).status).toBe(200)
      clock.advance(1)
      await tick(service)
      expect(await pieces()).toBe(0)
      const gone = await proof(drained)
      expect([gone.status, gone.json.error.message]).toEqual([
        404,
        `The leaves of the merkle tree ${drained} were removed on ${new Date(clock.now()).toISOString()}, because its airdrop was drained (retention.trees-days): store the list again with replace: true to read proofs`,
      ])
      expect((await request('GET', `/v2/merkle-trees/${drained}/entries`)).status).toBe(404)
      expect((await request('GET', `/v2/merkle-trees/${drained}`)).json.data.leaf_count).toBe(1_000)
      expect((await proof(other)).status).toBe(200)
      const again = await request('POST', '/v2/merkle-trees', { body: { ...body, replace: true } })
      expect(again.status).toBe(200)
      expect((await proof(drained)).status).toBe(200)
      await tick(service)
      clock.advance(30 * DAY)
      await tick(service)
      expect((await proof(drained)).status).toBe(200)
    },
  )

  it.skipIf(missing)(
    'holder snapshots are removed with all their pieces, large ones and many',
    { tags: 'sampled' },
    async () => {
      const service = await start({ 'retention.holder-snapshots-days': 2 })
      const { store } = service.services
      const pieces = (count: number) => numbers(count).map((n) => Uint8Array.of(n))
      await store.write(async (tx) => {
        for (const [n, count] of [40, 1, 0, 16, 17, 3].entries()) {
          const row = { ...holderSnapshotRow(n), pieces: count, created_at: START + (n === 5 ? 1 : 0) * DAY }
          await insertHolderSnapshot(tx, row, pieces(count))
        }
        for (const n of numbers(runs(120, 1_200)))
          await insertHolderSnapshot(tx, { ...holderSnapshotRow(100 + n), created_at: START }, [])
      })
      service.clock.advance(2 * DAY + 1)
      await tick(service)
      const left = await store.db.selectFrom('holder_snapshots').select('id').execute()
      expect(left.map(({ id }) => id)).toEqual(['hsn_5'])
      expect(await store.db.selectFrom('holder_pieces').select(['snapshot_id', 'n']).orderBy('n').execute()).toEqual(
        numbers(3).map((n) => ({ snapshot_id: 'hsn_5', n })),
      )
    },
  )

  it.skipIf(missing)('ended signings are removed after 31 days at the earliest, with what they spent', async () => {
    const service = await start({ 'retention.signings-days': 1 })
    const { store } = service.services
    const signing = (id: string, state: 'intended' | 'signed', day: number): NewRow<'signings'> => ({
      ...{ id, state, created_at: START + day * DAY, signer: 's', operation: 'signer.test', genesis: '' },
      ...{ transaction: Buffer.alloc(0), message_sha256: id, plan: null, since_slot: null, signature: null },
    })
    await store.write(async (tx) => {
      for (const row of [signing('old', 'signed', 0), signing('open', 'intended', 0), signing('young', 'signed', 1)]) {
        await tx.insertInto('signings').values(row).execute()
        const spend = { signing_id: row.id, signer: 's', mint: '', amount: '1', at: row.created_at }
        await tx.insertInto('signer_spends').values(spend).execute()
      }
    })
    service.clock.advance(31 * DAY)
    await tick(service)
    expect((await store.db.selectFrom('signings').select('id').execute()).length).toBe(3)
    service.clock.advance(1)
    await tick(service)
    const left = await store.db.selectFrom('signings').select('id').orderBy('seq').execute()
    expect(left.map(({ id }) => id)).toEqual(['open', 'young'])
    const spends = await store.db.selectFrom('signer_spends').select('signing_id').orderBy('seq').execute()
    expect(spends.map((row) => row.signing_id)).toEqual(['open', 'young'])
  })
})
