/** Sends signed requests to the bucket: with limits for time and size, retried if that helps, never redirected. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { ApiError } from '../platform/errors.ts'
import { outgoingProxy } from '../platform/outgoing-proxy.ts'
import { observeCall, outcomeOfStatus } from '../platform/telemetry/calls.ts'
import { once, pause, retryAfterMs, ShuttingDown, TimeoutError, withTimeout } from '../platform/timing.ts'
import { VERSION } from '../platform/version.ts'
import { answerFault, type BucketAnswer, isPassing, queueFault, unansweredFault } from './s3-faults.ts'
import type { BucketPlace } from './s3-settings.ts'

export interface BucketRequest {
  method: 'GET' | 'PUT'
  /** Path below the bucket; empty for the bucket itself. Its characters need no escaping in a URL. */
  key: string
  query?: Record<string, string>
  /** Names in lower case. All headers are signed. */
  headers?: Record<string, string>
  body?: Uint8Array
  /** The content of a longer answer is cut off after this many bytes. */
  mostBytes: number
  /** Statuses that the caller handles. Every other one is an error. */
  expected: readonly number[]
  /** Permission that the request needs, by its name in policies. */
  right: `s3:${string}`
}

export interface BucketClient {
  /**
   * Throws internal_error naming the setting to check, with `retryAfter` if the problem may be temporary, and
   * Overloaded if too many requests wait. Writes come before reads, and are not refused because of a full queue.
   */
  send(request: BucketRequest): Promise<BucketAnswer>
}

const ATTEMPTS = 3
const FIRST_BUCKET_WAIT_MS = 100
const LONGEST_BUCKET_WAIT_MS = 2_000
/** Timeout for opening a connection. */
const CONNECT_TIMEOUT_MS = 5_000
/** Requests at a time, each with its own connection. `s3.timeout-ms` does not include the wait. */
const BUCKET_QUEUE: RequestQueueLimits = { running: 64, waiting: 512, waitMs: 30_000 }
const ERROR_BODY_BYTES = 65_536

interface BucketOptions {
  limits?: RequestQueueLimits
  /** Reads the credentials of `place` again after a refusal; returns whether they have changed. */
  renew?: () => boolean
}

/** Opens nothing yet: modules are loaded and connections opened for the first request. */
export function bucketClient(
  place: BucketPlace,
  ending?: AbortSignal,
  { limits = BUCKET_QUEUE, renew = () => false }: BucketOptions = {},
): BucketClient {
  const queue = requestQueue(limits, ending)
  const agent = once(() => openAgent(place, limits.running))
  // The signer of the present credentials.
  let signing: { of: BucketPlace['credentials']; sign: ReturnType<typeof openBucketSigner> } | undefined
  const sign = () => {
    if (signing?.of !== place.credentials) signing = { of: place.credentials, sign: openBucketSigner(place) }
    return signing.sign
  }
  const sendOnce = async (request: BucketRequest, signal: AbortSignal): Promise<BucketAnswer> => {
    const [dispatcher, signed] = await Promise.all([agent(), sign().then((signer) => signer(request))])
    const target = { service: 'storage', endpoint: new URL(place.origin).host, operation: request.right } as const
    return observeCall(
      target,
      (trace) => exchange(dispatcher, { ...signed, headers: { ...signed.headers, ...trace } }, request, signal),
      ({ status }) => (status === 404 ? 'ok' : outcomeOfStatus(status)),
    )
  }
  const sendRepeatedly = async (request: BucketRequest): Promise<BucketAnswer> => {
    let fault: ApiError | undefined
    const attempts = async (signal: AbortSignal): Promise<BucketAnswer> => {
      for (let attempt = 1; ; attempt++) {
        let waitMs = FIRST_BUCKET_WAIT_MS * 4 ** (attempt - 1)
        try {
          const answer = await sendOnce(request, signal)
          if (request.expected.includes(answer.status)) return answer
          fault = answerFault(place, answer, request.right)
          // Expired tokens are answered with 400.
          if ([400, 401, 403].includes(answer.status) && attempt === 1 && renew()) continue
          if (!isPassing(answer)) throw fault
          waitMs = Math.max(waitMs, retryAfterMs(headersOf(answer)) ?? 0)
        } catch (error) {
          if (error instanceof ApiError) throw error
          if (signal.aborted) throw signal.reason
          fault = unansweredFault(place, error)
        }
        if (attempt === ATTEMPTS || waitMs > LONGEST_BUCKET_WAIT_MS) throw fault
        await pause(waitMs)
      }
    }
    try {
      return await withTimeout(place.timeoutMs, ending, attempts)
    } catch (error) {
      // The error of an attempt is more useful than the timeout of the next one.
      throw error instanceof TimeoutError && fault !== undefined ? fault : error
    }
  }
  return {
    async send(request) {
      const run = request.method === 'PUT' ? queue.runSoon : queue.run
      try {
        return await run(
          () => sendRepeatedly(request),
          () => queueFault(place),
        )
      } catch (error) {
        throw error instanceof ApiError ? error : unansweredFault(place, error)
      }
    },
  }
}

