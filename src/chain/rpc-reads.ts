/** What every builder asks of the node: a fresh blockhash and the rent of a new account. */
import type { Connection } from '@solana/web3.js'
import { askNode } from './rpc-faults.ts'
import { accountsAt } from './runs.ts'

/** A blockhash that is fresh and known to the whole cluster. Throws internal_error when the node fails. */
export async function latestBlockhash(connection: Connection): Promise<string> {
  return (await askNode('Reading a blockhash', () => connection.getLatestBlockhash('confirmed'))).blockhash
}

/** Lamports that keep an account of `bytes` rent-exempt. Throws internal_error when the node fails. */
export async function rentFor(connection: Connection, bytes: number): Promise<bigint> {
  return BigInt(await askNode('Reading the rent', () => connection.getMinimumBalanceForRentExemption(bytes)))
}

/** Lamports and bytes of data by address, in the order asked; 0 and 0 where no account is. Throws internal_error when the node fails. */
export async function readBalances(
  connection: Connection,
  addresses: readonly string[],
): Promise<{ lamports: bigint; space: number }[]> {
  const accounts = await accountsAt(connection, addresses)
  return accounts.map((account) => ({ lamports: account?.lamports ?? 0n, space: account?.data.length ?? 0 }))
}
