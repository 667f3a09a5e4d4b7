/** Compiled transactions, byte for byte as web3.js compiles the same instructions. */
import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosignedBy } from '../src/chain/sending/cosign.ts'
import { compileUnsigned } from '../src/chain/sending/unsigned.ts'
import { withTerms, writableAddresses } from '../src/solana/budget-terms.ts'
import { compactLength, compactLengthBytes, readCompactLength } from '../src/solana/bytes.ts'
import { compileTransaction } from '../src/solana/compiling.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../src/solana/program-ids.ts'
import { freshKey } from '../src/solana/signatures.ts'
import { runs } from './support/runs.ts'

const KEYS = Array.from({ length: 12 }, (_, i) => new Uint8Array(32).fill(i))
const BLOCKHASH = base58.encode(new Uint8Array(32).fill(9))

/** The same bytes come as the same object or as another one, of the usual programs too. */
const keys = fc.oneof(
  fc.constantFrom(...KEYS.map((bytes) => new PublicKey(bytes))),
  fc.constantFrom(...KEYS).map((bytes) => new PublicKey(bytes)),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes)),
  fc.constantFrom(COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM).map((address) => new PublicKey(address)),
)
const instruction = fc
  .record({
    programId: keys,
    keys: fc.array(fc.record({ pubkey: keys, isSigner: fc.boolean(), isWritable: fc.boolean() }), { maxLength: 9 }),
    data: fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes)),
  })
  .map((parts) => new TransactionInstruction(parts))
const instructions = fc.array(instruction, { maxLength: 5 })

const byWeb3 = (payer: PublicKey, recentBlockhash: string, list: TransactionInstruction[]) =>
  new TransactionMessage({ payerKey: payer, recentBlockhash, instructions: list }).compileToV0Message()

/** Undefined where web3.js has no room for it. */
function wireByWeb3(payer: PublicKey, recentBlockhash: string, list: TransactionInstruction[]) {
  const message = byWeb3(payer, recentBlockhash, list)
  try {
    const wire = new VersionedTransaction(message).serialize()
    return wire.length > 1_232 ? undefined : wire
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const compiled = (payer: PublicKey, recentBlockhash: string, list: TransactionInstruction[]) =>
  compileTransaction({ payer, recentBlockhash, instructions: list, bytesOf: (key) => key.toBytes() })

describe('a compiled transaction', () => {
  it('has the bytes and the signers that web3.js gives it, whatever its keys and instructions', {
    tags: 'sampled',
  }, () => {
    let compared = 0
    fc.assert(
      fc.property(keys, fc.uint8Array({ minLength: 32, maxLength: 32 }), instructions, (payer, hash, list) => {
        const blockhash = base58.encode(hash)
        const { transaction, signers } = compiled(payer, blockhash, list)
        const expected = wireByWeb3(payer, blockhash, list)
        if (expected === undefined) {
          expect(transaction.length).toBeGreaterThan(1_232)
          return
        }
        compared++
        expect(Buffer.from(transaction)).toEqual(Buffer.from(expected))
        const { header, staticAccountKeys } = VersionedTransaction.deserialize(expected).message
        expect(signers.map((bytes) => base58.encode(bytes))).toEqual(
          staticAccountKeys.slice(0, header.numRequiredSignatures).map((key) => key.toBase58()),
        )
        expect(writableAddresses(transaction)).toEqual(writableByWeb3(expected))
      }),
      { numRuns: runs(20, 100) },
    )
    expect(compared).toBeGreaterThan(runs(8, 50))
  })

  it('may have 128 instructions and bytes of data, and more', () => {
    const payer = new PublicKey(KEYS[1]!)
    const one = new TransactionInstruction({ programId: new PublicKey(KEYS[2]!), keys: [] })
    for (const [count, bytes] of [
      [127, 0],
      [128, 0],
      [129, 1],
      [1, 127],
      [1, 128],
      [1, 900],
    ] as const) {
      const list = Array.from({ length: count }, () => ({ ...one, data: Buffer.alloc(bytes, 5) }))
      expect(Buffer.from(compiled(payer, BLOCKHASH, list).transaction)).toEqual(
        Buffer.from(wireByWeb3(payer, BLOCKHASH, list)!),
      )
    }
  })

  it('is accepted up to 1,232 bytes and refused beyond, like one of web3.js', async () => {
    const payer = new PublicKey(KEYS[1]!)
    const programId = new PublicKey(KEYS[2]!)
    const of = (bytes: number) => [new TransactionInstruction({ programId, keys: [], data: Buffer.alloc(bytes) })]
    const build = (bytes: number) => compileUnsigned({ payer: payer.toBase58(), recentBlockhash: BLOCKHASH }, of(bytes))
    const empty = wireByWeb3(payer, BLOCKHASH, of(128))!.length - 128
    const most = 1_232 - empty
    expect((await build(most)).transaction).toHaveLength(1_232)
    expect(wireByWeb3(payer, BLOCKHASH, of(most))).toHaveLength(1_232)
    for (const bytes of [most + 1, 5_000, 40_000]) {
      await expect(build(bytes)).rejects.toMatchObject({ code: 'bad_request', message: /larger than the 1232 bytes/ })
    }
    const strangers = Array.from({ length: 300 }, (_, i) => ({
      pubkey: new PublicKey(Uint8Array.from({ length: 32 }, (_, at) => (at < 2 ? i >> (8 * at) : 3))),
      isSigner: false,
      isWritable: true,
    }))
    const many = new TransactionInstruction({ programId, keys: strangers })
    const envelope = { payer: payer.toBase58(), recentBlockhash: BLOCKHASH }
    await expect(compileUnsigned(envelope, [many])).rejects.toMatchObject({ code: 'bad_request' })
  })
})

function writableByWeb3(wire: Uint8Array): string[] {
  const { message } = VersionedTransaction.deserialize(wire)
  return message.staticAccountKeys.filter((_, i) => message.isAccountWritable(i)).map((key) => key.toBase58())
}

const terms = fc.record({
  units: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  price: fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 64n - 1n)),
})
const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units })
const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })

