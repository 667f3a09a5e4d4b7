/** Requests about fee schedules: what they refuse and by which name, what they keep, and what housekeeping removes. */
import { describe, expect, it } from 'vitest'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import { takePeriods } from '../../src/operations/fee-schedules/run-schedules.ts'
import { openFeeScheduleClaim } from '../../src/store/fees/fee-schedule-runs.ts'
import { updateFeeSchedule } from '../../src/store/fees/fee-schedules.ts'
import { A, B } from '../api/bodies.ts'
import { type Service, startService } from '../support/service.ts'

const DAY_MS = 86_400_000
const splits = [
  { recipient: '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g', bps: 5_000 },
  { recipient: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78', bps: 5_000 },
]

const post = ({ request }: Service, body: object) => request('POST', '/v2/fee-schedules', { body })

describe('a fee schedule', () => {
  it('is stored as it was sent, and changed field by field', async () => {
    const service = await startService()
    const { status, json } = await post(service, {
      cron: ' 0 6 * * 1-5 ',
      timezone: 'Europe/Zurich',
      splits,
      threshold: '18446744073709551615',
      filter: { preset: 'p', creator: A, status: 'live' },
      externalUid: 'u:1',
      metadata: { team: 'treasury' },
    })
    expect(status).toBe(201)
    const { id, created_at, updated_at, created_by, updated_by, ...schedule } = json.data
    expect(schedule).toEqual({
      cron: '0 6 * * 1-5',
      timezone: 'Europe/Zurich',
      kinds: ['dbc'],
      beneficiary: null,
      threshold: '18446744073709551615',
      splits,
      filter: { preset: 'p', creator: A, status: 'live' },
      allow_programs: false,
      approver: null,
      active: true,
      // The test's clock stands at Monday, 1 June 2026, 12:00 UTC.
      next_run_at: '2026-06-02T04:00:00.000Z',
      external_uid: 'u:1',
      metadata: { team: 'treasury' },
    })
    expect([created_at, created_by]).toEqual([updated_at, updated_by])
    const path = `/v2/fee-schedules/${id}`
    service.clock.advance(1_000)
    const change = async (body: object) => (await service.request('PATCH', path, { body })).json
    expect((await change({})).data.updated_at).toBe(updated_at)
    expect((await change({ kinds: ['dbc', 'surplus'] })).error).toMatchObject({ code: 'bad_request', param: 'splits' })
    expect((await change({ kinds: ['dbc', 'surplus'], splits: null })).data).toMatchObject({
      kinds: ['dbc', 'surplus'],
      splits: null,
      next_run_at: '2026-06-02T04:00:00.000Z',
    })
    expect((await change({ beneficiary: 'creator', kinds: ['leftover'] })).error.param).toBe('kinds.0')
    expect((await change({ timezone: 'Asia/Tokyo' })).data.next_run_at).toBe('2026-06-01T21:00:00.000Z')
    expect((await change({ cron: 'x' })).error.param).toBe('cron')
    expect((await change({ active: false })).data).toMatchObject({ active: false, next_run_at: null })
    const listed = async (active: boolean) =>
      (await service.request('GET', `/v2/fee-schedules?active=${active}`)).json.data.length
    expect([await listed(true), await listed(false)]).toEqual([0, 1])
    expect((await change({ active: true })).data.next_run_at).toBe('2026-06-01T21:00:00.000Z')
    expect((await service.request('GET', path)).json.data).toMatchObject({ id, filter: { preset: 'p' } })
  })

  it.each([
    [{ cron: '99 * * * *' }, 'cron'],
    [{ cron: '30 2 29 3 0', timezone: 'Europe/Zurich' }, 'cron'],
    [{ timezone: 'Nowhere' }, 'timezone'],
    [{ kinds: [] }, 'kinds'],
    [{ kinds: ['dbc', 'dbc'] }, 'kinds'],
    [{ kinds: ['dbc', 'all'] }, 'kinds.1'],
    [{ kinds: ['damm_v2'], splits }, 'splits'],
    [{ splits: splits.slice(0, 1) }, 'splits'],
    [{ kinds: ['leftover'], beneficiary: 'creator' }, 'kinds.0'],
    [{ kinds: ['vesting'], beneficiary: 'partner' }, 'kinds.0'],
    [{ threshold: '-1' }, 'threshold'],
    [{ threshold: '18446744073709551616' }, 'threshold'],
    [{ filter: { pools: [A], creator: A } }, 'filter.pools'],
    [{ filter: { pools: [] } }, 'filter.pools'],
    [{ filter: { pools: [A, A] } }, 'filter.pools'],
    [{ filter: { pools: Array.from({ length: 101 }, () => A) } }, 'filter.pools'],
    [{ filter: { status: 'pending' } }, 'filter.status'],
    [{ filter: { symbol: 'X' } }, 'filter.symbol'],
    [{ active: 'yes' }, 'active'],
  ])('of %j is refused by the name of %s', async (body, param) => {
    const { status, json } = await post(await startService(), { cron: '@daily', ...body })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', param])
  })

  it('is written with fees:claim only, and read with any key', async () => {
    const service = await startService()
    const { id } = (await post(service, { cron: '@daily' })).json.data
    const [plain, claiming] = [await service.key(), await service.key({ scopes: ['fees:claim'] })]
    const path = `/v2/fee-schedules/${id}`
    const writes = [
      ['POST', '/v2/fee-schedules', { cron: '@daily' }],
      ['PATCH', path, { active: false }],
      ['POST', `${path}/runs`, {}],
      ['DELETE', path, {}],
    ] as const
    for (const [method, at, body] of writes) {
      expect((await service.request(method, at, { body, key: plain })).status, `${method} ${at}`).toBe(403)
    }
    for (const at of ['/v2/fee-schedules', path, `${path}/runs`]) {
      expect((await service.request('GET', at, { key: plain })).status, at).toBe(200)
    }
    for (const [method, at, body] of writes) {
      expect((await service.request(method, at, { body, key: claiming })).status, `${method} ${at}`).toBeLessThan(202)
    }
    expect((await service.request('GET', path)).status).toBe(404)
    expect((await service.request('GET', '/v2/fee-schedules/none/runs')).status).toBe(404)
  })

  it('has in the audit log who created, changed, ran and removed it, and with which fields', async () => {
    const service = await startService()
    const [one, other] = [await service.key({ scopes: ['fees:claim'] }), await service.key({ scopes: ['fees:claim'] })]
    const made = await service.request('POST', '/v2/fee-schedules', { body: { cron: '@daily' }, key: one })
    const { id, created_by, updated_by } = made.json.data
    expect([created_by !== '', updated_by]).toEqual([true, created_by])
    const path = `/v2/fee-schedules/${id}`
    const changed = await service.request('PATCH', path, { body: { splits }, key: other })
    expect([changed.json.data.created_by, changed.json.data.updated_by !== created_by]).toEqual([created_by, true])
    // Neither is a change.
    await service.request('PATCH', path, { body: { splits }, key: one })
    await service.request('DELETE', path, { body: { dry_run: true }, key: one })
    await service.request('POST', `${path}/runs`, { body: {}, key: one })
    await service.request('PATCH', path, { body: { filter: { pools: [A, B] } }, key: one })
    await service.request('DELETE', path, { body: {}, key: other })
    const entries = (await service.request('GET', '/v2/audit-entries?order=asc&limit=100')).json.data
    const said = { schedule: id, cron: '@daily', timezone: 'UTC', active: true, kinds: ['dbc'], filter: {} }
    const [first, second] = [created_by, changed.json.data.updated_by]
    expect(entries.filter(({ action }: { action: string }) => action.startsWith('fee_schedule.'))).toMatchObject([
      { action: 'fee_schedule.created', api_key_id: first, signer: null, details: { ...said, splits: null } },
      { action: 'fee_schedule.updated', api_key_id: second, details: { ...said, splits } },
      { action: 'fee_schedule.run_requested', api_key_id: first, details: { ...said, splits } },
      { action: 'fee_schedule.updated', api_key_id: first, details: { ...said, filter: { pools: 2 } } },
      { action: 'fee_schedule.deleted', api_key_id: second, details: { splits, filter: { pools: 2 } } },
    ])
    expect((await service.request('GET', '/v2/audit-verification')).json.data.intact).toBe(true)
  })

  it('is created once by a repeated request under one key', async () => {
    const service = await startService()
    const options = { body: { cron: '@daily' }, headers: { 'idempotency-key': 'once' } }
    const [first, second] = [
      await service.request('POST', '/v2/fee-schedules', options),
      await service.request('POST', '/v2/fee-schedules', options),
    ]
    expect(second.json.data).toEqual(first.json.data)
    expect((await service.request('GET', '/v2/fee-schedules')).json.data.length).toBe(1)
  })

  it('whose time zone this Node does not know is postponed, and delays no other', async () => {
    const service = await startService()
    const { clock, services } = service
    const [lost, good] = [
      (await post(service, { cron: '@hourly' })).json.data.id,
      (await post(service, { cron: '@hourly' })).json.data.id,
    ]
    await services.store.write((tx) => updateFeeSchedule(tx, lost, { timezone: 'Mars/Base' }))
    const runsOf = async (id: string) => (await service.request('GET', `/v2/fee-schedules/${id}/runs`)).json.data
    const next = async (id: string) => (await service.request('GET', `/v2/fee-schedules/${id}`)).json.data.next_run_at
    clock.advance(DAY_MS / 24)
    await takePeriods(services)
    expect([(await runsOf(lost)).length, (await runsOf(good)).length]).toEqual([0, 1])
    expect(Date.parse(await next(lost)) - clock.now()).toBe(600_000)
    // Planned by a clock that was ahead, both.
    clock.advance(-2 * DAY_MS)
    await takePeriods(services)
    expect(Date.parse(await next(lost)) - clock.now()).toBe(600_000)
    expect(Date.parse(await next(good)) - clock.now()).toBeLessThanOrEqual(DAY_MS / 24)
    for (const body of [{ threshold: '1' }, { active: false }, { timezone: 'UTC' }, { active: true }]) {
      expect((await service.request('PATCH', `/v2/fee-schedules/${lost}`, { body })).status).toBe(200)
    }
  })

  it('loses its old runs with their claims to housekeeping, but keeps pending ones', async () => {
    const service = await startService()
    const { store } = service.services
    const { id } = (await post(service, { cron: '@daily' })).json.data
    const begin = async () => (await service.request('POST', `/v2/fee-schedules/${id}/runs`, { body: {} })).json.data.id
    const old = await begin()
    await store.write(async (tx) => {
      for (let i = 0; i < 1_200; i++) {
        await openFeeScheduleClaim(tx, { run_id: old, pool_address: `pool${i}`, kind: 'dbc' })
      }
    })
    for (const active of [false, true]) {
      await service.request('PATCH', `/v2/fee-schedules/${id}`, { body: { active } })
    }
    service.clock.advance(60 * DAY_MS)
    const current = await begin()
    await store.write((tx) =>
      openFeeScheduleClaim(tx, { run_id: current, pool_address: 'pool', kind: 'dbc' }).then(() => undefined),
    )
    service.clock.advance(40 * DAY_MS)
    const signal = new AbortController().signal
    await housekeepingWorker.tick({ ...service.services, metrics: { clockFault() {} }, signal, stopping: signal })
    const runs = (await service.request('GET', `/v2/fee-schedules/${id}/runs`)).json.data
    expect(runs.map((run: { id: string }) => run.id)).toEqual([current])
    const claims = await store.db.selectFrom('fee_schedule_claims').select('run_id').execute()
    expect(claims.map(({ run_id }) => run_id)).toEqual([current])
  })
})
