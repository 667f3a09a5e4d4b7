/** Ed25519 with Node's own crypto: verification of transaction signatures, generated keys, and the faucet's key. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { base58 } from '@scure/base'
import { addressBytes, addressOf } from './addresses.ts'
import { type DecodedTransaction, keyAt } from './messages.ts'

/** DER prefixes of raw keys (RFC 8410). */
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
export const SEED_BYTES = 32
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

export interface KeyPair {
  address: string
  publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** Returns the key pair of a 32-byte seed. */
export function keyPairOf(seed: Uint8Array): KeyPair {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(ED25519_SPKI_PREFIX.length)
  return { address: base58.encode(publicKey), publicKey, sign: (message) => sign(null, message, key) }
}

/** A key that is made for one request and usually returned in its answer. */
export interface FreshKey {
  address: string
  publicKey: Uint8Array
  /** Seed, then public key. */
  secretKey: Uint8Array
}

/**
 * Makes a key of these 32 bytes, or of random ones. Node's `generateKeyPairSync` is avoided: exporting its keys can
 * block the process forever if garbage is collected meanwhile.
 */
export function freshKey(seed: Uint8Array = randomBytes(SEED_BYTES)): FreshKey {
  const { publicKey } = keyPairOf(seed)
  const secretKey = new Uint8Array(2 * SEED_BYTES)
  secretKey.set(seed)
  secretKey.set(publicKey, SEED_BYTES)
  return { address: addressOf(publicKey), publicKey, secretKey }
}

/** Signs with the secret key of a fresh key. */
export const signFresh = (secretKey: Uint8Array, message: Uint8Array): Uint8Array =>
  sign(null, message, keyOfText(secretKey))

/** Ten times as fast as from DER, but the text cannot be erased from memory: not for long-lived keys. */
function keyOfText(secretKey: Uint8Array): KeyObject {
  const text = Buffer.from(secretKey)
  const d = text.toString('base64url', 0, SEED_BYTES)
  const x = text.toString('base64url', SEED_BYTES)
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
}

/**
 * Returns the key object of a raw 32-byte public key. Throws for other bytes. OpenSSL takes ten times as long to read
 * the
 * same key as DER.
 */
export const publicKeyOf = (bytes: Uint8Array): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(bytes).toString('base64url') },
    format: 'jwk',
  })

/** Whether the signature at this index is there, valid or not: zeros hold the place of a missing one. */
export const isSignedAt = ({ signatures }: DecodedTransaction, place: number): boolean =>
  signatures[place]?.some((byte) => byte !== 0) === true

/** Addresses whose signature is missing, in the order of the message. */
export const missingSigners = (transaction: DecodedTransaction): string[] =>
  transaction.message.keys.slice(0, transaction.message.signers).filter((_, place) => !isSignedAt(transaction, place))

/** Whether all signatures of a transaction are valid. */
export function signaturesHold(transaction: DecodedTransaction): boolean {
  return transaction.signatures.every((_, i) => signatureHolds(transaction, i))
}

/** Whether the signature at this index is valid for its signer. */
export function signatureHolds({ signatures, messageBytes, message }: DecodedTransaction, place: number): boolean {
  const signature = signatures[place]
  return signature !== undefined && isSignatureOf(keyAt(message, place), messageBytes, signature)
}

/**
 * Whether a 64-byte signature of these bytes is valid for an address; false for an address that is not a public key.
 */
export function isSignatureOf(address: string, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(null, message, publicKeyOf(addressBytes(address)), signature)
  } catch {
    return false
  }
}
