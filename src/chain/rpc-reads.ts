/** What every builder asks of the node: a fresh blockhash and the rent of a new account. */
import type { Connection } from '@solana/web3.js'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { askNode } from './rpc-faults.ts'
import { accountsAt } from './runs.ts'

/** A blockhash that is fresh and known to the whole cluster. Throws internal_error when the node fails. */
export async function readLatestBlockhash(connection: Connection): Promise<string> {
  return (await askNode('Reading a blockhash', () => connection.getLatestBlockhash('confirmed'))).blockhash
}

/** Lamports that keep an account of `bytes` rent-exempt. Throws internal_error when the node fails. */
export async function rentFor(connection: Connection, bytes: number): Promise<bigint> {
  return askNode('Reading the rent', async () => {
    const lamports = await connection.getMinimumBalanceForRentExemption(bytes)
    // What web3.js makes of an error.
    if (lamports === 0) throw new Error('it does not answer')
    return BigInt(lamports)
  })
}

/**
 * Lamports by address, in the order asked, 0 where no account is; `isWallet` where only a key can take from it, and
 * nothing but lamports is there. Throws internal_error when the node fails.
 */
export async function readWallets(
  connection: Connection,
  addresses: readonly string[],
): Promise<{ lamports: bigint; isWallet: boolean }[]> {
  const accounts = await accountsAt(connection, addresses)
  return accounts.map((account) => ({
    lamports: account?.lamports ?? 0n,
    isWallet: account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0),
  }))
}
