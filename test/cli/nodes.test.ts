/** Several RPC endpoints as an operator sees them: `svc doctor`, the metrics, GET /ready and the setting itself. */
import { expect, it, onTestFinished } from 'vitest'
import { createGauges } from '../../daemon/metrics/gauges.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import { readiness } from '../../daemon/readiness.ts'
import { serveLocalnet } from '../../src/localnet/server.ts'
import { openFaultyCluster, openFaultyEndpoint } from '../support/faulty-endpoints.ts'
import { openTestChain } from '../support/local-chain.ts'
import { samplesOf } from '../support/monitoring.ts'
import { temporaryFolder } from '../support/service.ts'
import { commandLine } from './command-line.ts'

const { svc } = commandLine()

it('svc doctor names each RPC endpoint by host and place, its state and what to do, without keys', async () => {
  const { chain } = await openTestChain()
  const served = await serveLocalnet({ chain, port: 0 })
  const others = await Promise.all([openFaultyEndpoint(chain), openFaultyEndpoint(chain), openFaultyEndpoint(chain)])
  const [polled, foreign, dead] = others
  foreign!.fault = 'wrong genesis'
  dead!.fault = '503'
  onTestFinished(async () => {
    await Promise.all([served, ...others].map((server) => server.close()))
  })
  const another = `${served.url}/?second=1`
  const urls = [served.url, polled!.url, foreign!.url, dead!.url, another]
  const env = { SVC_RPC_URLS: urls.join(',') }
  const { stdout, exitCode } = await svc(['doctor', '--json'], { env })
  const checks = (JSON.parse(stdout) as { check: string; status: string; detail: string; fix: string | null }[]).filter(
    ({ check }) => check.startsWith('rpc '),
  )
  const host = (url: string) => new URL(url).host
  expect(checks).toEqual([
    {
      check: `rpc ${host(served.url)}#1`,
      status: 'ok',
      detail: expect.stringMatching(/^slot \d+, \d+ ms, version \S+, (Alpenglow|Tower), WebSocket$/),
      fix: null,
    },
    {
      check: `rpc ${host(polled!.url)}#2`,
      status: 'ok',
      detail: expect.stringMatching(
        /^slot \d+, \d+ ms, version \S+, (Alpenglow|Tower), no WebSocket \(it is polled\)$/,
      ),
      fix: null,
    },
    {
      check: `rpc ${host(foreign!.url)}#3`,
      status: 'fail',
      detail: expect.stringMatching(/^on another chain \(genesis FoRe1gn\w+, not \w+\): it is never used$/),
      fix: expect.stringContaining('rpc-urls'),
    },
    {
      check: `rpc ${host(dead!.url)}#4`,
      status: 'fail',
      detail: 'the RPC node answers 503',
      fix: expect.stringContaining('rpc-urls'),
    },
    expect.objectContaining({ check: `rpc ${host(served.url)}#5`, status: 'ok' }),
  ])
  expect([exitCode, stdout.includes('TOPSECRET')]).toEqual([1, false])
})

it('svc config shows hosts and weights of rpc-urls, from the flag, the environment or the profile', async () => {
  const env = { SVC_RPC_URLS: '[{"url":"https://a.test/KEYINPATH","weight":3},"https://b.test"]' }
  const get = async (args: string[], options = {}) =>
    (await svc(['config', 'get', 'rpc-urls', '--json', ...args], options)).stdout
  expect(JSON.parse(await get([], { env }))).toMatchObject({ value: ['a.test x3', 'b.test'], origin: 'environment' })
  const flag = await get(['--rpc-urls', 'https://c.test/KEYINPATH,https://d.test'], { env })
  expect(JSON.parse(flag)).toMatchObject({ value: ['c.test', 'd.test'], origin: 'flag' })
  const set = await svc(['config', 'set', 'rpc-urls', 'https://e.test/KEYINPATH,https://f.test'])
  expect([set.exitCode, set.stdout.includes('KEYINPATH')]).toEqual([0, false])
  expect(JSON.parse(await get([]))).toMatchObject({ value: ['e.test', 'f.test'], origin: 'profile' })
  await svc(['config', 'unset', 'rpc-urls'])
})

it('The metrics show the state of each endpoint, and GET /ready why the chain does not answer', async () => {
  const cluster = await openFaultyCluster(temporaryFolder())
  const app = await cluster.start()
  onTestFinished(async () => {
    await app.stop()
    await cluster.close()
  })
  const [first, second, third] = cluster.endpoints
  third!.fault = 'wrong genesis'
  const metrics = createMetrics()
  onTestFinished(metrics.observe())
  const services = { ...app.services, ready: readiness({ ...app.services, workers: () => [] }) }
  const gauges = createGauges(metrics.registry, services)
  await app.services.chain.call('getSlot', [])
  second!.fault = '503'
  for (let i = 0; i < 20; i++) await app.services.chain.call('getSlot', [])
  await gauges.refresh()
  const text = await metrics.text()
  const is = (endpoint: number, state: string) =>
    samplesOf(text, 'svc_rpc_endpoint_state').find(
      ({ labels }) => labels.includes(`#${endpoint}"`) && labels.includes(`state="${state}"`),
    )?.value
  expect([is(1, 'ok'), is(1, 'down'), is(3, 'wrong-chain'), is(3, 'ok')]).toEqual([1, 0, 1, 0])
  expect(text).toMatch(/svc_rpc_endpoint_slot_lag\{endpoint="127\.0\.0\.1:\d+#1"\} 0/)
  expect(text).not.toContain('TOPSECRET')
  first!.fault = '503'
  second!.fault = '503'
  cluster.clock.advance(2_000)
  const { ready, reasons } = await readiness({ ...app.services, workers: () => [] })()
  expect([ready, reasons?.rpc]).toEqual([
    false,
    expect.stringMatching(
      /^the chain does not answer \(endpoint 1 .+, endpoint 2 .+, endpoint 3 belongs to another chain\)$/,
    ),
  ])
})
