/** What only shows on a real socket: big and broken requests, and a daemon's coming and going. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { onPostgres } from '../support/database.ts'
import { makeFolder, removeFolder, startService, temporaryFolder } from '../support/service.ts'

const MIB = 1024 * 1024

/** Of all tests; the last one ends it. */
let folder: string
let daemon: Daemon
let log = ''
beforeAll(async () => {
  folder = makeFolder()
  const onLog = (text: string) => {
    log += text
  }
  daemon = await startDaemon({ dataDir: folder, env: { SVC_BODY_LIMIT_MIB: '1' }, onLog })
})
afterAll(async () => {
  await daemon?.stop()
  removeFolder(folder)
})

describe('over a socket', () => {
  /** Sends the text as it is and answers all that comes back until the other side closes. */
  const raw = (text: string): Promise<{ status: number; body: string }> =>
    new Promise((settle, reject) => {
      const { hostname, port } = new URL(daemon.url)
      const socket = connect(Number(port), hostname, () => socket.write(text))
      let answer = ''
      socket.setTimeout(60_000, () => socket.destroy(new Error(`no answer in a minute: ${answer}`)))
      socket.setEncoding('utf8').on('data', (more) => {
        answer += more
      })
      socket.on('error', reject)
      socket.on('close', () => {
        const [head = '', ...rest] = answer.split('\r\n\r\n')
        settle({ status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n') })
      })
    })
  const lines = (...text: string[]) => `${text.join('\r\n')}\r\n\r\n`

  it('a body that declares a length over the limit is refused before it is sent', async () => {
    const { status, body } = await raw(
      lines(
        'POST /v2/merkle-trees HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${daemon.operator}`,
        'Content-Type: application/json',
        `Content-Length: ${MIB + 1}`,
        'Connection: close',
      ),
    )
    expect(status).toBe(400)
    expect(JSON.parse(body).error).toMatchObject({ code: 'bad_request', details: { limit_bytes: MIB } })
  })

  it('a body that grows over the limit is refused while it is streamed', async () => {
    const endless = new ReadableStream<Uint8Array>({
      // Now and then it reads too: otherwise the connection could be gone before the answer is seen.
      async pull(controller) {
        await new Promise(setImmediate)
        controller.enqueue(new Uint8Array(64 * 1024).fill(32))
      },
    })
    const answered = fetch(`${daemon.url}/v2/merkle-trees`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { authorization: `Bearer ${daemon.operator}`, 'content-type': 'application/json' },
    } as RequestInit)
    const response = await answered
    expect(response.status).toBe(400)
    const { error, meta } = (await response.json()) as { error: { message: string }; meta: { request_id: string } }
    expect(error.message).toBe('The request body is larger than 1 MiB')
    expect(meta.request_id).toBe(response.headers.get('x-request-id'))
    expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
  })

  it('a request that is not HTTP, has no host or too many headers is refused in the envelope', async () => {
    const requests = [
      'nonsense\r\n\r\n',
      lines('GET /v2/health HTTP/1.1', 'Connection: close'),
      lines('GET /v2/health HTTP/1.1', 'Host: a b', 'Connection: close'),
      lines('GET /v2/health HTTP/1.1', 'Host: x', `X-Big: ${'x'.repeat(20_000)}`, 'Connection: close'),
      lines('GET /v2/health HTTP/1.1', 'Host: x', 'Content-Length: x', 'Connection: close'),
      lines('GET //v2//health HTTP/1.1', 'Host: x', 'Connection: close'),
      lines('GET http:///x/y HTTP/1.1', 'Host: x', 'Connection: close'),
    ]
    for (const request of requests) {
      const { status, body } = await raw(request)
      expect([request.slice(0, 60), status >= 400 && status < 500]).toEqual([request.slice(0, 60), true])
      const { error, meta } = JSON.parse(body)
      expect([error.code, meta.request_id], request).toEqual([expect.any(String), expect.stringMatching(/./)])
    }
  })

  it('a request of HTTP/1.0 without a host is answered', async () => {
    const { status, body } = await raw(lines('GET /v2/health HTTP/1.0'))
    expect([status, JSON.parse(body).data.status]).toEqual([200, 'healthy'])
  })

  it('two request ids, and a compressed body, are refused by name', async () => {
    const head = ['Host: localhost', `Authorization: Bearer ${daemon.operator}`, 'Connection: close']
    const twice = await raw(lines('GET /v2/pools HTTP/1.1', ...head, 'X-Request-Id: a', 'X-Request-Id: b'))
    const json = ['Content-Type: application/json', 'Content-Length: 2']
    const packed = await raw(`${lines('POST /v2/api-keys HTTP/1.1', ...head, ...json, 'Content-Encoding: gzip')}ab`)
    for (const [{ status, body }, param] of [
      [twice, 'X-Request-Id'],
      [packed, 'Content-Encoding'],
    ] as const) {
      const { error } = JSON.parse(body)
      expect([status, error.code, error.param]).toEqual([400, 'bad_request', param])
      expect(error.message).toContain(param)
    }
  })

  it('clients that hang up within a body leave no trace and no error', async () => {
    const { hostname, port } = new URL(daemon.url)
    await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<void>((settle) => {
            const socket = connect(Number(port), hostname, () => {
              socket.write(
                `POST /v2/api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${daemon.operator}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":`,
                () => socket.destroy(),
              )
            })
            socket.on('close', () => settle())
          }),
      ),
    )
    const { json } = await daemon.request('GET', '/v2/api-keys')
    expect(json.data).toHaveLength(1)
    expect(log).not.toMatch(/"level":"error"/)
  })
})

