/** Scalar schemas of the API, such as addresses, amounts, hashes, times and texts, each with its error and description. */
import { z } from '@hono/zod-openapi'
import { isAddress } from '../solana/addresses.ts'
import { WRAPPED_SOL } from '../solana/program-ids.ts'
import { MAX_U64 } from '../solana/u64.ts'

/** Base58 public key of exactly 32 bytes. */
export const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, { error: 'must be a base58 address of 32 to 44 characters', abort: true })
  .refine(isAddress, 'invalid base58 address: it does not decode to 32 bytes')
  .meta({ description: 'Public key, base58', example: WRAPPED_SOL })

/** Base58 transaction signature. */
export const signatureText = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{43,90}$/, 'must be a base58 transaction signature')
  .meta({ description: 'Transaction signature, base58' })

/** Amount in raw units or lamports; digits only, so that it is exact beyond 53 bits. */
export const digits = z
  .string()
  .regex(/^[0-9]+$/, { error: 'must be a string of digits', abort: true })
  .meta({ description: 'Amount in raw units, digits only', example: '1000000' })

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
  .meta({ description: 'Secret key bytes, seed then public key; add it as a signer' })

/** Secret key like `secretKey`, but empty when the key is not needed or has already signed. */
export const spentSecretKey = z
  .array(z.int().min(0).max(255))
  .max(64)
  .refine((bytes) => bytes.length === 0 || bytes.length === 64, 'must be 64 integers, or none')
  .meta({
    description: 'Secret key bytes, seed then public key; empty where the key is not needed or has signed already',
  })

/**
 * Validates with Buffer because images have megabytes of text: all but the last four characters must decode and encode
 * to the same text.
 */
function isBase64(text: string): boolean {
  const [head, tail] = [text.slice(0, -4), text.slice(-4)]
  if (!/^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(tail)) return false
  return head.length % 4 === 0 && Buffer.from(head, 'base64').toString('base64') === head
}
/** Base64 text that is not empty. */
export const base64Text = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .refine(isBase64, 'must be standard base64, padded')
  .meta({ contentEncoding: 'base64' })
/** Any value including null, but not absent; used for shapes that external services define. */
export const anything = z.unknown().refine((value) => value !== undefined, 'is required')
/** The value or null. Unlike `nullable()`, a union keeps the reference to a named schema correct in the document. */
export const nullOr = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()])
/** Base64 of a serialized transaction; only the operation decodes it. */
export const transactionBase64 = base64Text.meta({ description: 'Versioned transaction, base64' })
export const airdropCount = z.int().min(0).max(65535)
/** Token program; `spl` is the original one. */
export const tokenProgramName = z.enum(['spl', 'token2022']).default('spl')
export const platformFeeField = z
  .int()
  .min(0)
  .default(0)
  .meta({ description: 'Lamports paid to the platform wallet inside the same transaction' })
export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC' })
/** A time as ISO 8601 or Unix seconds; it is converted to Unix milliseconds. */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^[0-9]{1,11}$/), z.int().min(0).max(99_999_999_999)], {
    error: 'must be an ISO 8601 time or Unix seconds',
  })
  .transform((input) => (/^[0-9]+$/.test(String(input)) ? Number(input) * 1000 : Date.parse(String(input))))
  .openapi({
    type: ['string', 'integer'],
    description: 'ISO 8601 time, or Unix seconds',
    example: '2026-11-21T00:00:00Z',
  })
/** Query boolean, either `true` or `false`. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .openapi({ type: 'boolean' })
/** Pattern without control characters; it has no flags, so that it is valid in the OpenAPI document too. */
export const NO_CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]*$/
/** Arguments for `regex` that reject control characters. */
export const noControls = [NO_CONTROLS, 'must not hold control characters'] as const
/**
 * Text on one line. Control characters are rejected, as PostgreSQL does not store NUL and terminals interpret the
 * others; so are unpaired surrogates, which databases do not preserve.
 */
export const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(...noControls)
    .refine((text) => !/\p{Surrogate}/u.test(text), 'must not hold half a character')
export const uri = z
  .url('must be a URI')
  .regex(...noControls)
  .meta({ format: 'uri', example: 'https://example.com/metadata.json' })
export const platformId = line(64).meta({ description: 'Name of the calling platform', example: 'acme' })
/** Id of a stored record as the server returned it. */
export const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the id of a stored record')
/** Hex of 32 bytes without 0x, as the server returns it. */
export const hex32 = z.string().regex(/^[0-9a-f]{64}$/)
/** Hex of 32 bytes, with or without 0x. */
export const hash32 = z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be 32 bytes in hex')
export const treeId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{45}[AQgw]$/, 'must be a merkle tree id: base64url of mint and airdrop count, 46 characters')
  .meta({ description: 'base64url(mint 32 bytes, airdrop_count u16 big-endian), no padding' })

export const externalUid = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores, hyphens, dots or colons')
