/** A proposal of a multisig as it is checked here, and as lines of 80 columns: its plan, its members, what it would change. */
import { proposalNames } from '../../src/api/proposal-names.ts'
import type { Proposal, ProposalForecast, SquadsApprover } from '../../src/api/proposals.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { instructionTexts } from '../../src/solana/described-instructions.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { loadAddresses } from '../../src/solana/lookup-tables.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  decodeVaultTransaction,
  ephemeralSignersOf,
  innerMessageOf,
  MOST_NEW_ACCOUNTS,
  namedPlaces,
  type PinnedMessage,
  type PlaceAddresses,
  pinMessage,
  placeAddresses,
  SquadsFault,
  type SquadsMessage,
  squadsProposalAddress,
  squadsTransactionAddress,
  storedActDifference,
  storedMessageDifference,
  vaultAddress,
} from '../../src/solana/squads/index.ts'
import type { Session } from '../cli/session.ts'
import { addressNames } from '../signing/address-names.ts'
import { withMints } from '../signing/content.ts'
import { type ApiAccount, chainAccountOf, describeWithTables, takenLines } from '../signing/lookup-tables.ts'
import { previewLine } from '../signing/preview.ts'
import { failure, nullIfNotFound, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { requireAnswered } from './answered.ts'
import { forecastLines } from './forecast.ts'

export type SquadsProposal = Proposal & { approver: SquadsApprover }

/** Returns the proposal; throws a failure if its addresses or its hash do not belong to what it names. */
export function openSquads(id: string, answered: Proposal): SquadsProposal {
  const { approver } = answered
  if (approver.kind !== 'squads') throw usage(`${id} is a proposal of a rule, not of a multisig`)
  requireAnswered(id, answered)
  if (namesOwnAddresses(approver)) return { ...answered, approver }
  throw failure(
    `the API names addresses that are not those of its multisig and its number for ${id}: nothing was signed`,
    { next: 'check which API answers: `svc config list`' },
  )
}

function namesOwnAddresses(approver: SquadsApprover): boolean {
  const { multisig, vault, vault_index, proposal_address, transaction_address } = approver
  try {
    const { proposal, transaction } = stepPlace(approver)
    return (
      vault === vaultAddress(multisig, vault_index) &&
      proposal_address === proposal &&
      transaction_address === transaction
    )
  } catch {
    // Only an address with a number has addresses of its own.
    return false
  }
}

/** The place of a proposal, derived here. */
export function stepPlace({ multisig, transaction_index }: Pick<SquadsApprover, 'multisig' | 'transaction_index'>) {
  const index = BigInt(transaction_index)
  return {
    multisig,
    proposal: squadsProposalAddress(multisig, index),
    transaction: squadsTransactionAddress(multisig, index),
  }
}

/** The message of the plan, with the addresses that its lookup tables have now. */
async function plannedMessage(
  client: Session['client'],
  { id, approver, transaction }: SquadsProposal,
): Promise<PinnedMessage> {
  const decoded = decodeWireTransaction(Buffer.from(transaction, 'base64'))
  const { multisig, vault, transaction_index } = approver
  const ephemeral = ephemeralSignersOf(multisig, BigInt(transaction_index), MOST_NEW_ACCOUNTS)
  try {
    const named = innerMessageOf(decoded, { vault, ephemeral, loaded: namedPlaces(decoded.message) })
    return await withTables(client, named)
  } catch (error) {
    if (!(error instanceof SquadsFault)) throw error
    throw failure(`the vault cannot execute the plan of ${id} by itself: ${error.message}; nothing was signed`)
  }
}

/**
 * The accounts that the execution takes: lookup tables, the keys of the message, and the places of each table, which the
 * execution may name by their addresses too.
 */
export function executedAccounts({ keys, lookups, loaded }: PinnedMessage): (string | readonly string[])[] {
  const [writable, readonly] = [[...loaded.writable], [...loaded.readonly]]
  const places = lookups.flatMap((lookup) => {
    const named = namedPlaces({ lookups: [lookup] })
    return [
      ...named.writable.map((place) => [place, writable.shift() ?? place]),
      ...named.readonly.map((place) => [place, readonly.shift() ?? place]),
    ]
  })
  return [...lookups.map(({ table }) => table), ...keys, ...places]
}

/**
 * Returns what the account on the chain stores. Throws a failure unless that is exactly the plan, which takes no other
 * signature than those of the vault and of its new accounts. The API reads the account and its lookup tables, and both
 * are compared here.
 */
export async function requireStored(
  { client }: Pick<Session, 'client'>,
  proposal: SquadsProposal,
): Promise<PinnedMessage> {
  const { id, status, next, approver } = proposal
  const { multisig, transaction_index, transaction_address: address } = approver
  const account = (await nullIfNotFound(client.accounts.get({ address })))?.data
  if (account === undefined) {
    throw failure(`the chain stores no transaction of ${id}, which is ${status}: nothing was signed`, {
      ...(next === null ? {} : { next: printable(next) }),
    })
  }
  const stored = await storedPlan(client, proposal, account)
  if (typeof stored !== 'string') return stored
  throw failure(`number ${transaction_index} of ${multisig} is not what was planned: ${stored} Nothing was signed.`, {
    next: `svc proposals reject ${id}, and see docs/approvals.md`,
  })
}

/** The stored message, or a sentence about what differs from the plan. */
async function storedPlan(
  client: Session['client'],
  proposal: SquadsProposal,
  account: ApiAccount,
): Promise<PinnedMessage | string> {
  const { multisig, transaction_index, vault_index } = proposal.approver
  try {
    const found = decodeVaultTransaction(chainAccountOf(account), multisig, BigInt(transaction_index))
    if (found.vaultIndex !== vault_index) return `It is one of the vault ${found.vaultIndex}.`
    const stored = await withTables(client, found.message)
    const plan = await plannedMessage(client, proposal)
    // What another client proposed with tables is planned here with all its addresses.
    const isTaken = plan.lookups.length === 0 && stored.lookups.length > 0
    return (isTaken ? storedActDifference(plan, stored) : storedMessageDifference(plan, stored)) ?? stored
  } catch (error) {
    if (error instanceof SquadsFault) return `${error.message}.`
    throw error
  }
}

/** What a transaction takes from lookup tables: `TABLE[place]`, and its address now. Throws a failure like `withTables`. */
export async function readPlaces(client: Session['client'], transaction: string): Promise<PlaceAddresses> {
  const { lookups } = decodeWireTransaction(Buffer.from(transaction, 'base64')).message
  const none = { signers: 0, writableSigners: 0, writableOthers: 0, keys: [], instructions: [] }
  const { loaded } = await withTables(client, { ...none, lookups })
  return placeAddresses({ lookups }, loaded)
}

/** Adds the addresses of the lookup tables as they are now. Throws a failure for a table that cannot be read. */
async function withTables(client: Session['client'], message: SquadsMessage): Promise<PinnedMessage> {
  const tables = new Map<string, ChainAccount>()
  for (const { table } of message.lookups) {
    const found = (await nullIfNotFound(client.accounts.get({ address: table })))?.data
    if (found !== undefined) tables.set(table, chainAccountOf(found))
  }
  try {
    const loaded = loadAddresses(message.lookups, Number.MAX_SAFE_INTEGER, (table) => tables.get(table) ?? null)
    return pinMessage(message, loaded)
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    throw failure(`a lookup table of the proposal cannot be read (${String(error.err)}): nothing was signed`, {
      next: 'propose the act anew, without lookup tables or with another one',
    })
  }
}

/** What a command shows: the plan as it is decoded here, and what its execution would change now. */
export async function planLines(
  session: Pick<Session, 'client' | 'wallet'>,
  { approver, what, message_sha256, transaction, asked_by }: SquadsProposal,
  forecast: ProposalForecast | null,
): Promise<string[]> {
  const changes = forecast?.balance_changes ?? []
  const { content: described, taken } = await describeWithTables(session, transaction)
  const content = withMints(described, { balance_changes: changes })
  const names = await addressNames(session, content, proposalNames(approver, approver.vault))
  return [
    previewLine('what', what),
    previewLine('multisig', approver.multisig),
    previewLine('vault', `${approver.vault} (number ${approver.vault_index})`),
    previewLine('proposal', `number ${approver.transaction_index}`),
    previewLine('proposed', `by ${approver.member ?? 'a member who is not known'}`),
    previewLine('asked', asked_by === null ? 'in another client' : `by the API key ${asked_by}`),
    previewLine('sha256', message_sha256),
    ...takenLines(taken),
    'plan, decoded here',
    ...instructionTexts(content.instructions, names),
    ...forecastLines(forecast, 'paid by the member who executes it'),
  ].map(printable)
}

/** Who has decided, who is missing, and the time lock. `own` is a wallet of the caller. */
export function memberLines({ approver, decisions, needed }: SquadsProposal, own: string | null): string[] {
  const { members, time_lock } = approver
  const decided = new Map(decisions.map(({ approver: address, decision }) => [address, decision]))
  const words = members.map(({ address, vote }) => ({
    address,
    word: decided.get(address) ?? (vote ? 'missing' : 'no vote'),
  }))
  const former = decisions.filter(({ approver: address }) => !members.some((member) => member.address === address))
  return [
    `members: ${counted(needed, 'approval')} needed`,
    ...words.map(({ address, word }) => previewLine(word, `${address}${address === own ? ' (you)' : ''}`)),
    ...former.map(({ approver: address, decision }) => previewLine(decision, `${address}, no longer a member`)),
    ...(time_lock === 0 ? [] : [previewLine('time lock', lockText(approver))]),
  ].map(printable)
}

function lockText(approver: SquadsApprover): string {
  const from = executableFrom(approver)
  const seconds = counted(approver.time_lock, 'second')
  return from === null ? `${seconds} after the last approval` : `${seconds}; it can be executed from ${timeText(from)}`
}

/** Unix milliseconds from which an approved proposal can be executed; null without a time lock or an approval. */
export const executableFrom = ({ time_lock, approved_at }: SquadsApprover): number | null =>
  time_lock === 0 || approved_at === null ? null : Date.parse(approved_at) + time_lock * 1000
