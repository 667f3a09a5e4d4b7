/** A node of the tests: web3.js, with which they look at a chain, and the calls that the product makes, over one `fetch`. */
import { type Commitment, Connection, type ConnectionConfig } from '@solana/web3.js'
import { callNode, type NodeCalls, NodeRefusal } from '../../src/chain/nodes/node-call.ts'
import { localFetch } from '../../src/localnet/fetch.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'

export type TestNode = Connection & NodeCalls

/** Takes what web3.js takes for a Connection. Calls are made at its commitment. */
export function testNode(url: string, options: ConnectionConfig & { fetch: typeof fetch }): TestNode {
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await options.fetch(url, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  }
  const { commitment = 'confirmed' } = options
  const atCommitment = (param: unknown) =>
    typeof param === 'object' && param !== null && 'commitment' in param ? { ...param, commitment } : param
  const connection = new Connection(url, { disableRetryOnRateLimit: true, ...options, commitment })
  return Object.assign(connection, {
    call: async <T>(method: string, params: readonly unknown[]) =>
      (await callNode(post, method, params.map(atCommitment))) as T,
  })
}

/** A node over an embedded chain; what fails in it by itself is thrown. */
export function embeddedNode(chain: LocalChain, commitment: Commitment = 'processed'): TestNode {
  const rpc = createRpc(chain, {
    onError(error) {
      throw error
    },
  })
  return testNode('http://embedded.test', { fetch: localFetch(rpc) as typeof fetch, commitment })
}

/** Returns web3.js over the calls of a chain. */
export function web3Over(chain: NodeCalls): TestNode {
  const send = async (_: unknown, init?: RequestInit) => {
    const { id, method, params = [] } = JSON.parse(String(init?.body))
    const answer = await chain.call(method, params).then(
      (result) => ({ result }),
      (error) => {
        if (!(error instanceof NodeRefusal)) throw error
        return { error: { code: error.code, message: error.message, data: error.data } }
      },
    )
    return Response.json({ jsonrpc: '2.0', id, ...answer })
  }
  return testNode('http://chain.test', { fetch: send as typeof fetch })
}
