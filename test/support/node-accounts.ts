/** Comes between a connection and its node where several accounts are read. */
import type { Connection } from '@solana/web3.js'

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
  connection: Connection,
  around: (read: ReadAccounts, addresses: readonly string[]) => Promise<NodeAccounts>,
): () => void {
  const requests = connection as unknown as {
    _rpcRequest(method: string, params: readonly unknown[]): Promise<{ result?: NodeAccounts }>
  }
  const ask = requests._rpcRequest
  requests._rpcRequest = async (method, params) => {
    if (method !== 'getMultipleAccounts') return ask(method, params)
    const [addresses, ...rest] = params
    let answer = {}
    const result = await around(
      async (wanted) => {
        const { result, ...envelope } = await ask(method, [wanted, ...rest])
        if (result === undefined) throw new Error('the node of this test answers an error')
        answer = envelope
        return result
      },
      addresses as readonly string[],
    )
    return { ...answer, result }
  }
  return () => {
    requests._rpcRequest = ask
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
