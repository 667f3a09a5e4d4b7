/** Metrics that are read on request: queues, sizes, connections, workers, readiness and the signer. */
import { statfs } from 'node:fs/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ENDPOINT_STATES } from '../../src/chain/nodes/endpoint.ts'
import type { Services } from '../../src/context.ts'
import { countItems } from '../../src/operations/attention/items.ts'
import { failingOf, readProgramState } from '../../src/operations/programs/program-state.ts'
import { readSignerState } from '../../src/operations/signer.ts'
import { rejectLate } from '../../src/platform/timing.ts'
import { VERSION } from '../../src/platform/version.ts'
import { POOL_USERS } from '../../src/store/postgres/gate.ts'
import { JOB_NAMES, readQueueFigures } from '../../src/store/workers/figures.ts'
import type { Readiness } from '../readiness.ts'

/** Milliseconds for which figures are reused. */
const FRESH_MS = 5_000
const SIGNER_FRESH_MS = 30_000
/** The most milliseconds that an answer waits for figures; later figures are in the next answer. */
const LONGEST_WAIT_MS = 2_000

export interface GaugeServices extends Services {
  ready(): Promise<Readiness>
}

export interface Gauges {
  /** Reads outdated figures, for at most two seconds. Never rejects. */
  refresh(): Promise<void>
}

interface GaugeSet {
  freshMs: number
  read(): Promise<void>
  /** Removes values that could not be read again, so that old values never look current. */
  forget(): void
}

export function createGauges(registry: Registry, services: GaugeServices): Gauges {
  const errors = new Counter({
    name: 'svc_metrics_errors_total',
    help: 'Figures that could not be read for the metrics',
    labelNames: ['figures'] as const,
    registers: [registry],
  })
  const sets: Record<string, GaugeSet> = {
    process: processGauges(registry, services),
    queues: queueGauges(registry, services),
    attention: attentionGauges(registry, services),
    database: databaseGauges(registry, services),
    disk: diskGauges(registry, services),
    signer: signerGauges(registry, services),
    nodes: nodeGauges(registry, services),
    programs: programGauges(registry, services),
  }
  for (const figures of Object.keys(sets)) errors.inc({ figures }, 0)
  const refreshes = Object.entries(sets).map(([figures, set]) =>
    atMostEvery(set.freshMs, () =>
      set.read().catch((error) => {
        set.forget()
        errors.inc({ figures })
        services.log.debug({ err: error, figures }, 'figures for the metrics were not read')
      }),
    ),
  )
  return {
    async refresh() {
      const all = Promise.all(refreshes.map((refresh) => refresh()))
      await rejectLate(LONGEST_WAIT_MS, all, () => new Error('late')).catch(() => {})
    },
  }
}

/** Runs `work` if its last run started long enough ago and has ended; resolves when the current run ends. */
function atMostEvery(milliseconds: number, work: () => Promise<void>): () => Promise<void> {
  let last: { at: number; ended: Promise<void>; isRunning: boolean } | undefined
  return () => {
    const at = performance.now()
    if (last === undefined || (!last.isRunning && at - last.at >= milliseconds)) {
      const run = { at, ended: Promise.resolve(), isRunning: true }
      run.ended = work().finally(() => {
        run.isRunning = false
      })
      last = run
    }
    return last.ended
  }
}

function gaugesOf(registry: Registry) {
  const made: (() => void)[] = []
  return {
    gauge<T extends string>(name: string, help: string, ...labelNames: T[]): Gauge<T> {
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] })
      // A gauge without labels shows 0 until it is set, which would look like a reading.
      const clear = () => (labelNames.length === 0 ? gauge.remove() : gauge.reset())
      clear()
      made.push(clear)
      return gauge
    },
    forget() {
      for (const clear of made) clear()
    },
  }
}

