/** Lets the projections read the changes in a confirmed transaction's bytes, and writes their effects with their event drafts. */

import type { TrackedResource } from '../api/index.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import type { EventDraft } from '../store/events/drafts.ts'
import type { Tx } from '../store/store.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'
import type { ChainStates } from './chain-states.ts'
import type { Projection, SourceTransaction, TransactionChanges } from './projection.ts'
import type { FollowingServices } from './services.ts'
import { trackedEvents } from './tracked-events.ts'
import { withVaultCalls } from './vault-calls.ts'

/** Returns the changes that each projection finds. Throws when the stored bytes cannot be read. */
export async function readTransactionChanges(
  services: FollowingServices,
  row: FollowedTransaction,
  raw: Uint8Array,
): Promise<TransactionChanges> {
  const tracked: TrackedResource | null =
    row.tracked_resource_json === null ? null : JSON.parse(row.tracked_resource_json)
  const message = await withVaultCalls(services, decodeWireTransaction(raw).message, row.signature)
  return { tracked, changed: await changesOfMessage(services, message, tracked) }
}

/** Returns what each projection finds in a message. */
export async function changesOfMessage(
  services: FollowingServices,
  message: DecodedMessage,
  tracked: TrackedResource | null,
): Promise<{ projection: Projection; changes: unknown }[]> {
  const changed = []
  for (const projection of services.projections) {
    const changes = await projection.changesIn(message, { services, tracked })
    if (changes !== null) changed.push({ projection, changes })
  }
  return changed
}

/**
 * Writes the records of one transaction and returns its event drafts. Records that later transactions wrote are not
 * changed.
 */
export async function writeEffects(
  tx: Tx,
  services: Pick<FollowingServices, 'clock' | 'config' | 'projections'>,
  { row: transaction, slot, states }: { row: SourceTransaction; slot: number; states: ChainStates },
  { tracked, changed }: TransactionChanges,
): Promise<EventDraft[]> {
  const effects = changed.map(({ projection, changes }) => ({
    projection,
    effects: { services, transaction, slot, tracked, changes, states: states.get(projection) ?? new Map() },
  }))
  const drafts: EventDraft[] = []
  for (const each of effects) drafts.push(...(await each.projection.write(tx, each.effects)))
  const { projections } = services
  if (tracked !== null)
    drafts.push(...(await trackedEvents(tx, { transaction, slot, tracked, projections, effects, drafts })))
  return drafts
}
