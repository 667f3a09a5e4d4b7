/** The figures of the queues are those of the rows, on both databases, and reading them is bounded. */
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { createGauges } from '../../daemon/metrics/gauges.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import { answerWhileStarting } from '../../daemon/starting.ts'
import { onPoolWaits, type PoolWait } from '../../src/store/postgres/pool-waits.ts'
import type { NewRow } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { readQueueFigures } from '../../src/store/workers/figures.ts'
import { freshStore, numbers, postgres, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { samplesOf } from '../support/monitoring.ts'
import { START, startService } from '../support/service.ts'

const started = await startPostgres()

const subscription = (id: string, active: number, cursor: number): NewRow<'webhook_subscriptions'> => ({
  id,
  api_key_id: null,
  url: 'https://example.com/',
  enabled_events_json: '["*"]',
  active,
  secret: Buffer.alloc(1),
  secret_preview: '',
  receiver_revision: 0,
  disabled_reason: null,
  cursor,
  created_at: START,
  updated_at: START,
})

const delivery = (n: number, state: 'waiting' | 'held', next_attempt_at: number): NewRow<'webhook_queue'> => ({
  subscription_id: 'whs_1',
  event_id: `evt_${n}`,
  sequence: n,
  resource: `pool ${n}`,
  state,
  attempts: 0,
  next_attempt_at,
  claimed_until: 0,
})

const transaction = (
  signature: string,
  lifecycle: NewRow<'transactions'>['lifecycle'],
  created_at: number,
  next_check_at: number | null,
): NewRow<'transactions'> => ({
  signature,
  raw: Buffer.alloc(1),
  lifecycle,
  confirmation_status: null,
  err_json: null,
  slot: 0,
  confirmations: 0,
  tracked_resource_json: null,
  tracked_id: null,
  bundle_id: null,
  max_retries: 0,
  blockhash: '',
  nonce_account: null,
  genesis: '',
  since_slot: null,
  checked_at: 0,
  next_check_at,
  next_send_at: null,
  sends: 0,
  external_uid: null,
  metadata_json: null,
  created_at,
})

async function fillQueues(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx
      .insertInto('counters')
      .values({ name: 'events', value: 500 })
      .onConflict((is) => is.column('name').doUpdateSet({ value: 500 }))
      .execute()
    const subscriptions = [subscription('whs_1', 1, 480), subscription('whs_2', 1, 500), subscription('whs_3', 0, 3)]
    await tx.insertInto('webhook_subscriptions').values(subscriptions).execute()
    const deliveries = [
      delivery(1, 'waiting', START - 90_000),
      delivery(2, 'waiting', START + 60_000),
      delivery(3, 'held', START - 900_000),
    ]
    await tx.insertInto('webhook_queue').values(deliveries).execute()
    const rows = [
      transaction('a', 'submitted', START - 30_000, START - 4_000),
      transaction('b', 'submitted', START - 10_000, START + 4_000),
      transaction('c', 'confirmed', START - 60_000, START + 1_000),
      transaction('d', 'finalized', START - 600_000, null),
    ]
    await tx.insertInto('transactions').values(rows).execute()
  })
}

describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in started
  const open = () => freshStore(name === 'SQLite' || 'missing' in started ? sqlite : postgres(started))

  it.skipIf(missing)('an empty installation has empty queues', async () => {
    const figures = await readQueueFigures((await open()).db, START)
    expect(figures).toMatchObject({ sequence: 0, queued: 0, held: 0, behind: 0, transactions: [] })
    for (const job of Object.values(figures.jobs)) expect(job).toEqual({ due: 0, overdueMs: 0 })
  })

  it.skipIf(missing)('waiting rows are counted with the age of the oldest', async () => {
    const store = await open()
    await fillQueues(store)
    const figures = await readQueueFigures(store.db, START)
    expect(figures).toMatchObject({
      sequence: 500,
      queued: 3,
      held: 1,
      deliveries: { due: 1, overdueMs: 90_000 },
      behind: 20,
    })
    expect(figures.transactions.toSorted((a, b) => a.lifecycle.localeCompare(b.lifecycle))).toEqual([
      { lifecycle: 'confirmed', count: 1, oldestMs: 60_000 },
      { lifecycle: 'submitted', count: 2, oldestMs: 30_000 },
    ])
    expect(figures.jobs['transaction-check']).toEqual({ due: 1, overdueMs: 4_000 })
    // A clock that was ahead leaves moments that lie ahead, and no figure falls below nothing.
    const early = await readQueueFigures(store.db, START - 10_000_000)
    expect(early.deliveries).toEqual({ due: 0, overdueMs: 0 })
    expect(early.transactions.every(({ oldestMs }) => oldestMs === 0)).toBe(true)
  })

  it.skipIf(missing)('a long queue is only counted in part', async () => {
    const store = await open()
    const rows = numbers(6_000).map((n) => delivery(n, 'waiting', START - 1_000))
    await store.write(async (tx) => {
      for (let from = 0; from < rows.length; from += 500)
        await tx
          .insertInto('webhook_queue')
          .values(rows.slice(from, from + 500))
          .execute()
    })
    expect(await readQueueFigures(store.db, START)).toMatchObject({ queued: 6_000, deliveries: { due: 5_000 } })
  })

  it.skipIf(missing)('the database has a size, and its connections a state', async () => {
    const waits: PoolWait[] = []
    const stop = onPoolWaits((wait) => waits.push(wait))
    const store = await open()
    await store.write(async (tx) => tx.selectFrom('counters').selectAll().execute())
    stop()
    const { databaseBytes, walBytes } = await store.measure()
    const usage = store.poolUsage?.()
    expect(databaseBytes).toBeGreaterThan(0)
    if (name === 'SQLite') expect([walBytes === null, usage, waits]).toEqual([false, undefined, []])
    else {
      const none = { reads: 0, writes: 0, workers: 0, readiness: 0 }
      expect(usage).toMatchObject({ used: none, waiting: none, refused: 0 })
      expect(waits.map(({ user, failed }) => `${user} ${failed}`)).toContain('writes false')
    }
  })
})

