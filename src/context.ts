/** What an operation is given besides its input: the services of the process and the caller of this request. */
import type { Worker, WorkerName } from './api/service.ts'
import type { Chain } from './chain/connection.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { TreePool } from './merkle/pool.ts'
import type { Store, Tx } from './store/store.ts'
import type { Vault } from './store/vault.ts'

export interface Clock {
  /** Unix milliseconds. */
  now(): number
}
export const systemClock: Clock = { now: () => Date.now() }

/** Lives as long as the process. */
export interface Services {
  config: Config
  store: Store
  vault: Vault
  clock: Clock
  log: Log
  /** State of the background workers; empty in a command's own process. */
  workers(): Worker[]
  /** Asks for a tick soon; does nothing in a command's own process, which runs no workers. */
  wake(worker: WorkerName): void
  /** Builds big trees off the event loop. */
  trees: TreePool
  /** Opened at its first use. */
  chain: Chain
}

export interface Actor {
  apiKeyId: string
  scopes: readonly string[]
}

/** Lives as long as one request. */
export interface Context extends Services {
  actor: Actor
  requestId: string
  externalUid: string | undefined
  metadata: Record<string, string> | undefined
  /** Set before returning when the outcome is not the route's default status. */
  status: number | undefined
  /**
   * The one way an operation writes: state change, its events and the stored answer of an Idempotency-Key become
   * durable in one transaction. Returns what `work` returns, which must be what the operation answers; at most once.
   */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}
