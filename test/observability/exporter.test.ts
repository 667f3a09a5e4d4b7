/** Traces at a real collector over HTTP: what it is sent, and by which of OpenTelemetry's variables. */
import { describe, expect, it, vi } from 'vitest'
import { traceSettings } from '../../daemon/traces/settings.ts'
import { samplesOf } from '../support/monitoring.ts'
import { attributesOf, startCollector, startTraced, TRACE, WAIT } from './collector.ts'

describe('a collector', () => {
  it('receives the spans of a request, of its calls and of the workers', async () => {
    const collector = await startCollector()
    const { request, stderr } = await startTraced(collector.url, {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret,x-team=launches',
      OTEL_SERVICE_NAME: 'launches',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=overridden',
    })
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
    const signature = '1'.repeat(64)
    const answer = await request('GET', `/v2/transactions/${signature}`, {
      headers: { traceparent, 'x-request-id': 'svc_live_looksLikeAKey' },
    })
    expect([200, 404]).toContain(answer.status)
    const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE)
    const server = await vi.waitUntil(() => ofTrace().find(({ kind }) => kind === 2), WAIT)
    expect(server).toMatchObject({ parentSpanId: '00f067aa0ba902b7', name: 'GET /v2/transactions/{signature}' })
    expect(attributesOf(server)).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/v2/transactions/{signature}',
      'http.response.status_code': String(answer.status),
      'svc.request_id': 'svc_live_***',
      'svc.api_key_id': expect.stringMatching(/^key_/),
    })
    const call = await vi.waitUntil(() => ofTrace().find(({ kind }) => kind === 3), WAIT)
    expect(call).toMatchObject({ parentSpanId: server.spanId, name: expect.stringMatching(/^rpc get\w+$/) })
    expect(attributesOf(call)).toMatchObject({ 'server.address': 'embedded', 'svc.outcome': 'ok' })
    for (const { spanId, startTimeUnixNano, endTimeUnixNano } of ofTrace()) {
      expect(spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
      expect(Math.abs(Number(BigInt(startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(120_000)
    }
    await vi.waitUntil(() => collector.spans.some(({ name }) => name === 'worker transaction-watcher'), WAIT)
    expect(collector.headers[0]).toMatchObject({
      ':path': '/v1/traces',
      'content-type': 'application/json',
      authorization: 'Bearer collector-secret',
      'x-team': 'launches',
    })
    const [resource = []] = collector.resources
    expect(Object.fromEntries(resource.map(({ key, value }) => [key, value.stringValue]))).toEqual({
      'deployment.environment': 'test',
      'service.name': 'launches',
    })
    const metrics = await request('GET', '/metrics')
    const exported = samplesOf(metrics.text, 'svc_trace_spans_total').find(({ labels }) => labels.includes('exported'))
    expect(exported?.value).toBeGreaterThan(0)
    expect(stderr()).not.toContain('collector-secret')
  })
})

describe("OpenTelemetry's variables", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com/base/' }

  it('name no collector without an endpoint, or if traces are turned off', () => {
    for (const env of [
      {},
      { OTEL_SERVICE_NAME: 'x' },
      { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    ])
      expect(traceSettings(env)).toEqual({ settings: null, warnings: [] })
  })

  it('are read as the standard says', () => {
    const { settings, warnings } = traceSettings({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2%2C3 , c=',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
    })
    expect(warnings).toEqual([])
    expect(settings).toMatchObject({
      url: 'https://otel.example.com/base/v1/traces',
      headers: { b: '2,3', c: '' },
      resource: { 'service.name': 'svc' },
      timeoutMs: 2_000,
      delayMs: 5_000,
      queueSize: 100,
      batchSize: 100,
    })
    const own = traceSettings({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:4318/as/it/is' })
    expect(own.settings?.url).toBe('http://t:4318/as/it/is')
  })

  it('that are invalid are reported without their values, and the default applies', () => {
    const { settings, warnings } = traceSettings({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=s3cr3t%zz,good=1,bad\nline=2',
      OTEL_BSP_SCHEDULE_DELAY: 'soon',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '2',
    })
    expect(settings).toMatchObject({ headers: { good: '1' }, delayMs: 5_000 })
    expect(warnings.map((warning) => warning.split(/[ :]/)[0]).toSorted()).toEqual([
      'OTEL_BSP_SCHEDULE_DELAY',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_TRACES_SAMPLER',
    ])
    expect(warnings.join()).not.toMatch(/s3cr3t|soon|jaeger/)
    for (const env of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      { ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' },
    ]) {
      const refused = traceSettings(env)
      expect(refused.settings).toBeNull()
      expect(refused.warnings).toHaveLength(1)
    }
  })

  it('sample by the trace id, alike in every service, and by the caller if they say so', () => {
    const samplerOf = (name: string, argument?: string) =>
      traceSettings({ ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }).settings?.sampler
    const half = samplerOf('traceidratio', '0.5')
    expect([half?.(`${'0'.repeat(31)}1`, undefined), half?.('f'.repeat(32), undefined)]).toEqual([true, false])
    const remote = { traceId: 'f'.repeat(32), spanId: 'a'.repeat(16), sampled: true }
    expect(half?.(remote.traceId, remote)).toBe(false)
    expect(samplerOf('parentbased_traceidratio', '0')?.(remote.traceId, remote)).toBe(true)
    expect(samplerOf('always_on')?.(remote.traceId, { ...remote, sampled: false })).toBe(true)
    expect(samplerOf('always_off')?.(remote.traceId, remote)).toBe(false)
  })
})
