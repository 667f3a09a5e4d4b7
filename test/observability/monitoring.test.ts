/** The monitoring examples and docs/observability.md name what real daemons answer to GET /metrics, and nothing else. */
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { ALERTS, type Exposition, metricsIn, readExposition, readRules, samplesOf } from '../support/monitoring.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { openReceiver } from '../support/receiver.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const RULES_FILE = 'examples/monitoring/alerts.yaml'
const RULES = readRules(read(RULES_FILE))
const DASHBOARD = JSON.parse(read('examples/monitoring/grafana-dashboard.json'))

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; refId: string }[]
}

/** Lamports that the wallet is given. */
const FUNDED = 1_000_000_000

const started = await startPostgres()
const folder = makeSharedFolder('svc-')
const daemons: Daemon[] = []
let exposed: Exposition
let texts: string[]

/** Daemons on both databases with a platform wallet, which have answered, delivered, signed and asked the chain. */
beforeAll(async () => {
  const receiver = await openReceiver()
  const databases = 'missing' in started ? [undefined] : [undefined, await started.createDatabase()]
  texts = []
  for (const [i, url] of databases.entries()) {
    const dataDir = join(folder, String(i))
    const keypair = keypairFile(folder, undefined, `wallet-${i}.json`)
    const env: Record<string, string> = {
      SVC_PROGRAMS_DIR: PROGRAMS_DIR,
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: keypair,
      SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
      SVC_WEBHOOKS_PORTS: new URL(receiver.url).port,
      ...(url === undefined ? {} : { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex') }),
    }
    mkdirSync(dataDir)
    const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env })
    daemons.push(daemon)
    const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    await exercise(daemon, { rpcUrl: rpc_url, receiverUrl: receiver.url, delivered: () => receiver.all.length })
    texts.push((await daemon.request('GET', '/metrics')).text)
  }
  exposed = readExposition(texts)
  await receiver.close()
}, 180_000)

afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()))
  removeFolder(folder)
})

interface Surroundings {
  rpcUrl: string
  receiverUrl: string
  delivered: () => number
}

async function exercise({ request }: Daemon, { rpcUrl, receiverUrl: url, delivered }: Surroundings): Promise<void> {
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, path, body === undefined ? {} : { body })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.json.data
  }
  const before = delivered()
  await ok('POST', '/v2/webhook-subscriptions', { url, enabled_events: ['*'] })
  await ok('PATCH', '/v2/signer/policy', { lamports_per_day: '1000000', lamports_per_transaction: '1000000' })
  const { address } = await ok('GET', '/v2/signer')
  await ok('POST', '/v2/merkle-trees', { mint: address, entries: [{ wallet: address, amount: '5' }] })
  const airdrop = { jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [address, FUNDED] }
  const headers = { 'content-type': 'application/json' }
  const funded = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(airdrop) })
  expect(await funded.json()).toHaveProperty('result')
  await ok('POST', '/v2/signer/tests', { submit: true, memo: 'hello' })
  // No mint of gold is set, which is counted with its reason.
  expect((await request('GET', '/v2/gold-token')).status).toBe(500)
  await vi.waitUntil(() => delivered() > before, { timeout: 60_000 })
  const shows = async (line: RegExp) => line.test((await request('GET', '/metrics')).text)
  await vi.waitUntil(() => shows(/^svc_transactions_total\{state="(confirmed|finalized)"\} [1-9]/m), {
    timeout: 60_000,
  })
}

/** Histograms are asked for by the names of their samples. */
const familyOf = (name: string) => name.replace(/_(bucket|sum|count)$/, '')

function expectKnown(expression: string): void {
  for (const { name, labels } of metricsIn(expression)) {
    if (name === 'up') continue
    expect(exposed.types.has(name) || exposed.types.has(familyOf(name)), `${name} of ${expression}`).toBe(true)
    const known = exposed.labels.get(name)
    const isBucket = exposed.types.get(familyOf(name)) === 'histogram' && name.endsWith('_bucket')
    // Metrics of outcomes that did not occur here have no samples; their labels are in the table of the page.
    const documented = TABLE.get(familyOf(name))?.labels ?? []
    for (const label of labels.filter((each) => each !== 'le' || !isBucket))
      expect([...(known ?? documented), ...documented], `${label} of ${name}`).toContain(label)
  }
}

/** The table of metrics in the page: name, type, labels. */
const TABLE = new Map(
  [...read('docs/observability.md').matchAll(/^\| `(svc_\w+)` \| (\w+) \| (.*?) \|/gm)].map(
    ([, name, type, labels]) => [
      name ?? '',
      { type, labels: [...(labels ?? '').matchAll(/`(\w+)`/g)].map(([, label]) => label ?? '') },
    ],
  ),
)