describe('the terms of a compiled transaction', () => {
  it('change the message to what compiling with them would have given', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(keys, instructions, terms, terms, (payer, list, before, after) => {
        const { transaction } = compiled(payer, BLOCKHASH, [limit(before.units), price(before.price), ...list])
        const expected = [limit(after.units), ...(after.price > 0n ? [price(after.price)] : []), ...list]
        const bytes = Uint8Array.from(transaction)
        expect(Buffer.from(withTerms(transaction, after))).toEqual(
          Buffer.from(compiled(payer, BLOCKHASH, expected).transaction),
        )
        expect(transaction).toEqual(bytes)
      }),
      { numRuns: runs(12, 60) },
    )
  })

  it.each([126, 127, 128, 129])('lose their price if %i instructions follow', (count) => {
    const payer = new PublicKey(KEYS[1]!)
    const list = Array.from({ length: count }, () => new TransactionInstruction({ programId: payer, keys: [] }))
    const { transaction } = compiled(payer, BLOCKHASH, [limit(1), price(0n), ...list])
    expect(Buffer.from(withTerms(transaction, { units: 77, price: 0n }))).toEqual(
      Buffer.from(compiled(payer, BLOCKHASH, [limit(77), ...list]).transaction),
    )
  })

  it('stay without a price, and get none if there is no room for it', () => {
    const payer = new PublicKey(KEYS[1]!)
    const memo = new TransactionInstruction({ programId: new PublicKey(KEYS[2]!), keys: [], data: Buffer.alloc(9, 3) })
    const { transaction } = compiled(payer, BLOCKHASH, [limit(1), memo])
    expect(Buffer.from(withTerms(transaction, { units: 2, price: 0n }))).toEqual(
      Buffer.from(compiled(payer, BLOCKHASH, [limit(2), memo]).transaction),
    )
    expect(() => withTerms(transaction, { units: 2, price: 1n })).toThrow('does not begin with')
    const others = [[], [memo], [price(5n), limit(1)], [memo, limit(1), price(5n)]]
    for (const list of others) {
      expect(() => withTerms(compiled(payer, BLOCKHASH, list).transaction, { units: 2, price: 1n })).toThrow(
        'does not begin with',
      )
    }
  })
})

it('a compact length is read as it was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 21 - 1 }), fc.uint8Array({ maxLength: 5 }), (value, ahead) => {
      const bytes = compactLength(value)
      expect(bytes).toHaveLength(compactLengthBytes(value))
      const read = readCompactLength(Uint8Array.from([...ahead, ...bytes, 255]), ahead.length)
      expect(read).toEqual({ value, end: ahead.length + bytes.length })
    }),
  )
})

describe('a fresh key', () => {
  it('equals the pair of web3.js, from random bytes or a seed, and signs alike', () => {
    const seeds = [undefined, undefined, new Uint8Array(32), new Uint8Array(32).fill(255), randomBytes(32)]
    const keys = seeds.map((seed) => freshKey(seed))
    expect(new Set(keys.map(({ address }) => address)).size).toBe(keys.length)
    for (const [i, { address, publicKey, secretKey }] of keys.entries()) {
      // web3.js refuses a public key that is not of the seed.
      const pair = Keypair.fromSecretKey(secretKey)
      expect([pair.publicKey.toBase58(), [...pair.publicKey.toBytes()]]).toEqual([address, [...publicKey]])
      if (seeds[i] !== undefined) expect(pair.secretKey).toEqual(Keypair.fromSeed(seeds[i]).secretKey)
      const { transaction } = compiled(pair.publicKey, BLOCKHASH, [limit(7)])
      const signed = VersionedTransaction.deserialize(transaction)
      signed.sign([pair])
      const { transaction: own, cosigners } = cosignedBy(transaction, [secretKey])
      expect([Buffer.from(own), cosigners]).toEqual([Buffer.from(signed.serialize()), [address]])
    }
  })

  it('that is not a signer adds no signature', () => {
    const { transaction } = compiled(new PublicKey(KEYS[1]!), BLOCKHASH, [limit(7)])
    expect(cosignedBy(transaction, [freshKey().secretKey])).toEqual({ transaction, cosigners: [] })
  })
})
