/** The interface of a projection: it turns what confirmed transactions did to one kind of resource into records and event drafts. */
import type { TrackedResource } from '../api/index.ts'
import type { Chain } from '../chain/connection.ts'
import type { Services } from '../context.ts'
import type { DecodedMessage } from '../solana/messages.ts'
import type { EventDraft } from '../store/event-drafts.ts'
import type { Tx } from '../store/store.ts'
import type { FollowedTransaction } from '../store/transactions.ts'

export type ProjectionServices = Pick<Services, 'clock' | 'config' | 'log' | 'signer'>

/** What a submission declared beside the message that was signed. */
export interface SubmissionContext {
  services: ProjectionServices
  /** The resource that the request tracks, or null. It is a hint only, because a client may name any resource. */
  tracked: TrackedResource | null
}

/** What one confirmed transaction did to the resources of one projection. */
export interface Effects<Changes, State> {
  services: Pick<ProjectionServices, 'clock' | 'config'>
  /** The row of the transaction, with the chain that confirmed it and the origin of its request. */
  transaction: FollowedTransaction
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
   * Whether a worker has already reported the state that these changes made, before the transaction was looked at. The
   * event that the request asked for is then not written a second time.
   */
  isAlreadyReported?(tx: Tx, requested: RequestedEvent, effects: Effects<Changes, State>): Promise<boolean>
}
