/** What the embedded chain's JSON-RPC refuses, and in which words; and the methods that need nothing to have happened. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson, toJson } from '../../src/solana/json.ts'
import { openRpc } from './serving.ts'

const SYSTEM = '11111111111111111111111111111111'
const UNKNOWN_SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'

let opened: Awaited<ReturnType<typeof openRpc>>
beforeAll(async () => {
  opened = await openRpc()
})
afterAll(() => opened.close())

const fresh = () => Keypair.generate().publicKey

describe('JSON of the embedded chain', () => {
  it('keeps integers above 2^53 both ways, and leaves strings and fractions unchanged', () => {
    const text =
      '{"a":18446744073709551615,"b":"12345678901234567890","c":1.12345678901234567,"d":[-9007199254740993,1e20],"e":"\\"1234567890123456789"}'
    const value = parseJson(text)
    expect(value).toEqual({
      a: 18446744073709551615n,
      b: '12345678901234567890',
      c: 1.1234567890123457,
      d: [-9007199254740993n, 1e20],
      e: '"1234567890123456789',
    })
    expect(toJson({ a: 2n ** 64n - 1n, b: undefined, c: [null, 'x"', 1.5, true] })).toBe(
      '{"a":18446744073709551615,"c":[null,"x\\"",1.5,true]}',
    )
  })

  it('refuses any text that is not JSON', async () => {
    const body = `1234567890123456"${'\\"'.repeat(500_000)}`
    // In quadratic time it would take longer than a test may take.
    expect(await opened.rpc.handle(body)).toContain('"code":-32700')
  })

  it('that nests in place of text is a wrong parameter', async () => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    for (const encoding of [nested, '{"toString":1}']) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["aa",{"encoding":${encoding}}]}`
      expect(await opened.rpc.handle(body)).toContain('"code":-32602')
    }
  })

  it('returns an amount above 2^53 to the lamport', async () => {
    const rich = fresh().toBase58()
    const empty = { owner: SYSTEM, data: new Uint8Array(), executable: false }
    opened.chain.setAccount(rich, { ...empty, lamports: 9_007_199_254_740_993n })
    const body = `{"jsonrpc":"2.0","id":1,"method":"requestAirdrop","params":["${rich}",9007199254740993]}`
    expect(await opened.rpc.handle(body)).toContain('not enough for an airdrop of 9,007,199.254740993 SOL')
    const answer = await opened.rpc.handle(`{"jsonrpc":"2.0","id":2,"method":"getBalance","params":["${rich}"]}`)
    expect(answer).toContain('"value":9007199254740993}')
  })
})

describe('the JSON-RPC envelope', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,', { code: -32700, message: 'Parse error' }, null],
    ['[]', { code: -32600, message: 'Invalid request' }, null],
    ['{"id":3,"method":"getSlot"}', { code: -32600, message: 'Invalid request' }, 3],
    ['{"jsonrpc":"2.0","id":{},"method":"getSlot"}', { code: -32600, message: 'Invalid request' }, null],
    ['"getSlot"', { code: -32600, message: 'Invalid request' }, null],
    ['{"jsonrpc":"2.0","id":"a","method":"getNothing"}', { code: -32601, message: 'Method not found' }, 'a'],
    ['{"jsonrpc":"2.0","id":1,"method":"toString"}', { code: -32601, message: 'Method not found' }, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"svc_setAccount"}', { code: -32601, message: 'Method not found' }, 1],
    [
      '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":{"a":1}}',
      { code: -32602, message: 'Invalid params: invalid type: map, expected a sequence.' },
      1,
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"getBalance"}',
      { code: -32602, message: '`params` should have at least 1 argument(s)' },
      1,
    ],
  ])('answers %s with its error', async (body, error, id) => {
    expect(JSON.parse((await opened.rpc.handle(body))!)).toEqual({ jsonrpc: '2.0', error, id })
  })

  it('answers a batch in order, without notifications', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'getHealth' },
      { jsonrpc: '2.0', method: 'getSlot' },
      { jsonrpc: '2.0', id: 'two', method: 'getNothing' },
      7,
      { jsonrpc: '2.0', id: null, method: 'getGenesisHash' },
    ]
    expect(JSON.parse((await opened.rpc.handle(JSON.stringify(batch)))!)).toEqual([
      { jsonrpc: '2.0', result: 'ok', id: 1 },
      { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 'two' },
      { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null },
      { jsonrpc: '2.0', result: opened.chain.genesisHash, id: null },
    ])
    expect(await opened.rpc.handle('{"jsonrpc":"2.0","method":"getSlot"}')).toBeUndefined()
    expect(await opened.rpc.handle('[{"jsonrpc":"2.0","method":"getSlot"}]')).toBeUndefined()
  })

  it("refuses the operator's methods to others", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"svc_advance","params":[60]}'
    const before = opened.chain.slot()
    expect(await opened.rpc.handle(body, { operator: false })).toContain('"code":-32601')
    expect(opened.chain.slot()).toBe(before)
    const after = before + 60_000 / opened.chain.slotMs()
    expect(JSON.parse((await opened.rpc.handle(body))!).result.slot).toBe(after)
    expect(await opened.ask('svc_status')).toMatchObject({ slot: after, accountCount: expect.any(Number) })
    for (const seconds of [0, -1, '5', 1e12, null]) {
      expect((await opened.call('svc_advance', seconds)).error?.code).toBe(-32602)
    }
  })
})

describe('refused parameters', () => {
  const A = SYSTEM
  const short = '3yZe7d'
  it.each<[string, unknown[], number, string]>([
    ['getBalance', ['not base58!'], -32602, 'Invalid param: Invalid'],
    ['getBalance', [short], -32602, 'Invalid param: WrongSize'],
    ['getBalance', [5], -32602, 'Invalid params: invalid type: integer `5`, expected a string.'],
    [
      'getBalance',
      [A, { commitment: 'soon' }],
      -32602,
      'Invalid params: unknown variant `soon`, expected one of `processed`, `confirmed`, `finalized`.',
    ],
    ['getBalance', [A, { minContextSlot: 999_999_999_999 }], -32016, 'Minimum context slot has not been reached'],
    ['getMultipleAccounts', [Array(101).fill(A)], -32602, 'Too many inputs provided; max 100'],
    [
      'getAccountInfo',
      [A, { encoding: 'hex' }],
      -32602,
      'Invalid params: unknown variant `hex`, expected one of `binary`, `base58`, `base64`, `base64+zstd`, `jsonParsed`.',
    ],
    [
      'getProgramAccounts',
      [A, { filters: Array(5).fill({ dataSize: 1 }) }],
      -32602,
      'Too many filters provided; max 4',
    ],
    [
      'getProgramAccounts',
      [A, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }],
      -32602,
      'Invalid param: Base58DecodeError',
    ],
    ['getTokenAccountBalance', [fresh().toBase58()], -32602, 'Invalid param: could not find account'],
    ['getTokenAccountBalance', [A], -32602, 'Invalid param: not a Token account'],
    ['getTokenSupply', [A], -32602, 'Invalid param: not a Token mint'],
    ['getTokenAccountsByOwner', [A, { mint: fresh().toBase58() }], -32602, 'Invalid param: could not find mint'],
    ['getTokenAccountsByOwner', [A, { programId: A }], -32602, 'Invalid param: unrecognized Token program id'],
    ['getSignatureStatuses', [Array(257).fill(UNKNOWN_SIGNATURE)], -32602, 'Too many inputs provided; max 256'],
    ['getSignatureStatuses', [[A]], -32602, 'Invalid param: WrongSize'],
    ['getSignaturesForAddress', [A, { limit: 1001 }], -32602, 'Invalid limit; max 1000'],
    [
      'getSignaturesForAddress',
      [A, { commitment: 'processed' }],
      -32602,
      'Method does not support commitment below `confirmed`',
    ],
    [
      'getTransaction',
      [UNKNOWN_SIGNATURE, { commitment: 'processed' }],
      -32602,
      'Method does not support commitment below `confirmed`',
    ],
    ['getBlock', [999_999_999_999], -32004, 'Block not available for slot 999999999999'],
    ['getHighestSnapshotSlot', [], -32008, 'No snapshot'],
    ['requestAirdrop', [A, -1], -32602, 'Invalid params: invalid type: integer `-1`, expected u64.'],
    [
      'sendTransaction',
      ['AAAA', { encoding: 'hex' }],
      -32602,
      'unsupported encoding: hex. Supported encodings: base58, base64',
    ],
    [
      'sendTransaction',
      ['A'.repeat(5468), { encoding: 'base64' }],
      -32602,
      'base64 encoded solana_transaction::versioned::VersionedTransaction too large: 5468 bytes (max: encoded/raw 5464/4096)',
    ],
    [
      'sendTransaction',
      [Buffer.alloc(1233).toString('base64'), { encoding: 'base64' }],
      -32602,
      'decoded solana_transaction::versioned::VersionedTransaction too large: 1233 bytes (max: 1232 bytes)',
    ],
    ['sendTransaction', ['!'], -32602, "invalid base58 encoding: InvalidCharacter { character: '!', index: 0 }"],
    ['sendTransaction', ['A*', { encoding: 'base64' }], -32602, 'invalid base64 encoding: InvalidByte(1, 42)'],
    ['sendTransaction', ['AAAAA', { encoding: 'base64' }], -32602, 'invalid base64 encoding: InvalidLength(5)'],
    ['sendTransaction', ['AAA', { encoding: 'base64' }], -32602, 'invalid base64 encoding: InvalidPadding'],
    ['sendTransaction', ['AB==', { encoding: 'base64' }], -32602, 'invalid base64 encoding: InvalidLastSymbol(1, 66)'],
    ['getTokenSupply', [A, {}], -32602, 'Invalid params: missing field `commitment`.'],
    ['getTokenLargestAccounts', [A, {}], -32602, 'Invalid params: missing field `commitment`.'],
    ['getTokenAccountBalance', [A, {}], -32602, 'Invalid params: missing field `commitment`.'],
    ['getMinimumBalanceForRentExemption', [0, {}], -32602, 'Invalid params: missing field `commitment`.'],
    ['getInflationGovernor', [{}], -32602, 'Invalid params: missing field `commitment`.'],
  ])('%s says so (%#)', async (method, params, code, message) => {
    const { error } = await opened.call(method, ...params)
    expect(error?.code).toBe(code)
    expect(error?.message).toContain(message)
  })

  it('include bytes that are not a transaction, with the type as a validator names it', async () => {
    const { error } = await opened.call('sendTransaction', 'AQID', { encoding: 'base64' })
    expect(error?.code).toBe(-32602)
    expect(error?.message).toMatch(/^failed to deserialize solana_transaction::versioned::VersionedTransaction: /)
  })
})

describe('the embedded cluster', () => {
  it.each([
    'getHealth',
    'getVersion',
    'getIdentity',
    'getGenesisHash',
    'getClusterNodes',
    'getVoteAccounts',
    'getSlotLeader',
    'getEpochInfo',
    'getEpochSchedule',
    'getSupply',
    'getInflationGovernor',
    'getInflationRate',
    'getTransactionCount',
    'getFirstAvailableBlock',
    'minimumLedgerSlot',
    'getRecentPrioritizationFees',
    'getRecentPerformanceSamples',
    'getStakeMinimumDelegation',
    'getMaxRetransmitSlot',
    'getMaxShredInsertSlot',
    'getBlockHeight',
  ])('answers %s', async (method) => {
    expect(await opened.ask(method)).toBeDefined()
  })
})
