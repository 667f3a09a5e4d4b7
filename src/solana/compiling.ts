/** Compiles instructions into a transaction with a v0 message and without lookup tables, byte for byte as web3.js does. */
import { addressBytes, byteKey } from './addresses.ts'
import { compactLength, compactLengthBytes } from './compact-lengths.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from './constants.ts'

const V0_PREFIX = 0x80
/** The version, the three counts of the header, and the number of lookup tables. */
const FIXED_BYTES = 5

/** An instruction whose keys are objects of any kind, such as web3.js's. */
export interface UncompiledInstruction<Key> {
  programId: Key
  keys: readonly { pubkey: Key; isSigner: boolean; isWritable: boolean }[]
  data: Uint8Array
}

export interface Uncompiled<Key> {
  payer: Key
  recentBlockhash: string
  instructions: readonly UncompiledInstruction<Key>[]
  /** Returns the 32 bytes of a key. */
  bytesOf(key: Key): Uint8Array
}

interface KeyUse {
  bytes: Uint8Array
  isSigner: boolean
  isWritable: boolean
  /** Place among the keys of the message. */
  place: number
}

/**
 * Returns the wire format with zeros in place of every signature, and the keys that must sign, the payer first. The
 * keys are in the order of their first use: writable signers, other signers, other writable ones, and the rest. The
 * result may be larger than the chain takes.
 */
export function compileTransaction<Key extends object>({
  payer,
  recentBlockhash,
  instructions,
  bytesOf,
}: Uncompiled<Key>): { transaction: Uint8Array; signers: Uint8Array[] } {
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
  const { keys, signers, readonlySigners, readonlyOthers } = inOrder(uses.all)
  let length =
    FIXED_BYTES + compactLengthBytes(keys.length) + KEY_BYTES * (keys.length + 1) + compactLengthBytes(parts.length)
  for (const { accounts, data } of parts) {
    length += 1 + compactLengthBytes(accounts.length) + accounts.length + compactLengthBytes(data.length) + data.length
  }
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
  writer.length(0)
  return { transaction: writer.wire, signers: keys.slice(0, signers).map(({ bytes }) => bytes) }
}

/** The same key may come as several objects, and mostly comes as one. */
class KeyUses<Key extends object> {
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
    const text = byteKey(bytes)
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
