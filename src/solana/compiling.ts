/**
 * Compiles instructions into a transaction of version 0 without lookup tables, byte for byte as web3.js does, or of 1.
 */
import { addressBytes } from './addresses.ts'
import { compactLength, compactLengthBytes, hexOf } from './bytes.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from './constants.ts'
import type { DecodedMessage, TableLookup } from './decoded-message.ts'
import type { LoadedAddresses } from './lookup-tables.ts'
import { MAX_V1_INSTRUCTIONS, MAX_V1_KEYS, MAX_V1_SIGNERS } from './message-v1.ts'
import { isWritable } from './messages.ts'
import type { PlainInstruction } from './programs/table.ts'
import { configBytes, configMaskOf, type TransactionConfig } from './transaction-config.ts'

const V0_PREFIX = 0x80
const V1_PREFIX = 0x81
/** The version, the three counts of the header, and the number of lookup tables. */
const FIXED_BYTES = 5
/** Version, header, config mask, blockhash, and the numbers of instructions and of keys. */
const V1_FIXED_BYTES = 42
/** Program, number of accounts, and number of bytes of an instruction. */
const V1_INSTRUCTION_HEAD = 4

/** An instruction whose keys are addresses or objects of any kind, such as web3.js's. */
interface UncompiledInstruction<Key> {
  programId: Key
  keys: readonly { pubkey: Key; isSigner: boolean; isWritable: boolean }[]
  data: Uint8Array
}

interface Uncompiled<Key> {
  payer: Key
  recentBlockhash: string
  instructions: readonly UncompiledInstruction<Key>[]
  /** Limits and priority fee of a version 1 transaction. Without them the version is 0. */
  config?: TransactionConfig | undefined
  /** Returns the 32 bytes of a key. */
  bytesOf(key: Key): Uint8Array
}

interface KeyUse {
  bytes: Uint8Array
  isSigner: boolean
  isWritable: boolean
  /** Index among the keys of the message. */
  place: number
}

/** Instructions that a version 1 message has no room for; `message` names the limit. */
export class TooMuchForVersion1 extends Error {
  override readonly name = 'TooMuchForVersion1'
}

/** A message whose keys are in order. */
interface Placed {
  keys: readonly KeyUse[]
  signers: number
  readonlySigners: number
  readonlyOthers: number
  recentBlockhash: string
  parts: readonly { program: Place; accounts: readonly Place[]; data: Uint8Array }[]
  /** Of version 0. */
  lookups?: readonly TableLookup[]
}

type Place = Pick<KeyUse, 'place'>

/**
 * Returns the wire format with zeros in place of every signature, and the keys that must sign, the payer first. The
 * keys are in the order of their first use: writable signers, other signers, other writable keys, and all others. The
 * result may be larger than the chain takes. Throws TooMuchForVersion1 for numbers that version 1 cannot represent.
 */
export function compileTransaction<Key>({ payer, recentBlockhash, instructions, config, bytesOf }: Uncompiled<Key>): {
  transaction: Uint8Array
  signers: Uint8Array[]
} {
  const uses = new KeyUses(bytesOf)
  const paying = uses.of(payer)
  paying.isSigner = true
  paying.isWritable = true
  const parts = instructions.map(({ programId, keys, data }) => ({
    program: uses.of(programId),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => {
      const use = uses.of(pubkey)
      use.isSigner ||= isSigner
      use.isWritable ||= isWritable
      return use
    }),
    data,
  }))
  const placed = { ...inOrder(uses.all), recentBlockhash, parts }
  return {
    transaction: config === undefined ? writeV0(placed) : writeV1(placed, config),
    signers: placed.keys.slice(0, placed.signers).map(({ bytes }) => bytes),
  }
}

/** Instructions to add: the first ones at a place among those of the message, the last ones behind all. */
export interface Added {
  first: readonly PlainInstruction[]
  last: readonly PlainInstruction[]
  place: number
}

/**
 * Returns the transaction of version 0 or 1 with more instructions, unsigned. Its keys keep their order; new ones follow
 * those of their kind. New signers are not possible, and their accounts become writable only if they are new. Throws
 * TooMuchForVersion1 like `compileTransaction`.
 */
