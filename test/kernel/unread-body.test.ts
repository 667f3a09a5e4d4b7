/** Requests that are refused before their body has ended: the client gets the answer, and its connection stays usable. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { listen } from './listening.ts'

const KIB = 1024
const MIB = 1024 * KIB
const HEALTH = 'GET /v2/health HTTP/1.1\r\nhost: svc.test\r\nconnection: close\r\n\r\n'

interface Refused {
  path?: string
  bearer?: string
  type?: string
  body: string
  /** Sent in pieces of which the last says that there are no more, so that the size is not declared. */
  chunked?: true
  status: number
}

/** A body that is wrong from the start, and goes on. */
const deep = (bytes: number) => `${'['.repeat(64)}${' '.repeat(bytes)}`
const wide = (bytes: number) => `{${'"k":0,'.repeat(Math.ceil(bytes / 6))}"k":0}`
const long = (bytes: number) => `{"name":"${'x'.repeat(bytes)}"}`

const refusals = (exhausted: string): Record<string, Refused> => ({
  'a declared size': { body: long(300 * KIB), status: 400 },
  'a size that turns out': { body: long(600 * KIB), chunked: true, status: 400 },
  'a depth': { body: deep(200 * KIB), status: 400 },
  'a width': { path: '/v2/pools', body: wide(400 * KIB), status: 400 },
  'a content type': { body: long(200 * KIB), type: 'text/plain', status: 400 },
  'a missing key': { body: long(200 * KIB), bearer: '', status: 401 },
  'an unknown key': { body: long(200 * KIB), bearer: 'svc_live_none', status: 403 },
  'a limit': { body: long(200 * KIB), bearer: exhausted, status: 429 },
  'an unknown path': { path: '/v2/nothing', body: long(200 * KIB), status: 404 },
})

function bytesOf({ path = '/v2/api-keys', bearer, type = 'application/json', body, chunked }: Refused, more: string[]) {
  const head = [`POST ${path} HTTP/1.1`, 'host: svc.test', `content-type: ${type}`, ...more]
  if (bearer) head.push(`authorization: Bearer ${bearer}`)
  if (!chunked) return `${[...head, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`
  const pieces = body.match(/[\s\S]{1,30000}/g) ?? []
  const sent = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
  return `${[...head, 'transfer-encoding: chunked'].join('\r\n')}\r\n\r\n${sent}0\r\n\r\n`
}

/** A client that reads nothing before it has written everything, like Python's http.client. */
async function writeThenRead(port: number, texts: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  await once(socket, 'connect')
  socket.pause()
  for (const text of texts) {
    await new Promise<void>((written, failed) => {
      socket.once('error', failed)
      socket.write(text, (error) => (error ? failed(error) : written()))
    })
  }
  let answers = ''
  socket.on('data', (piece) => {
    answers += piece
  })
  socket.resume()
  await once(socket, 'close')
  return answers
}

const statuses = (answers: string) => Array.from(answers.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status))

describe('a request that is refused within its body', () => {
  async function start() {
    const service = await startService()
    const exhausted = await service.key({ perMinute: 1 })
    await service.request('GET', '/v2/pools', { key: exhausted })
    const { port } = await listen(service)
    const cases = Object.entries(refusals(exhausted)).map(([name, refused]): [string, Refused] => [
      name,
      { bearer: service.operator, ...refused },
    ])
    return { port, cases, operator: service.operator }
  }

  it('leaves its connection usable for the next request', async () => {
    const { port, cases } = await start()
    for (const [name, refused] of cases) {
      const answers = await writeThenRead(port, [bytesOf(refused, []), HEALTH])
      expect([name, ...statuses(answers)]).toEqual([name, refused.status, 200])
    }
  })

  it('is answered if the client lets the connection be closed', async () => {
    const { port, cases } = await start()
    for (const [name, refused] of cases) {
      const answers = await writeThenRead(port, [bytesOf(refused, ['connection: close'])])
      expect([name, ...statuses(answers)]).toEqual([name, refused.status])
    }
  })

  it('is answered to a client that writes megabytes before it reads', async () => {
    const { port, operator } = await start()
    for (const size of [4 * MIB, 15 * MIB]) {
      for (const more of [[], ['connection: close']]) {
        const refused = { path: '/v2/pools', bearer: operator, body: deep(size), status: 400 }
        const answers = await writeThenRead(port, [bytesOf(refused, more), ...(more.length > 0 ? [] : [HEALTH])])
        expect(statuses(answers)).toEqual(more.length > 0 ? [400] : [400, 200])
      }
    }
  })
})
