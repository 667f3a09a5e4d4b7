/** Reads what every builder requires from the node: a fresh blockhash and the rent of a new account. */
import type { Connection } from '@solana/web3.js'
import { isAddress } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { accountsAt } from '../sending/runs.ts'
import { type Blockhash, plainBlockhash } from './plain-reads.ts'

/** Returns a blockhash that is fresh and known to the whole cluster. Throws internal_error when the node fails. */
export async function readLatestBlockhash(connection: Connection): Promise<Blockhash> {
  return askNode('Reading a blockhash', async () => {
    const read = await plainBlockhash(connection)
    if (!isAddress(read.blockhash) || !isHeight(read.lastValidBlockHeight)) {
      throw new Error('it answers with parts missing')
    }
    return read
  })
}

const isHeight = (value: number) => Number.isSafeInteger(value) && value >= 0

/** Returns the lamports that make an account of `bytes` rent-exempt. Throws internal_error when the node fails. */
export async function rentFor(connection: Connection, bytes: number): Promise<bigint> {
  return askNode('Reading the rent', async () => {
    const lamports = await connection.getMinimumBalanceForRentExemption(bytes)
    // web3.js returns 0 when the node answers an error.
    if (lamports === 0) throw new Error('it does not answer')
    return BigInt(lamports)
  })
}

/**
 * Returns lamports in the order of the addresses, 0 without an account. `isWallet` means that only a key can take from
 * the account and that it has only lamports. Throws internal_error when the node fails.
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
