/** Reads multisigs, proposals and stored transactions, and checks that each is what was asked for. */
import { badRequest, internal, notFound } from '../../../platform/errors.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { TransactionRefused } from '../../../solana/execution.ts'
import { loadAddresses } from '../../../solana/lookup-tables.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { SQUADS_SETTINGS } from '../../../solana/programs.ts'
import {
  decodeMultisig,
  decodeProposal,
  decodeSquadsSettings,
  decodeTransactionBuffer,
  decodeVaultTransaction,
  MAX_INDEX,
  type Multisig,
  NOTHING_LOADED,
  type PinnedMessage,
  type ProposalAccount,
  pinMessage,
  SquadsFault,
  type SquadsMessage,
  type SquadsSettings,
  squadsProposalAddress,
  squadsTransactionAddress,
  type TransactionBuffer,
  transactionBufferAddress,
  type VaultTransaction,
} from '../../../solana/squads/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { accountsAtSlot } from '../../reads/node-reads.ts'
import { accountsAt } from '../../sending/runs.ts'

/** Throws not_found or bad_request for an address without a multisig, naming `param`. */
export async function readMultisig(node: NodeCalls, address: string, param = 'multisig'): Promise<Multisig> {
  const [account] = await accountsAt(node, [address])
  if (account == null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0)) {
    throw notFound(`There is no Squads multisig at ${address}: check the cluster and the address`, { param })
  }
  return checked(() => decodeMultisig(address, account), param)
}

/**
 * Proposals in the order of the indexes; null for one that does not exist, or was closed. Throws bad_request for another
 * account.
 */
export async function readProposalAccounts(
  node: NodeCalls,
  multisig: string,
  indexes: readonly bigint[],
): Promise<(ProposalAccount | null)[]> {
  const addresses = indexes.map((index) => squadsProposalAddress(multisig, index))
  const accounts = await accountsAt(node, addresses)
  return indexes.map((index, i) => proposalIn(accounts[i] ?? null, multisig, index))
}

/** Null if the transaction does not exist, or was closed. Throws bad_request for one of another kind, such as a batch. */
export async function readVaultTransaction(
  node: NodeCalls,
  multisig: string,
  index: bigint,
): Promise<VaultTransaction | null> {
  const [account] = await accountsAt(node, [squadsTransactionAddress(multisig, index)])
  return transactionIn(account ?? null, multisig, index)
}

/** A proposal as the chain has it at one slot. */
export interface ProposalOnChain {
  multisig: Multisig
  /** Null if it does not exist, or was closed. */
  proposal: ProposalAccount | null
  /** Null if it does not exist, or was closed. Its message has the addresses of its lookup tables. */
  transaction: (VaultTransaction & { message: PinnedMessage }) | null
}

/** Reads all about a proposal, the first three accounts at one slot. Throws like the reads of each. */
export async function readProposal(node: NodeCalls, multisig: string, index: bigint): Promise<ProposalOnChain> {
  const addresses = [multisig, squadsProposalAddress(multisig, index), squadsTransactionAddress(multisig, index)]
  const [group = null, proposal = null, transaction = null] = await accountsAt(node, addresses)
  if (group === null) return { multisig: await readMultisig(node, multisig), proposal: null, transaction: null }
  const stored = transactionIn(transaction, multisig, index)
  return {
    multisig: checked(() => decodeMultisig(multisig, group), 'multisig'),
    proposal: proposalIn(proposal, multisig, index),
    transaction: stored && { ...stored, message: await readLookups(node, stored.message) },
  }
}

/** Adds the addresses that the message loads from its tables now. Throws bad_request if it could not be executed. */
export async function readLookups(node: NodeCalls, message: SquadsMessage): Promise<PinnedMessage> {
  const tables = [...new Set(message.lookups.map(({ table }) => table))]
  if (tables.length === 0) return checked(() => pinMessage(message, NOTHING_LOADED), 'message')
  const { slot, accounts } = await askNode('Reading lookup tables', () => accountsAtSlot(node, tables))
  const byAddress = new Map(tables.map((table, i) => [table, accounts[i] ?? null]))
  try {
    return pinMessage(
      message,
      loadAddresses(message.lookups, slot, (table) => byAddress.get(table) ?? null),
    )
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    throw badRequest(
      `The proposal uses the lookup table ${tables.join(', ')}, from which its addresses cannot be read (${String(error.err)}): propose it anew`,
      { cause: error },
    )
  }
}

/** Reads whom the program pays for a new multisig. Throws internal_error if the cluster lacks the account. */
export async function readSquadsSettings(node: NodeCalls): Promise<SquadsSettings> {
  const [account] = await accountsAt(node, [SQUADS_SETTINGS])
  if (account == null) throw internal(`The settings of Squads v4 (${SQUADS_SETTINGS}) are not on this cluster`)
  return checked(() => decodeSquadsSettings(SQUADS_SETTINGS, account), 'multisig')
}

/** A buffer that was not made into a proposal, or not yet. */
export interface LeftBuffer extends TransactionBuffer {
  address: string
  lamports: bigint
}

/** A member's buffers in a multisig, by their numbers from 0 to 255; null where there is none. */
export async function readTransactionBuffers(
  node: NodeCalls,
  multisig: string,
  member: string,
): Promise<(LeftBuffer | null)[]> {
  const addresses = Array.from({ length: MAX_INDEX + 1 }, (_, i) => transactionBufferAddress(multisig, member, i))
  const accounts = await accountsAt(node, addresses)
  return addresses.map((address, i) => {
    const account = accounts[i] ?? null
    // Lamports can be sent to any address.
    if (account === null || account.owner === SYSTEM_PROGRAM) return null
    return checked(
      () => ({ ...decodeTransactionBuffer(address, account), address, lamports: account.lamports }),
      'multisig',
    )
  })
}

function proposalIn(account: ChainAccount | null, multisig: string, index: bigint): ProposalAccount | null {
  if (account === null || account.owner === SYSTEM_PROGRAM) return null
  return checked(() => decodeProposal(account, multisig, index), 'index')
}

function transactionIn(account: ChainAccount | null, multisig: string, index: bigint): VaultTransaction | null {
  if (account === null || account.owner === SYSTEM_PROGRAM) return null
  return checked(() => decodeVaultTransaction(account, multisig, index), 'index')
}

/** Throws bad_request, naming `param`, for what is wrong with an account or a message of Squads. */
export function checked<T>(decode: () => T, param: string): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof SquadsFault)) throw error
    throw badRequest(error.message, { param, cause: error })
  }
}
