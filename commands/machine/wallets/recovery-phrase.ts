/**
 * Makes recovery phrases (BIP-39) and the keys that wallets such as Phantom and Solflare derive from them (SLIP-10,
 * ed25519).
 */
import { createHmac } from 'node:crypto'
import { generateMnemonic, mnemonicToSeed, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'

const HARDENED = 0x80000000
/** m/44'/501'/ACCOUNT'/0', where 501 is Solana (SLIP-44). */
const pathOf = (account: number) => [44, 501, account, 0]

/** Twelve new words. */
export const newPhrase = (): string => generateMnemonic(wordlist, 128)

/** The words as they are hashed: lower case with single spaces. */
export const phraseIn = (text: string): string => text.trim().toLowerCase().split(/\s+/).join(' ')

/** Whether every word is on the list, the count is one of 12 to 24, and the checksum holds. */
export const isPhrase = (phrase: string): boolean => validateMnemonic(phrase, wordlist)

/** The 32-byte seed of an account, counted from 0, of a valid phrase without a passphrase of its own. */
export async function seedOfPhrase(phrase: string, account: number): Promise<Buffer> {
  return derivedSeed(Buffer.from(await mnemonicToSeed(phrase)), pathOf(account))
}

/** The private key at a path of hardened steps below the master key of a seed, by SLIP-10 for ed25519. */
export function derivedSeed(seed: Uint8Array, path: readonly number[]): Buffer {
  let node = createHmac('sha512', 'ed25519 seed').update(seed).digest()
  for (const step of path) {
    const index = Buffer.alloc(4)
    index.writeUInt32BE(HARDENED + step)
    node = createHmac('sha512', node.subarray(32))
      .update(Buffer.of(0))
      .update(node.subarray(0, 32))
      .update(index)
      .digest()
  }
  return Buffer.from(node.subarray(0, 32))
}