export function insertInstructions(
  message: DecodedMessage,
  { first, last, place }: Added,
  loaded: LoadedAddresses = { writable: [], readonly: [] },
): Uint8Array {
  const { own, lookedUp, added, placeOf } = placesIn(message, [...loaded.writable, ...loaded.readonly])
  const partOf = ({ program, accounts, data }: PlainInstruction) => ({
    accounts: accounts.map(({ address, isWritable }) => placeOf(address, isWritable)),
    program: placeOf(program, false),
    data,
  })
  const all: readonly Place[] = [...own, ...lookedUp]
  const at = (index: number) => all[index] ?? { place: index }
  const old = message.instructions.map(({ programIdIndex, accounts, data }) => ({
    program: at(programIdIndex),
    accounts: Array.from(accounts, at),
    data,
  }))
  const [before, after] = [first.map(partOf), last.map(partOf)]
  const ordered = inOrder([...own, ...added])
  for (const [i, found] of lookedUp.entries()) found.place = ordered.keys.length + i
  const placed: Placed = {
    ...ordered,
    recentBlockhash: message.recentBlockhash,
    parts: [...old.slice(0, place), ...before, ...old.slice(place), ...after],
    lookups: message.lookups,
  }
  return message.config === null ? writeV0(placed) : writeV1(placed, message.config)
}

/** The places of a message's own addresses and of those from lookup tables. `placeOf` adds an address without a place. */
function placesIn(message: DecodedMessage, loaded: readonly string[]) {
  const own = message.keys.map(
    (address, i): KeyUse => ({
      bytes: addressBytes(address),
      isSigner: i < message.signers,
      isWritable: isWritable(message, 0, i),
      place: 0,
    }),
  )
  const lookedUp = loaded.map((): Place => ({ place: 0 }))
  const added: KeyUse[] = []
  const known = new Map<string, Place>()
  for (const [i, place] of lookedUp.entries()) known.set(loaded[i] ?? '', place)
  for (const [i, place] of own.entries()) known.set(message.keys[i] ?? '', place)
  const placeOf = (address: string, isWritable: boolean): Place => {
    const found = known.get(address)
    if (found !== undefined) return found
    const made: KeyUse = { bytes: addressBytes(address), isSigner: false, isWritable, place: 0 }
    added.push(made)
    known.set(address, made)
    return made
  }
  return { own, lookedUp, added, placeOf }
}

function writeV0(placed: Placed): Uint8Array {
  const { keys, signers, readonlySigners, readonlyOthers, recentBlockhash, parts, lookups = [] } = placed
  let length =
    FIXED_BYTES + compactLengthBytes(keys.length) + KEY_BYTES * (keys.length + 1) + compactLengthBytes(parts.length)
  for (const { accounts, data } of parts) {
    length += 1 + compactLengthBytes(accounts.length) + accounts.length + compactLengthBytes(data.length) + data.length
  }
  for (const { writable, readonly } of lookups) length += KEY_BYTES + 2 + writable.length + readonly.length
  const writer = new WireWriter(compactLengthBytes(signers) + SIGNATURE_BYTES * signers + length)
  writer.length(signers)
  writer.skip(SIGNATURE_BYTES * signers)
  for (const byte of [V0_PREFIX, signers, readonlySigners, readonlyOthers]) writer.byte(byte)
  writer.length(keys.length)
  for (const { bytes } of keys) writer.bytes(bytes)
  writer.bytes(addressBytes(recentBlockhash))
  writer.length(parts.length)
  for (const { program, accounts, data } of parts) {
    writer.byte(program.place)
    writer.length(accounts.length)
    for (const { place } of accounts) writer.byte(place)
    writer.length(data.length)
    writer.bytes(data)
  }
  writer.length(lookups.length)
  for (const { table, writable, readonly } of lookups) {
    writer.bytes(addressBytes(table))
    for (const places of [writable, readonly]) {
      writer.length(places.length)
      writer.bytes(places)
    }
  }
  return writer.wire
}

