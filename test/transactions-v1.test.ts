/** Transactions of version 1 (SIMD-0385): their bytes, their life over HTTP, what the platform wallet signs, and every building route. */

import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PoolRehearsal } from '../src/api/index.ts'
import { AIRDROP_CLAIM_UNITS } from '../src/chain/programs/merkle-distributor/index.ts'
import { cosignedBy, withBlockhash } from '../src/chain/sending/cosign.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { addressOf } from '../src/solana/addresses.ts'
import { TooMuchForVersion1 } from '../src/solana/compiling.ts'
import { MAX_V1_TRANSACTION_BYTES } from '../src/solana/constants.ts'
import { feeOfMessage, unitPriceOf } from '../src/solana/fees.ts'
import { decodeWireTransaction, MalformedTransaction, messageBytesOf, signatureOffset } from '../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { freshKey, keyPairOf, signaturesHold } from '../src/solana/signatures.ts'
import type { TransactionConfig } from '../src/solana/transaction-config.ts'
import { routes } from './api/bodies.ts'
import { IMAGES } from './storage/images.ts'
import { expectVersion1, keypairOf, MOST_LOADED } from './support/built-version1.ts'
import { createMint, DAY, give, lamportsOf } from './support/gold.ts'
import { memo } from './support/local-chain.ts'
import { GENEROUS, keypairFile, startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { openService, removeFolder, type Service, startService } from './support/service.ts'
import { makeSharedFolder } from './support/shared-folder.ts'
import { inVersion1, LARGEST_V1_TRANSFER, largestV1, signedV1, signV1, unsignedV1 } from './support/version1.ts'
import { compile, drawn, KEYS, kitsReadByUs, NO_CONFIG, oursReadByKit } from './support/version1-messages.ts'

const SOL = 1_000_000_000n

describe('a transaction of version 1', () => {
  it("is read by @solana/kit as what it was compiled from, and kit's encoder gives the same bytes", () => {
    oursReadByKit(1_500)
  })

  it("is read from kit's bytes as kit reads it, with the limits and the fee that were set", () => {
    kitsReadByUs(1_500)
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

  it('is either read or refused as malformed, whatever bytes arrive', () => {
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
      { numRuns: 3_000 },
    )
  })
})

async function start() {
  const service = await startService()
  const chain = await service.services.chain.local()
  const payer = Keypair.generate()
  chain.airdrop(payer.publicKey.toBase58(), 10n * SOL)
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
    const { json } = await submit(it, { transaction: text(it.build([it.pay(50 * Number(SOL))])) })
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

const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const IMAGE = Buffer.from(IMAGES.png).toString('base64')
const keyAddress = (key: Keypair) => key.publicKey.toBase58()
const CURVE = {
  total_supply: '1000000000',
  decimals: 6,
  initial_market_cap: 30,
  migration_market_cap: 400,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
}
const POLICY = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}
/** The root of a tree in which this leaf has this proof: leaf and nodes as the program hashes them. */
function rootOver(wallet: Uint8Array, amount: bigint, proof: readonly Buffer[]): Buffer {
  const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const amounts = Buffer.alloc(16)
  amounts.writeBigUInt64LE(amount)
  const leaf = sha256(Buffer.of(0), sha256(wallet, amounts))
  return proof.reduce((node, sibling) => sha256(Buffer.of(1), ...[node, sibling].sort(Buffer.compare)), leaf)
}
/** Every route whose body has a version: what is built there must be executed below. */
const building = routes.filter(([, { body }]) => body !== undefined && 'tx_version' in body.shape).map(([name]) => name)

describe.skipIf(lacking.length > 0)('every building route in version 1 (needs every program in the cache)', () => {
  const [folder, files] = [makeSharedFolder('svc-'), makeSharedFolder('svc-')]
  const gold = Keypair.generate()
  const [wallet, user, other] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const executed = new Set<string>()
  const sizes: Record<string, number> = {}
  let service: Service
  let chain: Awaited<ReturnType<Service['services']['chain']['local']>>

  beforeAll(async () => {
    const presets = join(files, 'presets.json')
    writeFileSync(presets, JSON.stringify({ shared: { ...CURVE, shared_config: true } }))
    const settings = {
      signer: 'keypair',
      'signer.keypair': keypairFile(files, wallet),
      'priority-fee': '1000',
      'gold.mint': keyAddress(gold),
      'pools.presets': presets,
    }
    service = await openService({ dataDir: folder, settings })
    chain = await service.services.chain.local()
    for (const key of [wallet, user, other]) chain.airdrop(keyAddress(key), 1_000n * SOL)
    await service.request('PATCH', '/v2/signer/policy', { body: POLICY })
  })
  afterAll(async () => {
    await service.close()
    for (const each of [folder, files]) removeFolder(each)
  })

  /** Posts it as version 1; `name` is the route's. */
  const ask = async (name: string, path: string, body: object) => {
    const [, route] = routes.find(([found]) => found === name)!
    const answer = await service.request(route.method.toUpperCase(), path, { body: { ...body, tx_version: 1 } })
    expect([answer.status < 300, answer.json?.error], name).toEqual([true, undefined])
    executed.add(name)
    return answer.json.data
  }
  /** Signs with the keys and lands it, whole. */
  const land = (title: string, text: string, keys: readonly Keypair[]) => {
    const wire = Buffer.from(text, 'base64')
    const { message } = expectVersion1(wire)
    sizes[title] = wire.length
    const before = chain.simulate(wire, { replaceRecentBlockhash: true, sigVerify: false })
    expect(message.config!.loadedAccountsDataSizeLimit).toBeLessThan(MOST_LOADED)
    const landed = chain.send(signV1(wire, keys))
    expect(landed.err, `${title}: ${landed.logs.join('\n')}`).toBeNull()
    // A tenth and a page are the margin of the size, a tenth and a thousand that of the units.
    expect(message.config!.loadedAccountsDataSizeLimit! - before.loadedDataSize).toBeGreaterThan(0)
    expect(message.config!.computeUnitLimit).toBeGreaterThanOrEqual(landed.unitsConsumed)
    const { priorityFeeLamports, computeUnitLimit } = message.config!
    expect(priorityFeeLamports).toBe((BigInt(computeUnitLimit!) * 1_000n + 999_999n) / 1_000_000n)
    expect(landed.fee).toBe(5_000n * BigInt(message.signers) + priorityFeeLamports!)
    chain.advance(1)
    return landed
  }
  /** The transaction that the platform wallet has signed and sent. */
  const landedOf = (signature: string) => {
    const landed = chain.transaction(signature)!
    expect([landed.err, expectVersion1(landed.raw).signature]).toEqual([null, signature])
    chain.advance(1)
    return landed
  }
  const keysOf = (required: Record<string, number[]>) =>
    Object.values(required).flatMap((bytes) => (bytes.length > 0 ? [keypairOf(bytes)] : []))
  const platform_id = 'test'

  it('tokens: created by either program, and their authorities dropped', async () => {
    const payer = keyAddress(user)
    const texts = {
      payer,
      name: 'My Token',
      symbol: 'MTK',
      uri: 'https://example.com/t.json',
      initial_supply: '1000000',
    }
    for (const token_program of ['spl', 'token2022']) {
      const created = await ask('tokens.create', '/v2/tokens', { ...texts, token_program })
      land(`token ${token_program}`, created.transaction, [user, ...keysOf(created.required_signers)])
      const revoked = await ask('tokens.revokeAuthority', `/v2/tokens/${created.mint}/authorities/mint`, { payer })
      land(`revocation ${token_program}`, revoked.transaction, [user])
    }
  })

  it('collections and NFTs: minted, staked, released and burned', async () => {
    const texts = { name: 'My Things', uri: 'https://example.com/c.json' }
    const made = await ask('collections.create', '/v2/collections', { ...texts, payer: keyAddress(user) })
    land('collection', made.transaction, [user])
    const collection = made.collection as string
    const minted = await ask('nfts.create', '/v2/nfts', { ...texts, payer: keyAddress(user), platform_id, collection })
    land('NFT', minted.transaction, [user])
    const { asset } = minted
    const stake = { user: keyAddress(user), platform_id, collection, platform_fee: 5_000 }
    land('stake', (await ask('stakes.create', '/v2/stakes', { ...stake, asset })).transaction, [user])
    land('release', (await ask('stakes.release', `/v2/stakes/${asset}`, stake)).transaction, [user])
    const burning = { owner: keyAddress(user), platform_id, collection }
    land('burn', (await ask('nfts.burn', `/v2/nfts/${asset}`, burning)).transaction, [user])
  })

  it('gold: locked and unlocked', async () => {
    give(chain, user, createMint(chain, user, { key: gold }), user.publicKey, 500n)
    const lock = { user: keyAddress(user), platform_id, amount: '400', lock_duration_days: 1 }
    land('gold lock', (await ask('goldLocks.create', '/v2/gold-locks', lock)).transaction, [user])
    chain.advance(2 * DAY)
    const unlocked = await ask('goldLocks.unlock', `/v2/gold-locks/${keyAddress(user)}`, { platform_id })
    land('gold unlock', unlocked.transaction, [user])
  })

  it('a memo of the platform wallet', async () => {
    landedOf((await ask('signer.test', '/v2/signer/tests', { submit: true })).signature)
  })

  it('airdrops: made, claimed by a proof, and withdrawn by the platform wallet', async () => {
    const texts = { name: 'Drop', symbol: 'DRP', uri: 'https://example.com/d.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: keyAddress(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const { mint } = token
    const poor = Keypair.generate()
    const entries = [user, other, poor].map((key) => ({ wallet: keyAddress(key), amount: '400' }))
    const tree = (await service.request('POST', '/v2/merkle-trees', { body: { mint, entries } })).json.data
    const body = { payer: keyAddress(user), platform_id, mint, airdrop_count: 0, merkle_root: tree.root }
    land('airdrop', (await ask('airdrops.create', '/v2/airdrops', body)).transaction, [user])
    const claim = { claimer: keyAddress(other), platform_id, amount: '0', platform_fee: 5_000 }
    const claimed = await ask('airdrops.claim', `/v2/airdrops/${tree.id}/claims`, claim)
    land('airdrop claim', claimed.transaction, [other])
    const at = `/v2/airdrops/${tree.id}`
    await service.request('PATCH', `${at}/sponsorship`, { body: { budget: String(SOL) } })
    const sponsored = await ask('sponsorships.build', `${at}/sponsored-claims`, { claimer: keyAddress(poor) })
    const transaction = Buffer.from(signV1(Buffer.from(sponsored.transaction, 'base64'), [poor])).toString('base64')
    const path = `${at}/sponsored-claims/${sponsored.id}/submissions`
    landedOf((await service.request('POST', path, { body: { transaction } })).json.data.signature)
    chain.advance(40 * DAY)
    const rest = await ask('airdrops.withdraw', `/v2/airdrops/${tree.id}/vault-withdrawals`, { amount: '400' })
    landedOf(rest.signature)
  })

  it('transfers: to as many wallets as fit, sent by a wallet and by the platform wallet', async () => {
    const texts = { name: 'Sent', symbol: 'SNT', uri: 'https://example.com/s.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: keyAddress(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const { mint } = token
    const strangers = Array.from({ length: 10 }, () => ({ wallet: keyAddress(Keypair.generate()), amount: '3' }))
    const body = { payer: keyAddress(user), mint, recipients: strangers }
    land('transfers', (await ask('tokenTransfers.create', '/v2/token-transfers', body)).transaction, [user])
    const toPlatform = { ...body, recipients: [{ wallet: keyAddress(wallet), amount: '100' }] }
    land('transfer', (await ask('tokenTransfers.create', '/v2/token-transfers', toPlatform)).transaction, [user])
    await service.request('PATCH', '/v2/signer/policy', {
      body: { tokens: [{ mint, per_transaction: '100', per_day: '100' }] },
    })
    const signed = await ask('tokenTransfers.create', '/v2/token-transfers', { ...body, mode: 'signed' })
    landedOf(signed.signature)
    const sol = { payer: keyAddress(user), recipient: keyAddress(Keypair.generate()), lamports: '2000000' }
    land('SOL', (await ask('solTransfers.create', '/v2/sol-transfers', sol)).transaction, [user])
  })

  it('claims by a proof of 21 to 64 hashes, which version 0 has no room for', async ({ annotate }) => {
    const texts = { name: 'Many', symbol: 'MNY', uri: 'https://example.com/m.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: keyAddress(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const [claimer, amount] = [keyAddress(other), '7']
    for (const [airdrop_count, hashes] of [20, 21, 32, 64].entries()) {
      const proof = Array.from({ length: hashes }, (_, i) => Buffer.alloc(32, i + 1))
      const merkle_root = rootOver(other.publicKey.toBytes(), BigInt(amount), proof).toString('hex')
      const body = { payer: keyAddress(user), platform_id, mint: token.mint, airdrop_count, merkle_root }
      const made = await ask('airdrops.create', '/v2/airdrops', { ...body, fund_amount: amount })
      land('airdrop', made.transaction, [user])
      const path = `/v2/airdrops/${made.tracked_resource.resource_id}/claims`
      const claim = { claimer, platform_id, amount, proof: proof.map((each) => each.toString('hex')) }
      const version0 = await service.request('POST', path, { body: claim })
      expect(version0.status).toBe(hashes > 20 ? 400 : 200)
      if (hashes > 20)
        expect(version0.json.error).toMatchObject({ param: 'proof', message: expect.stringContaining('tx_version 1') })
      const { transaction } = await ask('airdrops.claim', path, claim)
      const { unitsConsumed } = land(`claim by ${hashes} hashes`, transaction, [other])
      await annotate(`${hashes} hashes: ${unitsConsumed} units`, 'units')
      expect(unitsConsumed).toBeLessThan(AIRDROP_CLAIM_UNITS)
    }
  })

  const verified = async (address: string) =>
    (await service.request('POST', `/v2/pools/${address}/verifications`, { body: {} })).json.data.pool
  const launch = (creator: Keypair) => ({
    creator: keyAddress(creator),
    name: 'My Token',
    image: IMAGE,
    buy_amount: 1.5,
  })

  it('launches: config, pool, metadata and first buy in one transaction, traded, fees claimed for ten', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'ONE' })
    expect(created.transactions).toHaveLength(1)
    land('launch', created.transactions[0], [user, ...keysOf(created.required_signers)])
    const { address } = created.pool
    const pool = await verified(address)
    expect([pool.status, pool.curve_progress > 0]).toEqual(['live', true])

    const swap = { payer: keyAddress(other), side: 'buy', amount: String(10n * SOL) }
    land('buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const splits = Array.from({ length: 10 }, () => ({ recipient: keyAddress(Keypair.generate()), bps: 1_000 }))
    const at = `/v2/pools/${address}/fee-claims`
    const [version0] = [await service.request('POST', at, { body: { payer: keyAddress(user), splits } })]
    expect([version0.status, version0.json.error.param]).toEqual([400, 'splits'])
    expect(version0.json.error.message).toContain('tx_version 1')
    const claimed = await ask('feeClaims.create', at, { payer: keyAddress(user), splits })
    land('claim for ten', claimed.tx.transaction, [user, wallet])
    const paid = splits.map(({ recipient }) => lamportsOf(chain, new PublicKey(recipient)))
    expect(paid.reduce((sum, each) => sum + each, 0n)).toBe(BigInt(claimed.estimated_quote))

    land('second buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const signed = await ask('feeClaims.create', at, { payer: keyAddress(wallet), mode: 'signed' })
    landedOf(signed.tx.signature)

    const transfer = { payer: keyAddress(user), new_creator: keyAddress(other) }
    const handed = await ask('pools.transferCreator', `/v2/pools/${address}/creator-transfers`, transfer)
    land('creator transfer', handed.tx.transaction, [user])
  })

  it('a claim with the sale of what was claimed, which cannot be tried before the claim has landed', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'SEL' })
    land('launch', created.transactions[0], [user, ...keysOf(created.required_signers)])
    const entries = [{ wallet: keyAddress(other), amount: '5000000' }]
    const mint = created.pool.base_mint
    const tree = (await service.request('POST', '/v2/merkle-trees', { body: { mint, entries } })).json.data
    const body = { payer: keyAddress(user), platform_id, mint, airdrop_count: 0, merkle_root: tree.root }
    land('airdrop', (await ask('airdrops.create', '/v2/airdrops', body)).transaction, [user])
    const claim = { claimer: keyAddress(other), platform_id, amount: '0', swap_to_sol: true }
    const claimed = await ask('airdrops.claim', `/v2/airdrops/${tree.id}/claims`, claim)
    land('claim', claimed.transaction, [other])
    land('sale', claimed.swap_transaction, [other])
  })

  it('a rehearsal, whose transactions are of that version too', async () => {
    const report = await ask('pools.rehearse', '/v2/pool-rehearsals', { ...launch(user), symbol: 'REH' })
    const ran = report.steps.filter(({ stage, bytes }: PoolRehearsal['steps'][number]) => stage === 'launch' && bytes)
    expect(ran).toMatchObject([{ label: 'launch', status: 'done' }])
    expect(ran[0].bytes).toBeGreaterThan(1_232)
  })

  it('a launch of the platform wallet, which signs one transaction', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(wallet), symbol: 'TWO', mode: 'signed' })
    expect(created.signatures).toHaveLength(1)
    landedOf(created.signatures[0])
    expect(await verified(created.pool.address)).toMatchObject({ status: 'live', config: created.pool.config })
  })

  it('a preset with a shared config, and its launch', async () => {
    const shared = await ask('pools.share', '/v2/pool-presets/shared/shared-config', { payer: keyAddress(user) })
    land('shared config', shared.transaction, [user])
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'THR', preset: 'shared' })
    expect([created.transactions.length, created.pool.config]).toEqual([1, shared.config])
    land('launch over a shared config', created.transactions[0], [user, ...keysOf(created.required_signers)])
  })

  it('a damm_v2 pool: mint, pool, lock and buy in one transaction, traded and claimed from', async () => {
    const own = { ...launch(wallet), symbol: 'FOU', type: 'damm_v2' }
    const created = await ask('pools.create', '/v2/pools', own)
    expect(created.transactions).toHaveLength(1)
    land('damm_v2 launch', created.transactions[0], [wallet, ...keysOf(created.required_signers)])
    const { address } = created.pool
    const swap = { payer: keyAddress(other), side: 'buy', amount: String(SOL) }
    land('damm_v2 buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const body = { payer: keyAddress(user), kind: 'damm_v2' }
    const claimed = await ask('feeClaims.create', `/v2/pools/${address}/fee-claims`, body)
    land('damm_v2 claim', claimed.tx.transaction, [user, wallet])
  })

  it('are all of those that the API has', async ({ annotate }) => {
    await annotate(JSON.stringify(sizes), 'size')
    expect([...executed].toSorted()).toEqual(building.toSorted())
  })
})
