/** The interface of a projection: it turns what confirmed transactions did to one kind of resource into records and event drafts. */

import type { TrackedResource } from '../api/index.ts'
import type { Chain } from '../chain/connection.ts'
import type { Services } from '../context.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import type { EventDraft } from '../store/events/drafts.ts'
import type { NewFollowedAccount } from '../store/following/followed-accounts.ts'
import type { Reader, Tx } from '../store/store.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'

export type ProjectionServices = Pick<Services, 'clock' | 'config' | 'log' | 'signer'>

/** What a submission declared beside the message that was signed. */
export interface SubmissionContext {
  services: ProjectionServices
  /** The resource that the request tracks, or null. It is a hint only, because a client may name any resource. */
  tracked: TrackedResource | null
}

/** What the effects of a transaction need of it. One that nobody submitted here has no row, and no request's fields. */
export type SourceTransaction = Pick<
  FollowedTransaction,
  'seq' | 'signature' | 'genesis' | 'external_uid' | 'metadata_json'
> & {
  /** The chain's time of its block in Unix milliseconds, where it was read: of transactions that were found. */
  occurred_at?: number | null
}

/** What one confirmed transaction did to the resources of one projection. */
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

/** An account as it was read, or null where there is none. */
export type FollowedData = { owner: string; data: Uint8Array; lamports: bigint } | null
/** Why an account is followed, and by whose history; null for its own. */
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
   * Returns accounts whose transactions can change records of this kind, so that what is sent past this service is found
   * too. Those that are followed already may be among them. Throws internal_error when the node fails.
   */
  accountsToFollow?(services: FollowServices, options: FollowOptions): Promise<readonly NewFollowedAccount[]>
  /**
   * Returns the part of the account that changes when there is new history; null: nothing yet; undefined: owner and data.
   */
  followedPart?(account: FollowedData, followed: FollowedFor): Uint8Array | null | undefined
  /**
   * Keeps the changes that concern records here, or null for none. It is asked about transactions that nobody submitted
   * here, because strangers can name any followed account in theirs.
   */
  ofRecords?(reader: Reader, changes: Changes, genesis: string): Promise<Changes | null>
  /**
   * Returns events of which one of each group must be stored with the transaction's signature once the changes are
   * written, where writing them again would not draft them.
   */
  expectedEvents?(changes: Changes): readonly (readonly RequestedEvent[])[]
  /** Returns the fields that events have of a resource of this kind; null where it has no record. */
  fieldsOf?(
    reader: Reader,
    resource: Pick<RequestedEvent, 'resource_type' | 'resource_id'>,
    genesis: string,
  ): Promise<object | null>
  /**
   * Whether a worker has already reported the state that these changes made, before the transaction was looked at. The
   * event that the request asked for is then not written a second time.
   */
  isAlreadyReported?(tx: Tx, requested: RequestedEvent, effects: Effects<Changes, State>): Promise<boolean>
}

/**
 * The changes that a transaction's own bytes show, for each projection that finds some, in the order of the
 * projections.
 */
export interface TransactionChanges {
  tracked: TrackedResource | null
  changed: readonly { projection: Projection; changes: unknown }[]
}
