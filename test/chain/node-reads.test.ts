/** Reads of a node: what they ask, and which answers they take and refuse. */
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callNode, type NodeCalls, NodeRefusal } from '../../src/chain/nodes/node-call.ts'
import { accountsAtSlot, readRecentFees, readTokenAccounts, simulateOnNode } from '../../src/chain/reads/node-reads.ts'
import { readLatestBlockhash, rentFor } from '../../src/chain/reads/rpc-reads.ts'
import { readNonceEnds, readStatuses } from '../../src/chain/reads/statuses.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { runs } from '../support/runs.ts'

const [payer, other] = [Keypair.generate().publicKey.toBase58(), Keypair.generate().publicKey.toBase58()]
const wire = Buffer.from('any transaction')

const shownAccount = { lamports: 5, owner: TOKEN_PROGRAM, executable: false, data: ['AQID', 'base64'], rentEpoch: 0 }
const account = { lamports: 5n, owner: TOKEN_PROGRAM, executable: false, data: Buffer.of(1, 2, 3) }
const at = (value: unknown, slot: unknown = 7) => ({ context: { slot, apiVersion: '3.0' }, value })
const returned = { programId: SYSTEM_PROGRAM, data: ['AQ==', 'base64'] }
const ran = { err: null, logs: ['a', 'b'], unitsConsumed: 150, returnData: returned, accounts: [shownAccount, null] }
const [confirmed, base64] = [{ commitment: 'confirmed' }, { encoding: 'base64', commitment: 'confirmed' }]

interface Read {
  read(node: NodeCalls): Promise<unknown>
  asks: [string, unknown[]]
  /** Result of the node. */
  shown: unknown
  value: unknown
}

const READS: Record<string, Read> = {
  'a blockhash': {
    read: readLatestBlockhash,
    asks: ['getLatestBlockhash', [confirmed]],
    shown: at({ blockhash: other, lastValidBlockHeight: 9 }),
    value: { blockhash: other, lastValidBlockHeight: 9 },
  },
  'the rent': {
    read: (node) => rentFor(node, 82),
    asks: ['getMinimumBalanceForRentExemption', [82, confirmed]],
    shown: 1_000_003,
    value: 1_000_003n,
  },
  'recent fees': {
    read: (node) => readRecentFees(node, [payer]),
    asks: ['getRecentPrioritizationFees', [[payer]]],
    shown: [
      { slot: 1, prioritizationFee: 0 },
      { slot: 2, prioritizationFee: 77 },
    ],
    value: [0, 77],
  },
  'recent fees of no account in particular': {
    read: (node) => readRecentFees(node, []),
    asks: ['getRecentPrioritizationFees', []],
    shown: [],
    value: [],
  },
  'a simulation': {
    read: (node) => simulateOnNode(node, wire, { addresses: [payer, other], innerInstructions: true }),
    asks: [
      'simulateTransaction',
      [
        wire.toString('base64'),
        {
          ...base64,
          sigVerify: false,
          replaceRecentBlockhash: true,
          innerInstructions: true,
          accounts: { encoding: 'base64', addresses: [payer, other] },
        },
      ],
    ],
    shown: at(ran),
    value: { slot: 7, run: { ...ran, accounts: [account, null] } },
  },
  'accounts since a slot': {
    read: (node) => accountsAtSlot(node, [payer, other], 70),
    asks: ['getMultipleAccounts', [[payer, other], { ...base64, minContextSlot: 70 }]],
    shown: at([shownAccount, null], 70),
    value: { slot: 70, accounts: [account, null] },
  },
  'token accounts of an owner': {
    read: (node) => readTokenAccounts(node, payer, TOKEN_PROGRAM),
    asks: ['getTokenAccountsByOwner', [payer, { programId: TOKEN_PROGRAM }, base64]],
    shown: at([{ pubkey: other, account: shownAccount }]),
    value: [{ address: other, account }],
  },
}

/** A node with one answer, and what it was asked. */
function answering(text: string, status = 200) {
  const asked: unknown[] = []
  const node: NodeCalls = {
    async call<T>(method: string, params: readonly unknown[]) {
      asked.push([method, params])
      return (await callNode(async () => ({ status, text }), method, params)) as T
    },
  }
  return { node, asked }
}

const answered = (parts: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...parts })