async function openAgent({ timeoutMs }: BucketPlace, connections: number): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const options = {
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs), autoSelectFamily: true },
    connections,
    // The request has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 15_000,
    // A name is resolved again after this time, even if its connection is busy.
    clientTtl: 60_000,
  }
  const proxy = outgoingProxy(process.env)
  return proxy === null ? new Agent(options) : new EnvHttpProxyAgent({ ...options, noProxy: proxy.noProxy })
}

interface SignedRequest {
  origin: string
  /** Path and query. */
  path: string
  headers: Record<string, string>
}

async function openBucketSigner(place: BucketPlace): Promise<(request: BucketRequest) => Promise<SignedRequest>> {
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const { credentials, region, origin } = place
  const { protocol, host, hostname } = new URL(origin)
  // S3 signs the path as it is sent; other services escape it once more.
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
  })
  return async ({ method, key, query = {}, headers = {}, body = new Uint8Array() }) => {
    const path = `${place.path}${key}`
    const sha256 = createHash('sha256').update(body).digest('hex')
    const signed = await signer.sign({
      method,
      protocol,
      hostname,
      path,
      query,
      headers: { host, 'x-amz-content-sha256': sha256, ...headers },
    })
    const { host: _, ...sent } = signed.headers
    return { origin, path: `${path}${queryText(query)}`, headers: sent }
  }
}

/** Encodes like the signature (RFC 3986). `encodeURIComponent` differs in five characters. */
function queryText(query: Record<string, string>): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** SHA-256, or HMAC-SHA-256 with a key, in the form that the signer requires. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOfSource(secret))
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOfSource(chunk))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    throw new Error('a hash is used once')
  }
}

const bytesOfSource = (source: string | ArrayBuffer | ArrayBufferView): string | Uint8Array => {
  if (typeof source === 'string') return source
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
}

/** Sends the request once and reads its answer up to the given number of bytes. */
async function exchange(
  agent: Dispatcher,
  { origin, path, headers }: SignedRequest,
  { method, body, mostBytes }: BucketRequest,
  signal: AbortSignal,
): Promise<BucketAnswer> {
  const answer = await agent.request({
    origin,
    path,
    method,
    signal,
    // A compressed answer would have another length.
    headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': `svc/${VERSION}` },
    body: body ?? null,
  })
  const most = answer.statusCode < 300 ? mostBytes : ERROR_BODY_BYTES
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > most) break
    chunks.push(chunk)
  }
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }
}

function headersOf({ headers }: BucketAnswer): Headers {
  const retryAfter = headers['retry-after']
  return new Headers(typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {})
}

// Runs a few requests at a time. Others wait in a queue of bounded length for a bounded time.

interface RequestQueueLimits {
  running: number
  waiting: number
  /** Longest wait of a request in milliseconds. */
  waitMs: number
}

interface RequestQueue {
  /**
   * Runs the call as soon as there is room. Throws the error of `full` if the queue is full or the wait is too long,
   * and ShuttingDown once `ending` is aborted.
   */
  run<T>(call: () => Promise<T>, full: () => Error): Promise<T>
  /** Like `run`, but comes before all others and is never refused because of a full queue. */
  runSoon<T>(call: () => Promise<T>, full: () => Error): Promise<T>
}

interface WaitingRequest {
  start(): void
}

function requestQueue({ running: most, waiting, waitMs }: RequestQueueLimits, ending?: AbortSignal): RequestQueue {
  const [soon, later]: [Set<WaitingRequest>, Set<WaitingRequest>] = [new Set(), new Set()]
  let running = 0

  const turn = (queue: Set<WaitingRequest>, full: () => Error) =>
    new Promise<void>((settle, reject) => {
      const leave = () => {
        clearTimeout(timer)
        ending?.removeEventListener('abort', end)
        queue.delete(request)
      }
      const request: WaitingRequest = {
        start() {
          leave()
          settle()
        },
      }
      const refuse = (error: unknown) => {
        leave()
        reject(error)
      }
      const end = () => refuse(new ShuttingDown('the service is shutting down'))
      const timer = setTimeout(() => refuse(full()), waitMs)
      ending?.addEventListener('abort', end)
      queue.add(request)
      if (ending?.aborted) end()
    })

  /** A request that ends passes its place to the next waiting one, so that a later request cannot take it. */
  const leavePlace = () => {
    const [next] = soon.size > 0 ? soon : later
    if (next === undefined) running--
    else next.start()
  }

  const runIn = async <T>(queue: Set<WaitingRequest>, call: () => Promise<T>, full: () => Error): Promise<T> => {
    if (running < most) running++
    else await turn(queue, full)
    try {
      return await call()
    } finally {
      leavePlace()
    }
  }

  return {
    run: async (call, full) => {
      if (running >= most && later.size >= waiting) throw full()
      return runIn(later, call, full)
    },
    runSoon: (call, full) => runIn(soon, call, full),
  }
}
