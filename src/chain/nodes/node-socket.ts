/** Subscriptions over an endpoint's WebSocket. They say only when to ask; the answer is read over HTTP. */
import type { WebSocket } from 'ws'
import { webSocketUrl } from '../../settings/cluster.ts'
import type { RpcEndpoint } from '../../settings/config.ts'
import type { Commitment } from '../../solana/constants.ts'
import { withoutUser } from '../program-cache/rpc.ts'
import { isRecord, parsedJson } from './node-call.ts'

/** Most signatures that are subscribed to at a time; further ones are found by polling. */
export const MOST_SIGNATURES = 512
/** Milliseconds after which the wait for a signature ends, because its blockhash has long expired. */
const SIGNATURE_LIFE_MS = 180_000
/** Milliseconds without a subscription after which the connection is closed. */
const IDLE_MS = 10_000
const CONNECT_MS = 5_000
/** Pauses between two tries to connect: the first, and the longest after doubling. */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** Milliseconds after which an idle connection is tested, and within which it must answer. */
const SILENCE_MS = 30_000
/** Largest message in bytes; a notification of a signature has a few hundred. */
const LARGEST_MESSAGE = 16 * 1024
/** Number of messages other than JSON-RPC after which the endpoint is dropped. */
const MOST_NONSENSE = 20

/** Address of a WebSocket. */
export interface SocketTarget {
  url: string
  headers: Readonly<Record<string, string>>
  /** Called when the endpoint accepts a subscription. */
  onSubscribed?: () => void
}

export interface SocketOptions {
  /** Addresses to connect to, best first; read before each try, and tried in turn. */
  targets: () => readonly SocketTarget[]
  /** The commitment at which a signature is reported; `confirmed` by default. */
  commitment?: () => Commitment
  after?: (milliseconds: number, act: () => void) => () => void
  ending?: AbortSignal | undefined
}

/** Calls `act` once, when an endpoint reports the signature as confirmed. The returned function ends the wait. */
export type OnSignature = (signature: string, act: () => void) => () => void

export interface NodeSocket {
  onSignature: OnSignature
  close(): void
}

interface Waiting {
  signature: string
  acts: Set<() => void>
  /** Id of the request to subscribe, and of the subscription that the endpoint has returned. */
  asked: number
  subscription: number | undefined
  cancelLife: () => void
}

