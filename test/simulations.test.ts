/** Simulations through the app, on the embedded chain. */
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, it } from 'vitest'
import { type Service, startService } from './support/service.ts'

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const OLD_BLOCKHASH = '11111111111111111111111111111111'
const memo = (text: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) })

async function start() {
  const service = await startService()
  const payer = Keypair.generate()
  const chain = await service.services.chain.local()
  chain.airdrop(payer.publicKey.toBase58(), 1_000_000_000n)
  return { service, payer, chain }
}

function unsigned(payer: Keypair, instructions: TransactionInstruction[], recentBlockhash = OLD_BLOCKHASH) {
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message())
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const simulate = ({ request }: Service, transaction: string) =>
  request('POST', '/v2/transaction-simulations', { body: { transaction } })

it('an unsigned build of any age runs, and changes nothing', async () => {
  const { service, payer, chain } = await start()
  const to = Keypair.generate().publicKey
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 2_000_000 })
  const build = unsigned(payer, [transfer, memo('hello')])
  const { status, json } = await simulate(service, base64(build.serialize()))
  expect(status).toBe(200)
  expect(json.data).toMatchObject({ err: null, return_data: null })
  expect(json.data.slot).toBeGreaterThan(chain.slot() - 32)
  expect(json.data.logs).toContain('Program 11111111111111111111111111111111 success')
  expect(json.data.logs.join()).toContain('hello')
  expect(json.data.units_consumed).toBeGreaterThan(150)
  expect(chain.account(to.toBase58())).toBeNull()
})

it('a signed one runs too, a legacy message as well', async () => {
  const { service, payer, chain } = await start()
  const { blockhash } = chain.latestBlockhash()
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [memo('a')],
  })
  for (const compiled of [message.compileToV0Message(), message.compileToLegacyMessage()]) {
    const transaction = new VersionedTransaction(compiled)
    transaction.sign([payer])
    const { status, json } = await simulate(service, base64(transaction.serialize()))
    expect([status, json.data.err]).toEqual([200, null])
  }
})

it('one that fails is an answer with its error and logs', async () => {
  const { service, payer } = await start()
  const toPubkey = Keypair.generate().publicKey
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 2_000_000_000 })
  const { status, json } = await simulate(service, base64(unsigned(payer, [transfer]).serialize()))
  expect([status, json.data.err]).toEqual([200, { InstructionError: [0, { Custom: 1 }] }])
  expect(json.data.logs.join('\n')).toMatch(/insufficient lamports 999995000, need 2000000000/)
  const stranger = unsigned(Keypair.generate(), [memo('a')])
  const poor = await simulate(service, base64(stranger.serialize()))
  expect([poor.status, poor.json.data]).toEqual([
    200,
    { err: 'AccountNotFound', logs: [], units_consumed: 0, return_data: null, slot: expect.any(Number) },
  ])
})

it('what a program returns is answered with the program', async () => {
  const { service, payer } = await start()
  const programId = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
  const mint = new PublicKey('So11111111111111111111111111111111111111112')
  // GetAccountDataSize of the token program: 165 bytes, as a u64.
  const ask = new TransactionInstruction({
    programId,
    keys: [{ pubkey: mint, isSigner: false, isWritable: false }],
    data: Buffer.of(21),
  })
  const { json } = await simulate(service, base64(unsigned(payer, [ask]).serialize()))
  expect(json.data.err).toBeNull()
  const { program_id, data } = json.data.return_data
  expect(program_id).toBe(programId.toBase58())
  expect(Buffer.from(data, 'base64').readBigUInt64LE()).toBe(165n)
})

it('what is no transaction is refused by its field', async () => {
  const { service, payer } = await start()
  const good = unsigned(payer, [memo('a')]).serialize()
  const big = Buffer.alloc(1233, 1)
  const v1 = Uint8Array.from(good)
  v1[65] = 0x81
  const wrongProgram = Uint8Array.from(good)
  wrongProgram[wrongProgram.length - 5] = 9
  for (const [bytes, why] of [
    [big, /at most 1,232 bytes, this has 1,233/],
    [Uint8Array.of(1, 2, 3), /cannot be read: it ends before its signatures/],
    [good.subarray(0, good.length - 1), /cannot be read/],
    [Buffer.concat([good, Buffer.of(0)]), /1 bytes follow its end/],
    [v1, /Version 1 of transactions is not supported/],
    [wrongProgram, /program of instruction 0 is none of its accounts/],
  ] as const) {
    const { status, json } = await simulate(service, base64(bytes))
    expect([status, json.error?.code, json.error?.param]).toEqual([400, 'bad_request', 'transaction'])
    expect(json.error.message).toMatch(why)
  }
  for (const text of ['', '***', 'AQI']) {
    const { status, json } = await simulate(service, text)
    expect([status, json.error.param]).toEqual([400, 'transaction'])
  }
})
