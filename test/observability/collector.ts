/** A collector of traces over HTTP, and daemons that send to it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { temporaryFolder } from '../support/service.ts'

interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, string> }[]
  status: { code?: number }
}

interface Collector {
  url: string
  spans: OtlpSpan[]
  resources: { key: string; value: Record<string, string> }[][]
  headers: IncomingHttpHeaders[]
  requests(): number
}

/** A collector that answers as the test says; nothing at all where `answer` leaves the response alone. */
export async function startCollector(
  answer: (response: ServerResponse, nth: number) => void = (response) => void response.end('{}'),
): Promise<Collector> {
  const collector: Omit<Collector, 'url' | 'requests'> = { spans: [], resources: [], headers: [] }
  let count = 0
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(text)
      for (const { resource, scopeSpans } of resourceSpans) {
        collector.resources.push(resource.attributes)
        for (const { spans } of scopeSpans) collector.spans.push(...spans)
      }
      collector.headers.push({ ...request.headers, ':path': request.url ?? '' })
      answer(response, ++count)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { ...collector, url, requests: () => count }
}

/** A daemon that sends its traces there, until the end of the test. */
export async function startTraced(
  url: string,
  env: Record<string, string> = {},
): Promise<Daemon & { stderr: () => string }> {
  const daemon = await startDaemon({
    dataDir: temporaryFolder(),
    flags: ['--rpc-port', '0'],
    env: {
      SVC_PROGRAMS_DIR: PROGRAMS_DIR,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ...env,
    },
  })
  onTestFinished(() => daemon.stop())
  let stderr = ''
  daemon.process.stderr?.on('data', (text: string) => {
    stderr += text
  })
  return { ...daemon, stderr: () => stderr }
}

export const attributesOf = ({ attributes }: OtlpSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
/** How long a test waits for what a collector is sent. */
export const WAIT = { timeout: 60_000 }
