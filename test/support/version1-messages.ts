/** Random messages of version 1 for tests, compiled by us and by @solana/kit, and kit's reading of them in our terms. */

import { base58 } from '@scure/base'
import {
  type Address,
  type CompiledTransactionMessage,
  compileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'
import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect } from 'vitest'
import { compileTransaction } from '../../src/solana/compiling.ts'
import type { DecodedMessage } from '../../src/solana/decoded-message.ts'
import { decodeMessage, decodeWireTransaction, messageBytesOf } from '../../src/solana/messages.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'

export const KEYS = Array.from({ length: 12 }, (_, i) => new Uint8Array(32).fill(i + 1))
export const NO_CONFIG: TransactionConfig = {
  priorityFeeLamports: null,
  computeUnitLimit: null,
  loadedAccountsDataSizeLimit: null,
  heapSize: null,
}
const keys = fc.constantFrom(...KEYS).map((bytes) => new PublicKey(bytes))
const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const config: fc.Arbitrary<TransactionConfig> = fc.record({
  priorityFeeLamports: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  computeUnitLimit: fc.option(u32),
  loadedAccountsDataSizeLimit: fc.option(u32),
  heapSize: fc.option(fc.integer({ min: 32, max: 256 }).map((kib) => kib * 1_024)),
})
const instruction = fc
  .record({
    programId: fc.constantFrom(...KEYS.slice(9)).map((bytes) => new PublicKey(bytes)),
    keys: fc.array(fc.record({ pubkey: keys, isSigner: fc.boolean(), isWritable: fc.boolean() }), { maxLength: 9 }),
    data: fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes)),
  })
  .map((parts) => new TransactionInstruction(parts))
export const drawn = fc.record({
  payer: fc.constantFrom(...KEYS.slice(0, 9)).map((bytes) => new PublicKey(bytes)),
  blockhash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes)),
  instructions: fc.array(instruction, { maxLength: 6 }),
  config,
})
export type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

export const compile = ({ payer, blockhash, instructions, config }: Drawn) =>
  compileTransaction({ payer, recentBlockhash: blockhash, instructions, config, bytesOf: (key) => key.toBytes() })
    .transaction

const read = getCompiledTransactionMessageDecoder()
const write = getCompiledTransactionMessageEncoder()

/** Kit's reading of a message in the terms of ours. */
function inOurTerms(
  message: CompiledTransactionMessage,
): Omit<DecodedMessage, 'blockhashOffset' | 'config' | 'lookups'> {
  if (message.version !== 1) throw new Error('kit read another version')
  const { header, staticAccounts, instructionHeaders, instructionPayloads } = message
  return {
    version: 1,
    signers: header.numSignerAccounts,
    readonlySigners: header.numReadonlySignerAccounts,
    readonlyOthers: header.numReadonlyNonSignerAccounts,
    keys: [...staticAccounts],
    recentBlockhash: 'lifetimeToken' in message ? String(message.lifetimeToken) : '',
    instructions: instructionHeaders.map(({ programAccountIndex }, i) => ({
      programIdIndex: programAccountIndex,
      accounts: Uint8Array.from(instructionPayloads[i]?.instructionAccountIndices ?? []),
      data: Uint8Array.from(instructionPayloads[i]?.instructionData ?? []),
    })),
  }
}

/** The message as kit compiles it, whose keys are in the order of their bytes. */
function byKit({ payer, blockhash, instructions, config }: Drawn): Uint8Array {
  const set = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
  const compiled = compileTransactionMessage({
    version: 1,
    config: set,
    feePayer: { address: payer.toBase58() as Address },
    lifetimeConstraint: { blockhash: blockhash as never, lastValidBlockHeight: 0n },
    instructions: instructions.map(({ programId, keys, data }) => ({
      programAddress: programId.toBase58() as Address,
      accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
        address: pubkey.toBase58() as Address,
        role: (isSigner ? 2 : 0) + (isWritable ? 1 : 0),
      })),
      data: Uint8Array.from(data),
    })),
  })
  return Uint8Array.from(write.encode(compiled))
}

const programsWritten = ({ instructions }: Drawn) =>
  instructions.some(({ programId }) =>
    instructions.some(({ keys }) => keys.some(({ pubkey }) => pubkey.equals(programId))),
  )

/** What we compile, kit reads as the same, and writes again as the same bytes. */
export const oursReadByKit = (runs: number) =>
  fc.assert(
    fc.property(drawn, (parts) => {
      const transaction = compile(parts)
      const message = messageBytesOf(transaction)
      const theirs = read.decode(message)
      expect(Buffer.from(write.encode(theirs)).equals(message)).toBe(true)
      const { blockhashOffset, config, lookups, ...ours } = decodeWireTransaction(transaction).message
      expect({ ...ours }).toEqual(inOurTerms(theirs))
      expect([blockhashOffset, lookups, config]).toEqual([8, [], parts.config])
    }),
    { numRuns: runs },
  )

/** What kit compiles, we read as kit does, with the limits and the fee that were set. */
export const kitsReadByUs = (runs: number) =>
  fc.assert(
    fc.property(
      drawn.filter((parts) => !programsWritten(parts)),
      (parts) => {
        const bytes = byKit(parts)
        const { blockhashOffset, config, lookups, ...ours } = decodeMessage(bytes)
        expect({ ...ours }).toEqual(inOurTerms(read.decode(bytes)))
        expect([config, ours.recentBlockhash]).toEqual([parts.config, parts.blockhash])
      },
    ),
    { numRuns: runs },
  )
