/** traceparent: what is taken up, what is refused, and that it goes on in every call that a request causes. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openChain } from '../../src/chain/connection.ts'
import { readProviderAsset } from '../../src/chain/reads/metadata-provider.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { relayOf } from '../../src/chain/sending/relay.ts'
import { runProviderCall } from '../../src/chain/signer/provider-requests.ts'
import { solPrice } from '../../src/operations/pools/sol-price.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { type FinishedCall, onCalls } from '../../src/platform/telemetry/calls.ts'
import { rpcMethodOf, rpcOutcome } from '../../src/platform/telemetry/json-rpc.ts'
import { inSpan, runInSpan, startSpan, startTrace } from '../../src/platform/telemetry/spans.ts'
import { formatTraceparent, parseTraceparent } from '../../src/platform/telemetry/trace-context.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, temporaryFolder } from '../support/service.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/

describe('traceparent', () => {
  it('is read as the standard writes it', () => {
    const of = (flags: string) => parseTraceparent(`00-${TRACE}-${PARENT}-${flags}`)
    expect(of('01')).toEqual({ traceId: TRACE, spanId: PARENT, sampled: true })
    expect(of('00')).toEqual({ traceId: TRACE, spanId: PARENT, sampled: false })
    expect(of('ff')?.sampled).toBe(true)
    expect(of('fe')?.sampled).toBe(false)
    // A later version may append fields, and its first ones are those of this one.
    expect(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-the-future-brings`)?.traceId).toBe(TRACE)
  })

  it.each([
    null,
    '',
    TRACE,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01 `,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `cc-${TRACE}-${PARENT}-01-${'x'.repeat(600)}`,
    `00-${TRACE}-${PARENT}-01\n"level":"fatal"`,
  ])('that is malformed starts a new trace: %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  it('of any text is refused, or written back unchanged', () => {
    const near = fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{31,33}-[0-9a-f]{15,17}-[0-9a-f]{2}-?[ -~]{0,4}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (header) => {
        const context = parseTraceparent(header)
        if (context !== undefined) expect(header.slice(3, 52)).toBe(formatTraceparent(context).slice(3, 52))
      }),
    )
  })

  it('of a new trace has unique ids', () => {
    const spans = Array.from({ length: 5_000 }, () => startTrace())
    for (const span of spans.slice(0, 100)) expect(parseTraceparent(formatTraceparent(span))).toBeDefined()
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(spans.length)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  })
})

describe('a span', () => {
  it('belongs to the span in which it starts, and concurrent work stays separate', async () => {
    const seen = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const root = startTrace()
        return runInSpan(root, async () => {
          await new Promise((resolve) => setImmediate(resolve))
          const child = startSpan()
          return [root.traceId === child.traceId, child.parentSpanId === root.spanId, child.spanId !== root.spanId]
        })
      }),
    )
    expect(seen.flat().every(Boolean)).toBe(true)
    expect(startSpan().parentSpanId).toBeUndefined()
  })
})

/** A server that answers every JSON-RPC call, and remembers the headers. */
async function startEcho(answer: (method: string) => { status?: number; body: unknown }) {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      seen.push(request.headers)
      const { status = 200, body } = answer(text === '' ? 'GET' : JSON.parse(text).method)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api-key=s3cret`, seen }
}

function collectCalls(): FinishedCall[] {
  const calls: FinishedCall[] = []
  onTestFinished(onCalls((call) => calls.push(call)))
  return calls
}

const eventAbout = (resource_id: string) => ({
  id: newId('evt'),
  type: 'pool.live',
  resource_type: 'pool',
  resource_id,
  object_json: '{}',
  external_uid: null,
  metadata_json: null,
  dedupe_key: resource_id,
  created_at: 0,
})

/** The trace id of each request. */
const traces = (seen: readonly IncomingHttpHeaders[]) =>
  seen.map(({ traceparent }) => TRACEPARENT.exec(String(traceparent))?.[1])

describe('a call to another service', () => {
  it('carries the trace of its request to the node, the relay, the metadata provider, the price source and the signer', async () => {
    const { url, seen } = await startEcho((method) => ({
      body: method === 'GET' ? { price: 150 } : { jsonrpc: '2.0', id: 1, result: { value: [], context: { slot: 1 } } },
    }))
    const dataDir = temporaryFolder()
    const flags = { 'data-dir': dataDir, url, 'relay-url': url, 'price-url': url, 'price-field': 'price' }
    const config = loadConfig({ flags, env: {}, cwd: dataDir })
    const chain = openChain(config)
    onTestFinished(() => chain.close())
    const ending = new AbortController().signal
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const calls = collectCalls()
    const root = startTrace()
    await runInSpan(root, async () => {
      await chain.call('getHealth', [])
      await readLatestBlockhash(chain).catch(() => {})
      await relayOf(config, chain).failed([])
      await readProviderAsset(url, 'mint')
      expect(await solPrice({ config, clock: { now: () => 1e12 }, log, ending })).toBe(150)
      await runProviderCall(
        {
          signs: () => true,
          fetch: undefined,
          wait: async () => {},
          signal: ending,
          signed: 'no',
          fault: undefined,
          answer: undefined,
        },
        () => fetch(url, { method: 'POST', body: '{"method":"sign"}' }),
      )
    })
    expect(new Set(traces(seen))).toEqual(new Set([root.traceId]))
    const endpoint = new URL(url).host
    // The consensus is asked for beside the first call, and arrives at any time.
    expect(calls.map(({ operation }) => operation)).toContain('getAgGenesisCert')
    const others = calls.filter(({ operation }) => operation !== 'getAgGenesisCert')
    expect(others.map(({ service, operation, outcome }) => `${service} ${operation} ${outcome}`)).toEqual([
      'rpc getHealth ok',
      'rpc getLatestBlockhash ok',
      'relay getInflightBundleStatuses ok',
      'metadata getAsset ok',
      'price read ok',
      'signer sign ok',
    ])
    expect(new Set(calls.map((call) => call.endpoint))).toEqual(new Set([endpoint]))
    expect(JSON.stringify(calls)).not.toContain('s3cret')
  })

  it('that fails is reported by its kind: refused, busy, failed or unanswered', async () => {
    const answers: { status?: number; body: unknown }[] = [
      { body: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no' } } },
      { status: 404, body: {} },
      { status: 500, body: {} },
    ]
    const { url } = await startEcho(() => answers.shift() ?? { status: 503, body: {} })
    const dataDir = temporaryFolder()
    const ask = async (rpcUrl: string) => {
      const config = loadConfig({ flags: { 'data-dir': dataDir, url: rpcUrl }, env: {}, cwd: dataDir })
      const chain = openChain(config, { wait: async () => {} })
      await expect(chain.call('getHealth', [])).rejects.toThrow()
      await chain.close()
    }
    const calls = collectCalls()
    for (let i = 0; i < 4; i++) await ask(url)
    await ask('http://127.0.0.1:1/')
    expect(calls.map(({ outcome }) => outcome)).toEqual([
      'refused',
      'refused',
      'failed',
      ...['busy', 'busy', 'busy', 'busy'],
      'unanswered',
    ])
  })

  it('of a webhook delivery starts its own trace, which the receiver gets', async () => {
    const { services, request } = await startService({ settings: { 'webhooks.allow-private': true } })
    const receiver = await startReceiver(({ sequence }) => (sequence === 1 ? 500 : 200))
    const body = { url: receiver.url, enabled_events: ['*'] }
    expect((await request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
    await services.store.write((tx) => appendEvents(tx, [eventAbout('pool-1'), eventAbout('pool-2')]))
    const calls = collectCalls()
    const tick = startTrace()
    await runInSpan(tick, () => inSpan({ name: 'round' }, () => deliverRound(services)))
    const ids = traces(receiver.all.map(({ headers }) => headers))
    expect(new Set(ids).size).toBe(2)
    expect(ids).not.toContain(tick.traceId)
    expect(calls.map(({ service, endpoint, outcome }) => `${service} ${endpoint} ${outcome}`).toSorted()).toEqual([
      'webhook receivers failed',
      'webhook receivers ok',
    ])
  })
})

describe('a span of JSON-RPC', () => {
  it('is named by the method in its text, and by nothing else', () => {
    expect(rpcMethodOf('{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[]}')).toBe('getSlot')
    expect(rpcMethodOf('[{"method":"a1"},{"method":"b"}]')).toBe('a1')
    for (const text of ['', '{}', undefined, new Uint8Array(3), `{"method":"${'x'.repeat(65)}"}`, '{"method":"a\\"}"}'])
      expect(rpcMethodOf(text)).toBe('unknown')
  })

  it('has an error only if its answer is one', () => {
    for (const text of [
      '{"jsonrpc":"2.0","error":{"code":-32002,"message":"x"},"id":1}',
      '{"error": {"code":1}}',
      ' {"id":"7","jsonrpc":"2.0","error":{"code":1}}',
    ])
      expect(rpcOutcome(200, text)).toBe('refused')
    for (const text of [
      '{"jsonrpc":"2.0","result":{"error":{"code":1}},"id":1}',
      '{"result":"\\"error\\":{","id":1}',
      '{"result":{"value":[{"error":{}}]}}',
      '',
    ])
      expect(rpcOutcome(200, text)).toBe('ok')
    expect([429, 503, 500, 404].map((status) => rpcOutcome(status, ''))).toEqual(['busy', 'busy', 'failed', 'refused'])
  })
})
