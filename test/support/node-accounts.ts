/** Comes between the product and its node where several accounts are read. */
import type { NodeCalls } from '../../src/chain/nodes/node-call.ts'

interface NodeAccount {
  lamports: number
  owner: string
  executable: boolean
  rentEpoch: number
  /** Base64, and its name. */
  data: [string, 'base64']
}

/** The node's answer to getMultipleAccounts. */
export interface NodeAccounts {
  context: { slot: number }
  value: (NodeAccount | null)[]
}

type ReadAccounts = (addresses: readonly string[]) => Promise<NodeAccounts>

/** Has every reading of several accounts go through `around`, until the function that it returns is called. */
export function aroundAccounts(
  node: NodeCalls,
  around: (read: ReadAccounts, addresses: readonly string[]) => Promise<NodeAccounts>,
): () => void {
  const { call } = node
  node.call = async <T>(method: string, params: readonly unknown[]) => {
    if (method !== 'getMultipleAccounts') return call<T>(method, params)
    const [addresses, ...rest] = params
    const read: ReadAccounts = (wanted) => call<NodeAccounts>(method, [wanted, ...rest])
    return (await around(read, addresses as readonly string[])) as T
  }
  return () => {
    node.call = call
  }
}

/** The account with other data. */
export function changedData(account: NodeAccount, change: (data: Buffer) => void): NodeAccount {
  const data = Buffer.from(account.data[0], 'base64')
  change(data)
  return { ...account, data: [data.toString('base64'), 'base64'] }
}

/** The clock's account with another time. */
export const clockAt = (clock: NodeAccount, unixSeconds: bigint): NodeAccount =>
  changedData(clock, (data) => data.writeBigInt64LE(unixSeconds, 32))
