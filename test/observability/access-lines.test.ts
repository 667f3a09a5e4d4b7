/** The daemon's log as its operator reads it: a line for each request, no secret in any, and nobody waits for its reader. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLineWriter, readableLine } from '../../daemon/log.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { openPipe } from '../support/named-pipe.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const folder = makeSharedFolder('svc-')
let daemon: Daemon
// biome-ignore lint/suspicious/noExplicitAny: what a line holds is what the tests look at
const lines: any[] = []
let raw = ''

beforeAll(async () => {
  // With allowed origins another answer takes the place of each, whose size must not be lost.
  const env = { SVC_LOG_LEVEL: 'info', SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_CORS_ORIGINS: 'https://app.example.com' }
  daemon = await startDaemon({ dataDir: folder, flags: ['--rpc-port', '0'], env })
  const { stderr } = daemon.process
  if (stderr === null) throw new Error('the daemon has no standard error')
  createInterface(stderr).on('line', (line) => {
    raw += `${line}\n`
    if (line.startsWith('{')) lines.push(JSON.parse(line))
  })
})

afterAll(async () => {
  await daemon.stop()
  removeFolder(folder)
})

/** The access line of a request, once it is written. */
const lineOf = (requestId: string) =>
  vi.waitUntil(() => lines.find(({ msg, request_id }) => msg === 'request' && request_id === requestId), {
    timeout: 60_000,
  })

