/** A separate client process: 64 connections that each send a request as soon as the last one is answered. */
import { fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import type { Cost } from '../measurement.ts'
import { processorMs } from './processor-time.ts'
import type { ServerProcess } from './server.ts'

interface Flood {
  /** Requested in turn; all of one server. */
  urls: readonly string[]
  headers: Record<string, string>
  /** Sends the requests as POST with this body, each with its own Idempotency-Key. */
  body?: string
}

/** The requests to one server. */
export interface FloodTarget extends Flood {
  server: ServerProcess
}

type Sent = Flood & { requests: number; run: number }
type Answer = { ms: number } | { error: string }

const CONNECTIONS = 64
const HEAD_END = '\r\n\r\n'

export interface FloodClient {
  /** Sends so many requests; resolves with what one of them cost, in microseconds: elapsed, and the server's processor. */
  flood(target: FloodTarget, requests: number): Promise<Cost>
  close(): void
}

/** Starts the client process. It uses raw sockets, so it costs less than the servers that it measures. */
export function openFloodClient(): FloodClient {
  const child = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] })
  let run = Date.now()
  const ask = (sent: Sent) =>
    new Promise<number>((resolve, reject) => {
      const onExit = () => reject(new Error('the client process ended'))
      child.once('exit', onExit)
      child.once('message', (answer: Answer) => {
        child.off('exit', onExit)
        if ('error' in answer) reject(new Error(answer.error))
        else resolve(answer.ms)
      })
      child.send(sent)
    })
  return {
    async flood({ server: { pid }, ...flood }, requests) {
      const before = processorMs(pid)
      const ms = await ask({ ...flood, requests, run: run++ })
      return { wall: (ms / requests) * 1_000, processor: ((processorMs(pid) - before) / requests) * 1_000 }
    },
    close: () => void child.kill(),
  }
}

/** Bytes of the whole answer at the start of `text`; undefined while its head is not whole. Throws at a fault. */
function answerLength(text: string): number | undefined {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  if (!text.startsWith('HTTP/1.1 20') || length === undefined) throw new Error(`answered ${text.slice(0, 1_000)}`)
  return headEnd + HEAD_END.length + Number(length)
}

/** Sends one request after the other over the connection, until `take` gives none. */
function drain(socket: Socket, take: () => string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const send = () => {
      const request = take()
      if (request !== undefined) return void socket.write(request)
      resolve()
      socket.destroy()
    }
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('error', reject).on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (piece: string) => {
      try {
        received = received === '' ? piece : received + piece
        const length = answerLength(received)
        if (length === undefined || received.length < length) return
        received = ''
        send()
      } catch (error) {
        reject(error)
      }
    })
    send()
  })
}

/** Returns the milliseconds that all requests took. */
async function send({ urls, headers, body, requests, run }: Sent): Promise<number> {
  const { hostname, port, host } = new URL(urls[0] ?? '')
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  const heads = urls.map((url) => {
    const { pathname, search } = new URL(url)
    return `${body === undefined ? 'GET' : 'POST'} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}`
  })
  let sent = 0
  const take = () => {
    if (sent === requests) return undefined
    const head = heads[sent++ % heads.length]
    return body === undefined ? `${head}\r\n` : `${head}idempotency-key: ${run}-${sent}\r\n\r\n${body}`
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: CONNECTIONS }, () => drain(connect(Number(port), hostname), take)))
  return performance.now() - from
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  process.on('message', (request: Sent) => {
    send(request).then(
      (ms) => process.send?.({ ms }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
}
