/** Makes proposals of what a request has built: checks each transaction, and builds what puts it on the chain. */
import type { TxVersion } from '../../../api/envelope.ts'
import type { TrackedResource } from '../../../api/index.ts'
import type { ProposalCreation } from '../../../api/payloads.ts'
import {
  type BuiltProposal,
  buildProposalCreation,
  CREATION_UNITS,
  type Executed,
  executionTooLarge,
  readTransactionBuffers,
  rehearseExecution,
  requireExecutable,
} from '../../../chain/programs/squads/index.ts'
import { accountsAtSlot } from '../../../chain/reads/node-reads.ts'
import { withFixedBudget } from '../../../chain/sending/compute-budget.ts'
import type { Envelope } from '../../../chain/sending/unsigned.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { MINUTE_MS, SECOND_MS } from '../../../platform/timing.ts'
import { withTerms } from '../../../solana/budget-terms.ts'
import type { TableLookup } from '../../../solana/decoded-message.ts'
import { type LoadedAddresses, loadAddresses } from '../../../solana/lookup-tables.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../../solana/messages.ts'
import { innerMessageOf, type PinnedMessage, SquadsFault, squadsProposalAddress } from '../../../solana/squads/index.ts'
import { findOpenProposal, insertProposal, lockProposal, updateProposal } from '../../../store/proposals/proposals.ts'
import type { NewRow } from '../../../store/schema.ts'
import type { Reader, Tx } from '../../../store/store.ts'
import { unguardedSequence } from '../../build-guards.ts'
import { type BuiltTransaction, buildTransaction, sequenceTerms } from '../../building.ts'
import type { OpenedVault, ProposalContext } from './acting-vault.ts'
import { planRow } from './plan-row.ts'
import type { PlannedChanges } from './planned-changes.ts'

/** What a request asked for, beside the transactions that it built. */
interface ProposedAct {
  operation: string
  what: string
  /** Sealed request, to build it again; null if only the transaction is known. */
  request: Buffer | null
  subject: string | null
  isSigned: boolean
  /** Version of the transactions that put it on the chain. */
  txVersion: TxVersion
  tracked: TrackedResource | undefined
}

export interface PreparedProposal {
  row: NewRow<'proposals'>
  built: BuiltTransaction[]
}

/** Time in which a creation lands, or never does. */
export const SENDING_MS = 10 * MINUTE_MS
/** Time after which a new plan is looked for on the chain. */
const FIRST_LOOK_MS = 2 * SECOND_MS

/** Throws bad_request for a transaction that the vault cannot execute. */
export async function prepareProposals(
  context: ProposalContext,
  opened: OpenedVault,
  transactions: readonly Uint8Array[],
  act: ProposedAct,
): Promise<PreparedProposal[]> {
  const genesis = await context.chain.genesisHash()
  await requireNoneOpen(context, context.store.db, { ...act, genesis })
  const prepared: PreparedProposal[] = []
  for (const [i, transaction] of transactions.entries()) {
    const follows = prepared.at(-1)?.built.at(-1)
    const place = { index: opened.acting.index + BigInt(i), isLast: i === transactions.length - 1 }
    prepared.push(await prepareProposal(context, opened, transaction, { act, place, follows }))
  }
  return prepared
}

/** Throws bad_request with the reason `proposal_open` if the subject of an act has an open proposal. */
async function requireNoneOpen(
  { clock }: Pick<ProposalContext, 'clock'>,
  reader: Reader,
  { genesis, subject, isSigned }: { genesis: string } & Pick<ProposedAct, 'subject' | 'isSigned'>,
): Promise<void> {
  if (subject === null) return
  // A plan that the platform wallet has signed is on its way; one for a member may never be sent.
  const since = isSigned ? clock.now() - SENDING_MS : Number.MAX_SAFE_INTEGER
  const open = await findOpenProposal(reader, { genesis, subject, plannedAfter: since })
  if (open !== null) throw openAlready(open.id, open.what)
}

const openAlready = (id: string, what: string) =>
  badRequest(
    `The proposal ${id} (${what}) is open, and its amounts are fixed: execute it first, or reject or cancel it (svc proposals show ${id})`,
    { param: 'approver', details: { reason: 'proposal_open', proposal: id } },
  )

