/** Lets the projections read the changes in a confirmed transaction's bytes, and writes their effects with their event drafts. */
import type { TrackedResource } from '../api/index.ts'
import type { Services } from '../context.ts'
import type { CompiledInstruction, DecodedMessage } from '../solana/decoded-message.ts'
import { loadedCount } from '../solana/lookup-tables.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { executedTransactions, unwrapMessage } from '../solana/squads/index.ts'
import { type EventDraft, isEventWritten } from '../store/events/drafts.ts'
import { executedMessages, unpackMessage } from '../store/proposals/proposals.ts'
import type { Tx } from '../store/store.ts'
import { type FollowedTransaction, findTransaction } from '../store/transactions/transactions.ts'
import type { ChainStates } from './chain-states.ts'
import type { Effects, Projection, RequestedEvent, SourceTransaction, TransactionChanges } from './projection.ts'
import type { FollowingServices } from './services.ts'
import { transactionRecord } from './transaction-record.ts'

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

// Adds to a message what a vault executed by it: the instructions are stored on the chain, not in the message.

/** Returns the message itself if no proposal that is known here was executed by it. */
export async function withVaultCalls(
  { store, chain }: Pick<Services, 'store' | 'chain'>,
  message: DecodedMessage,
  signature: string,
): Promise<DecodedMessage> {
  const { keys } = message
  // Another program may call it, and tables may load the program's address.
  if (message.lookups.length === 0 && !keys.includes(PROGRAMS.squads.id)) return message
  const addresses = executedTransactions(message)
  const genesis = await chain.genesisHash()
  const proposals = await executedMessages(store.db, { genesis, addresses, signature })
  return proposals.reduce((whole, { stored_message: stored }) => {
    if (stored === null) return whole
    return appended(whole, unwrapMessage(unpackMessage(stored)))
  }, message)
}

/** The accounts of lookup tables have their places behind the message's own keys, so that theirs stay free. */
function appended(message: DecodedMessage, inner: DecodedMessage): DecodedMessage {
  const keys = [...message.keys, ...Array.from({ length: loadedCount(message) }, () => '')]
  const moved = (place: number) => place + keys.length
  const calls = inner.instructions.map(
    ({ programIdIndex, accounts, data }): CompiledInstruction => ({
      programIdIndex: moved(programIdIndex),
      // Its places are bytes: a message and a stored one have at most 255 accounts together.
      accounts: Uint8Array.from(accounts, moved),
      data,
    }),
  )
  return { ...message, lookups: [], keys: [...keys, ...inner.keys], instructions: [...message.instructions, ...calls] }
}

// Writes the events that a transaction's request named, unless an event proven by the chain already reports them.

interface TrackedTransaction {
  transaction: SourceTransaction
  slot: number
  tracked: TrackedResource
  projections: readonly Projection[]
  effects: readonly { projection: Projection; effects: Effects<unknown, unknown> }[]
  /** The drafts of the events that the chain proves for this transaction, in the order of writing. */
  drafts: readonly EventDraft[]
}

/** Returns one event per type, resource and signature. `source: "hint"` is used only when nothing else reports it. */
async function trackedEvents(tx: Tx, followed: TrackedTransaction): Promise<EventDraft[]> {
  const { transaction, slot, tracked, projections } = followed
  for (const { keepsHints } of projections) if (await keepsHints?.(tx, tracked)) return []
  const { resource_type, resource_id, related_events } = tracked
  const { signature } = transaction
  const object = { ...(await readRecordFields(tx, followed)), slot, signature, source: 'hint' }
  const requested: EventDraft[] = []
  for (const type of related_events) {
    const event = { type, resource_type, resource_id }
    if (await isReported(tx, event, followed)) continue
    requested.push({ ...event, object, dedupe_by: signature, origin: transaction })
  }
  return requested
}

/** The fields of the tracked resource's record. A resource without a record, such as a client's own, has none. */
async function readRecordFields(tx: Tx, { tracked, projections, transaction }: TrackedTransaction): Promise<object> {
  if (tracked.resource_type === 'transaction') {
    const row = await findTransaction(tx, tracked.resource_id)
    return row === null ? {} : transactionRecord(row)
  }
  for (const { fieldsOf: fields } of projections) {
    const known = await fields?.(tx, tracked, transaction.genesis)
    if (known != null) return known
  }
  return {}
}

async function isReported(tx: Tx, requested: RequestedEvent, followed: TrackedTransaction): Promise<boolean> {
  const { drafts, transaction, effects, projections } = followed
  const { type, resource_type, resource_id } = requested
  const own = drafts.filter(
    (draft) => draft.type === type && draft.resource_type === resource_type && draft.resource_id === resource_id,
  )
  for (const draft of own) {
    // With another dedupe key, the stored event may be of an earlier transaction.
    if (draft.dedupe_by === transaction.signature || !(await isEventWritten(tx, draft))) return true
  }
  for (const projection of projections) {
    const changed = effects.find((each) => each.projection === projection)?.effects ?? null
    if (await projection.isAlreadyReported?.(tx, requested, changed)) return true
  }
  return false
}
