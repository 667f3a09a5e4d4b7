/** What is asked of the platform's key, and by whom. */
import type { TrackedResource } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../store/store.ts'

/** Of a request, or of a worker that signs for itself. */
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

export interface Built {
  /** Wire format; the platform pays, and every other signature is there already. */
  transaction: Uint8Array
  /** Keys that the build generated and signed with; no other may sign beside the platform. */
  cosigners?: readonly string[]
  /** Mints whose amounts no policy can bound: this request has made them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
}

export interface Beginning<K> {
  first: Built
  kept: K
  /** Transactions to sign; 1 unless given. */
  steps?: number
  /** What the last of them tracks. */
  tracked_resource?: TrackedResource
}

export interface Signable<K, D> {
  /** What asks, for the audit log, for example `fee_claim.create`. */
  operation: string
  /** Throws bad_request where there is nothing to do. `kept` is JSON: a retry after a crash has nothing else. */
  begin(wallet: string): Promise<Beginning<K>>
  /** Builds a later step, once the one before it is confirmed. */
  next?(wallet: string, kept: K, step: number): Promise<Built>
  /** Of the signatures of all steps. */
  answer(signatures: readonly string[], kept: K): D
  /** Rows of the write that intends the first signing: what throws there refuses it before anything is signed. */
  reserve?(tx: Tx, kept: K): Promise<void>
  /** Takes them back where the first was certainly not signed, or failed on the chain. */
  release?(tx: Tx, kept: K): Promise<void>
  /** Further rows of the commit that stores the last signature. */
  record?(tx: Tx, signatures: readonly string[], kept: K): Promise<void>
}
