/** The embedded chain's JSON-RPC as a validator answers it: sending, commitments, history, encodings. */
import * as zlib from 'node:zlib'
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { GENESIS_SLOT } from '../../src/localnet/clock.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, UPGRADEABLE_LOADER } from '../../src/solana/program-ids.ts'
import { EXCESS, oldAccounts } from '../support/old-accounts.ts'
import { openRpc } from './serving.ts'

const SYSTEM = '11111111111111111111111111111111'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

let opened: Awaited<ReturnType<typeof openRpc>>
let payer: Keypair
async function open(consensus?: Consensus) {
  opened?.close()
  opened = await openRpc(consensus && { consensus })
  payer = Keypair.generate()
  opened.chain.airdrop(payer.publicKey.toBase58(), 10n * BigInt(LAMPORTS_PER_SOL))
}
beforeEach(() => open())
afterAll(() => opened.close())

const transferTo = (to: PublicKey, lamports: number | bigint) =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })

interface BuildOptions {
  blockhash?: string
  signers?: Keypair[]
  legacy?: boolean
  tables?: Parameters<TransactionMessage['compileToV0Message']>[0]
}

function build(instructions: TransactionInstruction[], options: BuildOptions = {}): VersionedTransaction {
  const { blockhash = opened.chain.latestBlockhash().blockhash, signers = [payer], legacy = false, tables } = options
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(tables),
  )
  transaction.sign(signers)
  return transaction
}

const base64 = (transaction: VersionedTransaction): string => Buffer.from(transaction.serialize()).toString('base64')
const send = (transaction: VersionedTransaction, config: object = {}) =>
  opened.call('sendTransaction', base64(transaction), { encoding: 'base64', ...config })
const sent = async (...instructions: TransactionInstruction[]): Promise<string> =>
  (await send(build(instructions), { skipPreflight: true })).result
const fresh = () => Keypair.generate().publicKey
/** Moves the clock ahead by so many slots. */
const slots = (count: number) => opened.chain.advance((count * opened.chain.slotMs()) / 1000)

describe('sendTransaction', () => {
  const preflight = (
    err: unknown,
    logs: unknown[],
    loaded: { fee?: number; loadedAccountsDataSize?: number } = {},
  ) => ({
    accounts: null,
    err,
    fee: null,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    loadedAddresses: null,
    logs,
    postBalances: null,
    postTokenBalances: null,
    preBalances: null,
    preTokenBalances: null,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: expect.any(Number),
    ...loaded,
  })

  it('accepts a transaction in base58 by default, and in base64', async () => {
    const { base58 } = await import('@scure/base')
    const first = build([transferTo(fresh(), LAMPORTS_PER_SOL)])
    expect(await opened.ask('sendTransaction', base58.encode(first.serialize()))).toBe(
      base58.encode(first.signatures[0]!),
    )
    expect((await send(build([transferTo(fresh(), LAMPORTS_PER_SOL)]))).error).toBeUndefined()
  })

  it('reports a failed preflight in the shape of a simulation', async () => {
    const { error } = await send(build([transferTo(fresh(), 50n * 10n ** 9n)]))
    expect(error).toEqual({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: preflight(
        { InstructionError: [0, { Custom: 1 }] },
        [
          `Program ${SYSTEM} invoke [1]`,
          'Transfer: insufficient lamports 9999995000, need 50000000000',
          `Program ${SYSTEM} failed: custom program error: 0x1`,
        ],
        { fee: 5000, loadedAccountsDataSize: 149 },
      ),
    })
  })

  it('refuses an expired blockhash, a duplicate and an unfunded payer in preflight', async () => {
    const stale = build([transferTo(fresh(), LAMPORTS_PER_SOL)])
    const twice = build([transferTo(fresh(), LAMPORTS_PER_SOL)])
    expect((await send(twice)).error).toBeUndefined()
    expect((await send(twice)).error).toEqual({
      code: -32002,
      message: 'Transaction simulation failed: This transaction has already been processed',
      data: preflight('AlreadyProcessed', []),
    })
    opened.chain.advance(61)
    expect((await send(stale)).error).toEqual({
      code: -32002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: preflight('BlockhashNotFound', []),
    })
    payer = Keypair.generate()
    expect((await send(build([transferTo(fresh(), 1)]))).error).toEqual({
      code: -32002,
      message: 'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
      data: preflight('AccountNotFound', []),
    })
  })

  it('refuses a wrong signature, which skipPreflight drops silently', async () => {
    const forged = build([transferTo(fresh(), LAMPORTS_PER_SOL)])
    forged.signatures[0]![5]! ^= 1
    expect((await send(forged)).error).toEqual({
      code: -32002,
      message: 'Transaction simulation failed: Transaction did not pass signature verification',
      data: preflight('SignatureFailure', []),
    })
    const { result } = await send(forged, { skipPreflight: true })
    expect((await opened.ask('getSignatureStatuses', [result])).value).toEqual([null])
  })

  it('lands a failing transaction without preflight, with its error in status and history', async () => {
    const { result } = await send(build([transferTo(fresh(), 50n * 10n ** 9n)]), { skipPreflight: true })
    const err = { InstructionError: [0, { Custom: 1 }] }
    // An error is seen once the slot is over, as on a validator.
    expect((await opened.ask('getSignatureStatuses', [result])).value).toEqual([null])
    const slot = opened.chain.slot()
    opened.chain.advance(1)
    expect((await opened.ask('getSignatureStatuses', [result])).value).toMatchObject([
      { slot, status: { Err: err }, err, confirmationStatus: expect.stringMatching(/^(confirmed|finalized)$/) },
    ])
    const { meta } = await opened.ask('getTransaction', result, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    })
    expect(meta).toMatchObject({ err, status: { Err: err }, fee: 5000 })
    expect(meta.preBalances[0] - meta.postBalances[0]).toBe(5000)
  })
})

