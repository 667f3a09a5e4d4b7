/** Connections of a real daemon: clients without a key hold no memory, and no connection for long. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../../daemon/http-server.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { temporaryFolder } from '../support/service.ts'

const MIB = 1024 * 1024

async function daemonWith(env: Record<string, string> = {}): Promise<Daemon> {
  const daemon = await startDaemon({ dataDir: temporaryFolder(), env })
  onTestFinished(() => daemon.stop())
  return daemon
}

/** Resident memory of the process as the kernel counts it. */
const residentOf = (daemon: Daemon): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8'))![1]) * 1024

interface Line {
  socket: Socket
  /** All that came back. */
  answer(): string
  closed: Promise<void>
}

async function open(daemon: Daemon): Promise<Line> {
  const { hostname, port } = new URL(daemon.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let answer = ''
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text
  })
  // A reset is an end like any other here.
  socket.on('error', () => {})
  const closed = new Promise<void>((settle) => socket.once('close', () => settle()))
  await new Promise((settle) => socket.once('connect', settle))
  return { socket, answer: () => answer, closed }
}

const head = (path: string, ...headers: string[]) =>
  `${[`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`

const statusOf = (line: Line) => Number(/^HTTP\/1\.1 (\d+)/.exec(line.answer())?.[1])

/** Sends so many bytes, or as many as the other side takes. */
async function pour({ socket }: Line, bytes: number): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 32)
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) {
      await Promise.race([
        new Promise((settle) => socket.once('drain', settle)),
        new Promise((settle) => socket.once('close', settle)),
      ])
    }
  }
}

describe('one connection without a key', () => {
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  it('costs the memory of one page if it asks for the largest page a thousand times and reads nothing', async () => {
    const daemon = await daemonWith()
    for (const path of ['/assets/docs/swagger-ui-bundle.js', '/v2/openapi.json']) {
      await (await fetch(daemon.url + path)).arrayBuffer()
      const before = residentOf(daemon)
      const line = await open(daemon)
      line.socket.pause().write(ask(path).repeat(1_000))
      for (let look = 0; look < 20; look++) {
        expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
        expect((residentOf(daemon) - before) / MIB).toBeLessThan(60)
      }
      line.socket.destroy()
    }
  })

  it('is closed if it reads nothing of its answer', async () => {
    const app = {
      fetch: async () => new Response(Buffer.alloc(32 * MIB)),
      refuse: () => new Response(),
      close: async () => {},
    }
    const server = createHttpServer(app, loadConfig({ env: {}, cwd: temporaryFolder() }))
    onTestFinished(() => void server.close())
    // Five minutes; nobody waits for them here.
    expect(server.timeout).toBe(300_000)
    server.timeout = 1_000
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1').pause()
    socket.write(ask('/'))
    const ended = await new Promise((settle) => server.once('connection', (taken) => taken.once('close', settle)))
    expect(ended).toBe(false)
    socket.destroy()
  })

  it('gets its answers in the order of its pipelined requests', async () => {
    const daemon = await daemonWith()
    const line = await open(daemon)
    const paths = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? `/nowhere/${n}` : '/v2/health'))
    line.socket.write(paths.map(ask).join(''))
    const answers = () => line.answer().match(/There is no \/nowhere\/\d+|"healthy"/g) ?? []
    await expect.poll(() => answers().length, { timeout: 10_000 }).toBe(50)
    expect(answers()).toEqual(paths.map((path) => (path === '/v2/health' ? '"healthy"' : `There is no ${path}`)))
  })
})

describe('sixty connections', () => {
  it('that send 15 MB each are answered at once and closed, and memory stays flat', async () => {
    const daemon = await daemonWith()
    await daemon.request('GET', '/v2/health')
    const before = residentOf(daemon)
    const lines = await Promise.all(Array.from({ length: 60 }, () => open(daemon)))
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, residentOf(daemon))
    }, 5)
    const kinds = [`Content-Length: ${15 * MIB}`, 'Transfer-Encoding: chunked', `Content-Length: ${15 * MIB}`]
    await Promise.all(
      lines.map(async (line, n) => {
        line.socket.write(head(n % 2 === 0 ? '/v2/merkle-trees' : '/v2/pools', kinds[n % 3]!))
        // A third says nothing more; the others go on sending.
        if (n % 3 === 0) return
        if (n % 3 === 1) line.socket.write(`${(15 * MIB).toString(16)}\r\n`)
        await pour(line, 15 * MIB)
      }),
    )
    const { status } = await daemon.request('GET', '/v2/health')
    expect(status).toBe(200)
    await Promise.all(lines.map(({ closed }) => closed))
    clearInterval(watch)
    for (const line of lines) expect([401, Number.NaN]).toContain(statusOf(line))
    expect(lines.filter((line) => statusOf(line) === 401).length).toBeGreaterThanOrEqual(20)
    // 900 MB were announced; what the sockets hold is measured here.
    expect((most - before) / MIB).toBeLessThan(100)
  })

  it('with a key, that announce 15 MB and send nothing, hold no memory', async () => {
    const daemon = await daemonWith({ SVC_REQUEST_TIMEOUT_SECONDS: '2' })
    await daemon.request('GET', '/v2/health')
    const before = residentOf(daemon)
    const lines = await Promise.all(Array.from({ length: 60 }, () => open(daemon)))
    const began = performance.now()
    for (const { socket } of lines) {
      socket.write(
        `${head('/v2/merkle-trees', `Authorization: Bearer ${daemon.operator}`, `Content-Length: ${15 * MIB}`)}{"mint":`,
      )
    }
    expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
    expect((residentOf(daemon) - before) / MIB).toBeLessThan(100)
    await Promise.all(lines.map(({ closed }) => closed))
    expect(performance.now() - began).toBeLessThan(15_000)
    expect((await daemon.request('GET', '/v2/api-keys')).status).toBe(200)
  })
})

describe('a client that is slow', () => {
  it('is closed if it sends its headers slowly or sends nothing', async () => {
    const daemon = await daemonWith({ SVC_HEADER_TIMEOUT_SECONDS: '1' })
    const [mute, dribbling] = [await open(daemon), await open(daemon)]
    dribbling.socket.write('GET /v2/health HTTP/1.1\r\nHost: localhost\r\n')
    const writing = setInterval(() => dribbling.socket.write('X-A: b\r\n'), 200)
    onTestFinished(() => clearInterval(writing))
    const began = performance.now()
    await Promise.all([mute.closed, dribbling.closed])
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(JSON.parse(dribbling.answer().split('\r\n\r\n')[1]!).error.message).toBe('The request was not sent in time')
  })

  it('gets an error envelope and is closed if it sends its body slowly', async () => {
    const daemon = await daemonWith({ SVC_REQUEST_TIMEOUT_SECONDS: '1' })
    const line = await open(daemon)
    line.socket.write(head('/v2/api-keys', `Authorization: Bearer ${daemon.operator}`, 'Content-Length: 1000'))
    const writing = setInterval(() => line.socket.write(' '), 100)
    onTestFinished(() => clearInterval(writing))
    await line.closed
    expect(statusOf(line)).toBe(400)
    expect(line.answer()).toContain('The request was not sent in time')
  })

  it('is limited by settings of at most a minute', async () => {
    for (const name of ['HEADER', 'REQUEST']) {
      const starting = startDaemon({ dataDir: temporaryFolder(), env: { [`SVC_${name}_TIMEOUT_SECONDS`]: '61' } })
      await expect(starting).rejects.toThrow(/from 1 to 60/)
    }
  })
})

describe('a connection beyond max-connections', () => {
  it('is closed at once, until others end', async () => {
    const daemon = await daemonWith({ SVC_MAX_CONNECTIONS: '8', SVC_HEADER_TIMEOUT_SECONDS: '5' })
    const lines = await Promise.all(Array.from({ length: 8 }, () => open(daemon)))
    // They are taken in the order in which they came.
    const late = await open(daemon)
    await late.closed
    expect(late.answer()).toBe('')
    for (const { socket } of lines) socket.destroy()
    await expect
      .poll(() =>
        daemon.request('GET', '/v2/health').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200)
  })
})