describe('a request for a feature that is not configured', () => {
  it('is counted under its own reason, which no alert counts', async () => {
    const service = await startService()
    const metrics = createMetrics()
    const app = await createApp(service.services, { metrics })
    const headers = { authorization: `Bearer ${service.operator}` }
    expect((await app.fetch(new Request('http://svc.test/v2/signer', { headers }))).status).toBe(200)
    expect(metrics.http.text()).not.toContain('not_configured')
    const pause = new Request('http://svc.test/v2/signer/pauses', { method: 'POST', headers })
    expect((await app.fetch(pause)).status).toBe(500)
    expect(metrics.http.text()).toContain(
      'svc_http_requests_total{method="POST",route="/v2/signer/pauses",status="500",reason="not_configured"} 1',
    )
    await app.close()
  })
})

describe('a daemon that is starting', () => {
  it('counts its 5xx answers under their own reason, which no alert counts', async () => {
    const { services } = await startService()
    const metrics = createMetrics()
    const starting = answerWhileStarting(services.config, 'all', { metrics: metrics.http, access: undefined })
    const statusOf = async (path: string) => (await starting.fetch(new Request(`http://svc.test${path}`))).status
    const paths = ['/metrics', '/v2/pools', '/ready', '/v2/health']
    expect(await Promise.all(paths.map(statusOf))).toEqual([500, 500, 503, 200])
    const counted = samplesOf(metrics.http.text(), 'svc_http_requests_total').map(
      ({ labels, value }) => `${labels} ${value}`,
    )
    expect(counted.toSorted()).toEqual([
      'method="GET",route="/ready",status="503",reason="starting" 1',
      'method="GET",route="/v2/health",status="200" 1',
      'method="GET",route="unmatched",status="500",reason="starting" 2',
    ])
  })
})

describe('a scrape of the metrics', () => {
  it('reads figures once in five seconds, and drops and counts unreadable ones', async () => {
    const { services } = await startService()
    const { registry, text } = createMetrics()
    let looks = 0
    let isBroken = false
    const store: Store = {
      ...services.store,
      async measure() {
        looks++
        if (isBroken) throw new Error('the disk is gone')
        return { databaseBytes: 7, walBytes: 1 }
      },
    }
    const ready = async () => ({ ready: true, checks: { database: 'ok', rpc: 'ok', workers: 'ok' } as const })
    let gauges = createGauges(registry, { ...services, store, ready })
    await Promise.all(numbers(20).map(() => gauges.refresh()))
    await gauges.refresh()
    expect(looks).toBe(1)
    expect(samplesOf(await text(), 'svc_database_size_bytes')).toEqual([{ labels: '', value: 7 }])
    isBroken = true
    const other = createMetrics()
    gauges = createGauges(other.registry, { ...services, store, ready })
    await gauges.refresh()
    expect(samplesOf(await other.text(), 'svc_database_size_bytes')).toEqual([])
    expect(samplesOf(await other.text(), 'svc_metrics_errors_total')).toContainEqual({
      labels: 'figures="database"',
      value: 1,
    })
  })

  it('does not wait for figures that never arrive', async () => {
    const { services } = await startService()
    const metrics = createMetrics()
    const signer = () => new Promise<never>(() => {})
    const ready = async () => ({ ready: false, checks: { database: 'failing', rpc: 'ok', workers: 'ok' } as const })
    const gauges = createGauges(metrics.registry, { ...services, signer, ready })
    await gauges.refresh()
    const text = await metrics.text()
    expect(samplesOf(text, 'svc_ready')).toEqual([{ labels: '', value: 0 }])
    expect(samplesOf(text, 'svc_ready_check')).toContainEqual({ labels: 'check="database"', value: 0 })
    expect(samplesOf(text, 'svc_signer_balance_lamports')).toEqual([])
    // This process runs no workers, so it says nothing of their health.
    expect(samplesOf(text, 'svc_worker_healthy')).toEqual([])
  })
})
