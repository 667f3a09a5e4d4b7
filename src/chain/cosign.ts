/** Prepares a built transaction before the payer signs: a fresh blockhash, and signatures of keys that the build made. */
import { decodeWireTransaction } from '../solana/messages.ts'
import { keyPairOf } from '../solana/signatures.ts'

const SEED_BYTES = 32

/** Returns the transaction with the signatures, its message unchanged. Throws when a key is not a required signer. */
export function cosigned(transaction: Uint8Array, secretKeys: readonly Uint8Array[]): Uint8Array {
  const { message, messageBytes } = decodeWireTransaction(transaction)
  const signers = message.keys.slice(0, message.signers)
  const signed = Uint8Array.from(transaction)
  for (const secretKey of secretKeys) {
    const pair = keyPairOf(secretKey.subarray(0, SEED_BYTES))
    const place = signers.indexOf(pair.address)
    if (place < 0) throw new Error(`${pair.address} is no signer of the transaction`)
    signed.set(pair.sign(messageBytes), 1 + 64 * place)
  }
  return signed
}

/** Signs with those of the keys that are required signers, and returns their addresses too. */
export function cosignedBy(
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): { transaction: Uint8Array; cosigners: string[] } {
  const { message } = decodeWireTransaction(transaction)
  const signers = message.keys.slice(0, message.signers)
  const own = secretKeys.filter((key) => signers.includes(keyPairOf(key.subarray(0, SEED_BYTES)).address))
  const cosigners = own.map((key) => keyPairOf(key.subarray(0, SEED_BYTES)).address)
  return { transaction: cosigned(transaction, own), cosigners }
}

/** Returns the same transaction, unsigned, with another blockhash in its message. */
export async function withBlockhash(transaction: Uint8Array, recentBlockhash: string): Promise<Uint8Array> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const { message } = VersionedTransaction.deserialize(transaction)
  message.recentBlockhash = recentBlockhash
  return new VersionedTransaction(message).serialize()
}
