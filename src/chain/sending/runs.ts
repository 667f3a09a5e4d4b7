/** Simulates a transaction, and reads its accounts before and after. */

import type { Connection, PublicKey, SimulatedTransactionAccountInfo } from '@solana/web3.js'
import { ApiError, badRequest } from '../../platform/errors.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { TransactionRefused } from '../../solana/execution.ts'
import { type LoadedAddresses, loadAddresses } from '../../solana/lookup-tables.ts'
import { type DecodedMessage, type DecodedTransaction, isWritable } from '../../solana/messages.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { exactLamports } from '../reads/exact-lamports.ts'
import { type MaybeAccount, plainAccounts } from '../reads/plain-reads.ts'
import { givenTransaction } from './given-bytes.ts'

/** Wording of web3.js for a transaction that the node refuses. The error's code is lost in it. */
const NODE_REFUSAL = /^failed to simulate transaction: ((?:invalid|failed to deserialize|.* too large).*)/
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
 * Others may change the accounts meanwhile: the state before counts only if it is equal after the run or `settle`
 * reconciles both, else `stable` is false. Readings out of slot order do not count. The accounts are all that the
 * message may write to, because the runtime refuses any other change.
 */
export async function runWithAccounts(
  connection: Connection,
  { raw, message }: Pick<DecodedTransaction, 'raw' | 'message'>,
  options: RunOptions,
) {
  const { writable: addresses, loaded } = await accountsOfMessage(connection, message)
  const { mostRuns = MAX_RUNS } = options
  let before = await readingOf(connection, addresses)
  for (let tries = 1; ; tries++) {
    const run = await runOnce(connection, raw, addresses, options)
    const reread = await readingOf(connection, addresses)
    const isLast = tries === mostRuns
    const isOrdered = before.newest <= run.context.slot && run.context.slot <= reread.oldest
    const start = isOrdered ? stateBefore(addresses, before.accounts, reread.accounts, options, isLast) : null
    if (start !== null) return { addresses, loaded, before: start, run, stable: true }
    if (isLast) return { addresses, loaded, before: before.accounts, run, stable: false }
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
  connection: Connection,
  raw: Uint8Array,
  addresses: readonly string[],
  { replaceRecentBlockhash, innerInstructions = false }: RunOptions,
) {
  return askNode('The simulation', async () => {
    try {
      const accounts = { encoding: 'base64' as const, addresses: [...addresses] }
      return await connection.simulateTransaction(givenTransaction(raw), {
        sigVerify: false,
        replaceRecentBlockhash,
        ...(innerInstructions && { innerInstructions }),
        accounts,
      })
    } catch (error) {
      const refusal = error instanceof ApiError ? undefined : NODE_REFUSAL.exec((error as Error).message)?.[1]
      if (refusal === undefined) throw error
      throw badRequest(`transaction: ${refusal}`, { param: 'transaction', cause: error })
    }
  })
}

async function accountsOfMessage(connection: Connection, message: DecodedMessage) {
  const { keys, lookups } = message
  const loaded = lookups.length === 0 ? { writable: [], readonly: [] } : await loadedBy(connection, lookups)
  const all = [...keys.filter((_, i) => isWritable(message, loaded.writable.length, i)), ...loaded.writable]
  return { writable: [...new Set(all)], loaded }
}

/** Returns no addresses for an unusable table. The run then reports it. */
async function loadedBy(connection: Connection, lookups: DecodedMessage['lookups']): Promise<LoadedAddresses> {
  const { PublicKey } = await import('@solana/web3.js')
  const tables = lookups.map(({ table }) => table)
  const { context, value } = await askNode('Reading lookup tables', () =>
    connection.getMultipleAccountsInfoAndContext(tables.map((table) => new PublicKey(table))),
  )
  const loadedTables = new Map(tables.map((table, i) => [table, accountBefore(value[i] ?? null)]))
  try {
    return loadAddresses(lookups, context.slot, (table) => loadedTables.get(table) ?? null)
  } catch (error) {
    if (error instanceof TransactionRefused) return { writable: [], readonly: [] }
    throw error
  }
}

/** Returns accounts in the order of the addresses, with null for none. Throws internal_error when the node fails. */
export async function accountsAt(connection: Connection, addresses: readonly string[]): Promise<MaybeAccount[]> {
  return (await readingOf(connection, addresses)).accounts
}

/** Reads accounts with the slots of the readings, a hundred per call. */
export async function readingOf(connection: Connection, addresses: readonly string[]) {
  const accounts: MaybeAccount[] = []
  const slots: number[] = []
  for (let first = 0; first < addresses.length; first += ACCOUNTS_PER_CALL) {
    const part = addresses.slice(first, first + ACCOUNTS_PER_CALL)
    const reading = await askNode('Reading accounts', async () => {
      const answer = await plainAccounts(connection, part)
      // An account that is missing from the answer must not count as nonexistent.
      if (answer.accounts.length !== part.length) throw new Error('it answers with parts missing')
      return answer
    })
    slots.push(reading.slot)
    accounts.push(...reading.accounts)
  }
  return { accounts, oldest: Math.min(...slots), newest: Math.max(...slots) }
}

type Web3Account = { lamports: number; owner: PublicKey; data: Uint8Array; executable: boolean }

function accountBefore(read: Web3Account | null): MaybeAccount {
  if (read === null) return null
  const { data, executable } = read
  return { lamports: BigInt(exactLamports(read)), owner: read.owner.toBase58(), data, executable }
}

/** Converts an account from a simulation's answer. */
export function accountAfter(shown: SimulatedTransactionAccountInfo | null): MaybeAccount {
  if (shown === null) return null
  const { owner, data, executable } = shown
  return { lamports: BigInt(exactLamports(shown)), owner, data: Buffer.from(data[0] ?? '', 'base64'), executable }
}
