/** Limits and priority fee of built transactions of version 1, and what has no room in one. */
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildAuthorityTransfer } from '../src/chain/programs/tokens/index.ts'
import { unitsFor } from '../src/chain/sending/compute-budget.ts'
import { loadedLimitOf, readLoadedSize, withMessageTerms } from '../src/chain/sending/message-terms.ts'
import { compileUnsigned } from '../src/chain/sending/unsigned.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { namedAddresses, withConfigTerms, writableAddresses } from '../src/solana/budget-terms.ts'
import { MAX_COMPUTE_UNITS, MAX_LOADED_BYTES } from '../src/solana/constants.ts'
import { decodeWireTransaction, isWritable } from '../src/solana/messages.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from './support/golden.ts'
import { testNode } from './support/node.ts'
import { sharedService, startService } from './support/service.ts'
import { createdToken } from './support/token-accounts.ts'
import { signV1 } from './support/version1.ts'
import { addressOf, keypairOf, walletOn } from './support/wallets.ts'

const MOST = { computeUnitLimit: MAX_COMPUTE_UNITS, loadedAccountsDataSizeLimit: MAX_LOADED_BYTES, heapSize: null }
const PAYER = addressOf(goldenKey(1))
const U32 = 2 ** 32 - 1

/** Instructions with so many accounts, signers and bytes. */
const instruction = (keys: number, { signers = 0, bytes = 0 } = {}) =>
  new TransactionInstruction({
    programId: goldenKey(2).publicKey,
    keys: Array.from({ length: keys }, (_, i) => ({
      pubkey: new PublicKey(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? i : 9))),
      isSigner: i < signers,
      isWritable: i % 2 === 0,
    })),
    data: Buffer.alloc(bytes),
  })
const compiled = (
  instructions: TransactionInstruction[],
  priorityFeeLamports: bigint | null = 0n,
  heapSize: number | null = null,
) =>
  compileUnsigned(
    { payer: PAYER, recentBlockhash: GOLDEN_BLOCKHASH, messageConfig: { ...MOST, priorityFeeLamports, heapSize } },
    instructions,
  )

describe('the terms of a compiled transaction', () => {
  it('change alone; the rest of the message stays', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 20 }),
        fc.nat({ max: 3 }),
        fc.boolean(),
        fc.constantFrom(null, 262_144),
        fc.record({
          units: fc.integer({ min: 1, max: U32 }),
          loadedBytes: fc.integer({ min: 1, max: U32 }),
          priorityFee: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        }),
        async (keys, signers, hasFee, heapSize, drawn) => {
          const terms = hasFee ? drawn : { ...drawn, priorityFee: 0n }
          const { transaction } = await compiled(
            [instruction(keys, { signers, bytes: keys })],
            hasFee ? 0n : null,
            heapSize,
          )
          const before = decodeWireTransaction(transaction).message
          const after = decodeWireTransaction(withConfigTerms(transaction, terms)).message
          const config = {
            priorityFeeLamports: terms.priorityFee === 0n ? null : terms.priorityFee,
            computeUnitLimit: terms.units,
            loadedAccountsDataSizeLimit: terms.loadedBytes,
            heapSize,
          }
          expect(after).toEqual({ ...before, config })
          expect(namedAddresses(transaction)).toEqual(before.keys)
          expect(writableAddresses(transaction)).toEqual(before.keys.filter((_, i) => isWritable(before, 0, i)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are refused for a transaction without a config, or without room for a fee', async () => {
    const { transaction } = await compileUnsigned({ payer: PAYER, recentBlockhash: GOLDEN_BLOCKHASH }, [instruction(1)])
    const terms = { units: 1, loadedBytes: 1, priorityFee: 0n }
    expect(() => withConfigTerms(transaction, terms)).toThrow('no config')
    const free = (await compiled([instruction(1)], null)).transaction
    expect(() => withConfigTerms(free, { ...terms, priorityFee: 1n })).toThrow('priority fee')
  })
})

