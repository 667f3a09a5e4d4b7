/** Transactions of version 1 on the embedded chain: executed, priced, refused, shown and kept as a validator does. */
import { createSolanaRpc, devnet, type Signature } from '@solana/kit'
import { ComputeBudgetProgram, Keypair, TransactionInstruction, VersionedMessage } from '@solana/web3.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { localFetch } from '../../src/localnet/fetch.ts'
import { encodeBase58 } from '../../src/solana/long-base58.ts'
import { decodeWireTransaction, messageBytesOf } from '../../src/solana/messages.ts'
import { UPGRADEABLE_LOADER } from '../../src/solana/program-ids.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'
import { MEMO, memo, openTestChain, refusal, SOL, signed, signedV1, someone, transfer } from '../support/local-chain.ts'
import { testNode } from '../support/node.ts'
import { openRpc, openServer } from './serving.ts'

const READ_V1 = { maxSupportedTransactionVersion: 1 }
const base64 = (raw: Uint8Array) => Buffer.from(raw).toString('base64')

describe('the JSON-RPC for version 1', () => {
  let opened: Awaited<ReturnType<typeof openRpc>>
  let payer: Keypair
  beforeEach(async () => {
    opened = await openRpc()
    payer = Keypair.generate()
    opened.chain.airdrop(payer.publicKey.toBase58(), 100n * SOL)
  })
  afterEach(() => opened.close())

  const build = (instructions: TransactionInstruction[], config: Partial<TransactionConfig> = {}) =>
    signedV1(instructions, [payer], { blockhash: opened.chain.latestBlockhash().blockhash, ...config })
  const send = (raw: Uint8Array, config: object = {}) =>
    opened.call('sendTransaction', base64(raw), { encoding: 'base64', ...config })

  it('accepts, only in base64, what does not fit version 0, and shows it with its config', async () => {
    const to = someone()
    const raw = build([transfer(payer, to, SOL), memo('m'.repeat(3_000))], {
      priorityFeeLamports: 777n,
      computeUnitLimit: 50_000,
    })
    expect(raw.length).toBeGreaterThan(3_000)
    const trial = (await opened.ask('simulateTransaction', base64(raw), { encoding: 'base64', sigVerify: true })).value
    expect(trial).toMatchObject({ err: null, fee: 5777, loadedAddresses: { writable: [], readonly: [] } })
    const { message: wrong } = (await opened.call('sendTransaction', encodeBase58(raw))).error!
    expect(wrong).toContain('base58 encoded solana_transaction::versioned::VersionedTransaction too large')
    const { result: signature } = await send(raw)
    expect(signature).toBe(decodeWireTransaction(raw).signature)
    expect((await opened.ask('getBalance', to.toBase58(), { commitment: 'processed' })).value).toBe(Number(SOL))
    opened.chain.advance(20)

    const read = (encoding: string) => opened.ask('getTransaction', signature, { encoding, ...READ_V1 })
    const json = await read('json')
    const transactionConfig = {
      priorityFee: 777,
      computeUnitLimit: 50_000,
      loadedAccountsDataSizeLimit: 8 * 1024 * 1024,
      heapSize: null,
    }
    expect(json).toMatchObject({
      version: 1,
      transaction: { message: { transactionConfig, header: { numRequiredSignatures: 1 } } },
      meta: { err: null, fee: 5777, preBalances: trial.preBalances, postBalances: trial.postBalances },
    })
    expect(json.transaction.message).not.toHaveProperty('addressTableLookups')
    // The library that writes base58 elsewhere takes 2,048 bytes at most.
    expect(json.transaction.message.instructions[1].data).toBe(encodeBase58(Buffer.from('m'.repeat(3_000))))
    const parsed = await read('jsonParsed')
    expect(parsed.transaction.message.transactionConfig).toEqual(transactionConfig)
    expect(parsed.transaction.message.instructions[0]).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer' },
    })
    expect((await read('base64')).transaction).toEqual([base64(raw), 'base64'])
    const statuses = (await opened.ask('getSignatureStatuses', [signature])).value
    expect(statuses).toMatchObject([{ err: null, confirmationStatus: 'finalized' }])
  })

  it('answers -32015 for the transaction and for its whole block to clients of a lower version', async () => {
    const { result: signature } = await send(build([memo('new')]))
    const slot = opened.chain.slot()
    opened.chain.advance(20)
    const error = {
      code: -32015,
      message:
        'Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 1',
    }
    for (const maxSupportedTransactionVersion of [null, 0]) {
      const config = { maxSupportedTransactionVersion }
      expect((await opened.call('getTransaction', signature, config)).error).toEqual(error)
      for (const transactionDetails of ['full', 'accounts']) {
        expect((await opened.call('getBlock', slot, { ...config, transactionDetails })).error).toEqual(error)
      }
      const { signatures } = await opened.ask('getBlock', slot, { ...config, transactionDetails: 'signatures' })
      expect(signatures).toContain(signature)
    }
    const block = await opened.ask('getBlock', slot, READ_V1)
    expect(block.transactions.map(({ version }: { version: unknown }) => version)).toEqual(['legacy', 1])
    const accounts = await opened.ask('getBlock', slot, { ...READ_V1, transactionDetails: 'accounts' })
    expect(accounts.transactions[1].transaction.accountKeys[0]).toMatchObject({ signer: true, source: 'transaction' })
    const listed = await opened.ask('getSignaturesForAddress', payer.publicKey.toBase58())
    expect(listed[0]).toMatchObject({ signature, memo: '[3] new' })
  })

  it("computes the fee from the message's config, and ignores a Compute Budget instruction", async () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10n ** 12n })
    const raw = build([price, memo('x')], { priorityFeeLamports: 1_234n, computeUnitLimit: 300_000 })
    const told = await opened.ask('getFeeForMessage', base64(messageBytesOf(raw)))
    expect(told.value).toBe(6_234)
    const before = opened.chain.account(payer.publicKey.toBase58())!.lamports
    opened.chain.advance(1)
    expect((await send(raw)).error).toBeUndefined()
    expect(before - opened.chain.account(payer.publicKey.toBase58())!.lamports).toBe(6_234n)
    const fees = await opened.ask('getRecentPrioritizationFees', [payer.publicKey.toBase58()])
    expect(fees.at(-1).prioritizationFee).toBe(Math.floor((1_234 * 1_000_000) / 300_000))
    const stale = signedV1([memo('x')], [payer], { blockhash: someone().toBase58() })
    expect((await opened.ask('getFeeForMessage', base64(messageBytesOf(stale)))).value).toBeNull()
  })

  it('replaces the blockhash of a simulation, which needs no signature', async () => {
    const raw = signedV1([transfer(payer, someone(), SOL)], [payer], { blockhash: someone().toBase58() })
    const { raw: given } = decodeWireTransaction(raw)
    given.fill(0, given.length - 64)
    const ask = async (config: object) =>
      (await opened.ask('simulateTransaction', base64(given), { encoding: 'base64', ...config })).value
    expect(await ask({})).toMatchObject({ err: 'BlockhashNotFound' })
    expect(await ask({ replaceRecentBlockhash: true })).toMatchObject({
      err: null,
      replacementBlockhash: opened.chain.latestBlockhash(),
    })
    expect(await ask({ sigVerify: true })).toMatchObject({ err: 'SignatureFailure' })
    const { blockhash } = opened.chain.latestBlockhash()
    const fitting = signedV1([memo('x')], [payer], { blockhash })
    expect((await send(fitting.fill(1, fitting.length - 64))).error).toMatchObject({
      code: -32002,
      data: { err: 'SignatureFailure' },
    })
  })

  it('runs nothing without limits, but charges for it', async () => {
    for (const [config, err] of [
      [{ computeUnitLimit: null }, { InstructionError: [0, 'ComputationalBudgetExceeded'] }],
      [{ loadedAccountsDataSizeLimit: null }, 'MaxLoadedAccountsDataSizeExceeded'],
      [{ loadedAccountsDataSizeLimit: 148 }, 'MaxLoadedAccountsDataSizeExceeded'],
    ] as const) {
      const raw = build([transfer(payer, someone(), SOL)], config)
      const { error } = await send(raw)
      expect(error).toMatchObject({ code: -32002, data: { err, fee: 5000 } })
      const before = opened.chain.account(payer.publicKey.toBase58())!.lamports
      const { result } = await send(raw, { skipPreflight: true })
      expect(before - opened.chain.account(payer.publicKey.toBase58())!.lamports).toBe(5_000n)
      opened.chain.advance(1)
      const { meta } = await opened.ask('getTransaction', result, { ...READ_V1, commitment: 'confirmed' })
      expect([meta.err, meta.fee]).toEqual([err, 5000])
      if (typeof err === 'string') expect([meta.logMessages, meta.innerInstructions]).toEqual([null, null])
    }
    expect(
      (await send(build([transfer(payer, someone(), SOL)], { loadedAccountsDataSizeLimit: 149 }))).error,
    ).toBeUndefined()
  })

  it('counts the data of an upgradeable program toward the limit, once', async () => {
    const [program, data] = [someone(), someone()]
    const code = opened.chain.account(MEMO.toBase58())!.data
    const header = Buffer.alloc(45)
    header.writeUInt32LE(3)
    const held = { lamports: SOL, owner: UPGRADEABLE_LOADER, executable: false }
    opened.chain.setAccount(data.toBase58(), { ...held, data: Buffer.concat([header, code]) })
    const state = Buffer.concat([Buffer.from([2, 0, 0, 0]), data.toBytes()])
    opened.chain.setAccount(program.toBase58(), { ...held, data: state, executable: true })
    const call = new TransactionInstruction({ programId: program, keys: [], data: Buffer.from('hi') })
    const size = 64 + (64 + 36) + (64 + 45 + code.length)
    const trial = async (limit: number) => {
      const raw = build([call, call], { loadedAccountsDataSizeLimit: limit })
      return (await opened.ask('simulateTransaction', base64(raw), { encoding: 'base64' })).value
    }
    expect(await trial(size)).toMatchObject({ err: null, loadedAccountsDataSize: size })
    expect(await trial(size - 1)).toMatchObject({
      err: 'MaxLoadedAccountsDataSizeExceeded',
      loadedAccountsDataSize: size,
    })
  })

  it('lands bundles of both versions completely or not at all', async () => {
    const to = someone()
    const { blockhash } = opened.chain.latestBlockhash()
    const older = signed([transfer(payer, to, SOL)], [payer], { blockhash })
    const newer = build([transfer(payer, to, 2n * SOL)])
    const fails = build([transfer(payer, to, 1_000n * SOL)])
    const bundle = (...raws: Uint8Array[]) => opened.ask('sendBundle', raws.map(base64), { encoding: 'base64' })
    const status = async (id: string) => (await opened.ask('getInflightBundleStatuses', [id])).value[0].status
    expect(await status(await bundle(older, fails, newer))).toBe('Failed')
    expect(opened.chain.account(to.toBase58())).toBeNull()
    expect(await status(await bundle(older, newer))).toBe('Landed')
    expect(opened.chain.account(to.toBase58())!.lamports).toBe(3n * SOL)
  })

  it('is read by web3.js and by kit', async () => {
    const raw = build([transfer(payer, someone(), SOL), memo('both')], { priorityFeeLamports: 9n, heapSize: 65_536 })
    const connection = testNode('http://localnet', { fetch: localFetch(opened.rpc), commitment: 'confirmed' })
    const signature = await connection.sendRawTransaction(raw)
    opened.chain.advance(20)
    const { transaction, version, meta } = (await connection.getTransaction(signature, READ_V1))!
    expect([version, meta?.fee]).toEqual([1, 5009])
    expect(transaction.message).toMatchObject({
      version: 1,
      transactionConfig: {
        priorityFee: 9,
        computeUnitLimit: 400_000,
        loadedAccountsDataSizeLimit: 8 * 1024 * 1024,
        heapSize: 65_536,
      },
    })
    expect(VersionedMessage.deserialize(messageBytesOf(raw)).staticAccountKeys).toEqual(
      transaction.message.staticAccountKeys,
    )
    const parsed = await connection.getParsedTransaction(signature, READ_V1)
    expect(parsed!.transaction.message.transactionConfig).toMatchObject({ heapSize: 65_536 })
    const slot = parsed!.slot
    const block = await connection.getBlock(slot, READ_V1)
    expect(block!.transactions.at(-1)!.transaction.message.version).toBe(1)
  })
})

