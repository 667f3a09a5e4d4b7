/** Types that an operation passes to a signing, and the parts of a request that a signing uses. */
import type { TrackedResource } from '../../api/index.ts'
import type { Guarding } from '../../chain/sending/guard-report.ts'
import type { Context } from '../../context.ts'
import type { ApprovedMovement } from '../../policy/approved-movement.ts'
import type { guardedExtent, Slack } from '../../policy/movement/guards.ts'
import type { SponsoredOutflow } from '../../policy/rules/violation.ts'
import type { Tx } from '../../store/store.ts'

/** The part of a request's context that signing uses. A worker that signs for itself makes its own. */
export type SigningContext = Pick<
  Context,
  | 'store'
  | 'chain'
  | 'programs'
  | 'ending'
  | 'clock'
  | 'config'
  | 'log'
  | 'vault'
  | 'signer'
  | 'wake'
  | 'actor'
  | 'requestId'
  | 'externalUid'
  | 'metadata'
  | 'signing'
  | 'commit'
  | 'dryRun'
  | 'refusals'
> &
  Partial<Pick<Context, 'proposing' | 'approved' | 'guard'>>

/** A built transaction that lacks only the platform's signature. */
export interface SigningDraft {
  /** Wire format. The platform pays, and every other signature is present. */
  transaction: Uint8Array
  /** Keys that the build generated and signed with. No other key may sign beside the platform. */
  cosigners?: readonly string[]
  /** Those keys, 64 bytes each. They sign again if the transaction has to wait and gets another blockhash. */
  secretKeys?: readonly Uint8Array[]
  /** Mints without policy limits: this request creates them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
  /** What the builder has guarded. */
  guarding?: Guarding
  /** What may leave beyond the simulation; it counts as spent. */
  slack?: readonly Slack[]
  /** Set if the platform pays for another wallet's claim. Then nothing else may leave. */
  sponsored?: SponsoredOutflow
}

/** A draft as JSON. Its plan is sealed, because it has generated keys. */
export interface WaitingDraft {
  /** Wire format, base64. */
  transaction: string
  /** Generated keys, base64 of 64 bytes each. */
  keys: string[]
  cosigners: string[]
  uncapped: string[]
  /** Amounts as digits. Missing if nothing may leave beyond the simulation. */
  slack?: (Omit<Slack, 'amount'> & { amount: string })[]
  approved: ApprovedMovement
  /** How far its guards held what was approved. Missing in a draft of an older version. */
  guarded?: ReturnType<typeof guardedExtent>
}

/** The decisions of a request before its first signature. A retry after a crash continues from it. */
export interface SigningPlan<S = unknown> {
  /** JSON from which the answer and the later transactions are made. */
  state: S
  /** Number of transactions to sign. The default is 1. */
  steps?: number
  /** The resource that the last transaction changes. */
  tracked_resource?: TrackedResource
  /** The first transaction as it was approved, if it has waited. */
  waiting?: WaitingDraft
}

/** A plan that this request made itself. A resumed one has its first transaction in the database. */
export interface NewSigningPlan<S = unknown> extends SigningPlan<S> {
  first: SigningDraft
  /** Id of what it is about, for those who approve it; without one, that of the tracked resource. */
  about?: string
}

/** Signatures of a plan's transactions, in order. */
export type Signatures = readonly [string, ...string[]]

/** The functions that make the answer from the signatures, and the rows written with them. */
export interface SigningSteps<D> {
  answer(signatures: Signatures): D
  /** Builds transaction number `step` (the first is 0) after the one before is confirmed. */
  next?(step: number): Promise<SigningDraft>
  /** Builds the first transaction again with a later start, if it has to wait this many seconds. */
  waits?(seconds: number): Promise<SigningDraft>
  /** Writes rows with the reservation of the first signing. An error here refuses it before anything is signed. */
  reserve?(tx: Tx): Promise<void>
  /** Removes those rows if the first transaction cannot have been signed, or failed on the chain. */
  release?(tx: Tx): Promise<void>
  /** Writes further rows with the last signature. */
  record?(tx: Tx, signatures: Signatures): Promise<void>
}
