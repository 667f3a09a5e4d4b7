/** Deliveries to real servers on this machine: what counts as success, how every failure reads, and what stays open. */
import { execFileSync, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as NetServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type OutgoingWebhook, type SendResult, sendWebhook } from '../../src/operations/webhook-deliveries/send.ts'
import type { Resolve } from '../../src/operations/webhook-subscriptions/receiver-address.ts'
import { VERSION } from '../../src/platform/version.ts'
import { temporaryFolder } from '../support/service.ts'

/** What makes certificates, and what the loopback has: not every machine that runs the tests. */
const OPENSSL = spawnSync('openssl', ['version']).status === 0
const IPV6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'))

const LOCAL: Resolve = async () => ['127.0.0.1']
const BODY = '{"id":"evt_1","name":"Žluťoučký 🚀\\u0000"}'

const send = (url: string, over: Partial<OutgoingWebhook> = {}) =>
  sendWebhook({ url, headers: {}, body: BODY, allowPrivate: true, ports: [], timeoutMs: 5_000, ...over })

interface Listening {
  port: number
  url: string
  /** Every connection so far. */
  sockets: Socket[]
}

async function listening(server: Server | NetServer, host = '127.0.0.1', scheme = 'http'): Promise<Listening> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => void sockets.push(socket.on('error', () => {})))
  await new Promise<void>((resolve) => void server.listen(0, host, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/hooks?a=b`, sockets }
}

const http = (listener: RequestListener, host?: string) => listening(createServer(listener), host)
/** Speaks bytes: `talk` has the connection once the request has begun. */
const tcp = (talk: (socket: Socket) => void) =>
  listening(createTcpServer((socket) => void socket.once('data', () => talk(socket))))

const bytesOf = async (request: IncomingMessage) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
const closed = (socket: Socket) =>
  socket.destroyed ? Promise.resolve() : new Promise<void>((resolve) => void socket.once('close', () => resolve()))

/** Error texts are one short line without addresses, ports, paths or the network library's words. */
function expectFailure({ status, error }: SendResult, text: string | RegExp): void {
  expect(status).toBeNull()
  expect(error).toMatch(text)
  expect(error).toMatch(/^[^\n]{1,160}$/)
  expect(error).not.toMatch(/127\.0\.0\.1:|node:|undici|Error|\/work|ECONN|UND_/)
}

describe('a delivery', () => {
  it('posts the body byte for byte, as JSON from svc, with the headers given', async () => {
    const seen: { request: IncomingMessage; bytes: Buffer }[] = []
    const { url, port } = await http(async (request, response) => {
      seen.push({ request, bytes: await bytesOf(request) })
      response.writeHead(204).end()
    })
    const odd = Buffer.from([0x7b, 0xff, 0x00, 0xfe, 0x0d, 0x0a, 0x7d])
    expect(await send(url, { headers: { 'X-Service-Signature': 't=1,v1=00' } })).toMatchObject({
      status: 204,
      error: null,
    })
    expect(await send(url, { body: odd })).toMatchObject({ status: 204, error: null })
    expect(seen.map(({ bytes }) => bytes)).toEqual([Buffer.from(BODY), odd])
    const { method, url: path, headers } = seen[0]!.request
    expect([method, path]).toEqual(['POST', '/hooks?a=b'])
    expect(headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(BODY)),
      'user-agent': `svc/${VERSION}`,
      'x-service-signature': 't=1,v1=00',
    })
  })

  it('succeeds by a 2xx alone; a redirect is not followed', async () => {
    const paths: string[] = []
    const { url } = await http((request, response) => {
      paths.push(request.url!)
      const status = Number(new URL(request.url!, 'http://a').searchParams.get('status'))
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const to = (status: number) => send(url.replace('a=b', `status=${status}`))
    for (const status of [200, 201, 202, 204, 206, 299]) {
      expect(await to(status)).toEqual({ status, error: null, duration_ms: expect.any(Number) })
    }
    for (const status of [300, 301, 302, 303, 304, 307, 308]) {
      expect(await to(status)).toMatchObject({ status, error: `answered ${status}; redirects are not followed` })
    }
    for (const status of [400, 401, 404, 408, 410, 413, 429, 500, 502, 503, 504, 599]) {
      expect(await to(status)).toMatchObject({ status, error: `answered ${status}` })
    }
    expect(paths.filter((path) => path.startsWith('/elsewhere'))).toEqual([])
  })

  it('fails once its time is over, whatever the receiver is busy with, and lets go of the connection', async () => {
    const silent = await http(() => {})
    const deaf = await listening(createTcpServer((socket) => void socket.resume()))
    const dripping = await tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-drip: ')
      const timer = setInterval(() => socket.write('a'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    const early = await tcp((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    for (const { url, sockets } of [silent, deaf, dripping, early]) {
      const result = await send(url, { timeoutMs: 150 })
      expectFailure(result, /^no answer within 0\.15 s$/)
      expect(result.duration_ms).toBeGreaterThanOrEqual(145)
      // The receiver may hear of the connection after it was given up.
      await expect.poll(() => sockets.length).toBe(1)
      await closed(sockets[0]!)
    }
    const unresolved = await send('http://hooks.test/', { timeoutMs: 150, resolve: () => new Promise(() => {}) })
    expectFailure(unresolved, /^no answer within 0\.15 s$/)
    // TLS that never shakes hands.
    const handshake = await send(deaf.url.replace('http:', 'https:'), { timeoutMs: 150 })
    expectFailure(handshake, /^no answer within 0\.15 s$/)
  })

  it('succeeds by its headers while the body is slow or endless, and reads little of it', async () => {
    const slow = await http((_, response) => {
      response.writeHead(200).write('a')
    })
    let written = 0
    const endless = await http((_, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536)
      const more = () => {
        if (response.destroyed) return
        written += chunk.length
        if (response.write(chunk)) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    const announced = await http((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 40) }).write('a')
    })
    const before = process.memoryUsage().rss
    for (const { url, sockets } of [slow, endless, announced]) {
      const durations: number[] = []
      do {
        const result = await send(url)
        expect(result).toMatchObject({ status: 200, error: null })
        durations.push(result.duration_ms)
      } while (durations.length < 5 && Math.min(...durations) >= 900)
      // Bodies are let go after a second, which is no part of the duration.
      expect(Math.min(...durations)).toBeLessThan(900)
      await Promise.all(sockets.map(closed))
    }
    // What the kernel took into its buffers counts as written; within a second a reader takes far more.
    expect(written / endless.sockets.length).toBeLessThan(16 * 2 ** 20)
    const results = await Promise.all(Array.from({ length: 40 }, () => send(endless.url)))
    expect(results.every(({ error }) => error === null)).toBe(true)
    await Promise.all(endless.sockets.map(closed))
    expect(written / endless.sockets.length).toBeLessThan(16 * 2 ** 20)
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20)
  })

  it('fails in one short line when the receiver breaks off or talks nonsense', async () => {
    const reset = await tcp((socket) => void socket.resetAndDestroy())
    expectFailure(await send(reset.url), /^the connection was closed before an answer$/)
    const ended = await tcp((socket) => void socket.end())
    expectFailure(await send(ended.url), /^the connection was closed before an answer$/)
    const partial = await tcp((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le'))
    expectFailure(await send(partial.url), /^the (connection was closed before an answer|answer is not HTTP)$/)
    const nonsense = await tcp((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\nsecret-internal-banner'))
    expectFailure(await send(nonsense.url), /^the answer is not HTTP$/)
    const switched = await tcp((socket) => void socket.write('HTTP/1.1 101 Switching\r\nupgrade: a\r\n\r\n'))
    expectFailure(await send(switched.url), /^the request failed$/)
    const huge = await tcp((socket) => void socket.end(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(64_000)}\r\n\r\n`))
    expectFailure(await send(huge.url), /^the answer has more than 16 KiB of headers$/)
    const many = await tcp((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${'x-a: a\r\n'.repeat(9_000)}\r\n`))
    expectFailure(await send(many.url), /^the answer has more than 16 KiB of headers$/)
  })

  it('fails in one short line when there is nobody to talk to', async () => {
    const gone = createTcpServer()
    const { url } = await listening(gone)
    await new Promise((resolve) => void gone.close(resolve))
    expectFailure(await send(url), /^the connection was refused$/)
    const both: Resolve = async () => ['::1', '127.0.0.1']
    const { port } = new URL(url)
    if (IPV6) expectFailure(await send(`http://hooks.test:${port}/`, { resolve: both }), /^the connection was refused$/)
    const failing: Resolve = () => Promise.reject(new Error('queryA ESERVFAIL 10.255.255.53'))
    expectFailure(await send('http://hooks.test/', { resolve: failing }), /^hooks\.test does not resolve$/)
    expectFailure(await send('http://hooks.test/', { resolve: async () => [] }), /^hooks\.test does not resolve$/)
    expectFailure(await send('http://[::1/'), /^the URL cannot be parsed$/)
    expectFailure(await send('ftp://hooks.test/'), /^must be https$/)
    expectFailure(await send('http://user:hunter2@hooks.test/'), /^must not contain credentials$/)
  })

  it.skipIf(!OPENSSL)(
    'keeps the name as Host and SNI, goes to the checked address, and trusts no certificate of nobody',
    async () => {
      const hosts: (string | undefined)[] = []
      const plain = await http((request, response) => {
        hosts.push(request.headers.host)
        response.end()
      })
      const asked: string[] = []
      const resolve: Resolve = async (name) => {
        asked.push(name)
        return ['127.0.0.1']
      }
      expect(await send(`http://hooks.test.:${plain.port}/`, { resolve })).toMatchObject({ status: 200, error: null })
      expect([hosts, asked]).toEqual([[`hooks.test:${plain.port}`], ['hooks.test']])

      const names: string[] = []
      const { cert, key } = certificate('hooks.test')
      const SNICallback = (name: string, done: (error: Error | null) => void) => {
        names.push(name)
        done(null)
      }
      const server = createTlsServer({ cert, key, SNICallback })
      const secure = await listening(
        server.on('request', (_, response) => void response.end()),
        '127.0.0.1',
        'https',
      )
      expectFailure(
        await send(`https://hooks.test:${secure.port}/`, { resolve }),
        /^the TLS certificate is self-signed$/,
      )
      expect(names).toEqual(['hooks.test'])
      expectFailure(await send(`https://hooks.test:${plain.port}/`, { resolve }), /^the TLS handshake failed$/)
    },
  )

  it.skipIf(!OPENSSL)(
    'is accepted over TLS where the certificate is trusted and for the name, and only there',
    async () => {
      const { cert, key, file } = certificate('hooks.test')
      const server = createTlsServer({ cert, key }, (_, response) => void response.writeHead(204).end())
      const { port } = await listening(server, '127.0.0.1', 'https')
      // Trust is read as a process starts.
      const script = `
      import { sendWebhook } from ${JSON.stringify(join(import.meta.dirname, '../../src/operations/webhook-deliveries/send.ts'))}
      for (const name of ['hooks.test', 'other.test']) {
        const { status, error } = await sendWebhook({ url: 'https://' + name + ':${port}/', headers: {}, body: '{}',
          allowPrivate: true, ports: [], timeoutMs: 5000, resolve: async () => ['127.0.0.1'] })
        process.stdout.write(JSON.stringify([status, error]) + '\\n')
      }
      process.exit()`
      const { execa } = await import('execa')
      const { stdout } = await execa(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
        env: { NODE_EXTRA_CA_CERTS: file },
      })
      expect(stdout.split('\n').map((line) => JSON.parse(line))).toEqual([
        [204, null],
        [null, 'the TLS certificate is for another name'],
      ])
    },
  )

  it.skipIf(!IPV6)('reaches a receiver by IPv6, and by the second address where the first is dead', async () => {
    const six = await http((_, response) => void response.end(), '::1')
    expect(await send(six.url)).toMatchObject({ status: 200, error: null })
    // Servers of other tests listen at 127.0.0.1, perhaps on the same port; nobody does at 127.0.0.2.
    const dead: Resolve = async () => ['::1', '127.0.0.2']
    expect(await send(`http://hooks.test:${six.port}/`, { resolve: dead })).toMatchObject({ status: 200, error: null })
  })
})

