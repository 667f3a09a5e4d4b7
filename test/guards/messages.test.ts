/** Guards around random messages: nothing of the message changes, they are read as they were written, and no others are. */
import { base58 } from '@scure/base'
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTransaction } from '../../src/solana/compiling.ts'
import type { DecodedMessage } from '../../src/solana/decoded-message.ts'
import { type Guard, guardInstructions, type ReadInstruction, readGuards, withGuards } from '../../src/solana/guards.ts'
import type { LoadedAddresses } from '../../src/solana/lookup-tables.ts'
import { decodeMessage, isWritable, keyAt, messageBytesOf } from '../../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { LIGHTHOUSE } from '../../src/solana/programs/lighthouse.ts'
import { V1_CONFIG } from '../support/local-chain-transactions.ts'
import { runs } from '../support/runs.ts'

const BLOCKHASH = base58.encode(new Uint8Array(32).fill(9))
const KEYS = Array.from({ length: 14 }, (_, i) => new PublicKey(new Uint8Array(32).fill(i + 1)))
const ADDRESSES = KEYS.map((key) => key.toBase58())
const PAYER = KEYS[0]!
/** The accounts of a lookup table: not those that sign or are called. */
const [SIGNING, LOADED] = [KEYS.slice(0, 4), KEYS.slice(8)]

const accounts = fc.array(
  fc.record({ pubkey: fc.constantFrom(...KEYS), isSigner: fc.boolean(), isWritable: fc.boolean() }).map((meta) => ({
    ...meta,
    isSigner: meta.isSigner && SIGNING.includes(meta.pubkey),
  })),
  { maxLength: 8 },
)
const instruction = fc
  .record({
    programId: fc.constantFrom(...KEYS.slice(4, 7), new PublicKey(SYSTEM_PROGRAM)),
    keys: accounts,
    data: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  })
  .map((parts) => new TransactionInstruction(parts))
const limits = fc.uint8Array({ minLength: 5, maxLength: 9 }).map(
  (bytes) =>
    new TransactionInstruction({
      programId: new PublicKey(COMPUTE_BUDGET_PROGRAM),
      keys: [],
      data: Buffer.from(bytes),
    }),
)
const nonce = fc.constant(
  new TransactionInstruction({
    programId: new PublicKey(SYSTEM_PROGRAM),
    keys: [
      { pubkey: KEYS[5]!, isSigner: false, isWritable: true },
      { pubkey: PAYER, isSigner: true, isWritable: false },
    ],
    data: Buffer.of(4, 0, 0, 0),
  }),
)
const list = fc
  .tuple(fc.array(nonce, { maxLength: 1 }), fc.array(limits, { maxLength: 2 }), fc.array(instruction, { maxLength: 5 }))
  .map((parts) => parts.flat())

const address = fc.oneof(
  fc.constantFrom(...ADDRESSES),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes)),
)
const u64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 300n))
const change = fc.oneof(fc.bigInt(-(2n ** 64n), 2n ** 64n), fc.bigInt(-300n, 300n))
const wallet = fc.record({ kind: fc.constant('wallet' as const), address, change })
const token = fc.record({
  kind: fc.constant('token' as const),
  address,
  change: fc.option(change),
  least: u64,
  owner: fc.option(address),
  mint: fc.option(address),
  ...{ closeAuthority: fc.option(address), isFrozen: fc.boolean() },
})
const power = fc.oneof(fc.record({ delegate: address, delegated: u64 }), fc.constant({ delegate: null, delegated: 0n }))
const controlled = fc.tuple(token, power).map(([guard, of]) => ({ ...guard, ...of }))
const guards: fc.Arbitrary<Guard[]> = fc.uniqueArray(fc.oneof(wallet, controlled), {
  ...{ minLength: 1, maxLength: 5, selector: (guard: Guard) => guard.address },
})

interface Made {
  wire: Uint8Array
  loaded: LoadedAddresses
}

