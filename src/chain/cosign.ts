/** Prepares a built transaction before the payer signs: a fresh blockhash, and signatures of keys that the build made. */
import { addressOf } from '../solana/addresses.ts'
import { decodeWireTransaction, signatureOffset } from '../solana/messages.ts'
import { SEED_BYTES, signFresh } from '../solana/signatures.ts'

/**
 * Signs with those of the keys (seed, then public key) that are required signers, and returns their addresses too. The
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
    .map((secretKey) => ({ secretKey, address: addressOf(secretKey.subarray(SEED_BYTES)) }))
    .filter(({ address }) => signers.includes(address))
  const signed = Uint8Array.from(transaction)
  for (const { address, secretKey } of own) {
    signed.set(signFresh(secretKey, messageBytes), signatureOffset(signers.indexOf(address)))
  }
  return { transaction: signed, cosigners: own.map(({ address }) => address) }
}

/** Returns the same transaction, unsigned, with another blockhash in its message. */
export async function withBlockhash(transaction: Uint8Array, recentBlockhash: string): Promise<Uint8Array> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const { message } = VersionedTransaction.deserialize(transaction)
  message.recentBlockhash = recentBlockhash
  return new VersionedTransaction(message).serialize()
}
