/** Reads a typed or exported key: 64 integers as the Solana CLI writes them, base58, or a recovery phrase. */
import { base58 } from '@scure/base'
import { keyPairFrom, otherKeyText } from '../../../src/chain/signer/keypair-file.ts'
import { keyFromBase58 } from '../../../src/merkle/base58.ts'
import { SEED_BYTES } from '../../../src/solana/signatures.ts'
import { type Problem, usage } from '../../ui/problem.ts'

const SHAPES =
  'a key is a keypair file of the Solana CLI (64 integers), base58 of 64 bytes as Phantom exports it, or a recovery phrase of 12 to 24 words'

/** Returns the 32-byte seed. Throws a usage problem, which never quotes the text. */
export async function seedIn(text: string, account: number): Promise<Uint8Array> {
  const trimmed = text.trim()
  if (text.includes('\0') || keyFromBase58(trimmed) !== undefined) throw refused(otherKeyText(text) ?? 'cannot be read')
  if (trimmed.startsWith('[')) return seedOfNumbers(jsonIn(trimmed))
  if (/\s/.test(trimmed)) {
    const { isPhrase, phraseIn, seedOfPhrase } = await import('./recovery-phrase.ts')
    const phrase = phraseIn(trimmed)
    if (!isPhrase(phrase)) throw refused('is not a recovery phrase: a word is wrong or missing')
    return seedOfPhrase(phrase, account)
  }
  return seedOfNumbers(Array.from(bytesIn(trimmed)))
}

function seedOfNumbers(numbers: unknown): Uint8Array {
  keyPairFrom(numbers, refused)
  return Uint8Array.from((numbers as number[]).slice(0, SEED_BYTES))
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('is not JSON')
  }
}

function bytesIn(text: string): Uint8Array {
  // Decoding base58 takes quadratic time, so long texts are refused first.
  if (text.length > 100) throw refused('is too long for base58 of 64 bytes')
  try {
    return base58.decode(text)
  } catch {
    throw refused('is neither JSON, base58 nor a recovery phrase')
  }
}

const refused = (what: string): Problem => usage(`the key ${what}`, { next: SHAPES })
