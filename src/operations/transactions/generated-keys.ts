/** Seals the keys that a build generated, so that the client can keep them but cannot use them for anything else. */
import { badRequest } from '../../platform/errors.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { freshKey, SEED_BYTES } from '../../solana/signatures.ts'
import type { Vault } from '../../store/installation/vault.ts'
import { termsSha256 } from './message-terms.ts'

const PURPOSE = 'generated keys'

/** The sealed text. Its fields never change, because clients keep it while they wait for signatures. */
interface SealedKeys {
  /** The messages without their blockhash, as hex of SHA-256. */
  terms: string[]
  /** Base64 of 32 bytes each. */
  seeds: string[]
}

/**
 * Returns the answer's field with the encrypted keys (64 bytes each) that sign these transactions, or no field without
 * keys. The server stores nothing.
 */
export function generatedKeysField(
  vault: Vault,
  transactions: readonly Uint8Array[],
  generated: readonly Uint8Array[],
): { generated_keys?: string } {
  const secretKeys = generated.filter(({ length }) => length > 0)
  if (secretKeys.length === 0) return {}
  const sealed: SealedKeys = {
    terms: transactions.map((raw) => termsSha256(decodeWireTransaction(raw))),
    seeds: secretKeys.map((key) => Buffer.from(key.subarray(0, SEED_BYTES)).toString('base64')),
  }
  return { generated_keys: vault.seal(JSON.stringify(sealed), PURPOSE).toString('base64url') }
}

/** Returns the sealed keys, 64 bytes each. Throws bad_request unless they were sealed for these transactions. */
export function openGeneratedKeys(
  vault: Vault,
  text: string,
  transactions: readonly DecodedTransaction[],
): Uint8Array[] {
  const { terms, seeds } = opened(vault, text)
  const stranger = transactions.findIndex((transaction) => !terms.includes(termsSha256(transaction)))
  if (stranger >= 0) {
    throw badRequest(
      `generated_keys belong to another build than transactions.${stranger}: send the keys from the answer of its build`,
      { param: 'generated_keys' },
    )
  }
  return seeds.map((seed) => freshKey(Buffer.from(seed, 'base64')).secretKey)
}

function opened(vault: Vault, text: string): SealedKeys {
  try {
    return JSON.parse(vault.open(Buffer.from(text, 'base64url'), PURPOSE).toString('utf8'))
  } catch {
    throw badRequest(
      'generated_keys cannot be opened: they were changed, or sealed by a server with another encryption key; build the transaction again',
      { param: 'generated_keys' },
    )
  }
}
