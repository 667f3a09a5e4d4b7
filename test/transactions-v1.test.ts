/** The life of transactions of version 1 over HTTP: submitted, followed on the embedded chain to their end, and told. */
import {
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { addressOf } from '../src/solana/addresses.ts'
import { decodeWireTransaction, MalformedTransaction } from '../src/solana/messages.ts'
import { keyPairOf } from '../src/solana/signatures.ts'
import type { TransactionConfig } from '../src/solana/transaction-config.ts'
import { memo } from './support/local-chain.ts'
import { type Service, startService } from './support/service.ts'
import { inVersion1, LARGEST_V1_TRANSFER, largestV1, signedV1, signV1, unsignedV1 } from './support/version1.ts'

const SOL = 1_000_000_000

async function start() {
  const service = await startService()
  const chain = await service.services.chain.local()
  const payer = Keypair.generate()
  chain.airdrop(payer.publicKey.toBase58(), 10n * BigInt(SOL))
  const to = Keypair.generate().publicKey
  const pay = (lamports: number) => SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })
  return {
    ...service,
    chain,
    payer,
    pay,
    to: () => chain.account(to.toBase58())?.lamports ?? 0n,
    build(instructions: TransactionInstruction[], config: Partial<TransactionConfig> = {}) {
      return signedV1({ payer, blockhash: chain.latestBlockhash().blockhash, instructions, config })
    },
    /** Slots pass, and a round of the watcher with them. */
    async pass(slots: number) {
      chain.advance(slots)
      service.clock.advance(10_000)
      await followTransactions(service.services)
    },
  }
}
type Started = Awaited<ReturnType<typeof start>>

const text = (raw: Uint8Array) => Buffer.from(raw).toString('base64')
const submit = ({ request }: Pick<Service, 'request'>, body: object) => request('POST', '/v2/transactions', { body })
const read = async ({ request }: Started, signature: string) =>
  (await request('GET', `/v2/transactions/${signature}`)).json.data
const events = async ({ request }: Started, id: string): Promise<string[]> =>
  (await request('GET', `/v2/events?order=asc&resource_id=${id}`)).json.data.map(({ type }: { type: string }) => type)

