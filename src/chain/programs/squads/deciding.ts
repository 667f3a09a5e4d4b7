/** Builds votes about a proposal, its execution, and the closing that returns its rent. */
import type { TxVersion } from '../../../api/envelope.ts'
import { ApiError, badRequest } from '../../../platform/errors.ts'
import { MAX_COMPUTE_UNITS, MAX_LOADED_BYTES } from '../../../solana/constants.ts'
import { decodeWireTransaction, MAX_ACCOUNT_LOCKS } from '../../../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import type { PlainInstruction } from '../../../solana/programs/table.ts'
import { ephemeralSignersOf, isWritablePlace, type PinnedMessage, vaultAddress } from '../../../solana/squads/index.ts'
import type { TransactionConfig } from '../../../solana/transaction-config.ts'
import { budgetInstructions } from '../../sending/compute-budget.ts'
import { compileUnsigned, type Envelope, type LookupTable, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { withHeap } from './creation.ts'
import { bufferClose, LARGEST_HEAP, type SquadsVote, transactionClose, transactionExecute, vote } from './program.ts'

/** Compute limit of an execution that cannot be simulated. */
export const EXECUTION_UNITS = 1_000_000
/** Accounts of an act for which every execution has room, beside those that all acts name. */
export const MOST_EXECUTED_ACCOUNTS = 20
/** The largest limits of a transaction of version 1. */
export const LARGEST_LIMITS = {
  computeUnitLimit: MAX_COMPUTE_UNITS,
  loadedAccountsDataSizeLimit: MAX_LOADED_BYTES,
  priorityFeeLamports: null,
  heapSize: LARGEST_HEAP,
} satisfies TransactionConfig

interface Voting extends Envelope {
  multisig: string
  index: bigint
  /** Signs, and may vote. */
  member: string
}

/** Approves or rejects an active proposal, or cancels an approved one. */
export async function buildVote(kind: SquadsVote, wish: Voting): Promise<UnsignedTransaction> {
  const sdk = await sdkInstructions()
  return compileUnsigned(wish, [sdk(vote(kind, wish))])
}

/** What an execution runs: the stored transaction with the addresses of its lookup tables. */
export interface Executed {
  multisig: string
  index: bigint
  vaultIndex: number
  ephemeralSigners: number
  message: PinnedMessage
}

interface ProposalExecution extends Envelope, Executed {
  /** Signs, and may execute. */
  member: string
  /** Wallets beside the vault that the message demands, and that have agreed to sign. */
  cosigners?: readonly string[] | undefined
}

/**
 * Executes an approved proposal. Throws bad_request if the message takes the signature of a wallet that is not among the
 * co-signers: whoever signs the execution would sign its instructions too.
 */
export async function buildExecution(wish: ProposalExecution): Promise<UnsignedTransaction> {
  const stranger = cosignersOf(wish).find((signer) => !wish.cosigners?.includes(signer))
  if (stranger !== undefined) {
    throw badRequest(
      `The proposal takes the signature of ${stranger} for its own instructions: execute it only if ${stranger} agrees to sign them`,
      { details: { signer: stranger } },
    )
  }
  const sdk = await sdkInstructions()
  const { envelope, first } = await withHeap(wish, wish.message)
  const execute = transactionExecute(wish, executionAccounts(wish))
  return compileUnsigned(envelope, [...first, sdk(execute)], lookupTablesOf(wish.message))
}

/** Throws bad_request if the member cannot execute the message in one transaction of this version. */
export async function requireExecutable(
  executed: Executed,
  { member, version }: { member: string; version: TxVersion },
): Promise<void> {
  const limits: Pick<Envelope, 'before' | 'messageConfig'> =
    version === 1
      ? { messageConfig: { ...LARGEST_LIMITS, priorityFeeLamports: 0n } }
      : { before: await budgetInstructions(EXECUTION_UNITS, 0n) }
  try {
    const { transaction } = await buildExecution({
      payer: member,
      recentBlockhash: SYSTEM_PROGRAM,
      member,
      ...limits,
      ...executed,
    })
    const { keys } = decodeWireTransaction(transaction).message
    const { writable, readonly } = executed.message.loaded
    if (new Set([...keys, ...writable, ...readonly]).size > MAX_ACCOUNT_LOCKS) throw executionTooLarge(version)
  } catch (error) {
    throw error instanceof ApiError ? executionTooLarge(version, error) : error
  }
}

/** The refusal of what no transaction of this version can execute. */
export function executionTooLarge(version: TxVersion = 1, cause?: unknown) {
  const next = version === 1 ? '' : ', or send tx_version 1 here and when it is executed'
  return badRequest(
    `approver: the transaction in which the multisig executes this would be larger than the chain takes: do less in one request${next}`,
    { param: 'approver', details: { reason: 'execution_too_large' }, ...(cause === undefined ? {} : { cause }) },
  )
}

/** Signers of the message for which the program does not sign: neither the vault nor an ephemeral signer. */
function cosignersOf(executed: Executed): string[] {
  const own = programSigners(executed)
  return executed.message.keys.slice(0, executed.message.signers).filter((key) => !own.has(key))
}

function programSigners({ multisig, index, vaultIndex, ephemeralSigners }: Executed): ReadonlySet<string> {
  return new Set([vaultAddress(multisig, vaultIndex), ...ephemeralSignersOf(multisig, index, ephemeralSigners)])
}

/** Accounts in the order that the program demands: tables, the message's keys, then each table's addresses. */
export function executionAccounts(executed: Executed): PlainInstruction['accounts'] {
  const { message } = executed
  const { keys, signers, lookups, loaded } = message
  const own = programSigners(executed)
  const [writable, readonly] = [[...loaded.writable], [...loaded.readonly]]
  const account = (address: string, isWritable = false, isSigner = false) => ({ address, isSigner, isWritable })
  return [
    ...lookups.map(({ table }) => account(table)),
    ...keys.map((key, place) => account(key, isWritablePlace(message, place), place < signers && !own.has(key))),
    ...lookups.flatMap((lookup) => [
      ...writable.splice(0, lookup.writable.length).map((key) => account(key, true)),
      ...readonly.splice(0, lookup.readonly.length).map((key) => account(key)),
    ]),
  ]
}

/** The tables of the message with the addresses that it takes from them. The execution can load them from there too. */
function lookupTablesOf({ lookups, loaded }: PinnedMessage): LookupTable[] {
  const [writable, readonly] = [[...loaded.writable], [...loaded.readonly]]
  return lookups.map((lookup) => {
    const places = [...lookup.writable, ...lookup.readonly]
    const keys = [...writable.splice(0, lookup.writable.length), ...readonly.splice(0, lookup.readonly.length)]
    return { table: lookup.table, addresses: new Map(places.map((place, i) => [place, keys[i] ?? ''])) }
  })
}

/** Most buffers that are closed in one transaction of version 0, beside the accounts of a proposal. */
export const MOST_CLOSED_BUFFERS = 10

interface Reclaiming extends Envelope {
  multisig: string
  index: bigint
  /** The multisig's rent collector, who receives the rent of the proposal; null leaves its accounts as they are. */
  rentCollector: string | null
  /** Numbers of buffers of the payer that were not made into a proposal; their rent returns to the payer. */
  buffers?: readonly number[]
}

/**
 * Closes the accounts of a proposal that is finished or stale, and buffers of the payer. Anybody may close the former;
 * the program refuses it if the multisig has no rent collector.
 */
export async function buildReclaim(wish: Reclaiming): Promise<UnsignedTransaction> {
  const { multisig, index, rentCollector, payer: member, buffers = [] } = wish
  const sdk = await sdkInstructions()
  const closing = [
    ...(rentCollector === null ? [] : [transactionClose({ multisig, index, rentCollector })]),
    ...buffers.map((bufferIndex) => bufferClose({ multisig, member, bufferIndex })),
  ]
  return compileUnsigned(wish, closing.map(sdk))
}