function processGauges(registry: Registry, { workers, ready, store }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const build = gauge(
    'svc_build_info',
    '1, with the running version and its platform as labels',
    'version',
    'node',
    'database',
  )
  const isReady = gauge('svc_ready', '1 if GET /ready answers 200')
  const signerUp = gauge('svc_signer_up', '1 if the last look at the signer reached its key, 0 if it failed')
  const checks = gauge('svc_ready_check', '1 if a check of GET /ready passes', 'check')
  const healthy = gauge('svc_worker_healthy', '1 if a worker runs and its last ticks succeeded', 'worker')
  return {
    freshMs: 0,
    forget,
    async read() {
      build.set({ version: VERSION, node: process.version, database: store.kind }, 1)
      for (const { name, healthy: isHealthy, running, ticks_total, errors_total } of workers()) {
        // A process without workers has no metrics of them.
        if (running || ticks_total + errors_total > 0) healthy.set({ worker: name }, isHealthy ? 1 : 0)
      }
      const readiness = await ready()
      isReady.set(readiness.ready ? 1 : 0)
      const signer = readiness.signer?.state ?? 'unchecked'
      if (signer !== 'unchecked') signerUp.set(signer === 'ok' ? 1 : 0)
      for (const [check, outcome] of Object.entries(readiness.checks)) checks.set({ check }, outcome === 'ok' ? 1 : 0)
    },
  }
}

function queueGauges(registry: Registry, { store, clock }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const sequence = gauge('svc_events_sequence', 'Sequence of the last event')
  const queued = gauge('svc_webhook_queue_deliveries', 'Pending deliveries, counted up to 50,000')
  const held = gauge('svc_webhook_queue_held_deliveries', 'Deliveries of subscriptions that were switched off')
  const due = gauge('svc_webhook_queue_due_deliveries', 'Deliveries whose next attempt is due')
  const late = gauge('svc_webhook_queue_overdue_seconds', 'How long the oldest due delivery has been due')
  const behind = gauge('svc_webhook_events_behind', 'Events that are not queued yet for the slowest subscription')
  const followed = gauge('svc_transactions_followed', 'Transactions that are being followed', 'state')
  const oldest = gauge('svc_transactions_oldest_seconds', 'Age of the oldest followed transaction', 'state')
  const jobs = gauge('svc_jobs_due', 'Due work items of the workers', 'job')
  const jobsLate = gauge('svc_jobs_overdue_seconds', 'How long the oldest work item has been due', 'job')
  return {
    freshMs: FRESH_MS,
    forget,
    async read() {
      const figures = await readQueueFigures(store.db, clock.now())
      sequence.set(figures.sequence)
      queued.set(figures.queued)
      held.set(figures.held)
      due.set(figures.deliveries.due)
      late.set(figures.deliveries.overdueMs / 1000)
      behind.set(figures.behind)
      for (const state of ['submitted', 'processing', 'confirmed', 'failed']) {
        const { count = 0, oldestMs = 0 } = figures.transactions.find(({ lifecycle }) => lifecycle === state) ?? {}
        followed.set({ state }, count)
        oldest.set({ state }, oldestMs / 1000)
      }
      for (const job of JOB_NAMES) {
        jobs.set({ job }, figures.jobs[job].due)
        jobsLate.set({ job }, figures.jobs[job].overdueMs / 1000)
      }
    },
  }
}

function attentionGauges(registry: Registry, { store, clock }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const items = gauge('svc_attention', 'What needs a person and is not snoozed, counted up to 1,000', 'kind')
  return {
    freshMs: FRESH_MS,
    forget,
    async read() {
      for (const [kind, count] of await countItems(store.db, clock.now())) items.set({ kind }, count)
    },
  }
}

function databaseGauges(registry: Registry, { store }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const size = gauge('svc_database_size_bytes', 'Size of the database')
  const wal = gauge('svc_database_wal_size_bytes', 'Size of the write-ahead log of SQLite')
  const limit = gauge('svc_database_pool_size', 'The most connections to PostgreSQL that this process opens')
  const connections = gauge('svc_database_pool_connections', 'Connections to PostgreSQL in use', 'user')
  const waiting = gauge('svc_database_pool_waiting', 'Operations that wait for a connection to PostgreSQL', 'user')
  return {
    freshMs: FRESH_MS,
    forget,
    async read() {
      const { databaseBytes, walBytes } = await store.measure()
      size.set(databaseBytes)
      if (walBytes !== null) wal.set(walBytes)
      const usage = store.poolUsage?.()
      if (usage === undefined) return
      limit.set(usage.size)
      for (const user of POOL_USERS) {
        connections.set({ user }, usage.used[user])
        waiting.set({ user }, usage.waiting[user])
      }
    },
  }
}

