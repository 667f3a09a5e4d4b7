/** Context of an operation, in addition to its input: the services of the process and the caller of the request. */
import type { DaemonRole } from './api/daemon-roles.ts'
import type { GuardMode, TxVersion } from './api/envelope.ts'
import type { Worker } from './api/service.ts'
import type { WorkerName } from './api/worker-names.ts'
import type { Chain } from './chain/connection.ts'
import type { FailingInstruction } from './chain/program-cache/canary-report.ts'
import type { Signer } from './chain/signer/index.ts'
import type { TreePool } from './merkle/pool.ts'
import type { Log } from './platform/log.ts'
import type { Config } from './settings/config.ts'
import type { Storage } from './storage/storage.ts'
import type { Vault } from './store/installation/vault.ts'
import type { Store, Tx } from './store/store.ts'

export interface Clock {
  /** Current time in Unix milliseconds. */
  now(): number
}
export const systemClock: Clock = { now: () => Date.now() }

/** What is known about the builds of programs that the cluster runs now. */
export interface ProgramVerdicts {
  /** The instructions that fail with them. */
  failing(): Promise<readonly FailingInstruction[]>
  /** Sentences about what fails; empty if everything that was tried passes. */
  degradations(): Promise<readonly string[]>
  /** Reads the verdict again at the next question. */
  forget(): void
}

/** A write that can be carried out again: its method, its path with the query, and the fields of its body. */
export interface StoredRequest {
  method: string
  target: string
  fields: Record<string, unknown>
}

/** Services that a repeated request takes from whoever repeats it. */
export type RepeatingServices = Pick<
  Services,
  'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'programs' | 'signer' | 'wake' | 'ending'
>

/** For whom a request is repeated. Without `commit` of whoever repeats it, it has a commit of its own. */
export type RepeatedAs = Pick<Context, 'actor' | 'requestId' | 'externalUid' | 'metadata' | 'signing'> &
  Partial<Pick<Context, 'approved' | 'dryRun' | 'renews' | 'commit'>>

/** Services that live as long as the process. */
export interface Services {
  config: Config
  store: Store
  vault: Vault
  clock: Clock
  log: Log
  /** Aborted when the process shuts down; it ends every outgoing call and every wait for an external service. */
  ending: AbortSignal
  /**
   * Aborted when the process receives the order to stop: it still answers for `drain-seconds`, but is no longer ready.
   */
  stopping: AbortSignal
  /** State of the background workers; empty in a command's own process. */
  workers(): Worker[]
  /** The role of this daemon; null in a command's own process. */
  role: DaemonRole | null
  /** Requests an immediate tick of a worker, in this process and in every daemon on the same PostgreSQL database. */
  wake(worker: WorkerName): void
  /** Pool that builds large merkle trees off the event loop. */
  trees: TreePool
  /** Resolves the host names of webhook receivers; DNS is used when it is unset. */
  resolve?: (name: string) => Promise<readonly string[]>
  /** Connection to the chain, opened at its first use. */
  chain: Chain
  programs: ProgramVerdicts
  /**
   * Opens the platform wallet at its first use; null when none is configured. Throws internal_error with a remedy in
   * its message.
   */
  signer(): Promise<Signer | null>
  /** Storage of token images and metadata; it is opened at its first use. */
  storage: Storage
  /** Carries out a write again, without its Idempotency-Key, and returns its data. Throws what the write throws. */
  repeat(services: RepeatingServices, request: StoredRequest, as: RepeatedAs): Promise<unknown>
}

interface Actor {
  apiKeyId: string
  scopes: readonly string[]
}

/** Links a signing to the request's Idempotency-Key; without a key there is no link. */
export interface SigningLink {
  /**
   * Id of the signing that an interrupted earlier run of this request stored. A retry completes it instead of starting
   * another.
   */
  earlier: string | null
  /**
   * Links a signing in the transaction that stores it. Throws conflict when the key no longer belongs to this request.
   */
  bind(tx: Tx, id: string): Promise<void>
  /**
   * Removes the link if nothing was signed, so that a retry starts over. Returns false when the key no longer belongs
   * to this request.
   */
  unbind(tx: Tx): Promise<boolean>
}

/** A refusal of the signer that is counted instead of being written by itself. */
export interface CountedRefusal {
  actor: Actor
  signer: string
  operation: string
  rule: string
}

/** The vault of a multisig that acts in a request with `approver`, whose build becomes a proposal. */
export interface ActingVault {
  multisig: string
  vault: string
  vaultIndex: number
  /** Number of the request's first transaction in the multisig. */
  index: bigint
  /** Addresses that the program signs for when it executes that transaction, for what the build makes anew. */
  signers: string[]
  newSigner(): string
}

/** What a request becomes if the policy demands approvals: a proposal that carries it out again. */
export interface Proposing {
  request: StoredRequest
  /** Several requests about the same subject make one proposal while it is open, for example the runs of a schedule. */
  subject?: string
}

/** Context that lives as long as one request. */
export interface Context extends Services {
  actor: Actor
  requestId: string
  externalUid: string | undefined
  metadata: Record<string, string> | undefined
  signing: SigningLink
  /** Absent if no multisig is asked. */
  vaultActing?: ActingVault
  /** Absent if the request cannot wait for approvals. */
  proposing?: Proposing
  /** Id of the proposal that the request executes; absent for any other request. */
  approved?: string
  /** Id of the proposal whose place the request's proposal takes; absent for any other request. */
  renews?: string
  /** Version of the transactions that the request builds, from its `tx_version`. */
  txVersion: TxVersion
  /** Whether the built transaction is guarded, from its `guard`. */
  guard: GuardMode
  /** Whether instructions that are known to fail may be built; never for what the platform wallet signs. */
  force: boolean
  /** Address that the built transaction names too, so that it is found on chain whoever sends it. */
  reference?: string
  /** In a dry run, `commit` rolls back its writes, and operations must not write anywhere else. */
  dryRun: boolean
  /** Counts the refusals of callers without a key, which could fill the audit log. */
  refusals?: { add(refusal: CountedRefusal): void }
  /** HTTP status to set before returning when the outcome is not the route's default status. */
  status: number | undefined
  /**
   * How an operation writes its result: state change, events and the stored response of an Idempotency-Key commit in
   * one transaction, or roll back in a dry run. `work` must return the response; call it at most once. Only what a
   * retry must find (signings, audit log, the earlier transactions of several) is written before it.
   */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}