/** Connects, and loads `ws`, at the first wait for a signature. */
export function createNodeSocket(options: SocketOptions): NodeSocket {
  const { targets, commitment = () => 'confirmed', after = unreferenced, ending } = options
  const waiting = new Map<string, Waiting>()
  let socket: WebSocket | undefined
  let isClosed = false
  let isRetrying = false
  let failures = 0
  let lastId = 0
  let cancelRetry = () => {}
  let cancelSilence = () => {}
  ending?.addEventListener('abort', close)

  const isOpen = () => socket !== undefined && socket.readyState === socket.OPEN

  function send(method: string, params: readonly unknown[]): number {
    const id = ++lastId
    socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return id
  }

  function subscribe(one: Waiting): void {
    one.subscription = undefined
    one.asked = send('signatureSubscribe', [one.signature, { commitment: commitment() }])
  }

  async function connect(): Promise<void> {
    const { WebSocket } = await import('ws')
    if (isClosed || socket !== undefined || waiting.size === 0) return
    const all = targets()
    const target = all[failures % Math.max(1, all.length)]
    if (target === undefined) return retryLater()
    const limits = { maxPayload: LARGEST_MESSAGE, handshakeTimeout: CONNECT_MS }
    let made: WebSocket
    try {
      const more = { headers: target.headers, perMessageDeflate: false, followRedirects: false }
      made = new WebSocket(target.url, { ...limits, ...more })
    } catch {
      // The URL is not valid for a WebSocket.
      return lost()
    }
    let nonsense = 0
    socket = made
    made.on('open', () => {
      heard()
      for (const one of waiting.values()) subscribe(one)
    })
    made.on('message', (data) => {
      heard()
      const message = parsedJson(String(data))
      if (isRecord(message) && message.jsonrpc === '2.0') receive(message, target)
      else if (++nonsense >= MOST_NONSENSE) made.terminate()
    })
    made.on('pong', heard)
    // An error is followed by `close`; without a listener it would end the process.
    made.on('error', () => {})
    made.on('close', () => {
      if (socket === made) lost()
    })
  }

  function lost(): void {
    socket = undefined
    cancelSilence()
    failures++
    if (waiting.size > 0) retryLater()
  }

  function retryLater(): void {
    if (isClosed || isRetrying) return
    isRetrying = true
    const pause = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10))
    // The random part spreads the reconnects of many processes.
    cancelRetry = after(pause * (0.5 + Math.random() / 2), () => {
      isRetrying = false
      void connect()
    })
  }

  /** Pings a connection that is idle for long, and drops it without an answer. */
  function heard(): void {
    cancelSilence()
    cancelSilence = after(SILENCE_MS, () => {
      socket?.ping()
      cancelSilence = after(SILENCE_MS, () => socket?.terminate())
    })
  }

  function receive({ id, result, method, params }: Record<string, unknown>, target: SocketTarget): void {
    // A valid message resets the pauses between tries to connect.
    failures = 0
    const { subscription } = isRecord(params) ? params : {}
    for (const one of [...waiting.values()]) {
      if (one.asked === id && typeof result === 'number') {
        one.subscription = result
        target.onSubscribed?.()
      } else if (
        method === 'signatureNotification' &&
        one.subscription !== undefined &&
        one.subscription === subscription
      ) {
        end(one)
        for (const act of one.acts) act()
      }
    }
  }

  function end(one: Waiting): void {
    waiting.delete(one.signature)
    one.cancelLife()
    if (waiting.size > 0) return
    after(IDLE_MS, () => {
      if (waiting.size === 0) disconnect()
    })
  }

  function disconnect(): void {
    cancelSilence()
    const last = socket
    socket = undefined
    last?.terminate()
  }

  function close(): void {
    isClosed = true
    cancelRetry()
    for (const one of waiting.values()) one.cancelLife()
    waiting.clear()
    disconnect()
  }

  function wait(signature: string): Waiting {
    const one: Waiting = { signature, acts: new Set(), asked: 0, subscription: undefined, cancelLife: () => {} }
    one.cancelLife = after(SIGNATURE_LIFE_MS, () => abandon(one))
    waiting.set(signature, one)
    if (isOpen()) subscribe(one)
    else if (socket === undefined && failures === 0) void connect()
    else if (socket === undefined) retryLater()
    return one
  }

  function abandon(one: Waiting): void {
    if (waiting.get(one.signature) !== one) return
    if (isOpen() && one.subscription !== undefined) send('signatureUnsubscribe', [one.subscription])
    end(one)
  }

  return {
    onSignature(signature, act) {
      const known = waiting.get(signature)
      if (isClosed || (known === undefined && waiting.size >= MOST_SIGNATURES)) return () => {}
      const one = known ?? wait(signature)
      one.acts.add(act)
      return () => {
        if (one.acts.delete(act) && one.acts.size === 0) abandon(one)
      }
    },
    close,
  }
}

/** A wait for a WebSocket does not keep the process alive. */
function unreferenced(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds)
  timer.unref()
  return () => clearTimeout(timer)
}

/** A validator has it on the next port, a proxy on the same port; without a port in the URL both are equal. */
export function socketTargets({ url, headers }: RpcEndpoint): SocketTarget[] {
  const { href, authorization } = withoutUser(url)
  const same = new URL(href)
  same.protocol = same.protocol === 'https:' ? 'wss:' : 'ws:'
  const urls = new Set([webSocketUrl(href), same.href])
  return [...urls].map((each) => ({ url: each, headers: { ...authorization, ...headers } }))
}