function diskGauges(registry: Registry, { config }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const free = gauge('svc_data_dir_free_bytes', 'Free space on the disk of the data folder')
  const total = gauge('svc_data_dir_size_bytes', 'Size of the disk of the data folder')
  return {
    freshMs: FRESH_MS,
    forget,
    async read() {
      const { bavail, blocks, bsize } = await statfs(config.dataDir)
      free.set(bavail * bsize)
      total.set(blocks * bsize)
    },
  }
}

/** Only with several RPC endpoints; for a single one its calls say everything. */
function nodeGauges(registry: Registry, { chain }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const states = gauge('svc_rpc_endpoint_state', '1 for the current state of an RPC endpoint', 'endpoint', 'state')
  const lag = gauge(
    'svc_rpc_endpoint_slot_lag',
    'Slots by which an RPC endpoint is behind the most advanced one',
    'endpoint',
  )
  const latency = gauge('svc_rpc_endpoint_latency_seconds', 'Running average of its response time', 'endpoint')
  const errors = gauge('svc_rpc_endpoint_error_ratio', 'Share of failures among its last requests', 'endpoint')
  return {
    freshMs: 0,
    forget,
    async read() {
      for (const { endpoint, state, slotLag, latencyMs, errorRate } of chain.endpointReports()) {
        for (const each of ENDPOINT_STATES) states.set({ endpoint, state: each }, each === state ? 1 : 0)
        if (slotLag !== null) lag.set({ endpoint }, slotLag)
        if (latencyMs !== null) latency.set({ endpoint }, latencyMs / 1000)
        errors.set({ endpoint }, errorRate)
      }
    },
  }
}

function programGauges(registry: Registry, { store }: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const slots = gauge('svc_program_slot', 'Slot of the last deployment of a program on the cluster', 'program')
  const refused = gauge('svc_program_refused_instructions', 'Instructions that fail with its present build', 'program')
  return {
    freshMs: SIGNER_FRESH_MS,
    forget,
    async read() {
      const state = await readProgramState(store.db)
      const failing = failingOf(state)
      slots.reset()
      refused.reset()
      for (const { id, name, slot } of state?.builds ?? []) {
        if (slot !== null) slots.set({ program: name }, slot)
        refused.set({ program: name }, failing.filter(({ failed_program }) => failed_program === id).length)
      }
    },
  }
}

const LAMPORTS = 'lamports'

function signerGauges(registry: Registry, services: GaugeServices): GaugeSet {
  const { gauge, forget } = gaugesOf(registry)
  const balance = gauge('svc_signer_balance_lamports', 'Lamports in the platform wallet')
  const paused = gauge('svc_signer_paused', '1 while the policy forbids every signature')
  const spent = gauge('svc_signer_spent_lamports', 'Lamports that left in the last 24 hours')
  const limit = gauge('svc_signer_daily_limit_lamports', 'Lamports that may leave in 24 hours')
  const share = gauge(
    'svc_signer_daily_spend_ratio',
    'Share of the daily limit of an asset that has been spent',
    'asset',
  )
  return {
    freshMs: SIGNER_FRESH_MS,
    forget,
    async read() {
      const signer = await services.signer()
      if (signer === null) return
      const { policy, spent: used } = await readSignerState(services, services.store.db, signer)
      if (policy !== null && used !== null) {
        paused.set(policy.paused ? 1 : 0)
        spent.set(Number(used.lamports))
        limit.set(Number(policy.lamports_per_day))
        share.reset()
        setShare(share, LAMPORTS, used.lamports, policy.lamports_per_day)
        for (const { mint, per_day } of policy.tokens) {
          const amount = used.tokens.find((token) => token.mint === mint)?.amount ?? '0'
          setShare(share, mint, amount, per_day)
        }
      }
      const { value } = await services.chain.call<{ value: number }>('getBalance', [
        signer.address,
        { commitment: 'confirmed' },
      ])
      balance.set(value)
    },
  }
}

/** A limit of zero has no share. */
function setShare(gauge: Gauge<'asset'>, asset: string, amount: string, perDay: string): void {
  if (perDay !== '0') gauge.set({ asset }, Number(amount) / Number(perDay))
}
