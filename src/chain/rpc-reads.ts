/** What every builder asks of the node: a fresh blockhash and the rent of a new account. */
import type { Connection } from '@solana/web3.js'
import { askNode } from './rpc-faults.ts'

/** A blockhash that is fresh and known to the whole cluster. Throws internal_error when the node fails. */
export async function latestBlockhash(connection: Connection): Promise<string> {
  return (await askNode('Reading a blockhash', () => connection.getLatestBlockhash('confirmed'))).blockhash
}

/** Lamports that keep an account of `bytes` rent-exempt. Throws internal_error when the node fails. */
export async function rentFor(connection: Connection, bytes: number): Promise<bigint> {
  return BigInt(await askNode('Reading the rent', () => connection.getMinimumBalanceForRentExemption(bytes)))
}
