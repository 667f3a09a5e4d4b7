/** Decodes transactions as strictly as a validator; bytes that fail here never reach the runtime. */
import { base58 } from '@scure/base'
import { addressOf, byteKey } from './addresses.ts'
import { MAX_TRANSACTION_BYTES } from './constants.ts'
import { type TransactionErrorJson, TransactionRefused } from './execution.ts'

/** Maximum number of accounts that a transaction may lock on mainnet. */
const MAX_ACCOUNT_LOCKS = 64

export interface CompiledInstruction {
  programIdIndex: number
  accounts: Uint8Array
  data: Uint8Array
}

export interface TableLookup {
  table: string
  writable: Uint8Array
  readonly: Uint8Array
}

export interface DecodedMessage {
  version: 'legacy' | 0
  signers: number
  readonlySigners: number
  readonlyOthers: number
  keys: string[]
  recentBlockhash: string
  /** Offset of the blockhash in the message's bytes. */
  blockhashOffset: number
  instructions: CompiledInstruction[]
  lookups: TableLookup[]
}

/**
 * Returns the key at an index of a message's own keys, such as an instruction's program. Throws RangeError for an index
 * that the decoder would have refused.
 */
export function keyAt({ keys }: Pick<DecodedMessage, 'keys'>, place: number): string {
  const key = keys[place]
  if (key === undefined) throw new RangeError(`the message has no key ${place}`)
  return key
}

export interface DecodedTransaction {
  raw: Uint8Array
  /** Base58 of the first signature, which identifies the transaction. */
  signature: string
  signatures: Uint8Array[]
  messageBytes: Uint8Array
  message: DecodedMessage
}

/** Bytes that cannot be decoded as a transaction; `message` describes the error. */
export class MalformedTransaction extends TransactionRefused {
  constructor(reason: string, err: TransactionErrorJson = 'SanitizeFailure') {
    super(err)
    this.message = reason
  }
}

const malformed = (reason: string) => new MalformedTransaction(`The transaction cannot be read: ${reason}`)

class MessageReader {
  readonly bytes: Uint8Array
  offset = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  byte(what: string): number {
    const byte = this.bytes[this.offset]
    if (byte === undefined) throw malformed(`it ends before ${what}`)
    this.offset++
    return byte
  }

  take(length: number, what: string): Uint8Array {
    const end = this.offset + length
    if (end > this.bytes.length) throw malformed(`it ends before ${what}`)
    const taken = this.bytes.subarray(this.offset, end)
    this.offset = end
    return taken
  }

  /** Reads a compact-u16 of one to three bytes; only the shortest form is valid. */
  length(what: string): number {
    let value = 0
    for (let i = 0; i < 3; i++) {
      const byte = this.byte(what)
      if (i > 0 && byte === 0) throw malformed(`the number of ${what} is not in its shortest form`)
      value |= (byte & 0x7f) << (7 * i)
      if ((byte & 0x80) === 0) {
        if (value > 0xffff) break
        return value
      }
    }
    throw malformed(`the number of ${what} is above 65,535`)
  }

  key(what: string): string {
    return addressOf(this.take(32, what))
  }
}

/** Decodes and sanitizes a transaction. Throws MalformedTransaction. */
export function decodeWireTransaction(bytes: Uint8Array): DecodedTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw new MalformedTransaction(
      `The transaction is too large: ${bytes.length} bytes, at most ${MAX_TRANSACTION_BYTES} are possible`,
    )
  }
  const raw = Uint8Array.from(bytes)
  const reader = new MessageReader(raw)
  const count = reader.length('signatures')
  const signatures = Array.from({ length: count }, () => reader.take(64, 'its signatures'))
  const messageBytes = raw.subarray(reader.offset)
  const message = decodeMessage(messageBytes)
  if (signatures.length !== message.signers) {
    throw malformed(`it has ${signatures.length} signatures where its message asks for ${message.signers}`)
  }
  const [first] = signatures
  if (first === undefined) throw malformed('it has no signature')
  return { raw, signature: base58.encode(first), signatures, messageBytes, message }
}

/** Clients simulate a transaction before they send it, so that the same bytes arrive several times within moments. */
const MAX_RECENT = 256
const recentlyDecoded = new Map<string, DecodedTransaction>()

/**
 * Decodes and sanitizes a transaction that was perhaps decoded a moment ago; the same bytes then give the same object,
 * which must not be modified. Throws MalformedTransaction.
 */