interface Preparing {
  act: ProposedAct
  place: { index: bigint; isLast: boolean }
  follows: BuiltTransaction | undefined
}

async function prepareProposal(
  context: ProposalContext,
  { acting, multisig, member }: OpenedVault,
  transaction: Uint8Array,
  { act, place, follows }: Preparing,
): Promise<PreparedProposal> {
  const { vault, vaultIndex } = acting
  const { index } = place
  const inner = await pinInnerMessage(context, decodeWireTransaction(transaction), { vault, ephemeral: acting.signers })
  const ephemeralSigners = inner.keys.slice(0, inner.signers).some((key) => acting.signers.includes(key))
    ? acting.signers.length
    : 0
  const executed: Executed = { multisig: multisig.address, index, vaultIndex, ephemeralSigners, message: inner }
  const creating = { multisig: multisig.address, vaultIndex, index, member, inner, ephemeralSigners, approve: false }
  const built = await buildCreation({ ...context, txVersion: act.txVersion }, creating, follows)
  await requireExecutable(executed, { member, version: act.txVersion })
  // What an earlier one of the request makes is not on the chain yet.
  const forecast = follows === undefined ? await rehearseChanges(context, executed, requireShortTrace) : null
  const row = planRow(context, {
    genesis: await context.chain.genesisHash(),
    multisig,
    executed,
    member,
    transaction,
    operation: act.operation,
    what: act.what,
    askedBy: context.actor.apiKeyId,
    request: act.request,
    subject: act.subject,
    tracked: place.isLast ? act.tracked : undefined,
    forecast,
    nextLookAt: context.clock.now() + FIRST_LOOK_MS,
  })
  return { row, built }
}

/** The message that the vault executes. Throws bad_request if another wallet pays or must sign. */
async function pinInnerMessage(
  context: Pick<Context, 'chain'>,
  decoded: DecodedTransaction,
  { vault, ephemeral = [] }: { vault: string; ephemeral?: readonly string[] },
): Promise<PinnedMessage> {
  const { lookups } = decoded.message
  try {
    if (lookups.length === 0) return innerMessageOf(decoded, { vault, ephemeral })
    return innerMessageOf(decoded, { vault, ephemeral, loaded: await tableAddresses(context, lookups) })
  } catch (error) {
    if (!(error instanceof SquadsFault)) throw error
    throw badRequest(`approver: ${error.message} (send the vault as payer, creator, owner or authority)`, {
      param: 'approver',
      details: { vault },
      cause: error,
    })
  }
}

/** The addresses that lookup tables have now. */
export async function tableAddresses(
  { chain }: Pick<Context, 'chain'>,
  lookups: readonly TableLookup[],
): Promise<LoadedAddresses> {
  const tables = [...new Set(lookups.map(({ table }) => table))]
  if (tables.length === 0) return { writable: [], readonly: [] }
  const { slot, accounts } = await accountsAtSlot(chain, tables)
  const byAddress = new Map(tables.map((table, i) => [table, accounts[i] ?? null]))
  return loadAddresses(lookups, slot, (table) => byAddress.get(table) ?? null)
}

type Creating = Omit<Parameters<typeof buildProposalCreation>[0], keyof Envelope>

/** Most proposals are one transaction, which is simulated; those of a series wait for the one before. */
async function buildCreation(
  context: ProposalContext,
  creating: Creating,
  follows: BuiltTransaction | undefined,
): Promise<BuiltTransaction[]> {
  const payer = creating.member
  const only = (built: BuiltProposal) => {
    if (built.buffer !== null) throw new InSeveral()
    return built.transactions[0] as BuiltProposal['transactions'][0]
  }
  try {
    // The member signs it, whose wallet is guarded.
    const { vaultActing: _, ...own } = context
    const built = await buildTransaction(own, {
      payer,
      fallbackUnits: CREATION_UNITS,
      ...(follows === undefined ? {} : { follows }),
      build: async (envelope) => only(await buildProposalCreation({ ...envelope, ...creating })),
    })
    return [built]
  } catch (error) {
    if (!(error instanceof InSeveral)) throw error
  }
  const buffers = await readTransactionBuffers(context.chain, creating.multisig, creating.member)
  const bufferIndex = buffers.indexOf(null)
  if (bufferIndex < 0)
    throw badRequest(`${payer} has 256 unfinished transaction buffers: close some (svc proposals reclaim)`)
  const guarding = unguardedSequence({ guard: context.guard })
  const terms = await sequenceTerms(context, { payer, units: CREATION_UNITS })
  const { recentBlockhash, lastValidBlockHeight } = follows ?? terms
  let transactions: BuiltProposal['transactions'] = []
  await withFixedBudget({ ...context, units: CREATION_UNITS }, async (before) => {
    const series = await buildProposalCreation({ payer, recentBlockhash, before, ...creating, bufferIndex })
    transactions = series.transactions
    return series.transactions[0] as BuiltProposal['transactions'][0]
  })
  const price = terms.computeUnitPrice
  return transactions.map(({ transaction, requiredSigners }) => ({
    transaction: withTerms(transaction, { units: CREATION_UNITS, price }),
    requiredSigners,
    cosigners: [],
    guarding,
    secretKeys: [],
    recentBlockhash,
    lastValidBlockHeight,
  }))
}

