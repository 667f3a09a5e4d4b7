/** Simulates a transaction without submitting it, and reports its effects, cost and balance changes. */
import type { Connection, VersionedTransaction } from '@solana/web3.js'
import type { Simulation } from '../api/index.ts'
import { internal } from '../errors.ts'
import type { DecodedTransaction } from '../solana/messages.ts'
import { RENT_SYSVAR } from '../solana/program-ids.ts'
import { rentRateIn } from '../solana/rent.ts'
import { readMint } from '../solana/token-accounts.ts'
import { type BalanceChange, balanceChanges } from './balance-changes.ts'
import { readLatestBlockhash } from './rpc-reads.ts'
import { accountAfter, accountsAt, runWithAccounts } from './runs.ts'

/**
 * Signatures are not required and a recent blockhash replaces the transaction's, so that an unsigned build runs at any
 * time. A failed run is an answer with `err`. Throws bad_request when the node refuses to run it.
 */
export async function simulateDecoded(
  connection: Connection,
  { raw, message }: DecodedTransaction,
): Promise<Simulation> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const transaction = VersionedTransaction.deserialize(raw)
  const [fee, { before, addresses, run }] = await Promise.all([
    // The fee is read of a copy, because a blockhash is written into the message.
    readFee(connection, VersionedTransaction.deserialize(raw)),
    runWithAccounts(connection, transaction, message, { replaceRecentBlockhash: true }),
  ])
  const { err, logs, unitsConsumed, returnData, accounts } = run.value
  if (err === null && accounts?.length !== addresses.length) {
    throw internal('The RPC node ran the transaction but does not show what it changes')
  }
  const after = addresses.map((_, i) => accountAfter(accounts?.[i] ?? null))
  const changes = err === null ? balanceChanges(addresses, before, after) : []
  return {
    err,
    logs: logs ?? [],
    units_consumed: unitsConsumed ?? null,
    return_data: returnData ? { program_id: returnData.programId, data: returnData.data[0] } : null,
    slot: run.context.slot,
    fee,
    ...(await withRentAndDecimals(connection, changes)),
  }
}

/** Returns lamports with a fresh blockhash, or null when the node does not report them exactly. */
async function readFee(connection: Connection, { message }: VersionedTransaction): Promise<string | null> {
  try {
    message.recentBlockhash = await readLatestBlockhash(connection)
    const { value } = await connection.getFeeForMessage(message)
    return Number.isSafeInteger(value) ? String(value) : null
  } catch {
    return null
  }
}

/** Adds the rent of new accounts, and the decimals of mints that the transaction does not write to. */
async function withRentAndDecimals(
  connection: Connection,
  changes: BalanceChange[],
): Promise<Pick<Simulation, 'rent' | 'balance_changes'>> {
  const opened = changes.filter(({ created, mint, space }) => created && mint === null && space > 0)
  const mints = [...new Set(changes.flatMap(({ mint, decimals }) => (decimals === null ? (mint ?? []) : [])))]
  const wanted = opened.length === 0 ? mints : [RENT_SYSVAR, ...mints]
  if (wanted.length === 0) return { rent: '0', balance_changes: changes }
  const accounts = new Map((await accountsAt(connection, wanted)).map((account, i) => [wanted[i], account]))
  const sysvar = accounts.get(RENT_SYSVAR)
  const rate = sysvar ? rentRateIn(sysvar.data) : null
  // An account may hold more than its rent, such as one of wrapped SOL.
  const rentOf = ({ after, space }: BalanceChange) => smallerOf(BigInt(after), rate?.(space) ?? 0n)
  const rent = opened.reduce((sum, change) => sum + rentOf(change), 0n)
  const decimalsOf = (mint: string) => {
    const account = accounts.get(mint)
    return account ? (readMint(account)?.decimals ?? null) : null
  }
  return {
    rent: opened.length > 0 && rate === null ? null : String(rent),
    balance_changes: changes.map((change) =>
      change.mint === null || change.decimals !== null ? change : { ...change, decimals: decimalsOf(change.mint) },
    ),
  }
}

const smallerOf = (a: bigint, b: bigint) => (a < b ? a : b)