/** Layout of SIMD-0385. Signatures stand last, and only the header gives their number. */
function writeV1(placed: Placed, config: TransactionConfig): Uint8Array {
  const { keys, signers, readonlySigners, readonlyOthers, recentBlockhash, parts } = placed
  requireRoomInV1(placed)
  const values = configBytes(config)
  const payload = parts.reduce((sum, { accounts, data }) => sum + accounts.length + data.length, 0)
  const length = V1_FIXED_BYTES + KEY_BYTES * keys.length + values.length + V1_INSTRUCTION_HEAD * parts.length + payload
  const writer = new WireWriter(length + SIGNATURE_BYTES * signers)
  for (const byte of [V1_PREFIX, signers, readonlySigners, readonlyOthers]) writer.byte(byte)
  for (const byte of [configMaskOf(config), 0, 0, 0]) writer.byte(byte)
  writer.bytes(addressBytes(recentBlockhash))
  writer.byte(parts.length)
  writer.byte(keys.length)
  for (const { bytes } of keys) writer.bytes(bytes)
  writer.bytes(values)
  for (const { program, accounts, data } of parts) {
    for (const byte of [program.place, accounts.length, data.length & 0xff, data.length >> 8]) writer.byte(byte)
  }
  for (const { accounts, data } of parts) {
    for (const { place } of accounts) writer.byte(place)
    writer.bytes(data)
  }
  return writer.wire
}

function requireRoomInV1({ keys, signers, parts }: Placed): void {
  const counts: [number, number, string][] = [
    [signers, MAX_V1_SIGNERS, 'signers'],
    [keys.length, MAX_V1_KEYS, 'accounts'],
    [parts.length, MAX_V1_INSTRUCTIONS, 'instructions'],
    [Math.max(0, ...parts.map(({ accounts }) => accounts.length)), 0xff, 'accounts in one instruction'],
    [Math.max(0, ...parts.map(({ data }) => data.length)), 0xffff, 'bytes of data in one instruction'],
  ]
  for (const [count, most, what] of counts) {
    if (count > most)
      throw new TooMuchForVersion1(`a transaction of version 1 has at most ${most} ${what}, not ${count}`)
  }
}

/** The same key may be several objects, but is mostly one. */
class KeyUses<Key> {
  readonly #bytesOf: (key: Key) => Uint8Array
  readonly #byObject = new Map<Key, KeyUse>()
  readonly #byBytes = new Map<string, KeyUse>()

  constructor(bytesOf: (key: Key) => Uint8Array) {
    this.#bytesOf = bytesOf
  }

  /** In the order of their first use. */
  get all(): KeyUse[] {
    return [...this.#byBytes.values()]
  }

  of(key: Key): KeyUse {
    const known = this.#byObject.get(key)
    if (known !== undefined) return known
    const bytes = this.#bytesOf(key)
    const text = hexOf(bytes)
    const use = this.#byBytes.get(text) ?? { bytes, isSigner: false, isWritable: false, place: 0 }
    this.#byBytes.set(text, use)
    this.#byObject.set(key, use)
    return use
  }
}

function inOrder(uses: readonly KeyUse[]) {
  const writableSigners = uses.filter(({ isSigner, isWritable }) => isSigner && isWritable)
  const readonlySigners = uses.filter(({ isSigner, isWritable }) => isSigner && !isWritable)
  const writableOthers = uses.filter(({ isSigner, isWritable }) => !isSigner && isWritable)
  const readonlyOthers = uses.filter(({ isSigner, isWritable }) => !isSigner && !isWritable)
  const keys = [...writableSigners, ...readonlySigners, ...writableOthers, ...readonlyOthers]
  for (const [place, use] of keys.entries()) use.place = place
  return {
    keys,
    signers: writableSigners.length + readonlySigners.length,
    readonlySigners: readonlySigners.length,
    readonlyOthers: readonlyOthers.length,
  }
}

/** Writes the parts of a transaction one after another. */
class WireWriter {
  readonly wire: Uint8Array
  #offset = 0

  constructor(size: number) {
    this.wire = new Uint8Array(size)
  }

  byte(value: number): void {
    this.wire[this.#offset++] = value
  }

  bytes(bytes: Uint8Array): void {
    this.wire.set(bytes, this.#offset)
    this.#offset += bytes.length
  }

  skip(bytes: number): void {
    this.#offset += bytes
  }

  length(value: number): void {
    if (value < 0x80) this.byte(value)
    else for (const byte of compactLength(value)) this.byte(byte)
  }
}