describe('simulateTransaction', () => {
  it('needs no signature, replaces the blockhash, and shows accounts without changing them', async () => {
    const to = fresh()
    const transaction = build([transferTo(to, 2n * 10n ** 9n)], { blockhash: SYSTEM })
    transaction.signatures = [new Uint8Array(64)]
    const options = { encoding: 'base64', accounts: { addresses: [to.toBase58()], encoding: 'base64' } }
    const { value: refused } = await opened.ask('simulateTransaction', base64(transaction), options)
    expect(refused).toMatchObject({ err: 'BlockhashNotFound', logs: [], accounts: [null] })
    const { value } = await opened.ask('simulateTransaction', base64(transaction), {
      ...options,
      replaceRecentBlockhash: true,
    })
    const latest = opened.chain.latestBlockhash()
    expect(value).toMatchObject({
      err: null,
      accounts: [{ lamports: 2_000_000_000, owner: SYSTEM, data: ['', 'base64'], executable: false, space: 0 }],
      replacementBlockhash: latest,
      returnData: null,
      unitsConsumed: 150,
      innerInstructions: null,
    })
    expect((await opened.ask('getBalance', to.toBase58())).value).toBe(0)
    const unsigned = await opened.ask('simulateTransaction', base64(transaction), {
      encoding: 'base64',
      sigVerify: true,
    })
    expect(unsigned.value).toEqual({
      accounts: null,
      err: 'SignatureFailure',
      fee: null,
      innerInstructions: null,
      loadedAccountsDataSize: 0,
      loadedAddresses: { readonly: [], writable: [] },
      logs: [],
      postBalances: null,
      postTokenBalances: null,
      preBalances: null,
      preTokenBalances: null,
      replacementBlockhash: null,
      returnData: null,
      unitsConsumed: 0,
    })
    const both = { encoding: 'base64', sigVerify: true, replaceRecentBlockhash: true }
    expect((await opened.call('simulateTransaction', base64(transaction), both)).error?.message).toBe(
      'sigVerify may not be used with replaceRecentBlockhash',
    )
    const many = { ...options, accounts: { addresses: Array(9).fill(SYSTEM), encoding: 'base64' } }
    expect((await opened.call('simulateTransaction', base64(transaction), many)).error?.message).toBe(
      'Too many accounts provided; max 3',
    )
  })
})

