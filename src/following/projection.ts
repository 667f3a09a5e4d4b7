/** The interface of a projection: it turns what confirmed transactions did to one kind of resource into records and event drafts. */

import type { TrackedResource } from '../api/index.ts'
import type { Chain } from '../chain/connection.ts'
import type { Services } from '../context.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import type { EventDraft } from '../store/events/drafts.ts'
import type { NewFollowedAccount } from '../store/following/followed-accounts.ts'
import type { Reader, Tx } from '../store/store.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'

type ProjectionServices = Pick<Services, 'clock' | 'config' | 'log' | 'signer'>

/** What the request declared in addition to the signed message. */
export interface SubmissionContext {
  services: ProjectionServices
  /** The resource that the request tracks, or null. It is only a hint, because a client may name any resource. */
  tracked: TrackedResource | null
}

/**
 * The fields of a transaction that its effects need. One that was not submitted here has no row and no fields of a
 * request.
 */
export type SourceTransaction = Pick<
  FollowedTransaction,
  'seq' | 'signature' | 'genesis' | 'external_uid' | 'metadata_json'
> & {
  /** Block time in Unix milliseconds. It is read only for transactions that were found on the chain. */
  occurred_at?: number | null
}

/** The changes of one confirmed transaction to the resources of one projection. */
export interface Effects<Changes, State> {
  services: Pick<ProjectionServices, 'clock' | 'config'>
  /** The transaction, with the chain that confirmed it and the origin of its request. */
  transaction: SourceTransaction
  /** Slot that the transaction was confirmed in. */
  slot: number
  tracked: TrackedResource | null
  changes: Changes
  /** The states that `chainState` has read for the changes, by address. */
  states: ReadonlyMap<string, State>
}

/**
 * Reads accounts from the chain that are required before changes can be written. The accounts of one look are read
 * together.
 */
export interface ChainStateReader<Changes, State> {
  addressesOf(changes: Changes): readonly string[]
  /** Number of calls to the node that reading this many addresses takes. */
  callsFor(addresses: number): number
  /**
   * Returns the states at `slot` or later; addresses without a state are absent. Throws internal_error when the node
   * fails.
   */
  read(chain: Chain, addresses: readonly string[], slot: number): Promise<ReadonlyMap<string, State>>
}

/** What a projection may use to find out which accounts to follow. */
export type FollowServices = Pick<Services, 'store' | 'chain' | 'clock' | 'config' | 'log' | 'signer'>

export interface FollowOptions {
  genesis: string
  /** Takes one call to the node from the round's budget; false when none is left. */
  takeCall(): boolean
}

/** An account as it was read, or null if there is none. */
export type FollowedData = { owner: string; data: Uint8Array; lamports: bigint } | null
/** The reason why an account is followed, and the account whose history is listed for it (null: its own). */
export type FollowedFor = { kind: string; history_of: string | null }

export type RequestedEvent = Pick<EventDraft, 'type' | 'resource_type' | 'resource_id'>

/**
 * Turns transactions into records of one kind of resource. Only the projection itself knows the type of its changes.
 */
export interface Projection<Changes = unknown, State = unknown> {
  /**
   * Returns the changes that the message's own instructions make, in order, or null for none. They took place, because
   * the transaction was confirmed without an error. This runs before the database transaction, so it may call the
   * signer.
   */
  changesIn(message: DecodedMessage, submission: SubmissionContext): Promise<Changes | null>
  chainState?: ChainStateReader<Changes, State>
  /** Writes the records and returns the drafts of the events that report them, for the same database transaction. */
  write(tx: Tx, effects: Effects<Changes, State>): Promise<EventDraft[]>
  /**
   * Returns accounts whose transactions can change records of this kind, so that transactions of other tools are found
   * too. Accounts that are already followed may be among them. Throws internal_error when the node fails.
   */
  accountsToFollow?(services: FollowServices, options: FollowOptions): Promise<readonly NewFollowedAccount[]>
  /**
   * Returns the part of the account that changes with new history. Null means nothing yet, undefined means owner and
   * data.
   */
  followedPart?(account: FollowedData, followed: FollowedFor): Uint8Array | null | undefined
  /**
   * Returns the changes that concern records here, or null for none. It is called for transactions that were not
   * submitted here, because anyone can name a followed account.
   */
  ofRecords?(reader: Reader, changes: Changes, genesis: string): Promise<Changes | null>
  /**
   * Returns groups of events. Once the changes are written, one event of each group must be stored with the signature.
   * It is for changes that draft no event when written again.
   */
  expectedEvents?(changes: Changes): readonly (readonly RequestedEvent[])[]
  /** Returns the fields of this resource that its events contain, or null without a record. */
  fieldsOf?(
    reader: Reader,
    resource: Pick<RequestedEvent, 'resource_type' | 'resource_id'>,
    genesis: string,
  ): Promise<object | null>
  /**
   * Whether the event that a request names is reported by the chain itself, now or by a worker before. It is then not
   * written as a hint. `effects` is null if the transaction changes no record of this kind.
   */
  isAlreadyReported?(tx: Tx, requested: RequestedEvent, effects: Effects<Changes, State> | null): Promise<boolean>
  /**
   * Whether a later transaction of its build still has to make the resource. Hints of an earlier one are then kept, and
   * the noun emits them with the event of the last one.
   */
  keepsHints?(reader: Reader, resource: Pick<RequestedEvent, 'resource_type' | 'resource_id'>): Promise<boolean>
}

/** The changes in a transaction's own bytes, by projection, in the order of the projections. */
export interface TransactionChanges {
  tracked: TrackedResource | null
  changed: readonly { projection: Projection; changes: unknown }[]
}
