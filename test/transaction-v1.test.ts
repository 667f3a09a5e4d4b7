/** Transactions of version 1 (SIMD-0385): compiled and decoded as @solana/kit does it, and refused like a validator. */
import { base58 } from '@scure/base'
import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosignedBy, withBlockhash } from '../src/chain/sending/cosign.ts'
import { TooMuchForVersion1 } from '../src/solana/compiling.ts'
import { MAX_V1_TRANSACTION_BYTES } from '../src/solana/constants.ts'
import { feeOfMessage, unitPriceOf } from '../src/solana/fees.ts'
import { decodeWireTransaction, MalformedTransaction, messageBytesOf, signatureOffset } from '../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../src/solana/program-ids.ts'
import { freshKey, signaturesHold } from '../src/solana/signatures.ts'
import type { TransactionConfig } from '../src/solana/transaction-config.ts'
import { compile, drawn, KEYS, kitsReadByUs, NO_CONFIG, oursReadByKit } from './support/version1-messages.ts'

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