describe('the alert rules', () => {
  it('are those of the runbook, each with a duration, a severity and its section there', () => {
    expect(RULES.map(({ alert }) => alert)).toEqual(ALERTS)
    for (const rule of RULES) {
      expect(rule.for, rule.alert).toMatch(/^\d+[smh]$/)
      expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) })
      expect(Object.keys(rule.annotations)).toEqual(['summary', 'description', 'runbook_url'])
      expect(rule.annotations.runbook_url).toBe(`docs/self-hosting.md#alert-${rule.alert.toLowerCase()}`)
    }
  })

  it('use metrics and labels that daemons have, and pass promtool if it is installed', () => {
    for (const { expr } of RULES) expectKnown(expr)
    try {
      execFileSync('promtool', ['check', 'rules', join(ROOT, RULES_FILE)], { stdio: 'pipe' })
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code, String(error)).toBe('ENOENT')
    }
  })

  const lacksPromtool = spawnSync('which', ['promtool']).status !== 0
  it.skipIf(lacksPromtool)(
    'fire for a few failures of hourly requests, and for a signer that refuses (needs promtool)',
    () => {
      const hour = (series: string, values: string) => ({ series, values })
      const failing = 'svc_http_requests_total{job="svc",method="POST",route="/v2/pools",status="500",reason=""}'
      const fine = 'svc_http_requests_total{job="svc",method="GET",route="/v2/pools",status="200",reason=""}'
      const refused = 'svc_provider_calls_total{job="svc",service="signer",endpoint="vault",outcome="refused"}'
      const attempts = 'svc_webhook_attempts_total{job="svc",outcome="refused"}'
      // A value each minute: steps of one an hour.
      const hourly = Array.from({ length: 8 }, (_, n) => `${n + 1}x59`).join(' ')
      const cases: [alert: string, series: { series: string; values: string }[], at: string, fires: boolean][] = [
        ['SvcHttpErrors', [hour(failing, hourly)], '7h', true],
        ['SvcHttpErrors', [hour(failing, '1x480'), hour(fine, '0+1x480')], '7h', false],
        ['SvcSignerFailing', [hour(refused, hourly)], '7h', true],
        ['SvcSignerFailing', [hour('svc_signer_up{job="svc"}', '0x30')], '20m', true],
        ['SvcSignerFailing', [hour('svc_signer_up{job="svc"}', '1x30')], '20m', false],
        ['SvcDeliveriesFailing', [hour(attempts, hourly)], '7h', true],
      ]
      for (const [alert, input_series, eval_time, fires] of cases) {
        const { annotations, labels } = RULES.find((rule) => rule.alert === alert)!
        const exp_annotations = Object.fromEntries(
          Object.entries(annotations).map(([name, text]) => [name, text.replace('{{ $labels.route }}', '/v2/pools')]),
        )
        const route = alert === 'SvcHttpErrors' ? { route: '/v2/pools' } : {}
        const exp_alerts = fires ? [{ exp_labels: { ...labels, ...route }, exp_annotations }] : []
        const alert_rule_test = [{ eval_time, alertname: alert, exp_alerts }]
        const file = join(folder, `${alert}.json`)
        // JSON is YAML.
        const tests = [{ interval: '1m', input_series, alert_rule_test }]
        writeFileSync(file, JSON.stringify({ rule_files: [join(ROOT, RULES_FILE)], evaluation_interval: '1m', tests }))
        const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
        expect([alert, input_series, status, status === 0 ? '' : stdout + stderr]).toEqual([alert, input_series, 0, ''])
      }
    },
  )

  it('use in their texts only labels that their expressions keep', () => {
    for (const { alert, expr, annotations } of RULES) {
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => (names ?? '').split(/,\s*/))
      const isAggregated = /\b(sum|max|min)\b/.test(expr)
      for (const [, label = ''] of (annotations.description ?? '').matchAll(/\$labels\.(\w+)/g)) {
        const kept = isAggregated
          ? grouped
          : ['instance', ...metricsIn(expr).flatMap(({ name }) => [...(exposed.labels.get(name) ?? [])])]
        expect(kept, `${label} of ${alert}`).toContain(label)
      }
    }
  })
})

describe('the dashboard', () => {
  const panels: Panel[] = DASHBOARD.panels

  it('can be imported by Grafana: panels do not overlap, and ids and targets are unique', () => {
    expect(DASHBOARD).toMatchObject({ title: 'svc', uid: 'svc', schemaVersion: expect.any(Number) })
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const {
      title,
      type,
      gridPos: { x, y, w, h },
      targets,
    } of panels) {
      expect(x + w, title).toBeLessThanOrEqual(24)
      for (let column = x; column < x + w; column++) {
        for (let line = y; line < y + h; line++) {
          expect(taken.has(`${column} ${line}`), title).toBe(false)
          taken.add(`${column} ${line}`)
        }
      }
      if (type === 'row') continue
      expect(targets?.length, title).toBeGreaterThan(0)
      expect(new Set(targets?.map(({ refId }) => refId)).size).toBe(targets?.length)
    }
  })

  it('uses metrics and labels that daemons have', () => {
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(expressions.length).toBeGreaterThan(40)
    for (const expression of expressions) expectKnown(expression)
    for (const { query } of DASHBOARD.templating.list.slice(1)) {
      const [, name = '', label] = /^label_values\((\w+), (\w+)\)$/.exec(query.query) ?? []
      expect([exposed.types.has(name), label]).toEqual([true, 'instance'])
    }
  })
})

