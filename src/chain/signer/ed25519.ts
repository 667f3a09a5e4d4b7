/** Verifies signatures and public keys. No provider's signature is used before it is verified. */
import { verify } from 'node:crypto'
import { base58 } from '@scure/base'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../solana/constants.ts'
import { publicKeyOf } from '../../solana/signatures.ts'

/** Returns the 32 bytes of an address, or undefined for an invalid address. */
export function parsePublicKey(text: string): Uint8Array | undefined {
  try {
    const bytes = base58.decode(text)
    return bytes.length === KEY_BYTES ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Returns the base58 of a raw key in base64 or hex, or undefined when it is not 32 bytes. */
export function encodePublicKey(text: unknown, encoding: 'base64' | 'hex'): string | undefined {
  const bytes = typeof text === 'string' ? Buffer.from(text, encoding) : undefined
  return bytes?.length === KEY_BYTES ? base58.encode(bytes) : undefined
}

/** Returns a verifier for signatures of one address. Throws for an invalid address. */
export function signatureVerifier(address: string): (message: Uint8Array, signature: unknown) => boolean {
  const bytes = parsePublicKey(address)
  if (bytes === undefined) throw new Error(`${address} is not an address`)
  const key = publicKeyOf(bytes)
  return (message, signature) => {
    if (!(signature instanceof Uint8Array) || signature.length !== SIGNATURE_BYTES) return false
    return verify(null, message, key, signature)
  }
}