export function decodeOnce(bytes: Uint8Array): DecodedTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) return decodeWireTransaction(bytes)
  const key = byteKey(bytes)
  const known = recentlyDecoded.get(key)
  if (known !== undefined) return known
  const decoded = decodeWireTransaction(bytes)
  const [oldest] = recentlyDecoded.keys()
  if (recentlyDecoded.size >= MAX_RECENT && oldest !== undefined) recentlyDecoded.delete(oldest)
  recentlyDecoded.set(key, decoded)
  return decoded
}

/**
 * Returns the message bytes of a decoded transaction. One length byte suffices, as a packet has no room for 128
 * signatures.
 */
export const messageBytesOf = (raw: Uint8Array): Uint8Array => raw.subarray(signatureOffset(raw[0] ?? 0))

/** Offset of a signer's signature in the wire bytes. The count takes one byte, because a packet has no room for 128. */
export const signatureOffset = (place: number): number => 1 + 64 * place

/** Decodes and sanitizes a message alone, the input of getFeeForMessage. Throws MalformedTransaction. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  const reader = new MessageReader(bytes)
  const first = reader.byte('its message')
  const versioned = (first & 0x80) !== 0
  if (versioned && first !== 0x80) {
    throw new MalformedTransaction(`Version ${first & 0x7f} of transactions is not supported`, 'UnsupportedVersion')
  }
  const signers = versioned ? reader.byte('its header') : first
  const readonlySigners = reader.byte('its header')
  const readonlyOthers = reader.byte('its header')
  const keyCount = reader.length('account keys')
  const keys = Array.from({ length: keyCount }, () => reader.key('its account keys'))
  const blockhashOffset = reader.offset
  const recentBlockhash = reader.key('its blockhash')
  const instructionCount = reader.length('instructions')
  const instructions = Array.from({ length: instructionCount }, () => ({
    programIdIndex: reader.byte('its instructions'),
    accounts: reader.take(reader.length("an instruction's accounts"), 'its instructions'),
    data: reader.take(reader.length("an instruction's bytes"), 'its instructions'),
  }))
  const lookupCount = versioned ? reader.length('address table lookups') : 0
  const lookups = Array.from({ length: lookupCount }, () => ({
    table: reader.key('its address table lookups'),
    writable: reader.take(reader.length('looked-up accounts'), 'its address table lookups'),
    readonly: reader.take(reader.length('looked-up accounts'), 'its address table lookups'),
  }))
  if (reader.offset !== bytes.length) throw malformed(`${bytes.length - reader.offset} bytes follow its end`)
  const message: DecodedMessage = {
    version: versioned ? 0 : 'legacy',
    signers,
    readonlySigners,
    readonlyOthers,
    keys,
    recentBlockhash,
    blockhashOffset,
    instructions,
    lookups,
  }
  sanitize(message)
  return message
}

/** Applies the rules of solana-message's `sanitize`, which are the same for both versions. */
function sanitize({ signers, readonlySigners, readonlyOthers, keys, instructions, lookups }: DecodedMessage): void {
  if (signers + readonlyOthers > keys.length) throw malformed('its header counts more accounts than it has')
  if (readonlySigners >= signers) throw malformed('it has no writable signer that could pay the fee')
  let accounts = keys.length
  for (const { writable, readonly } of lookups) {
    if (writable.length + readonly.length === 0) throw malformed('an address table lookup takes no address')
    accounts += writable.length + readonly.length
  }
  if (accounts > 256) throw malformed(`it names ${accounts} accounts, at most 256 are possible`)
  for (const [i, instruction] of instructions.entries()) {
    if (instruction.programIdIndex === 0 || instruction.programIdIndex >= keys.length) {
      throw malformed(`the program of instruction ${i} is none of its accounts`)
    }
    if (instruction.accounts.some((index) => index >= accounts)) {
      throw malformed(`instruction ${i} uses an account that is not in its list`)
    }
  }
}

/** Whether the message marks an account as writable; validators still treat programs and sysvars as read-only. */
export function isWritable(message: DecodedMessage, loadedWritable: number, index: number): boolean {
  if (index < message.signers) return index < message.signers - message.readonlySigners
  if (index < message.keys.length) return index < message.keys.length - message.readonlyOthers
  return index < message.keys.length + loadedWritable
}

/** Applies the checks of a validator when it locks a transaction's accounts. Throws TransactionRefused. */
export function checkLocks(accountKeys: readonly string[]): void {
  if (accountKeys.length > MAX_ACCOUNT_LOCKS) throw new TransactionRefused('TooManyAccountLocks')
  if (new Set(accountKeys).size !== accountKeys.length) throw new TransactionRefused('AccountLoadedTwice')
}
