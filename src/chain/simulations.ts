/** Running a transaction without submitting it: what it would do, cost and move. */
import type { Connection, PublicKey, SimulatedTransactionAccountInfo, VersionedTransaction } from '@solana/web3.js'
import type { Simulation } from '../api/index.ts'
import { ApiError, badRequest, internal } from '../errors.ts'
import { type BalanceChange, balanceChanges } from './balance-changes.ts'
import { lamportsOf } from './exact-lamports.ts'
import { type LoadedAddresses, loadAddresses } from './localnet/lookup-tables.ts'
import { type DecodedMessage, type DecodedTransaction, isWritable } from './localnet/messages.ts'
import { readMint } from './localnet/rpc/token-state.ts'
import { type ChainAccount, TransactionRefused } from './localnet/types.ts'
import { askNode } from './rpc-faults.ts'
import { latestBlockhash } from './rpc-reads.ts'

/** How web3.js words a node's refusal of the transaction itself; the code of the error is lost on the way. */
const REFUSED = /^failed to simulate transaction: ((?:invalid|failed to deserialize|.* too large).*)/
/** Accounts that a node reads in one call. */
const MAX_ACCOUNTS = 100
/** Runs until the accounts hold still; on accounts that everybody writes to, the last one has to do. */
const MOST_RUNS = 3

type Account = ChainAccount | null

/**
 * Signatures are not asked for and a recent blockhash takes the place of the transaction's, so that an unsigned build
 * runs whenever it was built. A failed run is an answer with `err`; throws bad_request when the node refuses to run it.
 */
export async function simulateTransaction(
  connection: Connection,
  { raw, message }: DecodedTransaction,
): Promise<Simulation> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const transaction = VersionedTransaction.deserialize(raw)
  const [fee, { before, addresses, run }] = await Promise.all([
    // Of a copy: the blockhash of a message is written into it.
    feeFor(connection, VersionedTransaction.deserialize(raw)),
    runWithAccounts(connection, transaction, message),
  ])
  const { err, logs, unitsConsumed, returnData, accounts } = run.value
  if (err === null && accounts?.length !== addresses.length) {
    throw internal('The RPC node ran the transaction but does not show what it changes')
  }
  const after = addresses.map((_, i) => accountAfter(accounts?.[i] ?? null))
  return {
    err,
    logs: logs ?? [],
    units_consumed: unitsConsumed ?? null,
    return_data: returnData ? { program_id: returnData.programId, data: returnData.data[0] } : null,
    slot: run.context.slot,
    fee,
    balance_changes: err === null ? await withDecimals(connection, balanceChanges(addresses, before, after)) : [],
  }
}

/** Others change the same accounts too: the state before counts only where it is the same after the run. */
async function runWithAccounts(connection: Connection, transaction: VersionedTransaction, message: DecodedMessage) {
  const addresses = await writableAddresses(connection, message)
  let before = await accountsAt(connection, addresses)
  for (let tries = 1; ; tries++) {
    const run = await runOnce(connection, transaction, addresses)
    const again = await accountsAt(connection, addresses)
    if (tries === MOST_RUNS || isSame(before, again)) return { addresses, before, run }
    before = again
  }
}

const isSame = (a: readonly Account[], b: readonly Account[]) =>
  a.every((account, i) => {
    const other = b[i] ?? null
    if (account === null || other === null) return account === other
    return account.lamports === other.lamports && Buffer.from(account.data).equals(other.data)
  })

async function runOnce(connection: Connection, transaction: VersionedTransaction, addresses: readonly string[]) {
  return askNode('The simulation', async () => {
    try {
      const accounts = { encoding: 'base64' as const, addresses: [...addresses] }
      return await connection.simulateTransaction(transaction, {
        sigVerify: false,
        replaceRecentBlockhash: true,
        accounts,
      })
    } catch (error) {
      const refusal = error instanceof ApiError ? undefined : REFUSED.exec((error as Error).message)?.[1]
      if (refusal === undefined) throw error
      throw badRequest(`transaction: ${refusal}`, { param: 'transaction', cause: error })
    }
  })
}

/** Lamports with a fresh blockhash; null where the node does not say, or not exactly. */
async function feeFor(connection: Connection, { message }: VersionedTransaction): Promise<string | null> {
  try {
    message.recentBlockhash = await latestBlockhash(connection)
    const { value } = await connection.getFeeForMessage(message)
    return Number.isSafeInteger(value) ? String(value) : null
  } catch {
    return null
  }
}

async function writableAddresses(connection: Connection, message: DecodedMessage): Promise<string[]> {
  const { keys, lookups } = message
  const loaded = lookups.length === 0 ? [] : await loadedWritable(connection, lookups)
  const all = [...keys.filter((_, i) => isWritable(message, loaded.length, i)), ...loaded]
  return [...new Set(all)]
}

/** None where a table cannot be used: the run then says so itself. */
async function loadedWritable(connection: Connection, lookups: DecodedMessage['lookups']): Promise<string[]> {
  const { PublicKey } = await import('@solana/web3.js')
  const tables = lookups.map(({ table }) => table)
  const { context, value } = await askNode('Reading lookup tables', () =>
    connection.getMultipleAccountsInfoAndContext(tables.map((table) => new PublicKey(table))),
  )
  const found = new Map(tables.map((table, i) => [table, accountBefore(value[i] ?? null)]))
  let loaded: LoadedAddresses
  try {
    loaded = loadAddresses(lookups, context.slot, (table) => found.get(table) ?? null)
  } catch (error) {
    if (error instanceof TransactionRefused) return []
    throw error
  }
  return loaded.writable
}

async function accountsAt(connection: Connection, addresses: readonly string[]): Promise<Account[]> {
  const { PublicKey } = await import('@solana/web3.js')
  const accounts: Account[] = []
  for (let first = 0; first < addresses.length; first += MAX_ACCOUNTS) {
    const keys = addresses.slice(first, first + MAX_ACCOUNTS).map((address) => new PublicKey(address))
    const infos = await askNode('Reading accounts', () => connection.getMultipleAccountsInfo(keys))
    accounts.push(...keys.map((_, i) => accountBefore(infos[i] ?? null)))
  }
  return accounts
}

/** Fills in the decimals of mints that the transaction does not write to. */
async function withDecimals(connection: Connection, changes: BalanceChange[]): Promise<BalanceChange[]> {
  const mints = [...new Set(changes.flatMap(({ mint, decimals }) => (decimals === null ? (mint ?? []) : [])))]
  if (mints.length === 0) return changes
  const accounts = await accountsAt(connection, mints)
  const decimalsOf = new Map(mints.map((mint, i) => [mint, accounts[i] ? readMint(accounts[i]) : null]))
  return changes.map((change) =>
    change.mint === null || change.decimals !== null
      ? change
      : { ...change, decimals: decimalsOf.get(change.mint)?.decimals ?? null },
  )
}

type Read = { lamports: number; owner: PublicKey; data: Uint8Array; executable: boolean }

function accountBefore(read: Read | null): Account {
  if (read === null) return null
  const { data, executable } = read
  return { lamports: BigInt(lamportsOf(read)), owner: read.owner.toBase58(), data, executable }
}

function accountAfter(shown: SimulatedTransactionAccountInfo | null): Account {
  if (shown === null) return null
  const { owner, data, executable } = shown
  return { lamports: BigInt(lamportsOf(shown)), owner, data: Buffer.from(data[0] ?? '', 'base64'), executable }
}