describe('a transaction of version 1', () => {
  it('is a duplicate by its message, under any signature, before and after a restart', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const other = test.wallet()
    const { blockhash } = test.chain.latestBlockhash()
    const two = new TransactionInstruction({
      programId: MEMO,
      keys: [{ pubkey: other.publicKey, isSigner: true, isWritable: false }],
      data: Buffer.from('two'),
    })
    const raw = signedV1([two], [payer, other], { blockhash })
    const landed = test.chain.send(raw)
    expect(landed).toMatchObject({ err: null, fee: 10_000n })
    const resigned = Uint8Array.from(raw)
    resigned.set(raw.subarray(raw.length - 64), raw.length - 128)
    for (const again of [raw, resigned])
      expect(refusal(() => test.chain.send(again))).toMatch(/^(AlreadyProcessed|SignatureFailure)$/)
    expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    await test.reopen()
    expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    expect(test.chain.transaction(landed.signature)).toEqual(landed)
    expect(test.chain.signaturesFor(other.publicKey.toBase58(), { limit: 5 })[0]!.signature).toBe(landed.signature)
  })

  it('is reported to subscribers of signatures, accounts and logs', async () => {
    const server = await openServer()
    try {
      const payer = Keypair.generate()
      const to = someone()
      server.chain.airdrop(payer.publicKey.toBase58(), 100n * SOL)
      const raw = signedV1([transfer(payer, to, SOL)], [payer], { blockhash: server.chain.latestBlockhash().blockhash })
      const { signature } = decodeWireTransaction(raw)
      const socket = new WebSocket(server.wsUrl)
      await new Promise((resolve) => socket.once('open', resolve))
      const heard: Record<string, unknown>[] = []
      const all = new Promise<void>((resolve) => {
        socket.on('message', (data) => {
          heard.push(JSON.parse(String(data)))
          if (heard.filter(({ method }) => method !== undefined).length === 3) resolve()
        })
      })
      const subscribe = (id: number, method: string, ...params: unknown[]) =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      const at = { commitment: 'processed', encoding: 'base64' }
      subscribe(1, 'signatureSubscribe', signature, at)
      subscribe(2, 'accountSubscribe', to.toBase58(), at)
      subscribe(3, 'logsSubscribe', { mentions: [payer.publicKey.toBase58()] }, at)
      const client = createSolanaRpc(devnet(server.url))
      await client.sendTransaction(base64(raw) as never, { encoding: 'base64' }).send()
      await all
      expect(
        heard
          .map(({ method }) => method)
          .filter(Boolean)
          .sort(),
      ).toEqual(['accountNotification', 'logsNotification', 'signatureNotification'])
      const read = () =>
        client
          .getTransaction(signature as Signature, {
            encoding: 'json',
            commitment: 'confirmed',
            maxSupportedTransactionVersion: 1 as 0,
          })
          .send()
      await expect.poll(read, { timeout: 60_000 }).toMatchObject({ version: 1 })
      socket.close()
    } finally {
      await server.stop()
    }
  })
})
