/**
 * Texts that a wallet signs without a transaction, in Solana's off-chain format of version 0. No such text is a valid
 * transaction, so its signature moves nothing.
 */
import { addressBytes } from './addresses.ts'
import { isSignatureOf } from './signatures.ts'

/** The first byte can begin no transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1')
const VERSION = 0
/** Printable ASCII, which a device can show. */
const RESTRICTED_ASCII = 0
const HEADER_BYTES = SIGNING_DOMAIN.length + 1 + 32 + 1 + 1 + 32 + 2
/** The most characters, so that header and text are not longer than a transaction: 1232 bytes. */
export const MAX_SIGNED_TEXT = 1232 - HEADER_BYTES

/** Why a text cannot be signed on a device, as the end of a sentence; undefined if it can. */
export function textFault(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text.length > MAX_SIGNED_TEXT) return `is longer than ${MAX_SIGNED_TEXT} characters`
  if (!/^[\x20-\x7e]*$/.test(text)) return 'has other characters than printable ASCII'
  return undefined
}

/**
 * The bytes that the signer signs: signing domain, version, 32 zero bytes (no application domain), format, one signer,
 * its key, the length as two bytes, and the text. Throws for a text with a fault.
 */
export function offchainMessage(text: string, signer: string): Uint8Array {
  return Buffer.concat([
    SIGNING_DOMAIN,
    Uint8Array.of(VERSION),
    new Uint8Array(32),
    Uint8Array.of(RESTRICTED_ASCII, 1),
    addressBytes(signer),
    lengthAndText(text),
  ])
}

/** The shorter bytes that the Solana command line and older apps of a device sign: without application domain and signer. */
export const shortOffchainMessage = (text: string): Uint8Array =>
  Buffer.concat([SIGNING_DOMAIN, Uint8Array.of(VERSION, RESTRICTED_ASCII), lengthAndText(text)])

function lengthAndText(text: string): Uint8Array {
  const fault = textFault(text)
  if (fault !== undefined) throw new Error(`the text ${fault}`)
  const length = Buffer.alloc(2)
  length.writeUInt16LE(text.length)
  return Buffer.concat([length, Buffer.from(text, 'latin1')])
}

/** Whether a 64-byte signature is the signer's for this text, in either form. */
export const isTextSignedBy = (signer: string, text: string, signature: Uint8Array): boolean =>
  textFault(text) === undefined &&
  [offchainMessage(text, signer), shortOffchainMessage(text)].some((message) =>
    isSignatureOf(signer, message, signature),
  )
