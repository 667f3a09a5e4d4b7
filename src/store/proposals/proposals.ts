/** Proposals and the decisions about them. */

import { type PinnedMessage, pinMessage, readStoredMessage, storedMessage } from '../../solana/squads/index.ts'
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertProposal = inserting('proposals')
export const findProposal = finding('proposals', 'id')
export const updateProposal = updating('proposals', 'id')
export const pageProposals = listing('proposals', ['kind', 'status', 'multisig'], {
  weights: { metadata_json: 1, message: 2, approver_json: 1, tracked_resource_json: 1 },
})

/** A transaction index of a multisig on one chain. */
interface Place {
  genesis: string
  multisig: string
  index: number
}

/** Returns the proposals for one transaction index, oldest first. At most one of them reached the chain. */
export async function proposalsAt(reader: Reader, { genesis, multisig, index }: Place): Promise<Row<'proposals'>[]> {
  const rows = await reader
    .selectFrom('proposals')
    .selectAll()
    .where('genesis', '=', genesis)
    .where('multisig', '=', multisig)
    .where('transaction_index', '=', index)
    .execute()
  return rows.toSorted((one, other) => one.seq - other.seq)
}

/** The columns of a proposal that decide between several for the same transaction index. */
export type ProposalAtIndex = Pick<Row<'proposals'>, 'id' | 'seq' | 'status' | 'vault_index' | 'stored_message'>

/** Locks the proposals for one transaction index until the commit, and returns them. */
export function lockProposalsAt(tx: Tx, { genesis, multisig, index }: Place): Promise<ProposalAtIndex[]> {
  return tx
    .updateTable('proposals')
    .set({ genesis })
    .where('genesis', '=', genesis)
    .where('multisig', '=', multisig)
    .where('transaction_index', '=', index)
    .returning(['id', 'seq', 'status', 'vault_index', 'stored_message'])
    .execute()
}

/** Proposals of a member that have not reached the chain, newest first. */
export function plannedOf(
  reader: Reader,
  { genesis, multisig, member }: { genesis: string; multisig: string; member: string },
  limit: number,
): Promise<Pick<Row<'proposals'>, 'id' | 'created_at' | 'stored_message'>[]> {
  return reader
    .selectFrom('proposals')
    .select(['id', 'created_at', 'stored_message'])
    .where('multisig', '=', multisig)
    .where('status', '=', 'planned')
    .where('genesis', '=', genesis)
    .where('member', '=', member)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
}

/** Removes a decision that was taken back. */
export async function dropDecision(
  tx: Tx,
  { proposal_id, approver, decision }: Pick<Row<'proposal_decisions'>, 'proposal_id' | 'approver' | 'decision'>,
): Promise<void> {
  await tx
    .deleteFrom('proposal_decisions')
    .where('proposal_id', '=', proposal_id)
    .where('approver', '=', approver)
    .where('decision', '=', decision)
    .execute()
}

const ON_CHAIN = ['active', 'approved', 'executed', 'stale'] as const

/**
 * Returns the stored messages of the proposals of multisigs that a transaction of this chain executed: by the accounts
 * of the messages, or by its signature.
 */
export async function executedMessages(
  reader: Reader,
  { genesis, addresses, signature }: { genesis: string; addresses: readonly string[]; signature: string },
): Promise<Pick<Row<'proposals'>, 'stored_message'>[]> {
  const byAddress =
    addresses.length === 0
      ? []
      : await reader
          .selectFrom('proposals')
          .select(['seq', 'stored_message'])
          .where('transaction_address', 'in', addresses)
          .where('genesis', '=', genesis)
          .where('status', 'in', ON_CHAIN)
          .execute()
  if (byAddress.length > 0) return byAddress.toSorted((one, other) => one.seq - other.seq)
  return reader
    .selectFrom('proposals')
    .select('stored_message')
    .where('signature', '=', signature)
    .where('genesis', '=', genesis)
    .execute()
}

