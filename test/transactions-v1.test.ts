/** Transactions of version 1 (SIMD-0385): their bytes, their life over HTTP, and what the platform wallet signs. */

import { base58 } from '@scure/base'
import {
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosignedBy, withBlockhash } from '../src/chain/sending/cosign.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { addressOf } from '../src/solana/addresses.ts'
import { TooMuchForVersion1 } from '../src/solana/compiling.ts'
import { MAX_V1_TRANSACTION_BYTES } from '../src/solana/constants.ts'
import { feeOfMessage, unitPriceOf } from '../src/solana/fees.ts'
import { decodeWireTransaction, MalformedTransaction, messageBytesOf, signatureOffset } from '../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../src/solana/program-ids.ts'
import { freshKey, keyPairOf, signaturesHold } from '../src/solana/signatures.ts'
import type { TransactionConfig } from '../src/solana/transaction-config.ts'
import { memo } from './support/local-chain.ts'
import { GENEROUS, startPlatform } from './support/platform-wallet.ts'
import { runs } from './support/runs.ts'
import { type Service, sharedService, startService } from './support/service.ts'
import { inVersion1, LARGEST_V1_TRANSFER, largestV1, signedV1, signV1, unsignedV1 } from './support/version1.ts'
import { compile, drawn, KEYS, kitsReadByUs, NO_CONFIG, oursReadByKit } from './support/version1-messages.ts'
import { keypairOf, SOL, walletOn } from './support/wallets.ts'

describe('a transaction of version 1', () => {
  it("is read by @solana/kit as what it was compiled from, and kit's encoder gives the same bytes", () => {
    oursReadByKit(40)
  })

  it("is read from kit's bytes as kit reads it, with the limits and the fee that were set", () => {
    kitsReadByUs(40)
  })

  it('is signed after its message, and a new blockhash changes 32 bytes and removes the signatures', () => {
    const [payer, other] = [freshKey(), freshKey()]
    const keys = [{ pubkey: new PublicKey(other.address), isSigner: true, isWritable: false }]
    const transfer = new TransactionInstruction({ programId: PublicKey.default, keys, data: Buffer.of(1, 2, 3) })
    const parts = { payer: new PublicKey(payer.address), blockhash: base58.encode(KEYS[0]!), config: NO_CONFIG }
    const unsigned = compile({ ...parts, instructions: [transfer] })
    const { transaction, cosigners } = cosignedBy(unsigned, [payer.secretKey, other.secretKey])
    expect(cosigners).toEqual([payer.address, other.address])
    const decoded = decodeWireTransaction(transaction)
    expect(signaturesHold(decoded)).toBe(true)
    expect(signatureOffset(transaction, 1)).toBe(transaction.length - 64)
    const blockhash = base58.encode(KEYS[1]!)
    const renewed = withBlockhash(transaction, blockhash)
    const expected = compile({ ...parts, blockhash, instructions: [transfer] })
    expect(Buffer.from(renewed).equals(expected)).toBe(true)
  })

  it('costs what its config says, whatever its Compute Budget instructions ask for', () => {
    const decoy = new TransactionInstruction({
      programId: new PublicKey(COMPUTE_BUDGET_PROGRAM),
      keys: [],
      data: Buffer.from([3, 255, 255, 255, 255, 255, 0, 0, 0]),
    })
    const messageWith = (set: Partial<TransactionConfig>) =>
      decodeWireTransaction(
        compile({
          payer: new PublicKey(KEYS[0]!),
          blockhash: base58.encode(KEYS[1]!),
          instructions: [decoy],
          config: { ...NO_CONFIG, ...set },
        }),
      ).message
    expect(feeOfMessage(messageWith({}))).toBe(5_000n)
    const paid = messageWith({ priorityFeeLamports: 77_000_000n, computeUnitLimit: 1_000 })
    expect([feeOfMessage(paid), unitPriceOf(paid)]).toEqual([77_005_000n, 77_000_000_000n])
    expect(unitPriceOf(messageWith({ priorityFeeLamports: 5n }))).toBe(0n)
  })

  it('is refused when it cannot hold what it should, with the limit in the message', () => {
    const fresh = (count: number) => Array.from({ length: count }, () => new PublicKey(freshKey().address))
    const programId = PublicKey.default
    const of = (keys: PublicKey[], { isSigner = false, times = 1, bytes = 0 } = {}) =>
      Array.from({ length: times }, () => {
        const metas = keys.map((pubkey) => ({ pubkey, isSigner, isWritable: false }))
        return new TransactionInstruction({ programId, keys: metas, data: Buffer.alloc(bytes) })
      })
    const compiling = (instructions: TransactionInstruction[]) => () =>
      compile({ payer: new PublicKey(KEYS[0]!), blockhash: base58.encode(KEYS[1]!), instructions, config: NO_CONFIG })
    expect(compiling(of(fresh(11), { isSigner: true }))).not.toThrow()
    expect(compiling(of(fresh(12), { isSigner: true }))).toThrow('has at most 12 signers, not 13')
    expect(compiling(of(fresh(62)))).not.toThrow()
    expect(compiling(of(fresh(63)))).toThrow('has at most 64 accounts, not 65')
    expect(compiling(of([], { times: 65 }))).toThrow('has at most 64 instructions, not 65')
    expect(compiling(of([], { bytes: 65_536 }))).toThrow(TooMuchForVersion1)
  })

  it('is refused when a byte is missing, left over or changed into what a validator does not read', () => {
    const [payer] = [freshKey()]
    const transaction = compile({
      payer: new PublicKey(payer.address),
      blockhash: base58.encode(KEYS[1]!),
      instructions: [new TransactionInstruction({ programId: PublicKey.default, keys: [], data: Buffer.alloc(20) })],
      config: { ...NO_CONFIG, priorityFeeLamports: 1n, heapSize: 32_768 },
    })
    const changed = (at: number, byte: number) => Uint8Array.from(transaction).fill(byte, at, at + 1)
    const heapAt = 42 + 64 + 8
    const refusals: [Uint8Array, RegExp][] = [
      ...Array.from({ length: transaction.length }, (_, i): [Uint8Array, RegExp] => [transaction.subarray(0, i), /./]),
      [Uint8Array.of(...transaction, 0), /cannot be read/],
      [Uint8Array.of(1, ...transaction.slice(-64), ...messageBytesOf(transaction)), /follows its signatures/],
      [changed(4, 0b10001), /one of the two bits of a priority fee/],
      [changed(4, 0b110011), /a bit without a meaning/],
      [changed(7, 1), /a bit without a meaning/],
      [changed(heapAt, 1), /heap of 32769 bytes/],
      [changed(heapAt + 2, 8), /heap of \d+ bytes is not 32 to 256 KiB/],
      [changed(1, 13), /cannot be read/],
      [changed(2, 1), /no writable signer/],
      [changed(3, 2), /counts more accounts/],
      [changed(40, 65), /at most 64 are possible/],
      [changed(41, 65), /at most 64 are possible/],
      [changed(0, 0x82), /Version 2 of transactions is not supported/],
      [new Uint8Array(MAX_V1_TRANSACTION_BYTES + 1).fill(0x81, 0, 1), /4097 bytes, at most 4096/],
    ]
    for (const [bytes, reason] of refusals) {
      expect(() => decodeWireTransaction(bytes)).toThrow(MalformedTransaction)
      expect(() => decodeWireTransaction(bytes)).toThrow(reason)
    }
  })

  it('is either read or refused as malformed, whatever bytes arrive', { tags: 'sampled' }, () => {
    const base = drawn.map(compile)
    const flips = fc.array(fc.tuple(fc.nat(4_095), fc.nat(255)), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(base, flips, (transaction, changes) => {
        const bytes = Uint8Array.from(transaction)
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        try {
          decodeWireTransaction(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedTransaction)
        }
      }),
      { numRuns: runs(100, 400) },
    )
  })
})

