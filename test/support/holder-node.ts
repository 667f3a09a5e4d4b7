/** An RPC node over real HTTP that lists the holders of one mint, streamed in pieces, right or wrong as the test says. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { base58 } from '@scure/base'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { u64 } from './little-endian.ts'
import { mintData } from './token-accounts.ts'

export interface ListedAccount {
  pubkey: string
  mint: string
  owner: Uint8Array
  amount: bigint
  program?: string
}

export interface HolderNode {
  url: string
  /** Slot, supply and accounts that it shows; changed between requests at will. */
  slot: number
  supply: bigint
  accounts: Iterable<ListedAccount>
  /** Changes the parts of the list's answer before they are sent. */
  rewrite: (part: string) => string
  /** Answers the list in place of the node; true where it did. */
  respond: ((response: ServerResponse) => boolean) | undefined
  asked: string[]
  close(): void
}

/** An entry of the list as Agave writes it. */
export function listedAccount({ pubkey, mint, owner, amount, program = TOKEN_PROGRAM }: ListedAccount): string {
  const data = Buffer.alloc(109)
  data.set(base58.decode(mint), 0)
  data.set(owner, 32)
  data.set(u64(amount), 64)
  data[108] = 1
  return `{"account":{"data":["${data.toString('base64')}","base64"],"executable":false,"lamports":2000000,"owner":"${program}","rentEpoch":18446744073709551615,"space":165},"pubkey":"${pubkey}"}`
}

const PARTS_AT_ONCE = 500

export async function openHolderNode(mint: string): Promise<HolderNode> {
  const node: HolderNode = {
    ...{ url: '', slot: 1_000, supply: 0n, accounts: [], asked: [], respond: undefined },
    rewrite: (part) => part,
    close() {},
  }
  const mintAccount = () => {
    return {
      data: [mintData(6, node.supply).toString('base64'), 'base64'],
      executable: false,
      lamports: 1,
      owner: TOKEN_PROGRAM,
      space: 82,
    }
  }
  async function list(response: ServerResponse): Promise<void> {
    if (node.respond?.(response)) return
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(`{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.3.0","slot":${node.slot}},"value":[`)
    let [part, count] = ['', 0]
    for (const account of node.accounts) {
      part += `${count === 0 ? '' : ','}${listedAccount(account)}`
      if (++count % PARTS_AT_ONCE !== 0) continue
      response.write(node.rewrite(part))
      part = ''
      await nextTurn()
    }
    response.write(node.rewrite(part))
    response.end(']},"id":1}')
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as { id: unknown; method: string; params: unknown[] }
      node.asked.push(method)
      const answer = (result: unknown) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      const atSlot = (value: unknown) => answer({ context: { slot: node.slot }, value })
      if (method === 'getProgramAccounts') void list(response)
      else if (method === 'getAccountInfo') atSlot(params[0] === mint ? mintAccount() : null)
      else if (method === 'getMultipleAccounts') atSlot((params[0] as unknown[]).map(() => null))
      else if (method === 'getBlockTime') answer(1_790_000_000)
      else answer(method === 'getGenesisHash' ? '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' : null)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  node.close = () => {
    server.closeAllConnections()
    server.close()
  }
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}