describe('a daemon', () => {
  it('reports its address in daemon.json, keeps its files private, and refuses a second on its folder', async () => {
    const told = JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8'))
    const port = (url: string) => Number(new URL(url).port)
    expect(told).toMatchObject({
      pid: daemon.process.pid,
      url: daemon.url,
      role: 'all',
      cluster: 'embedded',
      cluster_unchosen: null,
    })
    const names = [
      'pid',
      'database',
      'reload_signal',
      'url',
      'role',
      'cluster',
      'cluster_unchosen',
      'rpc_url',
      'ws_url',
    ]
    expect(Object.keys(told)).toEqual(names)
    expect(port(told.ws_url)).toBe(port(told.rpc_url) + 1)
    for (const file of ['operator.key', 'daemon.json', ...(onPostgres ? [] : ['encryption.key', 'svc.db'])]) {
      expect([file, (statSync(join(folder, file)).mode & 0o777).toString(8)]).toEqual([file, '600'])
    }
    await expect(startDaemon({ dataDir: folder })).rejects.toThrow(`pid ${daemon.process.pid}`)
    expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
  })

  it('does not start without the keypair file of its platform wallet, and names it', async () => {
    const env = { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: '/nonexistent/platform.json' }
    await expect(startDaemon({ dataDir: temporaryFolder(), env })).rejects.toThrow(
      'signer.keypair: the keypair file /nonexistent/platform.json does not exist',
    )
  })

  it('answers open requests before it ends, and removes daemon.json', async () => {
    const asked = Array.from({ length: 20 }, (_, n) =>
      daemon.request('POST', '/v2/api-keys', { body: { name: `n${n}` } }),
    )
    await Promise.race(asked)
    await daemon.stop('SIGTERM')
    expect([daemon.process.exitCode, existsSync(join(folder, 'daemon.json'))]).toEqual([0, false])
    const answers = await Promise.allSettled(asked)
    const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []))
    expect(made.every((status) => status === 201)).toBe(true)
    const again = await startService({ dataDir: folder })
    const { json } = await again.request('GET', '/v2/api-keys?limit=100')
    expect(json.data.length - 1).toBeGreaterThanOrEqual(made.length)
  })
})
