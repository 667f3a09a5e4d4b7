/** Reads a keypair file of the Solana CLI that is private to its user. No error message quotes its content. */
import { type FaultKind, FileFault, readOwn } from '../../platform/files.ts'
import { isAddress } from '../../solana/addresses.ts'
import { type KeyPair, keyPairOf } from '../../solana/signatures.ts'

export const KEYPAIR_SHAPE = 'a keypair file is a JSON array of 64 integers, as `solana-keygen new` writes it'

/** Largest file that is read. A keypair takes far less. */
const MAX_KEYPAIR_BYTES = 65_536

type KeypairFault = FaultKind

/** An error of the file. The message follows the file's name, and `next` is the remedy if there is a single one. */
export class KeypairFileError extends Error {
  override readonly name = 'KeypairFileError'
  readonly fault: KeypairFault
  readonly next: string | undefined

  constructor(fault: KeypairFault, message: string, next?: string) {
    super(message)
    this.fault = fault
    this.next = next
  }
}

/** Returns the key pair of a file that others can neither read nor replace. Throws KeypairFileError. */
export const readKeypairFile = (file: string): KeyPair => keyPairFrom(readKeypairNumbers(file), badContent)

/** Returns the key pair of such a file with its 64 secret integers. Throws KeypairFileError. */
export function readSecretKeyFile(file: string): KeyPair & { secretKey: number[] } {
  const numbers = readKeypairNumbers(file)
  return { ...keyPairFrom(numbers, badContent), secretKey: numbers as number[] }
}

/** What the JSON of such a file holds, which is not checked yet. */
function readKeypairNumbers(file: string): unknown {
  // Editors of Windows write a byte order mark, which JSON.parse does not take.
  const text = readPrivateText(file).replace(/^\ufeff/, '')
  const other = otherKeyText(text)
  if (other !== undefined) throw badContent(other)
  try {
    return JSON.parse(text)
  } catch {
    // JSON.parse quotes its input, so its message is not used.
    throw badContent('is not JSON')
  }
}

/** Recognizes a text that is often mistaken for a keypair file; undefined if it may be one. The text is not quoted. */
export function otherKeyText(text: string): string | undefined {
  if (text.includes('\0') || text.startsWith('\ufffd')) return 'is UTF-16: save it as UTF-8'
  const plain = text.trim().replace(/^"(.*)"$/, '$1')
  if (isAddress(plain)) return 'holds an address, which is public, and not the secret key'
  if (/^[1-9A-HJ-NP-Za-km-z]{64,90}$/.test(plain))
    return 'holds base58 instead of JSON: `svc wallet import NAME FILE` takes a key in base58'
  if (/^(?:[a-z]+\s+){11,23}[a-z]+$/i.test(plain))
    return 'holds words instead of JSON: `svc wallet import NAME FILE` takes a recovery phrase'
  return undefined
}

/** Converts 64 integers, seed then public key, to a key pair. Throws the error that `refuse` returns for a reason. */
export function keyPairFrom(numbers: unknown, refuse: (what: string) => Error): KeyPair {
  if (!Array.isArray(numbers)) throw refuse('is not a JSON array')
  if (numbers.length === 32) throw refuse('holds 32 integers: the public key, its second half, is missing')
  if (numbers.length !== 64) throw refuse(`holds ${numbers.length} entries, not 64`)
  const wrong = numbers.findIndex((byte) => !Number.isInteger(byte) || byte < 0 || byte > 255)
  if (wrong >= 0) throw refuse(`holds an entry that is not an integer from 0 to 255, at place ${wrong + 1}`)
  const bytes = Uint8Array.from(numbers as number[])
  const pair = keyPairOf(bytes.subarray(0, 32))
  const fits = Buffer.from(pair.publicKey).equals(bytes.subarray(32))
  bytes.fill(0)
  if (!fits) throw refuse('is damaged: its public key does not belong to its seed')
  return pair
}

const badContent = (what: string) => new KeypairFileError('content', what)

function readPrivateText(file: string): string {
  try {
    const text = readOwn(file, { secret: true, maxBytes: MAX_KEYPAIR_BYTES })
    if (text === '') throw badContent('is empty')
    return text
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { kind, what, next } = error
    const message = what.endsWith('too many') ? `${what} for a keypair` : what
    throw new KeypairFileError(kind, message, kind === 'exposed' ? next : undefined)
  }
}
