/** The embedded chain's JSON-RPC where validators changed: simulations with balances, ranges, versions and encodings. */
import * as zlib from 'node:zlib'
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../../src/localnet/clock.ts'
import { rawFrame, zstdFrame } from '../../src/localnet/rpc/account-encoding.ts'
import { CONSENSUSES } from '../../src/solana/constants.ts'
import { MEMO, memo, signed } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { openRpc } from './serving.ts'

let opened: Awaited<ReturnType<typeof openRpc>>
let payer: Keypair
beforeEach(async () => {
  opened = await openRpc()
  payer = Keypair.generate()
  opened.chain.airdrop(payer.publicKey.toBase58(), 10_000_000_000n)
  opened.chain.advance(60)
})
afterEach(() => opened.close())

const build = (instructions: TransactionInstruction[], signers = [payer]) =>
  Buffer.from(signed(instructions, signers, { blockhash: opened.chain.latestBlockhash().blockhash })).toString('base64')
const simulate = async (raw: string, config: object = {}) =>
  (await opened.ask('simulateTransaction', raw, { encoding: 'base64', ...config })).value
const transfer = (toPubkey: PublicKey, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports })
const fresh = () => Keypair.generate().publicKey

describe('a simulation', () => {
  /** A mint, its first account and 500 tokens moved on, all in one transaction. */
  function tokens() {
    const mint = Keypair.generate()
    const [from, to] = [payer.publicKey, fresh()].map((owner) =>
      spl.getAssociatedTokenAddressSync(mint.publicKey, owner, true),
    ) as [PublicKey, PublicKey]
    const lamports = Number(opened.chain.minimumBalance(spl.MINT_SIZE))
    const owner = payer.publicKey
    const make = [
      SystemProgram.createAccount({
        fromPubkey: owner,
        newAccountPubkey: mint.publicKey,
        space: spl.MINT_SIZE,
        lamports,
        programId: spl.TOKEN_PROGRAM_ID,
      }),
      spl.createInitializeMint2Instruction(mint.publicKey, 6, owner, null),
      spl.createAssociatedTokenAccountInstruction(owner, from, owner, mint.publicKey),
      spl.createMintToInstruction(mint.publicKey, from, owner, 1_500_000n),
    ]
    return { mint, from, to, make }
  }

  it('returns the fee and the balances that the transaction then has in history', async () => {
    const { mint, make } = tokens()
    const raw = build(make, [payer, mint])
    const trial = await simulate(raw)
    const signature = await opened.ask('sendTransaction', raw, { encoding: 'base64' })
    opened.chain.advance(20)
    const { meta } = await opened.ask('getTransaction', signature, { maxSupportedTransactionVersion: 0 })
    const members = ['fee', 'preBalances', 'postBalances', 'preTokenBalances', 'postTokenBalances'] as const
    for (const member of members) expect([member, trial[member]]).toEqual([member, meta[member]])
    expect(trial.postTokenBalances[0].uiTokenAmount.amount).toBe('1500000')
    expect(trial).toMatchObject({ err: null, loadedAddresses: { writable: [], readonly: [] } })
  })

  it('that fails pays its fee and moves nothing else', async () => {
    const trial = await simulate(build([transfer(fresh(), 50_000_000_000n)]))
    const { fee, preBalances, postBalances } = trial
    expect([fee, preBalances[0] - postBalances[0]]).toEqual([5000, 5000])
    expect(postBalances.slice(1)).toEqual(preBalances.slice(1))
  })

  it('that is refused has unchanged balances and no fee', async () => {
    const raw = build([transfer(fresh(), 1_000_000_000n)])
    opened.chain.advance(600)
    const trial = await simulate(raw, { innerInstructions: true })
    expect(trial).toMatchObject({ err: 'BlockhashNotFound', fee: null, innerInstructions: null, unitsConsumed: 0 })
    expect(trial.preBalances).toEqual([10_000_000_000, 0, 1])
    expect(trial.postBalances).toEqual(trial.preBalances)
    const replaced = await simulate(raw, { replaceRecentBlockhash: true })
    expect(replaced).toMatchObject({ err: null, replacementBlockhash: opened.chain.latestBlockhash() })
  })

  it('counts loaded bytes as in SIMD-0186: 64 bytes for each account, and a program with its data account', async () => {
    const { loadedAccountsDataSize } = await simulate(build([memo('a')]))
    const sizes = [payer.publicKey.toBase58(), MEMO.toBase58()].map((key) => opened.chain.account(key)!.data.length)
    const base = sizes.reduce((sum, size) => sum + 64 + size, 0)
    const data = opened.chain.account(MEMO.toBase58())!
    expect(data.owner).not.toBe('BPFLoaderUpgradeab1e11111111111111111111111')
    expect(loadedAccountsDataSize).toBe(base)
    const missing = await simulate(build([memo('a'), transfer(fresh(), 1_000_000_000n)]))
    // The receiver does not exist and counts nothing; the System program counts.
    expect(missing.loadedAccountsDataSize).toBe(base + 64 + 21)
  })

  it('is refused if its bytes cannot be a transaction on this chain', async () => {
    const table = fresh()
    const { AddressLookupTableAccount } = await import('@solana/web3.js')
    const tables = [
      new AddressLookupTableAccount({
        key: table,
        state: {
          deactivationSlot: 2n ** 64n - 1n,
          lastExtendedSlot: 0,
          lastExtendedSlotStartIndex: 0,
          addresses: [MEMO, table],
        },
      }),
    ]
    const instruction = new TransactionInstruction({
      programId: MEMO,
      keys: [{ pubkey: table, isSigner: false, isWritable: true }],
      data: Buffer.from('x'),
    })
    const { blockhash } = opened.chain.latestBlockhash()
    const raw = Buffer.from(signed([instruction], [payer], { blockhash, tables })).toString('base64')
    const refusal = {
      code: -32602,
      message: "invalid transaction: Transaction loads an address table account that doesn't exist",
    }
    for (const skipPreflight of [false, true]) {
      expect((await opened.call('sendTransaction', raw, { encoding: 'base64', skipPreflight })).error).toEqual(refusal)
    }
    expect((await opened.call('simulateTransaction', raw, { encoding: 'base64' })).error).toEqual(refusal)
  })
})

