/** Reads accounts from the chain. */
import type { AccountRecord } from '../../api/index.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { accountsAtSlot, type NodeAccount } from './node-reads.ts'

/** The account at the commitment confirmed, or null. Throws internal_error when the node fails. */
export async function readAccount(node: NodeCalls, address: string): Promise<AccountRecord | null> {
  const [account = null] = await readAccounts(node, [address])
  return account
}

/**
 * Reads at most 100 accounts, all at one slot, in the order of the addresses. Throws internal_error when the node
 * fails.
 */
export async function readAccounts(node: NodeCalls, addresses: readonly string[]): Promise<(AccountRecord | null)[]> {
  const { slot, accounts } = await askNode('Reading accounts', () => accountsAtSlot(node, addresses))
  return addresses.map((address, i) => {
    const account = accounts[i] ?? null
    return account && accountRecord(address, account, slot)
  })
}

function accountRecord(address: string, account: NodeAccount, slot: number): AccountRecord {
  const { lamports, owner, executable, data } = account
  return {
    address,
    lamports: String(lamports),
    owner,
    executable,
    data: data.toString('base64'),
    space: data.length,
    slot,
  }
}
