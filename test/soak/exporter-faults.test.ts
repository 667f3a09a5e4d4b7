/** Collectors of traces that are slow, broken or gone, of which only spans are lost; and one behind a sampler. */
import { describe, expect, it, vi } from 'vitest'
import { startCollector, startTraced, TRACE, WAIT } from '../observability/collector.ts'
import { samplesOf } from '../support/monitoring.ts'

describe('a collector of traces', () => {
  it('that hangs or fails delays no request and no shutdown', async () => {
    const hanging = await startCollector(() => {})
    const failing = await startCollector((response) => void response.writeHead(503, { 'retry-after': '1' }).end())
    for (const { url, requests } of [hanging, failing]) {
      const bounds = { OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' }
      const { request, stop, process } = await startTraced(url, bounds)
      for (let i = 0; i < 200; i++) expect((await request('GET', '/v2/health')).status).toBe(200)
      await vi.waitUntil(() => requests() > 0, WAIT)
      const { text } = await request('GET', '/metrics')
      const dropped = samplesOf(text, 'svc_trace_spans_total').find(({ labels }) => labels.includes('dropped'))
      expect(dropped?.value).toBeGreaterThan(100)
      await stop()
      expect(process.exitCode).toBe(0)
    }
  })

  it('that is busy for a moment gets the same batch again, without a log line', async () => {
    const collector = await startCollector((response, nth) => {
      response.writeHead(nth === 1 ? 503 : 200).end()
    })
    const { request, stderr } = await startTraced(collector.url, { OTEL_BSP_SCHEDULE_DELAY: '500' })
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
    await request('GET', '/v2/health', { headers: { traceparent } })
    await vi.waitUntil(() => collector.requests() >= 2, WAIT)
    const first = collector.spans[0]
    expect(collector.spans.filter(({ spanId }) => spanId === first?.spanId)).toHaveLength(2)
    expect(stderr()).not.toContain('traces are not exported')
  })

  it('that cannot be reached is logged once, by its host only', async () => {
    const url = 'http://127.0.0.1:1/secret-path?key=s3cr3t-of-the-collector'
    const { request, stderr } = await startTraced('', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url })
    for (let i = 0; i < 5; i++) await request('GET', '/v2/health')
    await vi.waitUntil(() => stderr().includes('traces are not exported'), WAIT)
    expect(stderr()).toContain('"collector":"127.0.0.1:1"')
    expect(stderr()).not.toMatch(/s3cr3t|secret-path/)
  })

  it('receives only what the sampler takes', async () => {
    const collector = await startCollector()
    const { request } = await startTraced(collector.url, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
    await request('GET', '/v2/health')
    await request('GET', '/v2/health', { headers: { traceparent: `00-${'a'.repeat(32)}-00f067aa0ba902b7-00` } })
    await request('GET', '/v2/health', { headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } })
    await vi.waitUntil(() => collector.spans.length > 0, WAIT)
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
  })
})