describe('commitments on Alpenglow', () => {
  beforeEach(() => open('alpenglow'))

  it('go from processed to finalized in one slot, with what is confirmed', async () => {
    const signature = await sent(transferTo(fresh(), LAMPORTS_PER_SOL))
    const status = async () => (await opened.ask('getSignatureStatuses', [signature])).value[0]
    const slotsOf = () =>
      Promise.all(['processed', 'confirmed', 'finalized'].map((commitment) => opened.ask('getSlot', { commitment })))
    const now = opened.chain.slot()
    expect(await slotsOf()).toEqual([now, now - 1, now - 1])
    expect(await status()).toMatchObject({ confirmations: 0, confirmationStatus: 'processed' })
    slots(1)
    expect(await status()).toMatchObject({ confirmations: null, confirmationStatus: 'finalized' })
    expect(await slotsOf()).toEqual([now + 1, now, now])
  })

  it('are certified from the first block on, of which the next one is final', async () => {
    const { block, signature } = await opened.ask('getAgGenesisCert')
    const { blockhash } = await opened.ask('getBlock', block.slot)
    expect(block).toEqual({ slot: GENESIS_SLOT, blockId: [...new PublicKey(blockhash).toBytes()] })
    expect([signature.signature.length, signature.bitmap]).toEqual([192, []])
    expect(opened.chain.status()).toMatchObject({ settings: { consensus: 'alpenglow' }, alpenglowSlot: GENESIS_SLOT })
  })

  it('have blocks without votes', async () => {
    await sent(transferTo(fresh(), LAMPORTS_PER_SOL))
    slots(1)
    const { transactions } = await opened.ask('getBlock', opened.chain.slot() - 1, {
      transactionDetails: 'accounts',
      maxSupportedTransactionVersion: 0,
    })
    const keys = transactions.flatMap(({ transaction }: { transaction: { accountKeys: { pubkey: string }[] } }) =>
      transaction.accountKeys.map(({ pubkey }) => pubkey),
    )
    expect([transactions.length, keys.filter((key: string) => key.startsWith('Vote'))]).toEqual([2, []])
  })
})

describe('a read from a slot on', () => {
  it.each(['getSignatureStatuses', 'getTransaction'])('is refused by %s until the slot is reached', async (method) => {
    const signature = await sent(transferTo(fresh(), LAMPORTS_PER_SOL))
    const asked = method === 'getTransaction' ? signature : [signature]
    const ask = (minContextSlot: number) =>
      opened.call(method, asked, { minContextSlot, maxSupportedTransactionVersion: 0 })
    slots(40)
    expect((await ask(opened.chain.slot() + 1)).error).toMatchObject({ code: -32016 })
    expect((await ask(opened.chain.slot('finalized'))).result).not.toBeNull()
  })
})

describe('commitments on Tower', () => {
  beforeEach(() => open('tower'))

  it('go from processed to finalized by slots, and each has its history', async () => {
    const signature = await sent(transferTo(fresh(), LAMPORTS_PER_SOL))
    const status = async () => (await opened.ask('getSignatureStatuses', [signature])).value[0]
    const visible = async (commitment: string) => {
      const config = { commitment, maxSupportedTransactionVersion: 0 }
      return (await opened.ask('getTransaction', signature, config)) !== null
    }
    const listed = async (commitment: string) =>
      (await opened.ask('getSignaturesForAddress', payer.publicKey.toBase58(), { commitment })).length
    expect(await status()).toMatchObject({ confirmations: 0, confirmationStatus: 'processed' })
    expect(await visible('confirmed')).toBe(false)
    expect(await listed('confirmed')).toBe(0)
    slots(1)
    expect(await status()).toMatchObject({ confirmations: 1, confirmationStatus: 'confirmed' })
    expect([await visible('confirmed'), await visible('finalized')]).toEqual([true, false])
    expect([await listed('confirmed'), await listed('finalized')]).toEqual([2, 0])
    slots(31)
    expect(await status()).toMatchObject({ confirmations: null, confirmationStatus: 'finalized' })
    expect([await visible('finalized'), await listed('finalized')]).toEqual([true, 2])
    opened.chain.advance(200)
    expect(await status()).toBeNull()
    const searched = await opened.ask('getSignatureStatuses', [signature], { searchTransactionHistory: true })
    expect(searched.value[0]).toMatchObject({ confirmationStatus: 'finalized' })
  })

  it('have different slots, and the blockhash of each is valid for 150 of them', async () => {
    const at = await Promise.all(
      ['processed', 'confirmed', 'finalized'].map((commitment) => opened.ask('getSlot', { commitment })),
    )
    expect(at.map((slot) => at[0] - slot)).toEqual([0, 1, 32])
    expect(await opened.ask('getAgGenesisCert')).toBeNull()
    const { context, value } = await opened.ask('getLatestBlockhash', { commitment: 'processed' })
    expect(context.slot).toBe(at[0])
    expect(value.lastValidBlockHeight).toBe((await opened.ask('getBlockHeight', { commitment: 'processed' })) + 150)
    const valid = async () => (await opened.ask('isBlockhashValid', value.blockhash)).value
    slots(150)
    expect(await valid()).toBe(true)
    slots(1)
    expect(await valid()).toBe(false)
  })
})

