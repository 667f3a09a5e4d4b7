/** Running a transaction for what it does to its accounts, each of them read before and after. */

import type { Connection, PublicKey, SimulatedTransactionAccountInfo, VersionedTransaction } from '@solana/web3.js'
import { ApiError, badRequest } from '../errors.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { ACCOUNTS_PER_CALL } from '../solana/constants.ts'
import { TransactionRefused } from '../solana/execution.ts'
import { type LoadedAddresses, loadAddresses } from '../solana/lookup-tables.ts'
import { type DecodedMessage, isWritable } from '../solana/messages.ts'
import { exactLamports } from './exact-lamports.ts'
import { askNode } from './rpc-faults.ts'

/** How web3.js words a node's refusal of the transaction itself; the code of the error is lost on the way. */
const NODE_REFUSAL = /^failed to simulate transaction: ((?:invalid|failed to deserialize|.* too large).*)/
/** Runs until the accounts hold still; on accounts that everybody writes to, the last one has to do. */
const MAX_RUNS = 3

export type MaybeAccount = ChainAccount | null

export interface RunOptions {
  /** A recent blockhash takes the place of the transaction's; otherwise the very message runs. */
  replaceRecentBlockhash: boolean
  innerInstructions?: boolean
  /** The state to start from where two readings differ, or null where none will do; without it they must be the same. */
  settle?: (
    addresses: readonly string[],
    before: readonly MaybeAccount[],
    again: readonly MaybeAccount[],
    isLast: boolean,
  ) => MaybeAccount[] | null
  mostRuns?: number
}

/**
 * Others change the same accounts too: the state before counts only where it is the same after the run, or `settle` makes
 * one of both, else `stable` is false; readings that a node behind the others makes, out of the order of slots, do not
 * count. The accounts are all that the message may write to: the runtime refuses a change of any other.
 */
export async function runWithAccounts(
  connection: Connection,
  transaction: VersionedTransaction,
  message: DecodedMessage,
  options: RunOptions,
) {
  const { writable: addresses, loaded } = await accountsOfMessage(connection, message)
  const { mostRuns = MAX_RUNS } = options
  let before = await readingOf(connection, addresses)
  for (let tries = 1; ; tries++) {
    const run = await runOnce(connection, transaction, addresses, options)
    const again = await readingOf(connection, addresses)
    const isLast = tries === mostRuns
    const isOrdered = before.newest <= run.context.slot && run.context.slot <= again.oldest
    const start = isOrdered ? stateBefore(addresses, before.accounts, again.accounts, options, isLast) : null
    if (start !== null) return { addresses, loaded, before: start, run, stable: true }
    if (isLast) return { addresses, loaded, before: before.accounts, run, stable: false }
    before = again
  }
}

function stateBefore(
  addresses: readonly string[],
  before: readonly MaybeAccount[],
  again: readonly MaybeAccount[],
  { settle }: RunOptions,
  isLast: boolean,
): readonly MaybeAccount[] | null {
  return areEqual(before, again) ? before : (settle?.(addresses, before, again, isLast) ?? null)
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
  transaction: VersionedTransaction,
  addresses: readonly string[],
  { replaceRecentBlockhash, innerInstructions = false }: RunOptions,
) {
  return askNode('The simulation', async () => {
    try {
      const accounts = { encoding: 'base64' as const, addresses: [...addresses] }
      return await connection.simulateTransaction(transaction, {
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

/** None where a table cannot be used: the run then says so itself. */
async function loadedBy(connection: Connection, lookups: DecodedMessage['lookups']): Promise<LoadedAddresses> {
  const { PublicKey } = await import('@solana/web3.js')
  const tables = lookups.map(({ table }) => table)
  const { context, value } = await askNode('Reading lookup tables', () =>
    connection.getMultipleAccountsInfoAndContext(tables.map((table) => new PublicKey(table))),
  )
  const found = new Map(tables.map((table, i) => [table, accountBefore(value[i] ?? null)]))
  try {
    return loadAddresses(lookups, context.slot, (table) => found.get(table) ?? null)
  } catch (error) {
    if (error instanceof TransactionRefused) return { writable: [], readonly: [] }
    throw error
  }
}

/** Accounts in the order asked, null where none is. Throws internal_error when the node fails. */
export async function accountsAt(connection: Connection, addresses: readonly string[]): Promise<MaybeAccount[]> {
  return (await readingOf(connection, addresses)).accounts
}

/** The same, with the slots of the node that they are read at: a call takes a hundred. */
export async function readingOf(connection: Connection, addresses: readonly string[]) {
  const { PublicKey } = await import('@solana/web3.js')
  const accounts: MaybeAccount[] = []
  const slots: number[] = []
  for (let first = 0; first < addresses.length; first += ACCOUNTS_PER_CALL) {
    const keys = addresses.slice(first, first + ACCOUNTS_PER_CALL).map((address) => new PublicKey(address))
    const { context, value } = await askNode('Reading accounts', async () => {
      const answer = await connection.getMultipleAccountsInfoAndContext(keys)
      // An account that is missing from the answer must not pass for one that does not exist.
      if (answer.value.length !== keys.length) throw new Error('it answers with parts missing')
      return answer
    })
    slots.push(context.slot)
    accounts.push(...keys.map((_, i) => accountBefore(value[i] ?? null)))
  }
  return { accounts, oldest: Math.min(...slots), newest: Math.max(...slots) }
}

type Web3Account = { lamports: number; owner: PublicKey; data: Uint8Array; executable: boolean }

function accountBefore(read: Web3Account | null): MaybeAccount {
  if (read === null) return null
  const { data, executable } = read
  return { lamports: BigInt(exactLamports(read)), owner: read.owner.toBase58(), data, executable }
}

/** As a simulation shows it. */
export function accountAfter(shown: SimulatedTransactionAccountInfo | null): MaybeAccount {
  if (shown === null) return null
  const { owner, data, executable } = shown
  return { lamports: BigInt(exactLamports(shown)), owner, data: Buffer.from(data[0] ?? '', 'base64'), executable }
}
