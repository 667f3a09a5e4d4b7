/** The interface of a projection: it turns what confirmed transactions did to one kind of resource into records and event drafts. */
import type { TrackedResource } from '../api/index.ts'
import type { Chain } from '../chain/connection.ts'
import type { Services } from '../context.ts'
import type { DecodedMessage } from '../solana/messages.ts'
import type { EventDraft } from '../store/event-drafts.ts'
import type { Tx } from '../store/store.ts'
import type { FollowedTransaction } from '../store/transactions.ts'

export type ProjectionServices = Pick<Services, 'clock' | 'config' | 'log' | 'signer'>

/** What a submission said about itself, beside the message that was signed. */
export interface SubmissionContext {
  services: ProjectionServices
  /** Null where the request tracks nothing. It is only a place to look: a client may name anything. */
  tracked: TrackedResource | null
}

/** What one confirmed transaction did to the resources of one projection. */
export interface Effects<Changes, State> {
  services: Pick<ProjectionServices, 'clock' | 'config'>
  /** Its row names the chain that it was confirmed on, and what its request sent along. */
  transaction: FollowedTransaction
  /** Slot that it was confirmed in. */
  slot: number
  tracked: TrackedResource | null
  changes: Changes
  /** What `chainState` has read for the changes, by address. */
  states: ReadonlyMap<string, State>
}

/** Accounts that must be read from the chain before changes can be written: all of one look are read together. */
export interface ChainStateReader<Changes, State> {
  addressesOf(changes: Changes): readonly string[]
  /** Calls to the node that reading so many addresses takes. */
  callsFor(addresses: number): number
  /** As they are at `slot` or later; an address without a state is absent. Throws internal_error where the node fails. */
  read(chain: Chain, addresses: readonly string[], slot: number): Promise<ReadonlyMap<string, State>>
}

export type RequestedEvent = Pick<EventDraft, 'type' | 'resource_type' | 'resource_id'>

/** The changes of one projection are of a type that only the projection itself knows. */
export interface Projection<Changes = unknown, State = unknown> {
  /**
   * What the message's own instructions do, in their order; null for nothing. That the transaction was confirmed without
   * an error proves it. Runs before the database transaction, so that it may ask the signer.
   */
  changesIn(message: DecodedMessage, submission: SubmissionContext): Promise<Changes | null>
  chainState?: ChainStateReader<Changes, State>
  /** Writes the records and answers the drafts of the events that report them, for the same database transaction. */
  write(tx: Tx, effects: Effects<Changes, State>): Promise<EventDraft[]>
  /**
   * Whether these changes made a state that a worker has noticed on chain, and reported, before the transaction itself
   * was looked at: the event that its request asked for is then not written once more.
   */
  isAlreadyReported?(tx: Tx, requested: RequestedEvent, effects: Effects<Changes, State>): Promise<boolean>
}