describe('a delivery to a receiver that turns private', () => {
  it('opens no connection, not even to the public one of its addresses', async () => {
    const { port, sockets } = await http((_, response) => void response.end())
    const url = `https://hooks.example.com:${port}/`
    const strict = { allowPrivate: false, ports: [String(port)] }
    const connected: unknown[] = []
    const onConnected = (message: unknown) => void connected.push(message)
    subscribe('undici:client:connected', onConnected)
    onTestFinished(() => void unsubscribe('undici:client:connected', onConnected))
    const answers = [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['::ffff:7f00:1']]
    for (const addresses of answers) {
      const result = await send(url, { ...strict, resolve: async () => addresses, timeoutMs: 20_000 })
      expectFailure(result, /^hooks\.example\.com is not a public host: it resolves to [\da-f.:]+, an? [\w -]+$/)
      // It is the check that refuses, and no timeout.
      expect(result.duration_ms).toBeLessThan(15_000)
    }
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f.1',
      'localhost',
      'a.localhost',
    ]) {
      const result = await send(url.replace('hooks.example.com', host), { ...strict, resolve: LOCAL })
      expectFailure(result, /is not a public host/)
    }
    expectFailure(await send(url.replace('https:', 'http:'), { ...strict, resolve: LOCAL }), /^must be https/)
    expectFailure(await send(url, { ...strict, ports: ['443'], resolve: LOCAL }), /^port \d+ is not allowed; use 443/)
    expect([sockets, connected]).toEqual([[], []])
    // The same server is within reach where private receivers are allowed: only the check kept the others out.
    await send(url.replace('https:', 'http:'), { resolve: LOCAL })
    expect([sockets.length, connected.length]).toEqual([1, 1])
  })

  it('looks at the name anew at every dial, and dials nothing once it was rebound', async () => {
    const { port, sockets } = await http((_, response) => void response.end())
    const { checkReceiver } = await import('../../src/operations/webhook-subscriptions/check-receiver.ts')
    const { loadConfig } = await import('../../src/settings/config.ts')
    let asked = 0
    const rebinding: Resolve = async () => (asked++ === 0 ? ['93.184.215.14'] : ['127.0.0.1'])
    const url = `https://hooks.example.com:${port}/`
    const config = loadConfig({ flags: { 'webhooks.ports': String(port) }, env: {}, cwd: '/' })
    await checkReceiver({ config, resolve: rebinding }, url)
    const strict = { allowPrivate: false, ports: [String(port)], resolve: rebinding }
    for (const dials of [2, 3, 4]) {
      expectFailure(await send(url, strict), /it resolves to 127\.0\.0\.1, a loopback address$/)
      expect(asked).toBe(dials)
    }
    expect(sockets).toHaveLength(0)
  })

  it.skipIf(!OPENSSL)(
    'cannot use a connection that was opened where private receivers are allowed, nor another resolver’s',
    async () => {
      const { cert, key } = certificate('hooks.test')
      const server = createTlsServer({ cert, key }, (_, response) => void response.end())
      const { port } = await listening(server, '127.0.0.1', 'https')
      const plain = await http((_, response) => void response.end())
      const url = `http://hooks.test:${plain.port}/`
      for (let round = 0; round < 3; round++) {
        expect((await send(url, { resolve: LOCAL })).status).toBe(200)
        await new Promise(setImmediate)
      }
      expect(plain.sockets).toHaveLength(1)
      const elsewhere: Resolve = async () => [IPV6 ? '::1' : '127.0.0.2']
      expectFailure(await send(url, { resolve: elsewhere }), /^the connection was refused$/)
      const strict = { allowPrivate: false, ports: [String(port)], resolve: LOCAL }
      await send(`https://hooks.example.com:${port}/`, { resolve: LOCAL })
      expectFailure(await send(`https://hooks.example.com:${port}/`, strict), /is not a public host/)
      expect(plain.sockets).toHaveLength(1)
    },
  )
})

