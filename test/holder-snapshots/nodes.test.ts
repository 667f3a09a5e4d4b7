/** Nodes that list holders: those that leave out, repeat, invent or run on. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHolders } from '../../src/chain/holders/read-holders.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { type HolderNode, listedAccount, openHolderNode } from '../support/holder-node.ts'
import { keyOf, namedOwners } from '../support/holders.ts'
import { makeFolder, openService, removeFolder, type Service } from '../support/service.ts'

const MINT = keyOf('a mint elsewhere')
const [ONE, TWO] = namedOwners('somebody', 2) as [Uint8Array, Uint8Array]

/** One node and one service for all tests, which reset what the node shows. */
let node: HolderNode
let service: Service
let folder: string
beforeAll(async () => {
  folder = makeFolder()
  node = await openHolderNode(MINT)
  service = await openService({ dataDir: folder, settings: { url: node.url } })
})
afterAll(async () => {
  await service?.close()
  node?.close()
  removeFolder(folder)
})

function opened() {
  const first = { pubkey: keyOf('account one'), mint: MINT, owner: ONE, amount: 70n }
  const second = { pubkey: keyOf('account two'), mint: MINT, owner: TWO, amount: 30n }
  Object.assign(node, { slot: 1_000, supply: 100n, accounts: [first, second], respond: undefined })
  /** Through the API, and below it without its pauses. */
  const take = async (body: object = {}) => {
    const { status, json } = await service.request('POST', '/v2/holder-snapshots', { body: { mint: MINT, ...body } })
    return { status, data: json.data, message: json.error?.message as string | undefined }
  }
  const pauses: number[] = []
  const wait = async (milliseconds: number) => void pauses.push(milliseconds)
  const read = () => readHolders(service.services.chain, { mint: MINT }, { allowConfidential: false, wait })
  return { node, first, second, take, read, pauses }
}

const json = (response: ServerResponse, body: string, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  return true
}

describe('a node that lists holders', () => {
  it.each<[string, (open: ReturnType<typeof opened>) => void, RegExp]>([
    [
      'leaves an account out',
      ({ node, first }) => {
        node.accounts = [first]
      },
      /its 1 accounts hold 70 raw units at slot 1000, and the supply is 100/,
    ],
    [
      'repeats an account',
      ({ node, first, second }) => {
        node.accounts = [first, first, second]
      },
      /it shows the account \w+ twice/,
    ],
    [
      'shows an account of another mint',
      ({ node, first, second }) => {
        node.accounts = [first, { ...second, mint: keyOf('x') }]
      },
      /it shows an account of another mint/,
    ],
    [
      'shows an account of another program',
      ({ node, first, second }) => {
        node.accounts = [first, { ...second, program: keyOf('x') }]
      },
      /it shows an account of another program/,
    ],
    [
      'shows more than can exist',
      ({ node, first, second }) => {
        node.accounts = [first, { ...second, amount: 2n ** 64n - 1n }]
      },
      /it shows more than can exist/,
    ],
    [
      'shows accounts without addresses',
      ({ node, first }) => {
        node.accounts = [{ ...first, pubkey: '0'.repeat(40) }]
      },
      /it shows an account without an address/,
    ],
  ])('that %s is refused after four tries', async (_, spoil, message) => {
    const open = opened()
    spoil(open)
    const fault = await open.read().catch((error: ApiError) => error)
    expect(fault).toMatchObject({ code: 'bad_request', message: expect.stringMatching(message) })
    expect(fault).toHaveProperty('message', expect.stringMatching(/Nothing was stored; try again when less is traded/))
    expect(open.pauses).toEqual([500, 1_000, 2_000])
  })

  it('that changes during the reading, because of a trade, is read again', async () => {
    const { node, read, pauses } = opened()
    let lists = 0
    node.respond = () => {
      // The supply moves while the first list is on its way.
      node.supply = lists++ === 0 ? 101n : 100n
      return false
    }
    const { owners, supply } = await read()
    expect([owners.count, supply, pauses.length]).toEqual([2, 100n, 2])
  })

  it.each<[string, (response: ServerResponse) => boolean, RegExp]>([
    [
      'refuses large mints',
      (response) =>
        json(
          response,
          '{"jsonrpc":"2.0","error":{"code":-32010,"message":"x excluded from account secondary indexes; this RPC method unavailable for key"},"id":1}',
        ),
      /the RPC node does not list the accounts of this address; set rpc-url to a node that lists the accounts of programs/,
    ],
    [
      'has not the method',
      (response) => json(response, '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}'),
      /the RPC node refuses it: Method not found; set rpc-url/,
    ],
    ['answers HTTP 403', (response) => json(response, 'forbidden', 403), /answers HTTP 403/],
    [
      'answers without a context',
      (response) =>
        json(
          response,
          `{"jsonrpc":"2.0","result":[${listedAccount({ pubkey: MINT, mint: MINT, owner: ONE, amount: 1n })}],"id":1}`,
        ),
      /its answer is incomplete/,
    ],
    [
      'breaks off',
      (response) => {
        response.writeHead(200).write('{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":[{"acc')
        setImmediate(() => response.destroy())
        return true
      },
      /RPC node/,
    ],
    [
      'ends in the middle',
      (response) => json(response, '{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":['),
      /is cut off, or is not JSON-RPC/,
    ],
    ['answers a page', (response) => json(response, '<html>'), /is cut off, or is not JSON-RPC/],
    [
      'sends an item without an end',
      (response) =>
        json(
          response,
          `{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":[{"a":"${'x'.repeat(100_000)}"}]},"id":1}`,
        ),
      /an item of its answer is too large/,
    ],
    [
      'sends endless fields',
      (response) => json(response, `{"jsonrpc":"2.0","x":"${'x'.repeat(100_000)}"}`),
      /malformed/,
    ],
    [
      'has the slot of another day',
      (response) => json(response, '{"jsonrpc":"2.0","result":{"context":{"slot":5},"value":[]},"id":1}'),
      /it shows the slot 5, and had been at 1000/,
    ],
    [
      'hides its items in another array',
      (response) => json(response, `{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":[[1,2]]},"id":1}`),
      /an account without an address/,
    ],
    [
      'sends numbers for accounts',
      (response) => json(response, `{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":[1,2]},"id":1}`),
      /RPC node/,
    ],
  ])('that %s leads to a message with a solution', async (_, respond, message) => {
    const { node, read } = opened()
    node.respond = respond
    const fault = (await read().catch((error: ApiError) => error)) as ApiError
    expect([
      ['internal_error', undefined],
      ['bad_request', 1],
    ]).toContainEqual([fault.code, fault.retryAfter])
    expect(fault).toHaveProperty('message', expect.stringMatching(message))
    expect(fault).toHaveProperty('message', expect.stringMatching(/set rpc-url to/))
  })

  it('in pieces of any size, with members in any order, is read the same', async () => {
    const { node, first, second, take } = opened()
    const text = `{"id":1,"result":{"value":[ ${listedAccount(first)} ,\n${listedAccount(second)}],"context":{"slot":1000,"note":"a \\"] } quote \\\\"}},"jsonrpc":"2.0"}`
    for (const size of [1, 7, 64]) {
      node.respond = (response) => {
        response.writeHead(200)
        void (async () => {
          for (let at = 0; at < text.length; at += size) {
            response.write(text.slice(at, at + size))
            await new Promise((resolve) => setImmediate(resolve))
          }
          response.end()
        })()
        return true
      }
      const { status, data, message } = await take()
      expect([status, data?.holders, message]).toEqual([201, 2, undefined])
    }
  })
})