/** Returns uid and metadata from the request of the proposal that a transaction executes, found by its message accounts. */
export async function originOfExecution(
  reader: Reader,
  { genesis, addresses }: { genesis: string; addresses: readonly string[] },
): Promise<Pick<Row<'proposals'>, 'external_uid' | 'metadata_json'> | null> {
  if (addresses.length === 0) return null
  const row = await reader
    .selectFrom('proposals')
    .select(['external_uid', 'metadata_json'])
    .where('transaction_address', 'in', addresses)
    .where('genesis', '=', genesis)
    .where('status', 'in', ON_CHAIN)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/** Returns an active or approved proposal about the subject, or one that was planned after `plannedAfter`, or null. */
export async function findOpenProposal(
  reader: Reader,
  { genesis, subject, plannedAfter }: { genesis: string; subject: string; plannedAfter: number },
): Promise<Pick<Row<'proposals'>, 'id' | 'what'> | null> {
  const row = await reader
    .selectFrom('proposals')
    .select(['id', 'what'])
    .where('subject', '=', subject)
    .where('genesis', '=', genesis)
    .where((is) =>
      is.or([
        is('status', 'in', ['active', 'approved']),
        is('created_at', '>', plannedAfter).and('status', '=', 'planned'),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/** Most vaults that are sought at once, because each takes a derivation. */
const MOST_VAULTS = 200

/** Vaults that have proposals on this chain, those of the latest proposals first. */
export async function knownVaults(
  reader: Reader,
  genesis: string,
): Promise<{ multisig: string; vaultIndex: number }[]> {
  const rows = await reader
    .selectFrom('proposals')
    .select(['multisig', 'vault_index'])
    .where('genesis', '=', genesis)
    .where('multisig', 'is not', null)
    .groupBy(['multisig', 'vault_index'])
    .orderBy((row) => row.fn.max('seq'), 'desc')
    .limit(MOST_VAULTS)
    .execute()
  return rows.flatMap(({ multisig, vault_index: vaultIndex }) =>
    multisig === null || vaultIndex === null ? [] : [{ multisig, vaultIndex }],
  )
}

/** Stores what an execution was found to change, unless that is known already. */
export async function storeFirstForecast(tx: Tx, id: string, forecast_json: string): Promise<void> {
  await tx
    .updateTable('proposals')
    .set({ forecast_json })
    .where('id', '=', id)
    .where('forecast_json', 'is', null)
    .execute()
}

/** Whether a look at a proposal of a multisig of any chain is due. */
export async function isAnyProposalDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader
    .selectFrom('proposals')
    .select('seq')
    .where('next_look_at', '<=', now)
    .where('transaction_index', 'is not', null)
  return (await due.limit(1).executeTakeFirst()) !== undefined
}

/** Returns proposals of multisigs of one chain whose look is due, the longest overdue first. */
export function dueProposals(reader: Reader, genesis: string, now: number, limit: number): Promise<Row<'proposals'>[]> {
  return reader
    .selectFrom('proposals')
    .selectAll()
    .where('genesis', '=', genesis)
    .where('next_look_at', '<=', now)
    .where('transaction_index', 'is not', null)
    .orderBy('next_look_at')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Returns executed proposals of rules whose transaction is not known to be final, the longest overdue first. */
export function dueRuleProposals(
  reader: Reader,
  now: number,
  limit: number,
): Promise<Pick<Row<'proposals'>, 'id' | 'signature' | 'updated_at'>[]> {
  return (
    reader
      .selectFrom('proposals')
      .select(['id', 'signature', 'updated_at'])
      .where('next_look_at', '<=', now)
      // Those of multisigs have a number. With `kind` SQLite would use that index instead of the one of the looks.
      .where('transaction_index', 'is', null)
      .orderBy('next_look_at')
      .orderBy('seq')
      .limit(limit)
      .execute()
  )
}

/** Writes a decision; false, without any change, if the same approver has made the same decision before. */
export async function addDecision(tx: Tx, decision: NewRow<'proposal_decisions'>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('proposal_decisions')
    .values(decision)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Returns the decisions about proposals, by id of the proposal, in their order. */
export async function readDecisions(
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row<'proposal_decisions'>[]>> {
  const found = new Map<string, Row<'proposal_decisions'>[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return found
  const rows = await reader.selectFrom('proposal_decisions').selectAll().where('proposal_id', 'in', ids).execute()
  for (const row of rows.toSorted((one, other) => one.seq - other.seq)) found.get(row.proposal_id)?.push(row)
  return found
}

/** Locks a proposal until the commit and returns it; null without one. */
export async function lockProposal(tx: Tx, id: string): Promise<Row<'proposals'> | null> {
  const row = await tx.updateTable('proposals').set({ id }).where('id', '=', id).returningAll().executeTakeFirst()
  return row ?? null
}

/** Returns proposals of a rule that have not ended, the oldest first, without their requests, which may be large. */
export function openRuleProposals(
  reader: Reader,
  limit: number,
): Promise<Pick<Row<'proposals'>, 'id' | 'status' | 'fault' | 'expires_at' | 'updated_at' | 'subject' | 'asked_by'>[]> {
  return reader
    .selectFrom('proposals')
    .select(['id', 'status', 'fault', 'expires_at', 'updated_at', 'subject', 'asked_by'])
    .where('kind', '=', 'rule')
    .where('status', 'in', ['active', 'approved'])
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Returns the ids of open proposals of rules that an API key has asked for. */
export async function openProposalsOfKey(reader: Reader, asked_by: string): Promise<string[]> {
  const rows = await reader
    .selectFrom('proposals')
    .select('id')
    .where('kind', '=', 'rule')
    .where('status', 'in', ['active', 'approved'])
    .where('asked_by', '=', asked_by)
    .orderBy('seq')
    .execute()
  return rows.map(({ id }) => id)
}

// Stores a vault transaction's message with the addresses of its lookup tables, and reads it back.

interface Packed {
  /** Base64 of the message as the program stores it. */
  message: string
  loaded: PinnedMessage['loaded']
}

export function packMessage(message: PinnedMessage): Buffer {
  const packed: Packed = { message: Buffer.from(storedMessage(message)).toString('base64'), loaded: message.loaded }
  return Buffer.from(JSON.stringify(packed))
}

export function unpackMessage(bytes: Uint8Array): PinnedMessage {
  const { message, loaded }: Packed = JSON.parse(Buffer.from(bytes).toString('utf8'))
  return pinMessage(readStoredMessage(Buffer.from(message, 'base64')), loaded)
}

/**
 * Clears the requests of up to `limit` proposals that have ended and were last changed before `before`, the oldest
 * first; returns their number.
 */
export async function pruneProposalRequests(tx: Tx, before: number, limit: number): Promise<number> {
  const ended = tx
    .selectFrom('proposals')
    .select('seq')
    .where('request', 'is not', null)
    .where('status', 'not in', ['planned', 'active', 'approved'])
    .where('updated_at', '<', before)
    .orderBy('updated_at')
    .limit(limit)
  const { numUpdatedRows } = await tx
    .updateTable('proposals')
    .set({ request: null })
    .where('seq', 'in', ended)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
