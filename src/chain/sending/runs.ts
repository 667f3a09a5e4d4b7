/** Simulates a transaction, and reads its accounts before and after. */

import { badRequest } from '../../platform/errors.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { TransactionRefused } from '../../solana/execution.ts'
import { type LoadedAddresses, loadAddresses } from '../../solana/lookup-tables.ts'
import { type DecodedTransaction, isWritable } from '../../solana/messages.ts'
import { type NodeCalls, NodeRefusal } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { accountsAtSlot, type MaybeAccount, simulateOnNode } from '../reads/node-reads.ts'

/** Messages of a node about the transaction itself. */
const INVALID = /^(?:invalid|failed to deserialize|.* too large)/
/** Most runs while the accounts keep changing. On accounts that everyone writes to, the last run is used. */
const MAX_RUNS = 3

export interface RunOptions {
  /** Whether a recent blockhash replaces the transaction's. Otherwise exactly this message runs. */
  replaceRecentBlockhash: boolean
  innerInstructions?: boolean
  /**
   * Returns the state to start from when two readings differ, or null if none is acceptable. Without it the readings
   * must be equal.
   */
  settle?: (
    addresses: readonly string[],
    before: readonly MaybeAccount[],
    reread: readonly MaybeAccount[],
    isLast: boolean,
  ) => MaybeAccount[] | null
  mostRuns?: number
}

/**
 * Reads the accounts before and after the run. If they differ and `settle` cannot reconcile them, or their slots are
 * not in order, it runs again. `stable` is false if no run fits. The accounts are all that the message may write to.
 */
export async function runWithAccounts(
  node: NodeCalls,
  { raw, message }: Pick<DecodedTransaction, 'raw' | 'message'>,
  options: RunOptions,
) {
  const { writable: addresses, loaded } = await accountsOfMessage(node, message)
  const { mostRuns = MAX_RUNS } = options
  let before = await readWithSlots(node, addresses)
  for (let tries = 1; ; tries++) {
    const { slot, run } = await runOnce(node, raw, addresses, options)
    const reread = await readWithSlots(node, addresses)
    const isLast = tries === mostRuns
    const isOrdered = before.newest <= slot && slot <= reread.oldest
    const start = isOrdered ? stateBefore(addresses, before.accounts, reread.accounts, options, isLast) : null
    if (start !== null) return { addresses, loaded, before: start, slot, run, stable: true }
    if (isLast) return { addresses, loaded, before: before.accounts, slot, run, stable: false }
    before = reread
  }
}

function stateBefore(
  addresses: readonly string[],
  before: readonly MaybeAccount[],
  reread: readonly MaybeAccount[],
  { settle }: RunOptions,
  isLast: boolean,
): readonly MaybeAccount[] | null {
  return areEqual(before, reread) ? before : (settle?.(addresses, before, reread, isLast) ?? null)
}

const areEqual = (a: readonly MaybeAccount[], b: readonly MaybeAccount[]) =>
  a.every((account, i) => {
    const other = b[i] ?? null
    if (account === null || other === null) return account === other
    const { lamports, owner, data } = account
    return lamports === other.lamports && owner === other.owner && Buffer.from(data).equals(other.data)
  })

async function runOnce(
  node: NodeCalls,
  raw: Uint8Array,
  addresses: readonly string[],
  { replaceRecentBlockhash, innerInstructions = false }: RunOptions,
) {
  return askNode('The simulation', async () => {
    try {
      return await simulateOnNode(node, raw, { replaceRecentBlockhash, innerInstructions, addresses })
    } catch (error) {
      if (!(error instanceof NodeRefusal) || !INVALID.test(error.message)) throw error
      throw badRequest(`transaction: ${error.message}`, { param: 'transaction', cause: error })
    }
  })
}

async function accountsOfMessage(node: NodeCalls, message: DecodedMessage) {
  const { keys, lookups } = message
  const loaded = lookups.length === 0 ? { writable: [], readonly: [] } : await loadedBy(node, lookups)
  const all = [...keys.filter((_, i) => isWritable(message, loaded.writable.length, i)), ...loaded.writable]
  return { writable: [...new Set(all)], loaded }
}

/** Returns no addresses for an unusable table. The run then reports it. */
async function loadedBy(node: NodeCalls, lookups: DecodedMessage['lookups']): Promise<LoadedAddresses> {
  const tables = lookups.map(({ table }) => table)
  const { slot, accounts } = await askNode('Reading lookup tables', () => accountsAtSlot(node, tables))
  const loadedTables = new Map(tables.map((table, i) => [table, accounts[i] ?? null]))
  try {
    return loadAddresses(lookups, slot, (table) => loadedTables.get(table) ?? null)
  } catch (error) {
    if (error instanceof TransactionRefused) return { writable: [], readonly: [] }
    throw error
  }
}

/** Returns accounts in the order of the addresses, with null for none. Throws internal_error when the node fails. */
export async function accountsAt(node: NodeCalls, addresses: readonly string[]): Promise<MaybeAccount[]> {
  return (await readWithSlots(node, addresses)).accounts
}

/** Reads accounts with the slots of the readings, a hundred per call. */
export async function readWithSlots(node: NodeCalls, addresses: readonly string[]) {
  const accounts: MaybeAccount[] = []
  const slots: number[] = []
  for (let first = 0; first < addresses.length; first += ACCOUNTS_PER_CALL) {
    const part = addresses.slice(first, first + ACCOUNTS_PER_CALL)
    const reading = await askNode('Reading accounts', () => accountsAtSlot(node, part))
    slots.push(reading.slot)
    accounts.push(...reading.accounts)
  }
  return { accounts, oldest: Math.min(...slots), newest: Math.max(...slots) }
}
