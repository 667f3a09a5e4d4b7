/** Reads transactions and messages as params: base58 or base64 text of at most the largest transaction. */

import { base58 } from '@scure/base'
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeMessage, decodeOnce, MalformedTransaction, maxBytesOf } from '../../solana/messages.ts'
import { invalidParams } from './errors.ts'

/**
 * Characters of text and the bytes they stand for. Base58 stays at one packet, so that larger transactions of version 1
 * come in base64 only (pull request 12597 of anza-xyz/agave).
 */
const MAX_TEXT = { base58: 1683, base64: 5464 } as const
const MAX_RAW = { base58: MAX_TRANSACTION_BYTES, base64: MAX_V1_TRANSACTION_BYTES } as const
type WireEncoding = keyof typeof MAX_TEXT

const TRANSACTION_TYPE = 'solana_transaction::versioned::VersionedTransaction'
const MESSAGE = 'solana_message::versions::VersionedMessage'

/** Returns the `encoding` of a config; the default is base58, as in old versions. */
export function wireEncodingOf(encoding: unknown, otherwise: WireEncoding = 'base58'): WireEncoding {
  if (encoding === undefined || encoding === null) return otherwise
  if (encoding === 'base58' || encoding === 'base64') return encoding
  if (typeof encoding !== 'string') throw invalidParams('Invalid params: invalid type, expected a string.')
  throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`)
}

function decodeText(text: string, encoding: WireEncoding): Uint8Array {
  if (encoding === 'base58') {
    try {
      return base58.decode(text)
    } catch {
      throw invalidParams(`invalid base58 encoding: ${base58Fault(text)}`)
    }
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw invalidParams(`invalid base64 encoding: ${base64Fault(text)}`)
  return bytes
}

const NOT_BASE58 = /[^1-9A-HJ-NP-Za-km-z]/
const NOT_BASE64 = /[^A-Za-z0-9+/]/

/** The first fault in the words of the decoder that validators use, the crate bs58. */
function base58Fault(text: string): string {
  const index = text.search(NOT_BASE58)
  const character = String.fromCodePoint(text.codePointAt(index) ?? 0)
  if (character > '\x7f') return `NonAsciiCharacter { index: ${index} }`
  return `InvalidCharacter { character: ${rustChar(character)}, index: ${index} }`
}

/** The first fault in the words of the decoder that validators use, the crate base64. */
function base64Fault(text: string): string {
  const bytes = Buffer.from(text)
  const end = text.replace(/={1,2}$/, '')
  const index = end.search(NOT_BASE64)
  if (index >= 0) return `InvalidByte(${index}, ${bytes[Buffer.byteLength(end.slice(0, index))]})`
  if (end.length % 4 === 1) return `InvalidLength(${end.length})`
  if (bytes.length % 4 !== 0) return 'InvalidPadding'
  return `InvalidLastSymbol(${end.length - 1}, ${bytes[end.length - 1]})`
}

/** A character as Rust shows it when it debugs. */
const rustChar = (character: string): string =>
  character === "'" ? "'\\''" : `'${JSON.stringify(character).slice(1, -1).replace('\\"', '"')}'`

function decodeWireParam<T>(value: unknown, encoding: WireEncoding, type: string, read: (bytes: Uint8Array) => T) {
  if (typeof value !== 'string') throw invalidParams('Invalid params: invalid type, expected a string.')
  const limits = `max: encoded/raw ${MAX_TEXT[encoding]}/${MAX_RAW[encoding]}`
  if (value.length > MAX_TEXT[encoding]) {
    throw invalidParams(`${encoding} encoded ${type} too large: ${value.length} bytes (${limits})`)
  }
  const bytes = decodeText(value, encoding)
  const most = maxBytesOf(bytes)
  if (bytes.length > most) {
    throw invalidParams(`decoded ${type} too large: ${bytes.length} bytes (max: ${most} bytes)`)
  }
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof MalformedTransaction) throw invalidParams(`failed to deserialize ${type}: ${error.message}`)
    throw error
  }
}

export interface TransactionParam {
  raw: Uint8Array
  /** Base58 of the transaction's first signature. */
  signature: string
  message: DecodedMessage
}

/** Decodes and sanitizes a transaction param. Throws -32602. */
export function transactionParam(value: unknown, encoding: WireEncoding): TransactionParam {
  return decodeWireParam(value, encoding, TRANSACTION_TYPE, decodeOnce)
}

/** Decodes a base64 message, checks it and returns its bytes. Throws -32602. */
export function messageParam(value: unknown): Uint8Array {
  return decodeWireParam(value, 'base64', MESSAGE, (bytes) => {
    decodeMessage(bytes)
    return bytes
  })
}