/** The message does not fit into one transaction. */
class InSeveral extends Error {
  override readonly name = 'InSeveral'
}

/** Unlike other failures this one stays, because it follows from the instructions alone. */
function requireShortTrace(err: unknown): void {
  if (JSON.stringify(err).includes('MaxInstructionTraceLengthExceeded')) throw executionTooLarge()
}

/** What an execution would change, or null if it would fail now; `check` gets the error. */
export async function rehearseChanges(
  context: Pick<ProposalContext, 'chain' | 'config'>,
  executed: Executed,
  check?: (err: unknown) => void,
): Promise<PlannedChanges | null> {
  const { err, balance_changes, control_changes } = await rehearseExecution(
    context.chain,
    programsDirOf(context),
    executed,
  )
  check?.(err)
  return err === null ? { balance_changes, control_changes } : null
}

export const programsDirOf = ({ config }: Pick<Context, 'config'>): string => config.programsDir

/**
 * Stores the plans, in the commit of their request. Throws bad_request if their subject has an open proposal by now, and
 if another has taken the place of what they renew. The commit of a signed creation has locked the policy, so
 * that of two for one subject the second sees the first.
 */
export async function storeProposals(
  { clock, renews }: Pick<ProposalContext, 'clock' | 'renews'>,
  tx: Tx,
  prepared: readonly PreparedProposal[],
  { isSigned }: Pick<ProposedAct, 'isSigned'>,
): Promise<void> {
  const [first] = prepared
  if (first !== undefined) {
    const { genesis, subject = null } = first.row
    await requireNoneOpen({ clock }, tx, { genesis, subject, isSigned })
  }
  for (const { row } of prepared) await insertProposal(tx, row)
  if (renews === undefined || first === undefined) return
  const taken = await lockProposal(tx, renews)
  if (taken !== null && taken.renewed_by !== null) throw renewedAlready(renews, taken.renewed_by)
  await updateProposal(tx, renews, { renewed_by: first.row.id as string, updated_at: clock.now() })
}

export const renewedAlready = (id: string, by: string) =>
  badRequest(`The proposal ${by} has taken the place of ${id} (svc proposals show ${by})`, {
    details: { proposal: by },
  })

/** Returns the answer's field about the proposals of a request; `signatures` if the platform wallet has signed. */
export function creationAnswer(
  prepared: readonly Pick<PreparedProposal, 'row' | 'built'>[],
  signatures?: readonly string[],
): ProposalCreation {
  const [first, ...others] = prepared
  if (first === undefined) throw new Error('a request without a transaction')
  const built = prepared.flatMap((each) => each.built)
  const { multisig, transaction_index: index, id } = first.row
  return {
    id: id as string,
    transaction_index: String(index),
    proposal_address: squadsProposalAddress(String(multisig), BigInt(index ?? 0)),
    transactions: signatures ? [] : built.map(({ transaction }) => Buffer.from(transaction).toString('base64')),
    requiredSigners: signatures ? [] : [...new Set(built.flatMap(({ requiredSigners }) => requiredSigners))],
    last_valid_block_height: Math.min(...built.map(({ lastValidBlockHeight }) => lastValidBlockHeight)),
    ...(signatures ? { signatures: [...signatures] } : {}),
    ...(others.length === 0 ? {} : { following: others.map(({ row }) => row.id as string) }),
  }
}
