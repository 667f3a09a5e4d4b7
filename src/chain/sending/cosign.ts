/** Prepares a built transaction before the payer signs: a fresh blockhash, and signatures of keys that the build made. */
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { decodeWireTransaction, signatureOffset } from '../../solana/messages.ts'
import { SEED_BYTES, signFresh } from '../../solana/signatures.ts'

/**
 * Signs with those of the keys (seed, then public key; empty for none) that are required signers, and returns their addresses too. The
 * message is unchanged.
 */
export function cosignedBy(
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): { transaction: Uint8Array; cosigners: string[] } {
  if (secretKeys.length === 0) return { transaction, cosigners: [] }
  const { message, messageBytes } = decodeWireTransaction(transaction)
  const signers = message.keys.slice(0, message.signers)
  const own = secretKeys
    .filter(({ length }) => length > 0)
    .map((secretKey) => ({ secretKey, address: addressOf(secretKey.subarray(SEED_BYTES)) }))
    .filter(({ address }) => signers.includes(address))
  const signed = Uint8Array.from(transaction)
  for (const { address, secretKey } of own) {
    signed.set(signFresh(secretKey, messageBytes), signatureOffset(signed, signers.indexOf(address)))
  }
  return { transaction: signed, cosigners: own.map(({ address }) => address) }
}

/** Returns the same transaction, unsigned, with another blockhash in its message, which is the only other difference. */
export function withBlockhash(transaction: Uint8Array, recentBlockhash: string): Uint8Array {
  const { raw, signatures, messageBytes, message } = decodeWireTransaction(transaction)
  for (const signature of signatures) signature.fill(0)
  messageBytes.set(addressBytes(recentBlockhash), message.blockhashOffset)
  return raw
}