describe('the history of the embedded chain', () => {
  it('pages through the signatures of an address, newest first, with their memos', async () => {
    const memo = new TransactionInstruction({ programId: new PublicKey(MEMO), keys: [], data: Buffer.from('hello') })
    const signatures: string[] = []
    for (let i = 0; i < 5; i++) signatures.unshift(await sent(transferTo(fresh(), LAMPORTS_PER_SOL + i), memo))
    opened.chain.advance(20)
    const address = payer.publicKey.toBase58()
    const page = async (options: object) =>
      (await opened.ask('getSignaturesForAddress', address, options)).map(
        ({ signature }: { signature: string }) => signature,
      )
    expect(await page({ limit: 3 })).toEqual(signatures.slice(0, 3))
    expect(await page({ limit: 2, before: signatures[1] })).toEqual(signatures.slice(2, 4))
    expect(await page({ until: signatures[3] })).toEqual(signatures.slice(0, 3))
    const [newest] = await opened.ask('getSignaturesForAddress', address, { limit: 1 })
    expect(newest).toEqual({
      signature: signatures[0],
      slot: expect.any(Number),
      err: null,
      memo: '[5] hello',
      blockTime: opened.chain.blockTime(newest.slot),
      confirmationStatus: 'finalized',
    })
  })

  it('encodes a transaction as json, jsonParsed, base64 and base58', async () => {
    const to = fresh()
    const compute = ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 })
    const memo = new TransactionInstruction({ programId: new PublicKey(MEMO), keys: [], data: Buffer.from('hé') })
    const transaction = build([compute, transferTo(to, LAMPORTS_PER_SOL), memo])
    const { result: signature } = await send(transaction, { skipPreflight: true })
    opened.chain.advance(20)
    const read = (config: object) =>
      opened.ask('getTransaction', signature, { maxSupportedTransactionVersion: 0, ...config })

    const json = await read({})
    expect(json.transaction.message).toMatchObject({
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 3 },
      recentBlockhash: transaction.message.recentBlockhash,
      addressTableLookups: [],
    })
    expect(json).toMatchObject({ version: 0, transaction: { signatures: [signature] } })
    expect(json.meta).toMatchObject({
      err: null,
      status: { Ok: null },
      fee: 5000,
      rewards: [],
      innerInstructions: [],
      preTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    })
    expect(json.meta.computeUnitsConsumed).toBeGreaterThan(300)

    const parsed = await read({ encoding: 'jsonParsed' })
    expect(parsed.transaction.message.instructions).toEqual([
      {
        programId: 'ComputeBudget111111111111111111111111111111',
        accounts: [],
        data: expect.any(String),
        stackHeight: 1,
      },
      {
        program: 'system',
        programId: SYSTEM,
        parsed: {
          type: 'transfer',
          info: { source: payer.publicKey.toBase58(), destination: to.toBase58(), lamports: LAMPORTS_PER_SOL },
        },
        stackHeight: 1,
      },
      { program: 'spl-memo', programId: MEMO, parsed: 'hé', stackHeight: 1 },
    ])
    expect(parsed.transaction.message.accountKeys[0]).toEqual({
      pubkey: payer.publicKey.toBase58(),
      signer: true,
      writable: true,
      source: 'transaction',
    })
    const bytes = await read({ encoding: 'base64' })
    expect(bytes.transaction).toEqual([base64(transaction), 'base64'])
    expect((await read({ encoding: 'base58' })).transaction[1]).toBe('base58')
    const { error } = await opened.call('getTransaction', signature)
    expect(error).toEqual({
      code: -32015,
      message:
        'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    })
  })

  it.each([TOKEN_PROGRAM, TOKEN_2022_PROGRAM])(
    'returns excess rent by %s to the owner alone, and shows it',
    async (program) => {
      const old = oldAccounts(opened.chain, payer.publicKey.toBase58())
      const [source, destination] = [old.token({ program }), fresh()]
      const withdraw = (authority: Keypair) =>
        new TransactionInstruction({
          programId: new PublicKey(program),
          keys: [
            { pubkey: new PublicKey(source), isSigner: false, isWritable: true },
            { pubkey: destination, isSigner: false, isWritable: true },
            { pubkey: authority.publicKey, isSigner: true, isWritable: false },
          ],
          data: Buffer.of(38),
        })
      const stranger = Keypair.generate()
      opened.chain.airdrop(stranger.publicKey.toBase58(), BigInt(LAMPORTS_PER_SOL))
      const message = new TransactionMessage({
        payerKey: stranger.publicKey,
        recentBlockhash: opened.chain.latestBlockhash().blockhash,
        instructions: [withdraw(stranger)],
      })
      const refused = new VersionedTransaction(message.compileToV0Message())
      refused.sign([stranger])
      const { value: trial } = await opened.ask('simulateTransaction', base64(refused), { encoding: 'base64' })
      expect(trial.err).toEqual({ InstructionError: [0, { Custom: 4 }] })
      old.put(destination.toBase58(), SYSTEM, new Uint8Array(), 0n)
      const signature = await sent(withdraw(payer))
      expect(opened.chain.account(source)!.lamports).toBe(opened.chain.minimumBalance(165))
      const held = opened.chain.account(destination.toBase58())!.lamports
      expect(held).toBe(opened.chain.minimumBalance(0) + EXCESS)
      opened.chain.advance(20)
      const config = { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }
      const { transaction } = await opened.ask('getTransaction', signature, config)
      expect(transaction.message.instructions).toEqual([
        {
          program: 'spl-token',
          programId: program,
          parsed: {
            type: 'withdrawExcessLamports',
            info: { source, destination: destination.toBase58(), authority: payer.publicKey.toBase58() },
          },
          stackHeight: 1,
        },
      ])
    },
  )

  it('shows a legacy transaction without a version to clients that name none', async () => {
    const transaction = build([transferTo(fresh(), LAMPORTS_PER_SOL)], { legacy: true })
    const { result } = await send(transaction)
    opened.chain.advance(20)
    const answer = await opened.ask('getTransaction', result)
    expect(answer).not.toHaveProperty('version')
    expect(answer.transaction.message).not.toHaveProperty('addressTableLookups')
  })

  it('resolves a lookup table, and parses the instructions that created it', async () => {
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: opened.chain.slot() - 1,
    })
    const to = fresh()
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority: payer.publicKey,
      payer: payer.publicKey,
      addresses: [to],
    })
    const made = await send(build([create, extend]))
    expect(made.error).toBeUndefined()
    opened.chain.advance(1)
    const { value: account } = await opened.ask('getAccountInfo', table.toBase58(), { encoding: 'jsonParsed' })
    expect(account.data).toMatchObject({
      program: 'address-lookup-table',
      parsed: { type: 'lookupTable', info: { addresses: [to.toBase58()], authority: payer.publicKey.toBase58() } },
    })
    const { AddressLookupTableAccount } = await import('@solana/web3.js')
    const state = AddressLookupTableAccount.deserialize(opened.chain.account(table.toBase58())!.data)
    const used = build([transferTo(to, LAMPORTS_PER_SOL)], {
      tables: [new AddressLookupTableAccount({ key: table, state })],
    })
    const { result } = await send(used)
    opened.chain.advance(20)
    const config = { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }
    const { transaction } = await opened.ask('getTransaction', result, config)
    expect(transaction.message.accountKeys.at(-1)).toEqual({
      pubkey: to.toBase58(),
      signer: false,
      writable: true,
      source: 'lookupTable',
    })
    expect(transaction.message.instructions[0].parsed.info.destination).toBe(to.toBase58())
    const json = await opened.ask('getTransaction', result, { maxSupportedTransactionVersion: 0 })
    expect(json.meta.loadedAddresses).toEqual({ writable: [to.toBase58()], readonly: [] })
    const parsed = await opened.ask('getTransaction', made.result, config)
    expect(parsed.transaction.message.instructions.map((i: { parsed: { type: string } }) => i.parsed.type)).toEqual([
      'createLookupTable',
      'extendLookupTable',
    ])
  })

  it('returns blocks with four levels of detail, empty ones too', async () => {
    opened.chain.advance(1)
    const signature = await sent(transferTo(fresh(), LAMPORTS_PER_SOL))
    const slot = opened.chain.slot()
    opened.chain.advance(20)
    const read = (config: object) => opened.ask('getBlock', slot, { maxSupportedTransactionVersion: 0, ...config })
    const full = await read({})
    expect(full).toMatchObject({
      blockHeight: slot,
      parentSlot: slot - 1,
      blockhash: opened.chain.blockhashOf(slot),
      previousBlockhash: opened.chain.blockhashOf(slot - 1),
      blockTime: opened.chain.blockTime(slot),
      rewards: [],
    })
    expect(
      full.transactions.map((t: { transaction: { signatures: string[] } }) => t.transaction.signatures[0]),
    ).toContain(signature)
    expect((await read({ transactionDetails: 'signatures' })).signatures).toContain(signature)
    const accounts = (await read({ transactionDetails: 'accounts' })).transactions.at(-1)
    expect(accounts.transaction.accountKeys[0].pubkey).toBe(payer.publicKey.toBase58())
    expect(await read({ transactionDetails: 'none', rewards: false })).not.toHaveProperty('transactions')
    expect((await opened.ask('getBlock', slot + 1)).transactions).toEqual([])
    expect(await opened.ask('getBlocks', slot, slot + 3)).toEqual([slot, slot + 1, slot + 2, slot + 3])
    expect(await opened.ask('getBlocksWithLimit', slot, 2)).toEqual([slot, slot + 1])
    expect(await opened.ask('getBlockTime', slot)).toBe(opened.chain.blockTime(slot))
  })
})