describe('a line for people', () => {
  const line = (fields: object) =>
    readableLine(JSON.stringify({ level: 'info', time: '2026-11-22T13:48:09.400Z', service: 'svc', ...fields }))

  it('has time, level, what happened and its fields, without what only programs need', () => {
    const request = { msg: 'request', method: 'GET', route: '/v2/pools', status: 200, ms: 1.52, bytes: 9, key_id: null }
    expect(line({ ...request, request_id: 'req_1', trace_id: 'a', span_id: 'b' })).toMatch(
      /^\d\d:\d\d:\d\d INFO {2}GET \/v2\/pools: 200 in 1\.52 ms request_id=req_1\n$/,
    )
    expect(line({ level: 'warn', msg: 'late', pool: 'x', count: 2 })).toMatch(/ WARN {2}late pool=x count=2\n$/)
  })

  it('has the stack of an error below it, and no character that a terminal interprets', () => {
    const err = { message: 'no', stack: 'Error: no\n    at here' }
    expect(line({ msg: 'failed', err, name: '\u001b[2J' })).toMatch(
      / failed name=\\u001b\[2J\n {2}Error: no\n {6}at here\n$/,
    )
  })
})

describe('an answered request', () => {
  it('has one line with method, route, status, time, size, key, request and trace', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    const headers = { 'x-request-id': 'line-1', traceparent }
    const answer = await daemon.request('GET', '/v2/api-keys', { headers })
    const { json } = await daemon.request('GET', '/v2/api-keys')
    const line = await lineOf('line-1')
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'svc',
      msg: 'request',
      method: 'GET',
      route: '/v2/api-keys',
      status: 200,
      ms: expect.any(Number),
      bytes: Buffer.byteLength(answer.text),
      key_id: json.data[0].id,
      request_id: 'line-1',
      trace_id: traceId,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    expect(lines.filter(({ request_id }) => request_id === 'line-1')).toHaveLength(1)
  })

  it('has a line that names the key that is over its limit, also if it is refused from memory', async () => {
    const body = { name: 'limited', rate_limit_per_minute: 1 }
    const { key, id } = (await daemon.request('POST', '/v2/api-keys', { body })).json.data
    for (const n of [1, 2, 3, 4]) {
      const { status } = await daemon.request('GET', '/v2/pools', { key, headers: { 'x-request-id': `limited-${n}` } })
      expect(await lineOf(`limited-${n}`)).toMatchObject({ status, key_id: id, bytes: expect.any(Number) })
      expect(status).toBe(n === 1 ? 200 : 429)
    }
  })

  it('has a line with the template of its route, and no part of its path', async () => {
    const asked: [method: string, path: string, route: string, status: number][] = [
      ['GET', '/v2/pools/%22%7D%0a{"level":"fatal"}', '/v2/pools/{address}', 400],
      ['GET', '/v2/pools/', 'unmatched', 404],
      ['DELETE', '/v2/nothing/svc_live_abcdefgh', 'unmatched', 404],
      ['GET', '/v1/pools/secret', '/v1', 404],
      ['GET', '/assets/bafk-none', '/assets/{cid}', 404],
      ['GET', '/ready', '/ready', 200],
      ['GET', '/v2/openapi.json', '/v2/openapi.json', 200],
    ]
    for (const [i, [method, path, route, status]] of asked.entries()) {
      const id = `route-${i}`
      await fetch(`${daemon.url}${path}`, {
        method,
        headers: { 'x-request-id': id, authorization: `Bearer ${daemon.operator}` },
      })
      expect(await lineOf(id)).toMatchObject({ method, route, status })
    }
    expect(raw).not.toMatch(/fatal|abcdefgh|v1\/pools|bafk/)
  })

  it('has a line without a key, with a wrong one and as malformed HTTP, and no line contains a key', async () => {
    await daemon.request('GET', '/v2/pools', { key: null, headers: { 'x-request-id': 'no-key' } })
    expect(await lineOf('no-key')).toMatchObject({ status: 401, key_id: null })
    await daemon.request('GET', '/v2/pools', { key: 'svc_live_wrongwrong', headers: { 'x-request-id': 'wrong-key' } })
    expect(await lineOf('wrong-key')).toMatchObject({ status: 403, key_id: null })
    // A client may send its key where an id belongs.
    await daemon.request('GET', '/v2/pools', { headers: { 'x-request-id': `"\\${daemon.operator}` } })
    expect(await lineOf('"\\svc_live_***')).toMatchObject({ status: 200 })
    const { connect } = await import('node:net')
    const { hostname, port } = new URL(daemon.url)
    const socket = connect(Number(port), hostname, () => socket.write('NONSENSE\r\n\r\n'))
    await new Promise((done) => socket.on('close', done).resume())
    const unparsed = await vi.waitUntil(() => lines.find(({ method }) => method === 'OTHER'), { timeout: 60_000 })
    expect(unparsed).toMatchObject({ route: 'unmatched', status: 400 })
    expect(raw).not.toContain(daemon.operator)
    expect(raw).not.toContain('wrongwrong')
  })

  it('has a line with a new trace if traceparent is absent or malformed', async () => {
    const seen: string[] = []
    for (const [i, traceparent] of [undefined, 'nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`].entries()) {
      const id = `fresh-${i}`
      const headers: Record<string, string> = { 'x-request-id': id }
      await daemon.request('GET', '/v2/health', {
        headers: traceparent === undefined ? headers : { ...headers, traceparent },
      })
      const { trace_id } = await lineOf(id)
      expect(trace_id).toMatch(/^(?!0+$)[0-9a-f]{32}$/)
      seen.push(trace_id)
    }
    expect(new Set(seen).size).toBe(3)
  })

  it('shares its id and its trace with every line that it causes', async () => {
    const headers = { 'x-request-id': 'cause-1' }
    await daemon.request('POST', '/v2/storage/delegations', { body: { agent_did: 'did:key:none' }, headers })
    const { status, trace_id } = await lineOf('cause-1')
    const others = lines.filter(({ msg, request_id }) => msg !== 'request' && request_id === 'cause-1')
    // Only an answer of 500 has a line with its cause.
    expect(others).toHaveLength(status === 500 ? 1 : 0)
    for (const other of others) expect(other).toMatchObject({ trace_id, level: 'error' })
  })
})

describe('levels in the log', () => {
  it('are words', () => {
    expect(lines.length).toBeGreaterThan(10)
    expect(lines.map(({ level }) => level).filter((level) => !/^(info|warn|error|debug)$/.test(level))).toEqual([])
  })
})

const line = (n: number) => `${String(n).padStart(6, '0')} ${'x'.repeat(120)}\n`

/** The stream of a pipe, as standard error is. */
const streamOf = (writeEnd: number) => {
  const stream = new Socket({ fd: writeEnd, readable: false, writable: true })
  onTestFinished(() => void stream.destroy())
  return stream
}

describe('a log that is a pipe', () => {
  it('does not block: lines wait up to a bound, further ones are dropped and counted, and none is cut', async () => {
    const { readEnd, writeEnd } = openPipe()
    const writer = createLineWriter(streamOf(writeEnd))
    const count = 20_000
    for (let n = 0; n < count; n++) n % 2 === 0 ? writer.write(line(n)) : writer.writeSoon(line(n))
    writer.flush()
    const dropped = writer.dropped()
    expect(dropped).toBeGreaterThan(count / 4)
    let text = ''
    const reader = new Socket({ fd: readEnd, readable: true, writable: false })
    reader.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    await vi.waitUntil(() => text.split('\n').length - 1 === count - dropped, { timeout: 60_000 })
    const lines = text.split('\n').slice(0, -1)
    expect(lines).toEqual(lines.map((_, n) => line(n).trimEnd()))
    // With room again, what comes is written.
    writer.write(line(count))
    await vi.waitUntil(() => text.endsWith(line(count)), { timeout: 60_000 })
    expect(writer.dropped()).toBe(dropped)
    reader.destroy()
  })

  it('loses its lines and nothing else when its reader has closed it', async () => {
    const { readEnd, writeEnd } = openPipe()
    const writer = createLineWriter(streamOf(writeEnd))
    closeSync(readEnd)
    writer.write(line(1))
    writer.writeSoon(line(2))
    writer.writeSoon(line(3))
    await vi.waitUntil(() => writer.dropped() === 3, { timeout: 60_000 })
  })
})