describe('the limit of loaded bytes', () => {
  it('is in whole pages, a tenth and a page above the counted bytes, and at most 64 MiB', () => {
    fc.assert(
      fc.property(fc.nat({ max: MAX_LOADED_BYTES }), (bytes) => {
        const limit = loadedLimitOf(bytes)
        expect(limit % 32_768).toBe(0)
        expect(limit).toBeGreaterThanOrEqual(Math.min(bytes * 1.1 + 32_768, MAX_LOADED_BYTES))
        expect(limit).toBeLessThanOrEqual(Math.min(bytes * 1.1 + 65_536, MAX_LOADED_BYTES))
      }),
    )
    // The launch that the measurements of SIMD-0186 were made with: 79 pages.
    expect(loadedLimitOf(2_567_322)).toBe(88 * 32_768)
  })
})

const shared = sharedService({ settings: { 'priority-fee': '7000' } })

/** A mint whose authority can be dropped, over a node whose answers `change` may alter. */
async function setting(change: (method: string, value: Record<string, unknown>) => unknown = (_, value) => value) {
  const { services, request } = await shared()
  const { chain, wallet: payer } = await walletOn(services, 10_000_000_000n)
  const texts = { name: 'My Token', symbol: 'MTK', uri: 'https://example.com/t.json', initial_supply: '1' }
  const body = { ...texts, payer: addressOf(payer), token_program: 'token2022', tx_version: 1 }
  const { data } = (await request('POST', '/v2/tokens', { body })).json
  const mintKey = keypairOf(data.required_signers.mint_secret_key)
  expect(chain.send(signV1(Buffer.from(data.transaction, 'base64'), [payer, mintKey])).err).toBeNull()
  const send = localFetch(await services.chain.rpc())
  const asked: string[] = []
  const altered = async (input: string | URL | Request, init?: RequestInit) => {
    const answer = await send(input, init)
    const { method } = JSON.parse(String(init?.body)) as { method: string }
    asked.push(method)
    const json = (await answer.json()) as { result: { value: Record<string, unknown> } }
    return Response.json({ ...json, result: { ...json.result, value: change(method, json.result.value) } })
  }
  const node = testNode('http://embedded.test', { fetch: altered as typeof fetch, commitment: 'confirmed' })
  const build = async ({ from = addressOf(payer), settings = {}, follows = false } = {}) => {
    const { transaction } = await withMessageTerms(
      { chain: node, config: { values: { ...services.config.values, ...settings } } },
      {
        build: (messageConfig) =>
          buildAuthorityTransfer({
            payer: from,
            mint: data.mint,
            ...{ type: 'mint', to: null, token: createdToken('token2022') },
            recentBlockhash: chain.latestBlockhash().blockhash,
            messageConfig,
          }),
        fallbackUnits: 12_345,
        follows,
      },
    )
    return { transaction, config: decodeWireTransaction(transaction).message.config! }
  }
  const run = (transaction: Uint8Array) =>
    chain.simulate(transaction, { sigVerify: false, replaceRecentBlockhash: true })
  return { services, request, chain, payer, build, run, call: node.call, asked }
}

