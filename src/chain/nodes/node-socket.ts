/** Subscriptions over an endpoint's WebSocket. They say only when to ask; the answer is read over HTTP. */
import type { WebSocket } from 'ws'
import { pause } from '../../platform/timing.ts'
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
/** Largest message in bytes; a notification of a signature or a slot has a few hundred. */
const LARGEST_MESSAGE = 16 * 1024
/** Number of messages other than JSON-RPC after which the endpoint is dropped. */
const MOST_NONSENSE = 20

/** Address of a WebSocket. */
export interface SocketTarget {
  url: string
  headers: Readonly<Record<string, string>>
  /** Receives the slots of the endpoint's newest bank. */
  onSlot?: (slot: number) => void
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
  /** Id of the subscription, once the endpoint has returned it. */
  subscription: number | undefined
  endLife: () => void
}

/** Connects, and loads `ws`, at the first wait for a signature. */
export function createNodeSocket(options: SocketOptions): NodeSocket {
  const { targets, commitment = () => 'confirmed', after = unreferenced, ending } = options
  const waiting = new Map<string, Waiting>()
  /** Open requests over the connection, by their ids. */
  const asked = new Map<number, Waiting>()
  let socket: WebSocket | undefined
  let connected: SocketTarget | undefined
  let isConnecting = false
  let isClosed = false
  let failures = 0
  let nonsense = 0
  let lastId = 0
  let cancelTimer = () => {}
  let cancelSilence = () => {}
  ending?.addEventListener('abort', () => close())

  const isOpen = () => socket !== undefined && socket.readyState === socket.OPEN

  function send(method: string, params: readonly unknown[]): number {
    const id = ++lastId
    socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return id
  }

  function subscribe(one: Waiting): void {
    one.subscription = undefined
    asked.set(send('signatureSubscribe', [one.signature, { commitment: commitment() }]), one)
  }

  async function connect(): Promise<void> {
    if (isConnecting || isOpen() || isClosed) return
    const all = targets()
    const target = all[failures % Math.max(1, all.length)]
    if (target === undefined) return retryLater()
    isConnecting = true
    const { WebSocket } = await import('ws')
    if (isClosed) return
    let made: WebSocket
    try {
      const options = { headers: target.headers, maxPayload: LARGEST_MESSAGE, handshakeTimeout: CONNECT_MS }
      made = new WebSocket(target.url, { ...options, perMessageDeflate: false, followRedirects: false })
    } catch {
      // The URL is not valid for a WebSocket.
      return disconnected(undefined)
    }
    socket = made
    made.on('open', () => {
      isConnecting = false
      connected = target
      nonsense = 0
      heard()
      if (target.onSlot !== undefined) send('slotSubscribe', [])
      for (const one of waiting.values()) subscribe(one)
    })
    made.on('message', (data) => {
      heard()
      receive(String(data))
    })
    made.on('pong', () => heard())
    // An error is followed by `close`; without a listener it would end the process.
    made.on('error', () => {})
    made.on('close', () => disconnected(made))
  }

  function disconnected(which: WebSocket | undefined): void {
    if (which !== socket) return
    socket = undefined
    isConnecting = false
    asked.clear()
    cancelSilence()
    failures++
    if (waiting.size > 0) retryLater()
  }

  function retryLater(): void {
    if (isClosed) return
    cancelTimer()
    const pause = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10))
    // The random part spreads the reconnects of many processes.
    cancelTimer = after(pause * (0.5 + Math.random() / 2), () => void connect())
  }

  /** Pings a connection that is idle for long, and drops it without an answer. */
  function heard(): void {
    cancelSilence()
    cancelSilence = after(SILENCE_MS, () => {
      socket?.ping()
      cancelSilence = after(SILENCE_MS, () => socket?.terminate())
    })
  }

  function receive(text: string): void {
    const message = parsedJson(text)
    if (!isRecord(message) || message.jsonrpc !== '2.0') {
      if (++nonsense >= MOST_NONSENSE) socket?.terminate()
      return
    }
    // A valid message resets the pauses between tries to connect.
    failures = 0
    const { id, result, method, params } = message
    const one = typeof id === 'number' ? asked.get(id) : undefined
    if (one !== undefined) {
      asked.delete(id as number)
      if (typeof result !== 'number') return
      one.subscription = result
      connected?.onSubscribed?.()
      return
    }
    const { subscription, result: told } = isRecord(params) ? params : {}
    if (method === 'slotNotification' && isRecord(told) && Number.isSafeInteger(told.slot)) {
      connected?.onSlot?.(told.slot as number)
    }
    if (method !== 'signatureNotification' || typeof subscription !== 'number') return
    for (const each of waiting.values()) if (each.subscription === subscription) landed(each)
  }

  function landed(one: Waiting): void {
    remove(one)
    for (const act of one.acts) act()
  }

  function remove(one: Waiting): void {
    waiting.delete(one.signature)
    one.endLife()
    if (waiting.size > 0) return
    cancelTimer()
    cancelTimer = after(IDLE_MS, () => {
      if (waiting.size === 0) disconnect()
    })
  }

  function disconnect(): void {
    cancelSilence()
    const last = socket
    socket = undefined
    isConnecting = false
    last?.terminate()
  }

  function close(): void {
    isClosed = true
    cancelTimer()
    for (const one of [...waiting.values()]) one.endLife()
    waiting.clear()
    disconnect()
  }

  function wait(signature: string): Waiting {
    const one: Waiting = { signature, acts: new Set(), subscription: undefined, endLife: () => {} }
    one.endLife = after(SIGNATURE_LIFE_MS, () => end(one))
    waiting.set(signature, one)
    if (isOpen()) subscribe(one)
    else if (!isConnecting) {
      cancelTimer()
      if (failures === 0) void connect()
      else retryLater()
    }
    return one
  }

  function end(one: Waiting): void {
    if (waiting.get(one.signature) !== one) return
    if (isOpen() && one.subscription !== undefined) send('signatureUnsubscribe', [one.subscription])
    remove(one)
  }

  return {
    onSignature(signature, act) {
      const known = waiting.get(signature)
      if (isClosed || (known === undefined && waiting.size >= MOST_SIGNATURES)) return () => {}
      const one = known ?? wait(signature)
      one.acts.add(act)
      return () => {
        if (one.acts.delete(act) && one.acts.size === 0) end(one)
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

/** Whether the endpoint accepts a subscription in time. */
async function takesSubscriptions({ url, headers }: SocketTarget, timeoutMs: number): Promise<boolean> {
  let tell = (_: boolean) => {}
  const told = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  const targets = () => [{ url, headers, onSubscribed: () => tell(true) }]
  // Every cluster takes this commitment.
  const socket = createNodeSocket({ targets, commitment: () => 'finalized' })
  // A signature of zeros is nobody's.
  socket.onSignature('1'.repeat(64), () => {})
  try {
    return await Promise.race([told, pause(timeoutMs).then(() => false)])
  } finally {
    socket.close()
  }
}

/** A validator has it on the next port, a proxy on the same port; without a port in the URL both are equal. */
export function socketTargets({ url, headers }: RpcEndpoint): SocketTarget[] {
  const { href, authorization } = withoutUser(url)
  const same = new URL(href)
  same.protocol = same.protocol === 'https:' ? 'wss:' : 'ws:'
  const urls = new Set([webSocketUrl(href), same.href])
  return [...urls].map((each) => ({ url: each, headers: { ...authorization, ...headers } }))
}

/** Resolves with true when one of its possible URLs accepts a subscription in time. */
export async function probeWebSocket(endpoint: RpcEndpoint, timeoutMs: number): Promise<boolean> {
  const probes = socketTargets(endpoint).map((target) => takesSubscriptions(target, timeoutMs))
  return Promise.any(probes.map(async (probe) => ((await probe) ? true : Promise.reject(new Error('silent'))))).catch(
    () => false,
  )
}
