/** Scalar schemas of on-chain values: addresses, amounts, keys, transactions, hashes, links. */
import { z } from '@hono/zod-openapi'
import { isAddress, looksBase58 } from '../solana/addresses.ts'
import { MAX_V1_TRANSACTION_BYTES } from '../solana/constants.ts'
import { MAX_U64 } from '../solana/u64.ts'
import { line } from './scalars.ts'
import { uriFault } from './uris.ts'

/** The wallet and the mint of examples. */
export const WALLET_EXAMPLE = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'
export const MINT_EXAMPLE = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
/** Base58 public key of exactly 32 bytes. */
export const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, { error: 'must be a base58 address of 32 to 44 characters', abort: true })
  .refine(isAddress, 'invalid base58 address: it does not decode to 32 bytes')
  .meta({ description: 'Public key, base58', example: WALLET_EXAMPLE })

/** Addresses that are not wallets, so the example of a request has different addresses for different fields. */
export const otherWallet = address.meta({ example: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78' })
export const mintAddress = address.meta({ example: MINT_EXAMPLE })
/** The address of a new mint whose key the caller has. */
export const chosenMint = address.optional().meta({
  description:
    'Address of the new mint, if you have its key: it must sign too, and no account may be there yet. By default a new key is made',
})
export const poolAddress = address.meta({ example: 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4' })
export const assetAddress = address.meta({ example: 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222' })
export const collectionAddress = address.meta({ example: 'ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq' })

/** Base58 transaction signature. */
export const signatureText = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{43,90}$/, 'must be a base58 transaction signature')
  .meta({
    description: 'Transaction signature, base58',
    example: '2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY',
  })

/** Amount in raw units or lamports; digits only, so that it is exact beyond 53 bits. */
export const digits = z
  .string()
  .regex(/^[0-9]+$/, { error: 'must be a string of digits', abort: true })
  .meta({ description: 'Amount in raw units, digits only', example: '1000000' })

export const signedDigits = z
  .string()
  .regex(/^-?[0-9]+$/)
  .meta({ description: 'Amount in raw units, as digits with an optional minus', example: '-5000' })

/** Unsigned 64-bit amount as a digit string. */
export const u64Digits = digits.refine(isU64, 'must fit in 64 bits')

/** Whether the text has only digits and fits into 64 bits. */
export function isU64(text: string): boolean {
  return /^[0-9]{1,39}$/.test(text) && BigInt(text) <= MAX_U64
}

/** Secret key of a generated keypair: 64 integers, the seed followed by the public key. */
export const secretKey = z
  .array(z.int().min(0).max(255))
  .length(64)
  .meta({ description: 'Secret key bytes, seed first, then public key; add it as a signer' })

/** Secret key like `secretKey`, but empty when the key is not needed or has already signed. */
export const spentSecretKey = z
  .array(z.int().min(0).max(255))
  .max(64)
  .refine((bytes) => bytes.length === 0 || bytes.length === 64, 'must be 64 integers, or none')
  .meta({
    description: 'Secret key bytes, seed first, then public key; empty if the key is not needed or has already signed',
  })

/** Searches for a character outside of the alphabet: the text of an image has megabytes, which a repetition cannot match. */
function isBase64(text: string): boolean {
  const [head, tail] = [text.slice(0, -4), text.slice(-4)]
  if (!/^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(tail)) return false
  return head.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(head)
}
const filledText = z.string().min(1, { error: 'must not be empty', abort: true })
/** Base64 text that is not empty. */
export const base64Text = filledText
  .refine(isBase64, 'must be standard base64, padded')
  .meta({ contentEncoding: 'base64' })
/** Characters of the largest transaction, which is one of version 1, in base64. */
const MAX_TRANSACTION_CHARACTERS = 4 * Math.ceil(MAX_V1_TRANSACTION_BYTES / 3)
/** The beginning of an image's data URL, with its media type. */
const IMAGE_DATA_URL = /^data:image\/(png|jpe?g|gif|webp);base64,/i
/**
 * Splits a data URL of an image into its declared type and its base64; plain base64 declares no type.
 *
 * @example
 * imageParts('data:image/jpg;base64,iVBORw==') // { declared: 'image/jpeg', base64: 'iVBORw==' }
 * imageParts('iVBORw==') // { declared: null, base64: 'iVBORw==' }
 */
export function imageParts(text: string): { declared: string | null; base64: string } {
  const [prefix, type] = IMAGE_DATA_URL.exec(text) ?? []
  if (prefix === undefined || type === undefined) return { declared: null, base64: text }
  return { declared: `image/${type.toLowerCase().replace('jpg', 'jpeg')}`, base64: text.slice(prefix.length) }
}
/** A PNG of one pixel: the smallest example that can be sent. */
const ONE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=='
/** Base64 of an image, or its data URL. */
export const imageText = filledText
  .refine((text) => !/^data:/i.test(text) || IMAGE_DATA_URL.test(text), {
    error: 'must be base64, or a data URL of base64: data:image/png;base64,… (png, jpeg, gif or webp)',
    abort: true,
  })
  .refine((text) => isBase64(imageParts(text).base64), 'must be standard base64, padded')
  .meta({ contentEncoding: 'base64', example: ONE_PIXEL })
/** Base64 of a serialized transaction; the operation decodes it and refuses one that is too large for its version. */
export const transactionBase64 = filledText
  .max(MAX_TRANSACTION_CHARACTERS, {
    error: `must be at most ${MAX_TRANSACTION_CHARACTERS} characters: a transaction has at most ${MAX_V1_TRANSACTION_BYTES.toLocaleString('en')} bytes`,
    abort: true,
  })
  .refine(isBase64, {
    error: ({ input }) =>
      looksBase58(String(input))
        ? 'must be standard base64, padded; this looks like base58'
        : 'must be standard base64, padded',
  })
  .meta({
    contentEncoding: 'base64',
    description: 'Transaction of version 1 or 0, or a legacy one, base64',
    example: 'AQAAAA==',
  })
export const airdropCount = z.int().min(0).max(65535)
/** Token program; `spl` is the original one. */
export const tokenProgramName = z.enum(['spl', 'token2022']).default('spl')
export const platformFeeField = z
  .int()
  .min(0)
  .default(0)
  .meta({ description: 'Lamports paid to the platform wallet inside the same transaction' })
/** Confirms that a recipient or authority is meant to be an address of a program, which has no key. */
export const allowProgramsField = z.boolean().default(false).meta({
  description:
    'Whether addresses of programs are accepted, such as the vault of a multisig; a mint or a token account never is',
})
const HASH_EXAMPLE = '9c8448f94162666b80a3ae7732e0a1fd2ba1bce92918de2c02bdb9910ea5521f'
/** Hex of 32 bytes without 0x, as the server returns it. */
export const hex32 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ example: HASH_EXAMPLE })
/** Hex of 32 bytes, with or without 0x. */
export const hash32 = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be 32 bytes in hex')
  .meta({ example: HASH_EXAMPLE })
export const treeId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{45}[AQgw]$/, 'must be a merkle tree id: base64url of mint and airdrop count, 46 characters')
  .meta({
    description: 'base64url(mint 32 bytes, airdrop_count u16 big-endian), no padding',
    example: '6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
  })
export const warningsField = z
  .array(z.string())
  .optional()
  .meta({ description: 'Accepted, but check these; absent if there are none' })
/** A URI that is published permanently. */
export const uri = z
  .string()
  .superRefine((text, context) => {
    const message = uriFault(text)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
  .meta({
    format: 'uri',
    description: 'RFC 3986, with the scheme https, ipfs, ar, data, or http, which causes a warning',
    example: 'https://example.com/metadata.json',
  })
export const platformId = line(64).meta({ description: 'Name of the calling platform', example: 'acme' })