describe('a submitted transaction of version 1', () => {
  it('of 4,096 bytes goes from submitted to finalized, each step one event, and is sent once', async () => {
    const it = await start()
    const { blockhash } = it.chain.latestBlockhash()
    const whole = signV1(largestV1({ payer: it.payer.publicKey, blockhash, config: { priorityFeeLamports: 3_000n } }), [
      it.payer,
    ])
    expect([whole.length, text(whole).length]).toEqual([4_096, 5_464])
    const answers = await Promise.all([0, 1].map(() => submit(it, { transaction: text(whole) })))
    const { signature } = decodeWireTransaction(whole)
    expect(answers.map(({ status, json }) => [status, json.data])).toEqual(Array(2).fill([200, { signature }]))
    await it.pass(1)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'confirmed', err: null })
    await it.pass(40)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'finalized', confirmation_status: 'finalized' })
    expect(await events(it, signature)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    const paid = 10n * BigInt(SOL) - (it.chain.account(it.payer.publicKey.toBase58())?.lamports ?? 0n)
    expect(paid).toBe(60n * LARGEST_V1_TRANSFER + 5_000n + 3_000n)
  })

  it('makes the records and events that it makes in version 0', async () => {
    const it = await start()
    const body = { payer: it.payer.publicKey.toBase58(), name: 'Token', symbol: 'T', uri: 'https://example.com/t.json' }
    const built = (
      await it.request('POST', '/v2/tokens', {
        body: { ...body, initial_supply: '1', token_program: 'token2022', revoke_mint_authority: true },
      })
    ).json.data
    const mint = Keypair.fromSecretKey(Uint8Array.from(built.required_signers.mint_secret_key))
    const raw = signV1(inVersion1(built.transaction), [it.payer, mint])
    const sent = await submit(it, { transaction: text(raw), tracked_resource: built.tracked_resource })
    expect(sent.status, sent.text).toBe(200)
    await it.pass(40)
    expect((await events(it, built.mint)).sort()).toEqual([
      'token.created',
      'token.freeze_authority_revoked',
      'token.mint_authority_revoked',
    ])
    expect((await it.request('GET', `/v2/tokens/${built.mint}`)).json.data).toMatchObject({ mint: built.mint })
  })

  it('that would fail is refused with the program, the reason and the log, and one sent all the same is failed', async () => {
    const it = await start()
    const { json } = await submit(it, { transaction: text(it.build([it.pay(50 * SOL)])) })
    expect(json.error.details.error).toMatchObject({ program: 'System program', code: 1, instruction: 0 })
    const unlimited = it.build([it.pay(1)], { computeUnitLimit: null })
    const { signature } = (await submit(it, { transaction: text(unlimited), skip_preflight: true })).json.data
    await it.pass(2)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'failed', err: expect.anything() })
    expect(await events(it, signature)).toEqual(['transaction.submitted', 'transaction.failed'])
  })

  it('names who has not signed, and whose signature does not fit', async () => {
    const it = await start()
    const signed = it.build([it.pay(1)])
    const signer = it.payer.publicKey.toBase58()
    const missing = await submit(it, { transaction: text(Uint8Array.from(signed).fill(0, -64)) })
    expect([missing.status, missing.json.error.details.missing_signers]).toEqual([400, [signer]])
    const wrong = Uint8Array.from(signed, (byte, at) => (at === signed.length - 1 ? byte ^ 1 : byte))
    for (const skip_preflight of [false, true]) {
      const { status, json } = await submit(it, { transaction: text(wrong), skip_preflight })
      expect([status, json.error.details.invalid_signers]).toEqual([400, [signer]])
    }
    expect((await it.request('GET', '/v2/events')).json.data).toEqual([])
  })

  it('that never lands is failed with BlockhashExpired, once that is proven', async () => {
    const it = await start()
    const raw = it.build([it.pay(1)])
    it.chain.advance(100)
    const { signature } = (await submit(it, { transaction: text(raw), skip_preflight: true })).json.data
    for (let i = 0; i < 3; i++) await it.pass(150)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'failed', err: 'BlockhashExpired' })
  })

  it('with a durable nonce as its lifetime lives until the nonce has advanced', async () => {
    const it = await start()
    const nonce = Keypair.generate()
    const create = SystemProgram.createNonceAccount({
      fromPubkey: it.payer.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: it.payer.publicKey,
      lamports: Number(it.chain.minimumBalance(NONCE_ACCOUNT_LENGTH)),
    })
    const { blockhash } = it.chain.latestBlockhash()
    const parts = { payer: it.payer.publicKey, blockhash, instructions: create.instructions }
    expect(it.chain.send(signV1(unsignedV1(parts), [it.payer, nonce])).err).toBeNull()
    it.chain.advance(1)
    const value = addressOf(it.chain.account(nonce.publicKey.toBase58())!.data.subarray(40, 72))
    const own = { noncePubkey: nonce.publicKey, authorizedPubkey: it.payer.publicKey }
    const lasting = (lamports: number) =>
      signedV1({
        payer: it.payer,
        blockhash: value,
        instructions: [SystemProgram.nonceAdvance(own), it.pay(lamports)],
      })
    const [lands, never] = [lasting(1_000_000), lasting(2_000_000)]
    // Long after any blockhash has expired.
    await it.pass(400)
    const first = (await submit(it, { transaction: text(lands) })).json.data.signature
    const second = (await submit(it, { transaction: text(never), skip_preflight: true })).json.data.signature
    await it.pass(40)
    await it.pass(40)
    expect(await read(it, first)).toMatchObject({ lifecycle: 'finalized', err: null })
    await it.pass(300)
    expect(await read(it, second)).toMatchObject({ lifecycle: 'failed', err: 'NonceAdvanced' })
    const { status, json } = await submit(it, { transaction: text(lasting(3_000_000)) })
    expect(status).toBe(400)
    expect(json.error.message).toContain(`the durable nonce in ${nonce.publicKey.toBase58()} has moved`)
    expect(it.to()).toBe(1_000_000n)
  })

  it('that another sent is read from the chain', async () => {
    const it = await start()
    const { signature } = it.chain.send(it.build([it.pay(1_000_000)]))
    await it.pass(40)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'finalized', err: null })
  })

  it('lands in a bundle with one of version 0, both or neither', async () => {
    const it = await start()
    const v0 = (lamports: number) => {
      const { blockhash: recentBlockhash } = it.chain.latestBlockhash()
      const instructions = [it.pay(lamports)]
      const message = new TransactionMessage({ payerKey: it.payer.publicKey, recentBlockhash, instructions })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([it.payer])
      return text(transaction.serialize())
    }
    const bundle = (...signed_transactions: string[]) => submit(it, { bundle: true, signed_transactions })
    const { status, json } = await bundle(text(it.build([it.pay(1_000_000)])), v0(2_000_000))
    expect([status, json.data.transaction_signatures.length]).toEqual([200, 2])
    await it.pass(40)
    expect(it.to()).toBe(3_000_000n)
    for (const signature of json.data.transaction_signatures)
      expect((await read(it, signature)).lifecycle).toBe('finalized')
    const failing = await bundle(v0(3_000_000), text(it.build([it.pay(50 * SOL)])))
    await it.pass(1)
    for (const signature of failing.json.data.transaction_signatures)
      expect((await read(it, signature)).lifecycle).toBe('failed')
    expect(it.to()).toBe(3_000_000n)
  })
})

