/** How the claim page asks its nodes. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { SolanaNode } from '../../src/claim-page/browser/solana-node.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { openTestChain } from '../support/local-chain.ts'
import { listening } from '../support/ports.ts'

it('asks a node that refuses `confirmed` for `finalized`, and remembers it', async () => {
  const { chain } = await openTestChain({ consensus: 'alpenglow' })
  const rpc = createRpc(chain)
  const asked: string[] = []
  const url = await serve((body) => {
    const { id, method, params } = JSON.parse(body)
    asked.push(`${method} ${params[0]?.commitment ?? ''}`.trim())
    const error = { code: -32602, message: 'Invalid params: unknown variant `confirmed`.' }
    return body.includes('"confirmed"') ? JSON.stringify({ jsonrpc: '2.0', id, error }) : rpc.handle(body)
  })
  const node = new SolanaNode([url], chain.genesisHash)
  const latest = () => node.call('getLatestBlockhash', [{ commitment: 'confirmed' }])
  const value = chain.latestBlockhash('finalized')
  expect(await latest()).toMatchObject({ value })
  expect(await latest()).toMatchObject({ value })
  expect(asked).toEqual([
    'getGenesisHash',
    'getLatestBlockhash confirmed',
    'getLatestBlockhash finalized',
    'getLatestBlockhash finalized',
  ])
  await expect(node.call('getLatestBlockhash', [{ commitment: 'later' }])).rejects.toThrow(/unknown variant/)
})

it.each([
  ['what the cluster measured', [{ numSlots: 240, samplePeriodSecs: 60 }], 250],
  ["mainnet's, if nothing was measured", [], 200],
  ["mainnet's, if no slot passed", [{ numSlots: 0, samplePeriodSecs: 60 }], 200],
  ["mainnet's, if the sample is strange", { numSlots: 'many' }, 200],
])('takes as the time of a slot %s', async (_, result, ms) => {
  const url = await serve((body) => {
    const { id, method } = JSON.parse(body)
    return JSON.stringify({ jsonrpc: '2.0', id, result: method === 'getGenesisHash' ? 'genesis' : result })
  })
  expect(await new SolanaNode([url], 'genesis').slotMs()).toBe(ms)
})

/** Serves a node that answers each body until the test ends. Returns its URL. */
async function serve(answer: (body: string) => string | Promise<string | undefined>): Promise<string> {
  const server = createServer(async (request, response) => response.end(await answer(await text(request))))
  onTestFinished(() => void server.close())
  return listening(server)
}