const shared = sharedService()

async function start(own?: Service) {
  const service = own ?? (await shared())
  const { chain, wallet: payer } = await walletOn(service.services, 10n * SOL)
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
    const it = await start(await startService({ settings: { consensus: 'tower' } }))
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
    const paid = 10n * SOL - (it.chain.account(it.payer.publicKey.toBase58())?.lamports ?? 0n)
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
    const mint = keypairOf(built.required_signers.mint_secret_key)
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
    const { json } = await submit(it, { transaction: text(it.build([it.pay(50 * Number(SOL))])) })
    expect(json.error.details.error).toMatchObject({ program: 'System program', code: 1, instruction: 0 })
    const unlimited = it.build([it.pay(1)], { computeUnitLimit: null })
    const { signature } = (await submit(it, { transaction: text(unlimited), skip_preflight: true })).json.data
    await it.pass(2)
    expect(await read(it, signature)).toMatchObject({ lifecycle: 'failed', err: expect.anything() })
    expect(await events(it, signature)).toEqual(['transaction.submitted', 'transaction.failed'])
  })

  it('names who has not signed, and whose signature does not fit', async () => {
    const it = await start(await startService())
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
    const failing = await bundle(v0(3_000_000), text(it.build([it.pay(50 * Number(SOL))])))
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
  it('are run, or refused as what they are, whoever signed them; nothing else comes of them', {
    tags: 'sampled',
  }, async () => {
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
      { numRuns: runs(12, 40) },
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

/** Micro-lamports for each compute unit: a memo costs some millions of lamports. */
const DEAR = { 'priority-fee': '10000000000', 'priority-fee-cap': 1_000_000_000 }

describe('a signed request of version 1', () => {
  it('is refused for the fee that its message states, and signed once the policy allows it', async () => {
    const service = await startPlatform(GENEROUS, { settings: DEAR })
    const chain = await service.services.chain.local()
    const ask = (memo: string) =>
      service.request('POST', '/v2/signer/tests', { body: { submit: true, memo, tx_version: 1 } })
    const refused = await ask('dear')
    expect([refused.status, refused.json.error?.details.rule], refused.text).toEqual([400, 'fee'])
    const asked = BigInt(refused.json.error.details.asked)
    expect(asked).toBeGreaterThan(2_000_000n)
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe('0')

    const limits = { max_fee_lamports: String(asked), lamports_per_transaction: String(asked) }
    await service.request('PATCH', '/v2/signer/policy', { body: limits })
    const signed = await ask('dear')
    expect(signed.status, signed.text).toBe(200)
    const { signature } = signed.json.data
    const landed = chain.transaction(signature)!
    const { message } = decodeWireTransaction(landed.raw)
    expect([message.version, message.config?.priorityFeeLamports, landed.err]).toEqual([1, asked - 5_000n, null])
    expect(feeOfMessage(message)).toBe(asked)
    const { lamports } = chain.account(service.wallet.publicKey.toBase58())!
    expect(100_000_000_000n - lamports).toBe(asked)
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe(String(asked))

    chain.advance(40)
    service.clock.advance(10_000)
    await followTransactions(service.services)
    const { data } = (await service.request('GET', `/v2/transactions/${signature}`)).json
    expect(data).toMatchObject({ lifecycle: 'finalized', err: null })
    const { data: entries } = (await service.request('GET', '/v2/audit-entries?order=asc')).json
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'api_key.created',
      'policy.changed',
      'signing.refused',
      'policy.changed',
      'signing.intended',
      'signing.signed',
    ])
  })
})