describe('a built transaction of version 1', () => {
  it('has the limits of its simulation and the fee of its units, and lands with them', async () => {
    const { build, run, chain, payer, asked } = await setting()
    const { transaction, config } = await build()
    const { unitsConsumed, loadedDataSize } = run(transaction)
    expect(config).toEqual({
      computeUnitLimit: unitsFor(unitsConsumed),
      loadedAccountsDataSizeLimit: loadedLimitOf(loadedDataSize),
      priorityFeeLamports: BigInt(Math.ceil((unitsFor(unitsConsumed) * 7_000) / 1_000_000)),
      heapSize: null,
    })
    expect(asked).toEqual(['simulateTransaction'])
    expect(chain.send(signV1(transaction, [payer])).err).toBeNull()
  })

  it('pays at most the cap, and nothing if no fee is wished', async () => {
    const { build, chain, payer } = await setting()
    const capped = await build({ settings: { 'priority-fee': '99999999999', 'priority-fee-cap': '777' } })
    expect(capped.config.priorityFeeLamports).toBeLessThanOrEqual(777n)
    expect(capped.config.priorityFeeLamports).toBeGreaterThan(770n)
    const free = await build({ settings: { 'priority-fee': 'none' } })
    expect([free.config.priorityFeeLamports, free.transaction.length]).toEqual([null, capped.transaction.length - 8])
    expect(chain.send(signV1(free.transaction, [payer])).fee).toBe(5_000n)
  })

  it('counts its accounts itself if the node does not, with the same limit', async () => {
    const told = await setting()
    const { config } = await told.build()
    const silent = await setting((method, value) =>
      method === 'simulateTransaction' ? { ...value, loadedAccountsDataSize: null } : value,
    )
    const built = await silent.build()
    expect(built.config.loadedAccountsDataSizeLimit).toBe(config.loadedAccountsDataSizeLimit)
    // The accounts, and then the code of the programs among them.
    expect(silent.asked).toEqual(['simulateTransaction', 'getMultipleAccounts', 'getMultipleAccounts'])
    const { loadedDataSize } = silent.run(built.transaction)
    expect(await readLoadedSize(silent, namedAddresses(built.transaction))).toBe(loadedDataSize)
  })

  it.each([
    ['without sizes', (value: unknown) => (value as object[]).map((each) => ({ ...each, space: undefined }))],
    ['with strange sizes', (value: unknown) => (value as object[]).map((each) => ({ ...each, space: -1 }))],
    ['with one account too few', (value: unknown) => (value as object[]).slice(1)],
    ['of another form', () => 'none'],
  ])('takes the largest limit over accounts %s, and still lands', async (_, change) => {
    const { build, chain, payer } = await setting((method, value) => {
      if (method === 'simulateTransaction') return { ...value, loadedAccountsDataSize: -5 }
      return method === 'getMultipleAccounts' ? change(value) : value
    })
    const { transaction, config } = await build()
    expect(config.loadedAccountsDataSizeLimit).toBe(MAX_LOADED_BYTES)
    expect(chain.send(signV1(transaction, [payer])).err).toBeNull()
  })

  it('has the fallback units if it cannot run yet, or follows another transaction', async () => {
    const { build, asked } = await setting()
    const poor = await build({ from: addressOf(Keypair.generate()) })
    expect(poor.config).toMatchObject({ computeUnitLimit: 12_345, priorityFeeLamports: 87n })
    asked.length = 0
    expect((await build({ follows: true })).config.computeUnitLimit).toBe(12_345)
    expect(asked).not.toContain('simulateTransaction')
  })
})

describe('a request that is too large for a transaction', () => {
  it('is refused with the limit of version 1', async () => {
    const refusal = async (instructions: TransactionInstruction[]) =>
      compiled(instructions).then(
        () => null,
        ({ code, message }) => [code, message],
      )
    expect(await refusal([instruction(62)])).toBeNull()
    expect(await refusal([instruction(63)])).toEqual(['bad_request', expect.stringContaining('64 accounts')])
    expect(await refusal([instruction(12, { signers: 12 })])).toEqual([
      'bad_request',
      expect.stringContaining('12 signers'),
    ])
    expect(await refusal(Array.from({ length: 65 }, () => instruction(1)))).toEqual([
      'bad_request',
      expect.stringContaining('64 instructions'),
    ])
    expect(await refusal([instruction(1, { bytes: 4_000 })])).toEqual([
      'bad_request',
      expect.stringContaining('4096 bytes'),
    ])
  })

  it('is refused in version 0 with a hint to version 1, if it would fit', async () => {
    const envelope = { payer: PAYER, recentBlockhash: GOLDEN_BLOCKHASH }
    await expect(compileUnsigned(envelope, [instruction(1, { bytes: 1_200 })])).rejects.toThrow('tx_version 1')
    await expect(compileUnsigned(envelope, [instruction(1, { bytes: 5_000 })])).rejects.not.toThrow('tx_version 1')
  })

  it('is not built in another version', async () => {
    const { request } = await startService()
    const texts = { name: 'My Token', symbol: 'MTK', uri: 'https://example.com/t.json', initial_supply: '1' }
    for (const tx_version of [2, -1, '1', null, 0.5, true]) {
      const { status, json } = await request('POST', '/v2/tokens', { body: { ...texts, payer: PAYER, tx_version } })
      expect([status, json.error.param, json.error.message]).toEqual([
        400,
        'tx_version',
        expect.stringContaining('must be 0 or 1'),
      ])
    }
  })
})
