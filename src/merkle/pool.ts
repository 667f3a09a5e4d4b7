/**
 * One worker thread that builds trees off the event loop; it is started at its first use and never keeps the process
 * alive.
 */
import type { Worker } from 'node:worker_threads'
import type { BuiltAllowlist, BuiltTree } from './built-tree.ts'
import { MerkleInputError } from './errors.ts'
import type { WorkerAnswer, WorkerRequest } from './worker.ts'

/** The queue is full: the pool's limit of waiting builds or bytes is reached. */
export class TreePoolBusyError extends Error {
  override readonly name = 'TreePoolBusyError'
}

/** The worker thread failed during this build, for example out of memory; the next build starts a new one. */
export class TreeWorkerError extends Error {
  override readonly name = 'TreeWorkerError'
}

/**
 * Memory for new objects, a quarter of V8's default, which saves 24 MiB of a daemon. Little of a build survives a
 * collection, so more of them take no longer.
 */
const YOUNG_GENERATION_MIB = 12

export interface TreePoolOptions {
  /**
   * URL of the built worker file; the default is `merkle-worker.js` beside the running bundle, or in `dist/` when run
   * from source.
   */
  workerUrl?: URL
  /** Maximum number of waiting builds; the default is 1,000. */
  maxQueued?: number
  /** Maximum bytes of all waiting builds; the default is 256 MiB. */
  maxQueuedBytes?: number
}

type CsvSettings = NonNullable<WorkerRequest['csv']>

interface Job {
  request: WorkerRequest
  resolve(built: BuiltTree | BuiltAllowlist): void
  reject(error: Error): void
}

export class TreePool {
  private readonly workerUrl: URL
  private readonly maxQueued: number
  private readonly maxQueuedBytes: number
  private readonly queue: Job[] = []
  private worker: Worker | undefined
  private running: Job | undefined
  private closed = false

  constructor(options: TreePoolOptions = {}) {
    this.workerUrl = options.workerUrl ?? defaultWorkerUrl()
    this.maxQueued = options.maxQueued ?? 1000
    this.maxQueuedBytes = options.maxQueuedBytes ?? 256 * 1024 * 1024
  }

  /**
   * Builds from the raw body of POST /v2/merkle-trees. An ArrayBuffer, or a view over a whole one, is transferred and
   * empty afterwards. Rejects with MerkleInputError, TreePoolBusyError or TreeWorkerError.
   */
  buildFromRequest(body: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<BuiltTree> {
    return this.submit({ kind: 'request', bytes: ownBytes(body) })
  }

  /** Builds from CSV bytes, which are transferred as in `buildFromRequest`. */
  buildFromCsv(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>, csv: CsvSettings = {}): Promise<BuiltTree> {
    return this.submit({ kind: 'csv', bytes: ownBytes(bytes), csv })
  }

  /** Builds from the raw body of POST /v2/raises/{id}/allowlist, like `buildFromRequest`. */
  buildAllowlist(body: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<BuiltAllowlist> {
    return this.submit({ kind: 'allowlist', bytes: ownBytes(body) })
  }

  /** Rejects running and waiting builds and terminates the worker; later builds are rejected. */
  async close(): Promise<void> {
    this.closed = true
    const jobs = [this.running, ...this.queue.splice(0)]
    this.running = undefined
    for (const job of jobs) job?.reject(new TreeWorkerError('the merkle worker was closed'))
    const { worker } = this
    this.worker = undefined
    await worker?.terminate()
  }

  private submit<T extends BuiltTree | BuiltAllowlist>(request: WorkerRequest): Promise<T> {
    if (this.closed) return Promise.reject(new TreeWorkerError('the merkle worker was closed'))
    const waiting = this.queue.reduce((sum, job) => sum + job.request.bytes.length, 0)
    if (this.queue.length >= this.maxQueued || (waiting > 0 && waiting + request.bytes.length > this.maxQueuedBytes)) {
      return Promise.reject(new TreePoolBusyError(`${this.queue.length} trees are waiting to be built; try again`))
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ request, resolve: (built) => resolve(built as T), reject })
      this.runNext()
    })
  }

  private runNext(): void {
    if (this.running !== undefined) return
    const job = this.queue.shift()
    if (job === undefined) {
      this.worker?.unref()
      return
    }
    this.running = job
    const worker = this.worker ?? this.start()
    worker.ref()
    worker.postMessage(job.request, [job.request.bytes.buffer])
  }

  private start(): Worker {
    // Loaded with the first tree, because most commands and many daemons build none.
    const threads = process.getBuiltinModule('node:worker_threads')
    const worker: Worker = new threads.Worker(this.workerUrl, {
      name: 'merkle',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    })
    this.worker = worker
    worker.on('message', (answer: WorkerAnswer) => this.finish(worker, (job) => settle(job, answer)))
    worker.on('error', (error) => this.drop(worker, `the merkle worker failed: ${error.message}`))
    worker.on('exit', (code) => this.drop(worker, `the merkle worker stopped with code ${code}`))
    return worker
  }

  private drop(worker: Worker, message: string): void {
    if (this.worker !== worker) return
    this.worker = undefined
    this.finish(undefined, (job) => job.reject(new TreeWorkerError(message)))
  }

  private finish(worker: Worker | undefined, settleJob: (job: Job) => void): void {
    if (this.worker !== worker) return
    const job = this.running
    this.running = undefined
    if (job !== undefined) settleJob(job)
    this.runNext()
  }
}

/** Creates a pool that starts its thread at the first build. */
export function createTreePool(options?: TreePoolOptions): TreePool {
  return new TreePool(options)
}

function settle(job: Job, answer: WorkerAnswer): void {
  if ('built' in answer) job.resolve(answer.built)
  else if ('refused' in answer) job.reject(new MerkleInputError(answer.refused.issues, answer.refused.issueCount))
  else job.reject(new TreeWorkerError(answer.failed.message, { cause: answer.failed }))
}

/** Returns bytes with their own transferable buffer: the caller's buffer if the view covers it, otherwise a copy. */
function ownBytes(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes)
  return bytes.length === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes)
}

function defaultWorkerUrl(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../dist/merkle-worker.js' : './merkle-worker.js', import.meta.url)
}
