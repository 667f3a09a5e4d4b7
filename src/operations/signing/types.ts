/** What an operation hands to the platform's key, and what of the request a signing needs. */
import type { TrackedResource } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../store/store.ts'

/** The part of a request's context that signing uses; a worker that signs for itself makes its own. */
export type SigningContext = Pick<
  Context,
  | 'store'
  | 'chain'
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
>

/** A built transaction that lacks the platform's signature alone. */
export interface SigningDraft {
  /** Wire format; the platform pays, and every other signature is there already. */
  transaction: Uint8Array
  /** Keys that the build generated and signed with; no other may sign beside the platform. */
  cosigners?: readonly string[]
  /** Mints whose amounts no policy can bound: this request has made them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
}

/** What a request decides once, before its first signature: a retry after a crash goes on from it. */
export interface SigningPlan<S = unknown> {
  /** JSON of what the answer and the later transactions are made from. */
  state: S
  /** Transactions to sign; 1 unless given. */
  steps?: number
  /** The resource that the last transaction changes. */
  tracked_resource?: TrackedResource
}

/** A plan that this request made itself; one that it resumes has its first transaction in the database. */
export interface NewSigningPlan<S = unknown> extends SigningPlan<S> {
  first: SigningDraft
}

/** Signatures of the transactions of a plan, in their order. */
export type Signatures = readonly [string, ...string[]]

/** How the answer comes of the signatures, and what else is written with them. */
export interface SigningSteps<D> {
  answer(signatures: Signatures): D
  /** Builds a later transaction of the plan, `step` counting from 0, once the one before it is confirmed. */
  next?(step: number): Promise<SigningDraft>
  /** Writes rows with the reservation of the first signing: what throws there refuses it before anything is signed. */
  reserve?(tx: Tx): Promise<void>
  /** Takes those rows back where the first was certainly not signed, or failed on the chain. */
  release?(tx: Tx): Promise<void>
  /** Writes further rows with the last signature. */
  record?(tx: Tx, signatures: Signatures): Promise<void>
}
