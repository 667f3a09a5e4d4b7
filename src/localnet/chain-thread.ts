/** An embedded chain in memory in its own worker thread, whose memory is freed when it is closed. */
import { Worker } from 'node:worker_threads'
import { internal } from '../platform/errors.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import type { ClusterSettings } from '../solana/cluster-settings.ts'
import { type Execution, type TransactionErrorJson, TransactionRefused } from '../solana/execution.ts'
import type { LandedTransaction } from './types.ts'

export interface ThreadChainOptions {
  /** Folder with `<program id>.so` files. */
  programsDir: string
  settings?: ClusterSettings | undefined
  /** Time at which the clock of the chain stands, until it is advanced. */
  unixSeconds: number
}

export type ThreadCall =
  | { kind: 'rpc'; body: string | Uint8Array }
  | { kind: 'accounts'; addresses: readonly string[] }
  | { kind: 'setAccount'; address: string; account: ChainAccount }
  | { kind: 'send'; raw: Uint8Array }
  | { kind: 'advance'; seconds: number }

export type ThreadAnswer =
  | { value: unknown }
  | { refused: { err: TransactionErrorJson; execution: Execution | null } }
  | { failed: Error }

/**
 * Calls run in order. Each rejects once the thread has ended, with the signal's reason if the signal ended it.
 */
export interface ChainThread {
  /** JSON-RPC, like `LocalRpc.handle`. */
  handle(body: string | Uint8Array): Promise<string | undefined>
  accounts(addresses: readonly string[]): Promise<(ChainAccount | null)[]>
  setAccount(address: string, account: ChainAccount): Promise<void>
  /** Runs and lands a transaction; no signature is checked. Throws TransactionRefused. */
  send(raw: Uint8Array): Promise<LandedTransaction>
  /** Moves the clock ahead. */
  advance(seconds: number): Promise<void>
  close(): void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Starts a thread that ends when it is closed, or when `signal` is aborted. `file` is the built worker. */
export function openChainThread(options: ThreadChainOptions, signal: AbortSignal, file = workerUrl()): ChainThread {
  signal.throwIfAborted()
  const worker = new Worker(file, { name: 'embedded chain', workerData: options })
  const waiting = new Map<number, Waiting>()
  let calls = 0
  let ended: unknown
  const end = (reason: unknown) => {
    ended ??= reason
    signal.removeEventListener('abort', abort)
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
    void worker.terminate()
  }
  const abort = () => end(signal.reason)
  signal.addEventListener('abort', abort)
  worker.on('error', (error) => end(internal(`The thread of the embedded chain failed: ${error.message}`)))
  worker.on('exit', (code) => end(internal(`The thread of the embedded chain stopped with code ${code}`)))
  worker.on('message', ({ id, answer }: { id: number; answer: ThreadAnswer }) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if ('value' in answer) call?.resolve(answer.value)
    else if ('failed' in answer) call?.reject(answer.failed)
    else call?.reject(new TransactionRefused(answer.refused.err, answer.refused.execution))
  })
  const ask = <T>(call: ThreadCall): Promise<T> =>
    new Promise((resolve, reject) => {
      if (ended !== undefined) return reject(ended)
      waiting.set(++calls, { resolve: resolve as Waiting['resolve'], reject })
      worker.postMessage({ id: calls, call })
    })
  return {
    handle: async (body) => (await ask<string>({ kind: 'rpc', body })) || undefined,
    accounts: (addresses) => ask({ kind: 'accounts', addresses }),
    setAccount: (address, account) => ask({ kind: 'setAccount', address, account }),
    send: (raw) => ask({ kind: 'send', raw }),
    advance: (seconds) => ask({ kind: 'advance', seconds }),
    close: () => end(internal('The embedded chain of this thread is closed')),
  }
}

/** The built file, beside the running bundle or in `dist/` when run from source. */
function workerUrl(): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? '../../dist/chain-worker.js' : './chain-worker.js', import.meta.url)
}
