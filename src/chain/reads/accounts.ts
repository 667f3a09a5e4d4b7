/** Reads accounts from the chain. */
import type { AccountInfo, Connection } from '@solana/web3.js'
import type { AccountRecord } from '../../api/index.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { exactLamports } from './exact-lamports.ts'

/** The account at the connection's commitment, or null. Throws internal_error when the node fails. */
export async function readAccount(connection: Connection, address: string): Promise<AccountRecord | null> {
  const { PublicKey } = await import('@solana/web3.js')
  const { context, value } = await askNode('Reading an account', () =>
    connection.getAccountInfoAndContext(new PublicKey(address)),
  )
  return value === null ? null : chainAccountOf(address, value, context.slot)
}

/**
 * Reads at most 100 accounts, all at one slot, in the order of the addresses. Throws internal_error when the node
 * fails.
 */
export async function readAccounts(
  connection: Connection,
  addresses: readonly string[],
): Promise<(AccountRecord | null)[]> {
  const { PublicKey } = await import('@solana/web3.js')
  const { context, value } = await askNode('Reading accounts', () =>
    connection.getMultipleAccountsInfoAndContext(addresses.map((address) => new PublicKey(address))),
  )
  return addresses.map((address, i) => {
    const info = value[i] ?? null
    return info === null ? null : chainAccountOf(address, info, context.slot)
  })
}

function chainAccountOf(address: string, info: AccountInfo<Buffer>, slot: number): AccountRecord {
  return {
    address,
    lamports: exactLamports(info),
    owner: info.owner.toBase58(),
    executable: info.executable,
    data: info.data.toString('base64'),
    space: info.data.length,
    slot,
  }
}
