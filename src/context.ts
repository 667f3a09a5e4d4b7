/** What an operation is given besides its input: the services of the process and the caller of this request. */
import type { Worker, WorkerName } from './api/service.ts'
import type { Chain } from './chain/connection.ts'
import type { Signer } from './chain/signer/index.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { TreePool } from './merkle/pool.ts'
import type { Storage } from './storage/storage.ts'
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
  /** Aborted when the process ends: every call out is over then, and nothing waits for what is outside. */
  ending: AbortSignal
  /** State of the background workers; empty in a command's own process. */
  workers(): Worker[]
  /** Asks for a tick soon; does nothing in a command's own process, which runs no workers. */
  wake(worker: WorkerName): void
  /** Builds big trees off the event loop. */
  trees: TreePool
  /** Looks names up for webhooks; the name servers unless given. */
  resolve?: (name: string) => Promise<readonly string[]>
  /** Opened at its first use. */
  chain: Chain
  /** The platform wallet, opened at its first use; null where none is configured. Throws internal_error with the way out. */
  signer(): Promise<Signer | null>
  /** Token images and metadata; opens nothing before it is used. */
  storage: Storage
}

export interface Actor {
  apiKeyId: string
  scopes: readonly string[]
}

/** What ties a signing to the request's Idempotency-Key; without a key nothing is tied. */
export interface SigningTie {
  /** Id of the signing that an earlier, interrupted run of this request intended: that one is ended, no other begun. */
  earlier: string | null
  /** Ties a signing, in the transaction that intends it. Throws conflict where the key is no longer this request's. */
  bind(tx: Tx, id: string): Promise<void>
  /** Unties it where nothing was signed, so that a retry begins anew; false where the key is no longer this request's. */
  unbind(tx: Tx): Promise<boolean>
}

/** Lives as long as one request. */
export interface Context extends Services {
  actor: Actor
  requestId: string
  externalUid: string | undefined
  metadata: Record<string, string> | undefined
  signing: SigningTie
  /** Nothing of this request may stay: `commit` takes back what it wrote, and what writes elsewhere does not. */
  dryRun: boolean
  /** Set before returning when the outcome is not the route's default status. */
  status: number | undefined
  /**
   * The one way an operation writes: state change, its events and the stored answer of an Idempotency-Key become
   * durable in one transaction, or are taken back in a dry run. Returns what `work` returns, which must be what the
   * operation answers; at most once.
   */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}
