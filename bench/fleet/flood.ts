/** A client process of its own: 64 connections that each send a GET request as soon as the last one is answered. */
import { fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

export interface FloodRequest {
  /** Asked for in turn; all of one server. */
  urls: readonly string[]
  headers: Record<string, string>
  requests: number
}

export interface Flooded {
  answered: number
  ms: number
  /** Bytes of one answer's body. */
  bodyBytes: number
}

const CONNECTIONS = 64
const HEAD_END = '\r\n\r\n'

export interface FloodClient {
  flood(request: FloodRequest): Promise<Flooded>
  close(): void
}

/** Starts the client process; it sends over raw sockets, so that it costs less than the servers that it measures. */
export function openFloodClient(): FloodClient {
  const child = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] })
  return {
    flood: (request) =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error('the client process ended'))
        child.once('exit', onExit)
        child.once('message', (message: Flooded | { error: string }) => {
          child.off('exit', onExit)
          if ('error' in message) reject(new Error(message.error))
          else resolve(message)
        })
        child.send(request)
      }),
    close: () => void child.kill(),
  }
}

/** Length of an answer whose head ends at `headEnd`; throws for anything but a 200 with a Content-Length. */
function lengthOf(text: string, headEnd: number): number {
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, headEnd + 2))?.[1]
  if (!text.startsWith('HTTP/1.1 200') || length === undefined) throw new Error(text.slice(0, 1_000))
  return Number(length)
}

async function run({ urls, headers, requests }: FloodRequest): Promise<Flooded> {
  const { hostname, port, host } = new URL(urls[0] ?? '')
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const asked = urls.map((url) => {
    const { pathname, search } = new URL(url)
    return Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
  })
  let turn = 0
  const ask = (socket: Socket) => socket.write(asked[turn++ % asked.length] ?? '')
  const from = performance.now()
  let [sent, answered, bodyBytes] = [CONNECTIONS, 0, 0]
  const line = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let received = ''
      socket.setNoDelay(true)
      socket.setEncoding('latin1')
      socket.on('data', (piece: string) => {
        try {
          received = received === '' ? piece : received + piece
          const headEnd = received.indexOf(HEAD_END)
          if (headEnd < 0) return
          const bytes = lengthOf(received, headEnd)
          if (received.length < headEnd + HEAD_END.length + bytes) return
          received = ''
          bodyBytes = bytes
          answered++
        } catch (error) {
          reject(error)
        }
        if (sent++ < requests) ask(socket)
        else socket.end(resolve)
      })
      socket.on('error', reject)
      ask(socket)
    })
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), hostname))
  await Promise.all(sockets.map(line))
  return { answered, ms: performance.now() - from, bodyBytes }
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  process.on('message', (request: FloodRequest) => {
    run(request).then(
      (flooded) => process.send?.(flooded),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
}