/** In each form that the product builds: version 0, with a lookup table too, and version 1. */
const FORMS: Record<string, (instructions: TransactionInstruction[]) => Made> = {
  'version 0': (instructions) => ofVersion0(instructions, []),
  'version 0 with a lookup table': (instructions) => ofVersion0(instructions, LOADED),
  'version 1': (instructions) => ({
    wire: compileTransaction({
      payer: PAYER,
      recentBlockhash: BLOCKHASH,
      instructions,
      config: V1_CONFIG,
      bytesOf: (key) => key.toBytes(),
    }).transaction,
    loaded: { writable: [], readonly: [] },
  }),
}

function ofVersion0(instructions: TransactionInstruction[], addresses: PublicKey[]): Made {
  const data = Buffer.alloc(56 + 32 * addresses.length)
  data.writeUInt32LE(1, 0)
  data.writeBigUInt64LE(2n ** 64n - 1n, 4)
  for (const [i, key] of addresses.entries()) data.set(key.toBytes(), 56 + 32 * i)
  const state = AddressLookupTableAccount.deserialize(data)
  const table = new AddressLookupTableAccount({ key: new PublicKey(new Uint8Array(32).fill(77)), state })
  const message = new TransactionMessage({ payerKey: PAYER, recentBlockhash: BLOCKHASH, instructions })
  const compiled = message.compileToV0Message(addresses.length === 0 ? [] : [table])
  const at = (kind: 'writableIndexes' | 'readonlyIndexes') =>
    compiled.addressTableLookups.flatMap((lookup) => lookup[kind].map((place) => addresses[place]!.toBase58()))
  // web3.js cannot write more than a packet.
  const { length } = compiled.serialize()
  fc.pre(length < 1_100)
  const loaded = { writable: at('writableIndexes'), readonly: at('readonlyIndexes') }
  return { wire: new VersionedTransaction(compiled).serialize(), loaded }
}

/** Also of a transaction that is larger than the chain takes. */
const messageOf = (wire: Uint8Array): DecodedMessage => decodeMessage(messageBytesOf(wire))

/** What each instruction says: program, accounts with their flags, and data. */
function said({ wire, loaded }: Made) {
  const message = messageOf(wire)
  const keys = [...message.keys, ...loaded.writable, ...loaded.readonly]
  return message.instructions.map((each) => ({
    program: keyAt(message, each.programIdIndex),
    accounts: Array.from(each.accounts, (place) => ({
      address: keys[place]!,
      isSigner: place < message.signers,
      isWritable: isWritable(message, loaded.writable.length, place),
    })),
    data: Buffer.from(each.data).toString('hex'),
  }))
}

const readable = (made: Made): ReadInstruction[] =>
  said(made).map(({ program, accounts: at, data }) => ({
    program,
    accounts: at.map((each) => each.address),
    data: Buffer.from(data, 'hex'),
  }))

const headOf = ({ version, signers, readonlySigners, keys, recentBlockhash, lookups, config }: DecodedMessage) => ({
  ...{ version, signers, readonlySigners, signing: keys.slice(0, signers), recentBlockhash, lookups, config },
})