describe('slots and epochs out of range', () => {
  const TOO_FAR = 18_446_744_073_709_551_615n
  const epoch = GENESIS_SLOT / SLOTS_PER_EPOCH
  /** Asks with JSON text, as a number of u64 does not fit a double. */
  const callText = async (method: string, params: string) =>
    JSON.parse((await opened.rpc.handle(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`))!)

  it('are refused with the message of a validator', async () => {
    const newest = opened.chain.slot('finalized')
    const cleaned = `cleaned up, does not exist on node. First available block: ${GENESIS_SLOT}`
    for (const [method, params, code, message] of [
      ['getBlockTime', `[${TOO_FAR}]`, -32004, `Block not available for slot ${TOO_FAR}`],
      ['getBlockTime', '[7]', -32001, `Block 7 ${cleaned}`],
      ['getBlock', `[${TOO_FAR}]`, -32004, `Block not available for slot ${TOO_FAR}`],
      ['getBlock', '[7]', -32001, `Block 7 ${cleaned}`],
      [
        'getSlotLeaders',
        `[${GENESIS_SLOT - 1},2]`,
        -32602,
        `Invalid slot range: leader schedule for epoch ${epoch - 1} is unavailable`,
      ],
      [
        'getSlotLeaders',
        `[${TOO_FAR},1]`,
        -32602,
        `Invalid slot range: leader schedule for epoch ${TOO_FAR / 432_000n} is unavailable`,
      ],
      ['getSlotLeaders', `[${GENESIS_SLOT},5001]`, -32602, 'Invalid limit; max 5000'],
      [
        'getBlockProduction',
        '[{"range":{"firstSlot":9,"lastSlot":8}}]',
        -32602,
        'lastSlot, 8, cannot be less than firstSlot, 9',
      ],
      [
        'getBlockProduction',
        '[{"range":{"firstSlot":9}}]',
        -32602,
        `firstSlot, 9, is too small; min ${newest + 1 - 1024 * 1024}`,
      ],
      [
        'getBlockProduction',
        `[{"range":{"firstSlot":${newest},"lastSlot":${TOO_FAR}}}]`,
        -32602,
        `lastSlot, ${TOO_FAR}, is too large; max ${newest}`,
      ],
      [
        'getInflationReward',
        `[[],{"epoch":${TOO_FAR}}]`,
        -32004,
        `Block not available for slot ${(TOO_FAR + 1n) * 432_000n}`,
      ],
      ['getInflationReward', '[[],{"epoch":0}]', -32001, `Block 432000 ${cleaned}`],
      [
        'getBalance',
        `["${SystemProgram.programId}",{"minContextSlot":${TOO_FAR}}]`,
        -32016,
        'Minimum context slot has not been reached',
      ],
    ] as const) {
      expect([method, (await callText(method, params)).error]).toMatchObject([method, { code, message }])
    }
    expect((await callText('getBlockTime', '[18446744073709551616]')).error.code).toBe(-32602)
    expect((await callText('getBlocks', `[${TOO_FAR}]`)).result).toEqual([])
  })

  it.each(CONSENSUSES)('begin on %s with one first block, which a new chain has at every commitment', async (of) => {
    const { chain, ask, close } = await openRpc({ consensus: of })
    const finalized = chain.slot('finalized')
    expect([finalized, await ask('getFirstAvailableBlock'), await ask('minimumLedgerSlot')]).toEqual(
      Array(3).fill(GENESIS_SLOT),
    )
    expect(await ask('getBlocks', GENESIS_SLOT - 5)).toEqual([GENESIS_SLOT])
    expect(await ask('getBlocksWithLimit', 0, 5, { commitment: 'confirmed' })).toEqual(
      Array.from({ length: of === 'tower' ? 5 : 1 }, (_, i) => GENESIS_SLOT + i),
    )
    chain.advance(chain.slotMs() / 1000)
    const first = await ask('getBlock', GENESIS_SLOT)
    const second = await ask('getBlock', GENESIS_SLOT + 1, { commitment: 'confirmed' })
    expect([first.parentSlot, second.parentSlot, second.previousBlockhash]).toEqual([
      GENESIS_SLOT - 1,
      GENESIS_SLOT,
      first.blockhash,
    ])
    close()
  })

  it('in range are answered', async () => {
    const identity = opened.chain.genesisHash
    expect(await opened.ask('getBlockTime', 0)).toBe(opened.chain.blockTime(GENESIS_SLOT))
    expect(await opened.ask('getSlotLeaders', GENESIS_SLOT, 2)).toEqual([identity, identity])
    expect(await opened.ask('getSlotLeaders', GENESIS_SLOT, 0)).toEqual([])
    for (const slot of [GENESIS_SLOT - 1, GENESIS_SLOT + 2 * SLOTS_PER_EPOCH]) {
      expect(await opened.ask('getLeaderSchedule', slot)).toBeNull()
    }
    const schedule = await opened.ask('getLeaderSchedule', GENESIS_SLOT + SLOTS_PER_EPOCH, { identity })
    expect(schedule[identity]).toHaveLength(SLOTS_PER_EPOCH)
    const { value } = await opened.ask('getBlockProduction', {
      range: { firstSlot: GENESIS_SLOT - 5, lastSlot: GENESIS_SLOT + 4 },
    })
    expect(value.byIdentity).toEqual({ [identity]: [5, 5] })
    const others = await opened.ask('getBlockProduction', { identity: fresh().toBase58() })
    expect(others.value.byIdentity).toEqual({})
    expect(await opened.ask('getInflationReward', [identity], { epoch: epoch - 1 })).toEqual([null])
  })
})

describe('versions and encodings', () => {
  it('of reads are refused as a pair if a validator has no base58 for them', async () => {
    const { signature } = { signature: opened.chain.airdrop(payer.publicKey.toBase58(), 1_000_000n) }
    opened.chain.advance(20)
    const read = (encoding: string, maxSupportedTransactionVersion: number) =>
      opened.call('getTransaction', signature, { encoding, maxSupportedTransactionVersion })
    for (const encoding of ['base58', 'binary']) {
      expect((await read(encoding, 1)).error).toEqual({
        code: -32602,
        message: 'base58 encoding is not supported with maxSupportedTransactionVersion >= 1',
      })
      expect((await read(encoding, 0)).error).toBeUndefined()
    }
    expect((await read('base64', 255)).error).toBeUndefined()
    expect((await read('base64', 256)).error?.code).toBe(-32602)
  })

  it('of small accounts in zstd are those of a validator, byte for byte', () => {
    expect(Buffer.from(rawFrame(Buffer.from('test data'))).toString('base64')).toBe('KLUv/QBYSQAAdGVzdCBkYXRh')
  })

  it('of accounts in zstd decode to their bytes', { tags: 'sampled' }, () => {
    const decompress = (zlib as { zstdDecompressSync?: (data: Uint8Array) => Buffer }).zstdDecompressSync
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(2_000), (data, times) => {
        const bytes = Buffer.concat(Array.from({ length: times }, () => data))
        const plain = rawFrame(bytes)
        const blocks = Math.max(1, Math.ceil(bytes.length / (128 * 1024)))
        expect(plain.length).toBe(6 + 3 * blocks + bytes.length)
        if (decompress === undefined) return
        expect(Buffer.from(decompress(plain)).equals(bytes)).toBe(true)
        expect(Buffer.from(decompress(zstdFrame(bytes))).equals(bytes)).toBe(true)
      }),
      { numRuns: runs(10, 40) },
    )
  })
})