describe('a transaction that is too large', () => {
  it('is refused with the limit of its version, and by its place in a bundle', async () => {
    const it = await start()
    const v1 = it.build([memo('m'.repeat(1_400))])
    const before = Uint8Array.of(1, ...v1.subarray(1))
    const refused = async (transaction: string) => {
      const { status, json } = await submit(it, { transaction })
      return [status, json.error.param, json.error.message]
    }
    const limit = `transaction: a transaction before version 1 has at most 1,232 bytes, this one has ${v1.length.toLocaleString('en')}`
    expect(await refused(text(before))).toEqual([400, 'transaction', limit])
    expect(await refused(text(Buffer.alloc(4_099, 0x81)))).toEqual([
      400,
      'transaction',
      'transaction: must be at most 5464 characters: a transaction has at most 4,096 bytes',
    ])
    const { json } = await submit(it, { bundle: true, signed_transactions: [text(v1), text(before)] })
    expect([json.error.param, json.error.message]).toEqual([
      'signed_transactions.1',
      limit.replace('transaction:', 'signed_transactions.1:'),
    ])
    expect((await submit(it, { transaction: text(v1) })).status).toBe(200)
  })
})

describe('changed bytes of version 1', () => {
  it('are run, or refused as what they are, whoever signed them; nothing else comes of them', async () => {
    const it = await start()
    const sign = keyPairOf(it.payer.secretKey.subarray(0, 32))
    const bases = [
      it.build([it.pay(1)]),
      it.build([memo('hello'), it.pay(2)], { priorityFeeLamports: 9n, heapSize: 65_536 }),
      signV1(largestV1({ payer: it.payer.publicKey, blockhash: it.chain.latestBlockhash().blockhash }), [it.payer]),
    ]
    const changes = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bases),
        changes,
        fc.integer({ min: -70, max: 3 }),
        fc.boolean(),
        async (base, changes, cut, resign) => {
          const bytes = Buffer.alloc(base.length + (cut < -64 ? 0 : cut))
          bytes.set(base.subarray(0, bytes.length))
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte
          if (resign) bytes.set(sign.sign(bytes.subarray(0, -64)), bytes.length - 64)
          const isRead = isReadable(bytes)
          const transaction = text(bytes)
          const simulated = await it.request('POST', '/v2/transaction-simulations', { body: { transaction } })
          const sent = await submit(it, { transaction, skip_preflight: changes.length === 2 })
          if (!isRead) expect([simulated.status, sent.status]).toEqual([400, 400])
          expect([200, 400]).toContain(simulated.status)
          expect([200, 400]).toContain(sent.status)
        },
      ),
      { numRuns: 300 },
    )
    expect((await it.request('GET', '/v2/health')).status).toBe(200)
  })
})

function isReadable(bytes: Uint8Array): boolean {
  try {
    decodeWireTransaction(bytes)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedTransaction)
    return false
  }
}