describe.each(Object.entries(READS))('a read of %s', (_, { read, asks, shown, value }) => {
  it('asks once, and accepts the usual answer', async () => {
    const { node, asked } = answering(answered({ result: shown }))
    expect(await read(node)).toEqual(value)
    expect(asked).toEqual([asks])
  })

  it('fails if the node refuses it or answers something else', async () => {
    const error = { code: -32005, message: 'Node is behind by 200 slots', data: { numSlotsBehind: 200 } }
    const texts = [
      ...[answered({ error }), answered({ error, result: shown }), answered({}), answered({ result: null })],
      ...['[]', 'null', '7', '"text"', '', '{', '<html>'],
    ]
    for (const text of texts) await expect(read(answering(text).node), text).rejects.toThrow()
    for (const status of [429, 500, 404]) {
      await expect(read(answering(answered({ result: shown }), status).node)).rejects.toThrow(`HTTP ${status}`)
    }
  })

  it('never treats a missing or wrong part as a value', { tags: 'sampled' }, async () => {
    const values = fc.constantFrom<unknown>(
      ...[null, '', 'text', -1, 1.5, true, [], {}, [null], ['AQID', 'base58'], ['AQID'], { a: 1 }, undefined],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), values, async (path, part) => {
        const { node } = answering(answered({ result: replaced(shown, path, part) }))
        const outcome = await read(node).then(
          (result) => ({ result }),
          (error: Error) => ({ error }),
        )
        if ('error' in outcome) expect(outcome.error).not.toBeInstanceOf(TypeError)
        else expect(shapeOf(outcome.result)).toBe(shapeOf(value))
      }),
      { numRuns: runs(60, 300) },
    )
  })
})

/** Types of what a caller computes with. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'object' || value === null) return typeof value
  const { slot, accounts, blockhash } = value as Record<string, unknown>
  const read = Array.isArray(accounts) ? accounts.filter((each) => each !== null) : []
  const sound = read.every(
    ({ lamports, owner, data }) => typeof lamports === 'bigint' && typeof owner === 'string' && Buffer.isBuffer(data),
  )
  return `${typeof slot} ${typeof blockhash} ${sound}`
}

/** A copy with one of its parts replaced: `path` chooses among the fields, each by its remainder, as deep as it can. */
function replaced(whole: unknown, [first, ...rest]: readonly number[], value: unknown): unknown {
  if (first === undefined || typeof whole !== 'object' || whole === null) return value
  const names = Object.keys(whole)
  const name = names[first % Math.max(names.length, 1)]
  if (name === undefined) return value
  const part = replaced((whole as Record<string, unknown>)[name], rest, value)
  if (Array.isArray(whole)) return whole.map((item, i) => (String(i) === name ? part : item))
  return { ...whole, [name]: part }
}

it('an answer with too few accounts is refused, because a missing account must not count as absent', async () => {
  const { node } = answering(answered({ result: at([shownAccount]) }))
  await expect(accountsAtSlot(node, [payer, other])).rejects.toThrow('its answer is incomplete')
})

it.each([{ owner: '1111111111111111111111111111111' }, { owner: 'not base58: 0OIl' }, { data: 'AQID' }])(
  'an account with %j is refused',
  async (more) => {
    const { node } = answering(answered({ result: at([null, { ...shownAccount, ...more }]) }))
    await expect(accountsAtSlot(node, [payer, other])).rejects.toThrow('its answer is incomplete')
  },
)

it('lamports of an account are exact up to 64 bits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 0n, max: MAX_U64 }), async (lamports) => {
      const text = answered({ result: at([shownAccount]) }).replace('"lamports":5', `"lamports": ${lamports}`)
      const { accounts } = await accountsAtSlot(answering(text).node, [payer])
      expect(accounts[0]?.lamports).toBe(lamports)
    }),
  )
})

it('text about lamports in a string is unchanged', async () => {
  const text = 'has "lamports": 18446744073709551615'
  const { node } = answering(answered({ result: at({ ...ran, logs: [text] }) }))
  expect((await simulateOnNode(node, wire)).run.logs).toEqual([text])
})

it('a refusal keeps code, message and data of the node', async () => {
  const error = { code: -32005, message: 'Node is behind by 200 slots', data: { numSlotsBehind: 200 } }
  const failure = await accountsAtSlot(answering(answered({ error })).node, [payer]).catch((thrown) => thrown)
  expect(failure).toBeInstanceOf(NodeRefusal)
  expect(failure).toMatchObject(error)
})

const showing = (value: unknown): NodeCalls => ({ call: async <T>() => at(value) as T })

it.each([{}, { slot: 'x' }, 5, 'a', [], { slot: -1 }, { slot: 5, confirmationStatus: 'certain' }])(
  'The status %j of a transaction is refused, because a malformed answer proves nothing',
  async (status) => {
    await expect(readStatuses(showing([status]), ['signature'], false)).rejects.toThrow('its answer is incomplete')
  },
)

it.each([{}, { data: 'abc' }, { data: ['abc', 'base58'] }, { data: [5, 'base64'] }, { data: null }, 7])(
  'The nonce account %j is refused, because a transaction that seems over would be signed again',
  async (shown) => {
    const nonce = { account: payer, value: other }
    await expect(readNonceEnds(showing([shown]), [nonce])).rejects.toThrow('its answer is incomplete')
  },
)

it('A negative fee or balance is refused', async () => {
  const fees: NodeCalls = { call: async <T>() => [{ slot: 1, prioritizationFee: -5 }] as T }
  await expect(readRecentFees(fees, [])).rejects.toThrow('its answer is incomplete')
  await expect(accountsAtSlot(showing([{ ...shownAccount, lamports: -5 }]), [payer])).rejects.toThrow(
    'its answer is incomplete',
  )
})