describe('accounts of the embedded chain', () => {
  const program = fresh().toBase58()
  const put = (first: number, size: number) => {
    const address = fresh().toBase58()
    const data = new Uint8Array(size).fill(9)
    data[0] = first
    opened.chain.setAccount(address, { lamports: 1_000_000_000n, owner: program, data, executable: false })
    return address
  }

  it('of the upgradeable loader are parsed: programs, their code, and buffers', async () => {
    const [owner, authority, address] = [UPGRADEABLE_LOADER, Keypair.generate().publicKey, Keypair.generate().publicKey]
    const parsed = async (...parts: (number[] | Uint8Array)[]) => {
      const data = Buffer.concat(parts.map((part) => Buffer.from(part)))
      opened.chain.setAccount(address.toBase58(), { lamports: 1_000_000_000n, owner, data, executable: false })
      const { value } = await opened.ask('getAccountInfo', address.toBase58(), { encoding: 'jsonParsed' })
      return value.data
    }
    const of = (type: string, info?: object) => ({
      program: 'bpf-upgradeable-loader',
      parsed: info === undefined ? { type } : { type, info },
      space: expect.any(Number),
    })
    const u32 = (kind: number) => [kind, 0, 0, 0]
    const [code, slot] = [
      [1, 2, 3],
      [9, 0, 0, 0, 0, 0, 0, 0],
    ]
    const data = [Buffer.from(code).toString('base64'), 'base64']
    const key = authority.toBase58()
    expect(await parsed(u32(0))).toEqual(of('uninitialized'))
    expect(await parsed(u32(2), authority.toBytes())).toEqual(of('program', { programData: key }))
    expect(await parsed(u32(3), slot, [1], authority.toBytes(), code)).toEqual(
      of('programData', { slot: 9, authority: key, data }),
    )
    expect(await parsed(u32(3), slot, [0], code)).toEqual(of('programData', { slot: 9, authority: null, data }))
    expect(await parsed(u32(1), [1], authority.toBytes(), code)).toEqual(of('buffer', { authority: key, data }))
    for (const bytes of [u32(4), [2, 0], u32(2)]) {
      expect(await parsed(bytes)).toEqual([Buffer.from(bytes).toString('base64'), 'base64'])
    }
  })

  it('have every encoding, with slices if requested', async () => {
    const address = put(1, 300)
    const data = Buffer.from(opened.chain.account(address)!.data)
    const read = async (config: object) => (await opened.ask('getAccountInfo', address, config)).value
    expect(await read({ encoding: 'base64' })).toEqual({
      lamports: 1_000_000_000,
      owner: program,
      data: [data.toString('base64'), 'base64'],
      executable: false,
      rentEpoch: Number(2n ** 64n - 1n),
      space: 300,
    })
    expect((await read({ encoding: 'jsonParsed' })).data).toEqual([data.toString('base64'), 'base64'])
    expect((await read({ encoding: 'base58', dataSlice: { offset: 0, length: 2 } })).data).toEqual(['5a', 'base58'])
    const zstd = Buffer.from((await read({ encoding: 'base64+zstd' })).data[0], 'base64')
    expect(zstd.readUInt32LE(0)).toBe(0xfd2fb528)
    const decompress = (zlib as { zstdDecompressSync?: (data: Uint8Array) => Buffer }).zstdDecompressSync
    expect(decompress?.(zstd) ?? zstd.subarray(9)).toEqual(data)
    expect((await opened.call('getAccountInfo', address)).error).toEqual({
      code: -32600,
      message: 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    })
    const { value } = await opened.ask('getMultipleAccounts', [address, fresh().toBase58()], { encoding: 'base64' })
    expect(value.map((account: object | null) => account !== null)).toEqual([true, false])
  })

  it('of a program are filtered by size and bytes', async () => {
    const [a, b, c] = [put(1, 10), put(2, 10), put(1, 20)]
    const found = async (filters: object[]) =>
      (await opened.ask('getProgramAccounts', program, { encoding: 'base64', filters }))
        .map(({ pubkey }: { pubkey: string }) => pubkey)
        .sort()
    expect(await found([])).toEqual([a, b, c].sort())
    expect(await found([{ dataSize: 10 }])).toEqual([a, b].sort())
    expect(await found([{ memcmp: { offset: 0, bytes: '2' } }])).toEqual([a, c].sort())
    expect(await found([{ memcmp: { offset: 0, bytes: 'AQk=', encoding: 'base64' } }, { dataSize: 20 }])).toEqual([c])
    expect(await found([{ memcmp: { offset: 19, bytes: [9] } }])).toEqual([c])
    expect(await found([{ memcmp: { offset: 20, bytes: '2' } }])).toEqual([])
    const answer = await opened.ask('getProgramAccounts', program, {
      withContext: true,
      dataSlice: { offset: 0, length: 1 },
    })
    expect(answer.context.slot).toBe(opened.chain.slot('finalized'))
    expect(answer.value.map(({ account }: { account: { data: string } }) => account.data).sort()).toEqual([
      '2',
      '2',
      '3',
    ])
  })
})

describe('fees of the embedded chain', () => {
  it('are computed for a message, and rent for a size', async () => {
    const { message } = build([transferTo(fresh(), 1)])
    const text = Buffer.from(message.serialize()).toString('base64')
    expect((await opened.ask('getFeeForMessage', text)).value).toBe(5000)
    opened.chain.advance(61)
    expect((await opened.ask('getFeeForMessage', text)).value).toBeNull()
    expect(await opened.ask('getMinimumBalanceForRentExemption', 165)).toBe(Number(opened.chain.minimumBalance(165)))
    const info = await opened.ask('getEpochInfo', { commitment: 'processed' })
    expect(info.absoluteSlot).toBe(info.epoch * info.slotsInEpoch + info.slotIndex)
  })
})
