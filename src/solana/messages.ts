/** Decodes transactions as strictly as a validator; bytes that fail here never reach the runtime. */

import { base58 } from '@scure/base'
import { byteKey } from './addresses.ts'
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES, SIGNATURE_BYTES } from './constants.ts'
import type { DecodedMessage } from './decoded-message.ts'
import { TransactionRefused } from './execution.ts'
import { MalformedTransaction, MessageReader, malformed } from './message-reader.ts'
import { readV1 } from './message-v1.ts'

export { MalformedTransaction } from './message-reader.ts'

/** Maximum number of accounts that a transaction may lock on mainnet. */
export const MAX_ACCOUNT_LOCKS = 64

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

/**
 * First byte of a version 1 transaction, and of its message. Other transactions begin with the number of signatures.
 */
const V1_PREFIX = 0x81

/** Whether wire bytes or message bytes are of version 1. */
export const isVersion1 = (bytes: Uint8Array): boolean => bytes[0] === V1_PREFIX

/** Largest size in bytes that the chain takes of a transaction of this version. */
export const maxBytesOf = (raw: Uint8Array): number =>
  isVersion1(raw) ? MAX_V1_TRANSACTION_BYTES : MAX_TRANSACTION_BYTES

/** Decodes and sanitizes a transaction. Throws MalformedTransaction. */
export function decodeWireTransaction(bytes: Uint8Array): DecodedTransaction {
  const most = maxBytesOf(bytes)
  if (bytes.length > most) {
    throw new MalformedTransaction(`The transaction is too large: ${bytes.length} bytes, at most ${most} are possible`)
  }
  const [first = 0] = bytes
  if (first > V1_PREFIX) throw unsupportedVersion(first)
  const raw = Uint8Array.from(bytes)
  const { messageBytes, signatureBytes } = isVersion1(raw) ? partsOfV1(raw) : partsOf(raw)
  const message = decodeMessage(messageBytes)
  const count = signatureBytes.length / SIGNATURE_BYTES
  if (count !== message.signers) {
    throw malformed(`it has ${count} signatures, but its message requires ${message.signers}`)
  }
  const signatures = Array.from({ length: count }, (_, i) =>
    signatureBytes.subarray(SIGNATURE_BYTES * i, SIGNATURE_BYTES * (i + 1)),
  )
  const [identifying] = signatures
  if (identifying === undefined) throw malformed('it has no signature')
  return { raw, signature: base58.encode(identifying), signatures, messageBytes, message }
}

const unsupportedVersion = (prefix: number) =>
  new MalformedTransaction(`Version ${prefix & 0x7f} of transactions is not supported`, 'UnsupportedVersion')

function partsOf(raw: Uint8Array) {
  const reader = new MessageReader(raw)
  const signatureBytes = reader.take(SIGNATURE_BYTES * reader.length('signatures'), 'its signatures')
  const messageBytes = raw.subarray(reader.offset)
  // The runtime aborts on one, and clusters accept a message of version 1 only before its signatures (SIMD-0385).
  if (isVersion1(messageBytes)) throw malformed('its message of version 1 follows its signatures')
  return { signatureBytes, messageBytes }
}

/** Signatures follow a version 1 message without their number: there is one for each signer in its header. */
function partsOfV1(raw: Uint8Array) {
  const messageBytes = messageBytesOf(raw)
  if (messageBytes.length === 0) throw malformed('it ends before its signatures')
  return { messageBytes, signatureBytes: raw.subarray(messageBytes.length) }
}

/** Clients simulate a transaction before they send it, so the same bytes arrive several times within moments. */
const MAX_RECENT = 256
const recentlyDecoded = new Map<string, DecodedTransaction>()

/**
 * Decodes and sanitizes a transaction that was perhaps decoded a moment ago; the same bytes then give the same object,
 * which must not be modified. Throws MalformedTransaction.
 */
export function decodeOnce(bytes: Uint8Array): DecodedTransaction {
  if (bytes.length > maxBytesOf(bytes)) return decodeWireTransaction(bytes)
  const key = byteKey(bytes)
  const known = recentlyDecoded.get(key)
  if (known !== undefined) return known
  const decoded = decodeWireTransaction(bytes)
  const [oldest] = recentlyDecoded.keys()
  if (recentlyDecoded.size >= MAX_RECENT && oldest !== undefined) recentlyDecoded.delete(oldest)
  recentlyDecoded.set(key, decoded)
  return decoded
}

/** Returns the message bytes of a decoded transaction. */
export const messageBytesOf = (raw: Uint8Array): Uint8Array =>
  isVersion1(raw)
    ? raw.subarray(0, Math.max(raw.length - SIGNATURE_BYTES * (raw[1] ?? 0), 0))
    : raw.subarray(1 + SIGNATURE_BYTES * (raw[0] ?? 0))

/**
 * Returns the offset of a signer's signature in the wire bytes of a decoded transaction. Signatures stand first, after
 * their number, which takes one byte because a packet has no room for 128. In version 1 they stand last.
 */
export const signatureOffset = (raw: Uint8Array, place: number): number =>
  (isVersion1(raw) ? messageBytesOf(raw).length : 1) + SIGNATURE_BYTES * place

/** Decodes and sanitizes a message without signatures, the input of getFeeForMessage. Throws MalformedTransaction. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  const message = isVersion1(bytes) ? readV1(bytes) : readLegacyOrV0(bytes)
  sanitize(message)
  return message
}

function readLegacyOrV0(bytes: Uint8Array): DecodedMessage {
  const reader = new MessageReader(bytes)
  const first = reader.byte('its message')
  const versioned = (first & 0x80) !== 0
  if (versioned && first !== 0x80) throw unsupportedVersion(first)
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
  reader.end()
  return {
    version: versioned ? 0 : 'legacy',
    signers,
    readonlySigners,
    readonlyOthers,
    keys,
    recentBlockhash,
    blockhashOffset,
    instructions,
    lookups,
    config: null,
  }
}

/** Applies the rules of solana-message's `sanitize`, which are the same for every version. */
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
      throw malformed(`the program of instruction ${i} is not one of its accounts`)
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