describe('the documentation of observability', () => {
  it('lists exactly the metrics of svc, with type and labels', () => {
    const own = [...exposed.types].filter(([name]) => name.startsWith('svc_'))
    // The exporter of traces is loaded only where an endpoint is set.
    const listed = [...TABLE.keys()].filter((name) => name !== 'svc_trace_spans_total')
    expect(listed.toSorted()).toEqual(own.map(([name]) => name).toSorted())
    for (const [name, type] of own) {
      expect(TABLE.get(name)?.type, name).toBe(type)
      const samples = exposed.labels.get(type === 'histogram' ? `${name}_count` : name)
      if (samples !== undefined) expect(TABLE.get(name)?.labels.toSorted(), name).toEqual([...samples].toSorted())
    }
  })

  it('names every alert', () => {
    for (const { alert } of RULES) expect(read('docs/observability.md')).toContain(alert)
  })
})

describe('GET /metrics of a daemon at work', () => {
  it('shows requests, calls, deliveries, the wallet and the database', () => {
    for (const text of texts) {
      const value = (name: string, labels = '') =>
        samplesOf(text, name).find((sample) => sample.labels.includes(labels))?.value
      expect(value('svc_ready')).toBe(1)
      expect(value('svc_http_requests_total', 'method="POST",route="/v2/merkle-trees",status="201"')).toBe(1)
      expect(value('svc_http_request_duration_seconds_count', 'route="/v2/merkle-trees"')).toBe(1)
      expect(value('svc_events_sequence')).toBeGreaterThanOrEqual(1)
      expect(value('svc_webhook_attempts_total', 'outcome="ok"')).toBeGreaterThanOrEqual(1)
      expect(value('svc_rpc_calls_total', 'endpoint="embedded",method="getBalance",outcome="ok"')).toBeGreaterThan(0)
      expect(value('svc_signer_balance_lamports')).toBeLessThanOrEqual(FUNDED)
      expect(value('svc_signer_balance_lamports')).toBeGreaterThanOrEqual(0)
      expect(value('svc_signer_daily_limit_lamports')).toBe(1_000_000)
      expect(value('svc_signer_daily_spend_ratio', 'asset="lamports"')).toBeLessThan(1)
      expect(value('svc_transaction_confirm_seconds_count')).toBe(1)
      expect(value('svc_database_size_bytes')).toBeGreaterThan(0)
      expect(value('svc_data_dir_free_bytes')).toBeGreaterThan(0)
      for (const { value: errors } of samplesOf(text, 'svc_metrics_errors_total')) expect(errors).toBe(0)
    }
  })

  it('shows connections and waits on PostgreSQL', ({ skip }) => {
    if ('missing' in started) return skip(started.missing)
    const text = texts[1] ?? ''
    expect(
      samplesOf(text, 'svc_database_pool_wait_seconds_count')
        .map(({ labels }) => labels)
        .toSorted(),
    ).toEqual(['readiness', 'reads', 'workers', 'writes'].map((user) => `user="${user}"`))
    expect(samplesOf(text, 'svc_database_pool_connections').length).toBe(4)
  })

  it('has no new series after thousands of hostile paths and methods', async () => {
    const [daemon] = daemons
    if (daemon === undefined) throw new Error('no daemon')
    const series = async () => {
      const { text } = await daemon.request('GET', '/metrics')
      return { names: text.split('\n').filter((line) => line.startsWith('svc_http')).length, text }
    }
    await daemon.request('GET', '/nothing')
    await daemon.request('DELETE', '/nothing')
    const pathOfPools = await daemon.request('GET', '/v2/pools/x')
    expect(pathOfPools.status).toBe(400)
    const before = await series()
    const hostile = ['/%00', '/v2/pools/"}x{', '/a\u{1F600}', '/v2/../..', '/v2/pools/%0a%23']
    for (let i = 0; i < 200; i++) {
      const path = `${hostile[i % hostile.length]}${i}`
      await fetch(`${daemon.url}${path}`, { method: i % 2 === 0 ? 'GET' : 'DELETE' })
    }
    const after = await series()
    // The last look itself is a request to /metrics, whose statuses were known before.
    expect(after.names - before.names).toBeLessThanOrEqual(3)
    expect(after.text).not.toMatch(/%00|x\{/)
    readExposition([after.text])
  })
})