describe.each(Object.entries(FORMS))('guards around a message of %s', (_, make) => {
  it('leave its signers and instructions as they are, and are read as they were written', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(list, guards, (instructions, wanted) => {
        const before = make(instructions)
        const after = { ...before, wire: withGuards(before.wire, wanted, before.loaded) }
        const [old, now] = [before, after].map(({ wire }) => messageOf(wire)) as [DecodedMessage, DecodedMessage]
        expect(headOf(now)).toEqual(headOf(old))
        expect(now.keys.filter((key) => old.keys.includes(key)).toSorted()).toEqual(old.keys.toSorted())
        expect(said(after).filter(({ program }) => program !== LIGHTHOUSE.id)).toEqual(said(before))
        const read = readGuards(PAYER.toBase58(), readable(after))
        expect(read?.guards).toEqual(wanted)
        const { first, last } = guardInstructions(PAYER.toBase58(), wanted)
        expect(read?.places).toHaveLength(first.length + last.length)
        expect(read?.places.slice(-last.length)).toEqual(last.map((__, i) => now.instructions.length - last.length + i))
      }),
      { numRuns: runs(60, 400) },
    )
  })

  it('cost what their instructions and new accounts need, and nothing else', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(list, guards, (instructions, wanted) => {
        const before = make(instructions)
        const wire = withGuards(before.wire, wanted, before.loaded)
        const [old, now] = [before.wire, wire].map((each) => messageOf(each)) as [DecodedMessage, DecodedMessage]
        const added = now.instructions.filter(({ programIdIndex }) => keyAt(now, programIdIndex) === LIGHTHOUSE.id)
        // Program, number of accounts and length of the data: three bytes, in version 1 four; long lengths take one more.
        const head = old.version === 1 ? 4 : 3
        const bytes = added.reduce((sum, each) => sum + head + each.accounts.length + each.data.length, 0)
        const long = old.version === 1 ? 0 : added.filter(({ data }) => data.length > 127).length
        expect(wire.length - before.wire.length).toBe(bytes + long + 32 * (now.keys.length - old.keys.length))
      }),
      { numRuns: runs(30, 200) },
    )
  })
})

describe('the guards of a transaction', () => {
  const given = fc.tuple(fc.array(instruction, { maxLength: 3 }), guards)
  const around = ([instructions, wanted]: [TransactionInstruction[], Guard[]]) => {
    const made = FORMS['version 1']!(instructions)
    return readable({ ...made, wire: withGuards(made.wire, wanted, made.loaded) })
  }
  const read = (all: ReadInstruction[]) => readGuards(PAYER.toBase58(), all)

  it('are not read as the same if a byte of one is another', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(given, fc.nat(), fc.integer({ min: 1, max: 255 }), (parts, at, difference) => {
        const all = around(parts)
        const { places } = read(all)
        const bytes = places.flatMap((place) => Array.from(all[place]!.data, (___, i) => ({ place, i })))
        const { place, i } = bytes[at % bytes.length]!
        const data = Uint8Array.from(all[place]!.data)
        data[i] = data[i]! ^ difference
        expect(read(all.with(place, { ...all[place]!, data })).guards).not.toEqual(parts[1])
      }),
      { numRuns: runs(200, 2_000) },
    )
  })

  it('are not read as the same if an account, or their order, is another', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(given, fc.nat(), fc.nat(), (parts, at, account) => {
        const all = around(parts)
        const { places } = read(all)
        const place = places[at % places.length]!
        const found = all[place]!
        const changed = found.accounts.with(account % found.accounts.length, ADDRESSES[13]!)
        fc.pre(changed.join() !== found.accounts.join())
        expect(read(all.with(place, { ...found, accounts: changed })).guards).not.toEqual(parts[1])
        const memo = { program: ADDRESSES[7]!, accounts: [], data: Uint8Array.of(1) }
        expect(read([...all, memo]).guards, 'something runs after them').toEqual([])
        expect(read([memo, ...all]).guards.length > 0, 'something runs before they remember').toBe(
          parts[1].every(({ change: relative }) => relative === null),
        )
        expect(read(all.toSpliced(place, 1)).guards, 'one is missing').not.toEqual(parts[1])
      }),
      { numRuns: runs(100, 1_000) },
    )
  })

  it('are none without instructions of Lighthouse, and with another one beside them', () => {
    expect(read([]).guards).toEqual([])
    const wanted: Guard[] = [{ kind: 'wallet', address: PAYER.toBase58(), change: -5n }]
    const all = around([[], wanted])
    expect(read(all).guards).toEqual(wanted)
    const foreign = LIGHTHOUSE.instruction(
      'memory_close',
      { program: LIGHTHOUSE.id, payer: ADDRESSES[1]!, memory: ADDRESSES[2]! },
      { memory_id: 1, memory_bump: 255 },
    )
    const more = { program: LIGHTHOUSE.id, accounts: foreign.accounts.map((each) => each.address), data: foreign.data }
    for (const place of [0, 1, all.length]) expect(read(all.toSpliced(place, 0, more)).guards).toEqual([])
  })
})