describe('a kept connection', () => {
  it('ends after a minute, so that a name that moved is asked for and checked again', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port, sockets } = await http((_, response) => void response.end())
    let asked = 0
    const resolve: Resolve = async () => {
      asked++
      return ['127.0.0.1']
    }
    const once = async () => {
      expect((await send(`http://hooks.test:${port}/`, { resolve })).status).toBe(200)
      await new Promise(setImmediate)
    }
    for (let round = 0; round < 5; round++) await once()
    expect([asked, sockets.length]).toEqual([1, 1])
    vi.setSystemTime(Date.now() + 60_001)
    await once()
    expect([asked, sockets.length]).toEqual([2, 2])
  })

  it('that was replaced after a minute ends at a shutdown, like every other', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let isHeard = () => {}
    const heard = new Promise<void>((resolve) => {
      isHeard = resolve
    })
    const { url } = await http((_, response) => {
      if (response.req.headers['x-slow'] === undefined) response.end()
      else isHeard()
    })
    const ending = new AbortController()
    const slow = send(url, { ending: ending.signal, headers: { 'x-slow': '1' }, timeoutMs: 60_000 })
    await heard
    vi.setSystemTime(Date.now() + 60_001)
    expect((await send(url, { ending: ending.signal })).status).toBe(200)
    ending.abort()
    expect(await slow).toMatchObject({ status: null, error: 'the service is shutting down' })
  })

  it('ends with the process, though another connection to its receiver had failed before it was open', async () => {
    let isHeard = () => {}
    const heard = new Promise<void>((done) => {
      isHeard = done
    })
    const silent = await http(() => isHeard())
    let hasFailed = () => {}
    const failed = new Promise<void>((done) => {
      hasFailed = done
    })
    let asked = 0
    const resolve: Resolve = async () => {
      if (asked++ === 0) return []
      await failed
      return ['127.0.0.1']
    }
    const ending = new AbortController()
    const over = { resolve, ending: ending.signal, timeoutMs: 15_000 }
    const url = `http://receiver.test:${silent.port}/hooks`
    const [refused, waiting] = [send(url, over), send(url, over)]
    expectFailure(await refused, 'does not resolve')
    hasFailed()
    await heard
    ending.abort()
    expect(await waiting).toMatchObject({ status: null, error: 'the service is shutting down' })
  })

  /** Answers the first request of every connection, and does `then` with the second. */
  const closing = async (then: (socket: Socket) => void) => {
    let requests = 0
    const server = createTcpServer((socket) => {
      let heard = 0
      socket.on('data', (bytes) => {
        // The body may come in a packet of its own.
        requests += bytes.toString('latin1').split('POST /hooks').length - 1
        if (!bytes.toString('latin1').includes('POST /hooks')) return
        if (++heard === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else then(socket)
      })
    })
    return { ...(await listening(server)), requests: () => requests }
  }

  it.each<[string, (socket: Socket) => void]>([
    ['ends', (socket) => void socket.end()],
    ['resets', (socket) => void socket.resetAndDestroy()],
  ])('that the receiver %s without an answer fails no delivery: it is made on a fresh one', async (_, then) => {
    const receiver = await closing(then)
    for (let n = 0; n < 3; n++) {
      expect(await send(receiver.url)).toMatchObject({ status: 200, error: null })
      await new Promise(setImmediate)
    }
    // The first is answered; the second and the third each meet a connection as it closes, and open another.
    expect([receiver.requests(), receiver.sockets.length]).toEqual([5, 3])
  })

  it('that is closed within the headers of an answer fails no delivery either; a fresh one does, after one request', async () => {
    const partly = await closing((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le'))
    for (let n = 0; n < 2; n++) {
      expect((await send(partly.url)).status).toBe(200)
      await new Promise(setImmediate)
    }
    expect([partly.requests(), partly.sockets.length]).toEqual([3, 2])
    const never = await tcp((socket) => void socket.end())
    expectFailure(await send(never.url), /^the connection was closed before an answer$/)
    expect(never.sockets).toHaveLength(1)
  })

  it('that is closed after the receiver has worked on the delivery for seconds fails it after one request', async () => {
    const receiver = await closing((socket) => void setTimeout(() => socket.end(), 2_500))
    expect((await send(receiver.url)).status).toBe(200)
    await new Promise(setImmediate)
    expectFailure(await send(receiver.url), /^the connection was closed before an answer$/)
    expect(receiver.requests()).toBe(2)
  })

  it('that came too late carries nothing of the delivery that gave up on it', async () => {
    const ids: string[] = []
    const { port, sockets } = await http((request, response) => {
      ids.push(String(request.headers['webhook-id']))
      response.end()
    })
    let release = (_: readonly string[]) => {}
    const answer = new Promise<readonly string[]>((resolve) => {
      release = resolve
    })
    const resolve: Resolve = () => answer
    const to = (id: string, timeoutMs: number) =>
      send(`http://hooks.test:${port}/`, { resolve, timeoutMs, headers: { 'webhook-id': id } })
    expectFailure(await to('late', 50), /^no answer within 0\.05 s$/)
    release(['127.0.0.1'])
    expect((await to('next', 5_000)).status).toBe(200)
    expect((await to('last', 5_000)).status).toBe(200)
    expect(ids).toEqual(['next', 'last'])
    expect(sockets.length).toBeGreaterThan(0)
  })
})

describe('many deliveries at once', () => {
  it('each get their own answer, and one that hangs delays no other', async () => {
    const { url } = await http(async (request, response) => {
      const { n } = JSON.parse((await bytesOf(request)).toString())
      if (n % 10 === 0) return
      response.writeHead(200 + (n % 7)).end(String(n))
    })
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        send(url, { body: JSON.stringify({ n }), timeoutMs: n % 10 ? 10_000 : 300 }),
      ),
    )
    for (const [n, { status, error }] of results.entries()) {
      expect([status, error]).toEqual(n % 10 === 0 ? [null, 'no answer within 0.3 s'] : [200 + (n % 7), null])
    }
  })
})

/** A certificate for a name, signed by itself, made now so that none is kept in the repository. */
function certificate(name: string) {
  const folder = temporaryFolder()
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', ['req', '-x509', ...options, ...subject, '-keyout', keyFile, '-out', file], { stdio: 'pipe' })
  return { file, cert: readFileSync(file), key: readFileSync(keyFile) }
}
