/** The parts that every endpoint shares: scalars, common request fields, meta, errors and list parameters. */

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

/** Amount in raw units or lamports: digits only, safe beyond 53 bits. */
export const digits = z
  .string()
  .regex(/^[0-9]+$/, { error: 'must be a string of digits', abort: true })
  .meta({ description: 'Amount in raw units, digits only', example: '1000000' })

/** Unsigned 64-bit amount as a digit string. */
export const u64Digits = digits.refine(isU64, 'must fit in 64 bits')

/** Whether text is digits alone of a number that fits in 64 bits. */
export function isU64(text: string): boolean {
  return /^[0-9]{1,39}$/.test(text) && BigInt(text) <= MAX_U64
}

/** Secret key of a generated keypair: 64 integers, seed then public key. */
export const secretKey = z
  .array(z.int().min(0).max(255))
  .length(64)
  .meta({ description: 'Secret key bytes, seed then public key; add it as a signer' })

/** As `secretKey`, but empty where that key is not needed or has signed already. */
export const spentSecretKey = z
  .array(z.int().min(0).max(255))
  .max(64)
  .refine((bytes) => bytes.length === 0 || bytes.length === 64, 'must be 64 integers, or none')
  .meta({
    description: 'Secret key bytes, seed then public key; empty where the key is not needed or has signed already',
  })

/** Told natively, as images are megabytes of it: all but the last four characters must come back as they went. */
function isBase64(text: string): boolean {
  const [most, last] = [text.slice(0, -4), text.slice(-4)]
  if (!/^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(last)) return false
  return most.length % 4 === 0 && Buffer.from(most, 'base64').toString('base64') === most
}
/** Base64 of anything but nothing. */
export const base64Text = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .refine(isBase64, 'must be standard base64, padded')
  .meta({ contentEncoding: 'base64' })
/** Any value or null, but present: shapes that others define. */
export const anything = z.unknown().refine((value) => value !== undefined, 'is required')
/** The value or null. A named schema keeps its name: `nullable()` would have the document ask for both at once. */
export const nullOr = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()])
/** Shape of a serialized transaction; only the operation decodes it. */
export const transactionBase64 = base64Text.meta({ description: 'Versioned transaction, base64' })
export const airdropCount = z.int().min(0).max(65535)
/** `spl` is the original token program. */
export const tokenProgramName = z.enum(['spl', 'token2022']).default('spl')
export const platformFeeField = z
  .int()
  .min(0)
  .default(0)
  .meta({ description: 'Lamports paid to the platform wallet inside the same transaction' })
export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC' })
/** A moment given by a caller, ISO 8601 or Unix seconds; Unix milliseconds inside. */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^[0-9]{1,11}$/), z.int().min(0).max(99_999_999_999)], {
    error: 'must be an ISO 8601 time or Unix seconds',
  })
  .transform((given) => (/^[0-9]+$/.test(String(given)) ? Number(given) * 1000 : Date.parse(String(given))))
  .openapi({
    type: ['string', 'integer'],
    description: 'ISO 8601 time, or Unix seconds',
    example: '2026-11-21T00:00:00Z',
  })
/** Query boolean: the words `true` and `false`, nothing else. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .openapi({ type: 'boolean' })
/** Without a flag, so that it reads the same in the OpenAPI document. */
export const NO_CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]*$/
/** Arguments of `regex`. */
export const noControls = [NO_CONTROLS, 'must not hold control characters'] as const
/**
 * Text on one line: control characters are refused, as PostgreSQL takes no NUL and a terminal obeys the others, and so
 * are halves of characters, which no database gives back.
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
/** Id of a stored record, as the server gave it. */
export const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the id of a stored record')
/** Hex of 32 bytes without 0x, as the server answers it. */
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
/** What was stored of a write's `metadata`; rows of an earlier version may be larger than what is taken today. */
export const storedMetadata = z.record(z.string(), z.string())

/** Most of `metadata`: entries, characters of a key and of a value, and bytes of all of it as JSON. */
export const METADATA = { entries: 50, key: 40, value: 500, bytes: 16 * 1024 } as const

const byteLength = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

/** Refused by its name: a record that is read drops it without a word. */
const PROTO = '__proto__'
const refuseProto = (given: unknown, context: z.RefinementCtx) => {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, PROTO)) return given
  context.addIssue({ code: 'custom', path: [PROTO], message: 'is not a name that can be used: choose another' })
  return z.NEVER
}
/** Named values of any kind. */
export const anyRecord = z.preprocess(refuseProto, z.record(z.string(), z.unknown())).openapi({
  type: 'object',
  additionalProperties: {},
}) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>

/** Tells of number and names of the entries before the record is read, which would name no key that is at fault. */
function checkEntries(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const keys = Object.keys(given)
  if (keys.length > METADATA.entries) {
    const message = `has ${keys.length} entries; at most ${METADATA.entries} are stored: leave some out`
    context.addIssue({ code: 'custom', path: [], message })
    return z.NEVER
  }
  for (const key of keys) {
    if (key.length >= 1 && key.length <= METADATA.key) continue
    const message = `has a name of ${key.length} characters; a name has 1 to ${METADATA.key}`
    context.addIssue({ code: 'custom', path: [key], message })
  }
  return refuseProto(given, context)
}

const METADATA_SCHEMA = {
  type: 'object' as const,
  maxProperties: METADATA.entries,
  propertyNames: { minLength: 1, maxLength: METADATA.key },
  additionalProperties: { type: 'string' as const, maxLength: METADATA.value },
  description: `At most ${METADATA.entries} entries and ${METADATA.bytes / 1024} KiB as JSON`,
}

/** `metadata` of a write (contract 1): bounded, as it is stored beside every record and event that the write makes. */
export const metadata = z
  .preprocess(
    checkEntries,
    z
      .record(z.string(), z.string().max(METADATA.value))
      .refine(
        (entries) => byteLength(entries) <= METADATA.bytes,
        `is larger than ${METADATA.bytes / 1024} KiB as JSON: send less`,
      ),
  )
  .openapi(METADATA_SCHEMA as object) as unknown as z.ZodType<Record<string, string>, Record<string, string>>
export const mode = z.enum(['unsigned', 'signed']).default('unsigned')

/** The three fields that every write accepts (spec 2, common request fields). */
export const commonFields = {
  mode,
  externalUid: externalUid.optional(),
  metadata: metadata.optional(),
}
export type CommonFields = { mode: 'unsigned' | 'signed'; externalUid?: string; metadata?: Record<string, string> }

/** Body of a write: the given fields and the common ones, and nothing else. */
export function writeBody<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject({ ...shape, ...commonFields })
}

const LIMIT = 'must be a whole number from 1 to 100, sent once'
/** Decimal digits alone, as no other way to write a number is meant; never clamped. */
const pageLimit = z
  .string({ error: LIMIT })
  .regex(/^[1-9][0-9]{0,2}$/, { error: LIMIT, abort: true })
  .transform(Number)
  .refine((limit) => limit <= 100, LIMIT)
  .default(20)
  .openapi({ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })

/** Body of a write that builds a transaction: it can be tried without leaving anything behind. */
export function buildBody<S extends z.ZodRawShape>(shape: S) {
  return writeBody({
    ...shape,
    dry_run: z.boolean().default(false).meta({
      description:
        'Checks and builds as usual, and leaves nothing behind: no record, event, file, ticker, signature of the platform or stored Idempotency-Key',
    }),
  })
}

/** Query of a list: its filters, `limit` and `cursor`, and nothing else. */
export function listQuery<S extends z.ZodRawShape>(filters: S) {
  return z.strictObject({
    ...filters,
    limit: pageLimit,
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,512}$/, 'must be the next_cursor of the previous page')
      .optional()
      .meta({ description: 'meta.next_cursor of the previous page' }),
  })
}

export const metaSchema = z
  .object({
    request_id: z.string(),
    external_uid: z.string().optional(),
    metadata: storedMetadata.optional(),
  })
  .openapi('Meta')

export const listMetaSchema = z
  .object({
    request_id: z.string(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    count: z.int().min(0),
  })
  .openapi('ListMeta')

export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum([
        'bad_request',
        'unauthorized',
        'forbidden',
        'not_found',
        'conflict',
        'rate_limited',
        'internal_error',
      ]),
      message: z.string(),
      param: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
      doc_url: z.string().optional(),
    }),
    meta: z.object({ request_id: z.string() }),
  })
  .openapi('Error')

export const EVENT_TYPES = [
  'pool.created',
  'pool.live',
  'pool.migration_triggered',
  'pool.migrated',
  'pool.failed',
  'airdrop.tree_built',
  'airdrop.initialized',
  'airdrop.claim_started',
  'airdrop.claimed',
  'airdrop.fully_claimed',
  'airdrop.vault_drained',
  'stake.acquired',
  'stake.released',
  'gold.locked',
  'gold.unlock_eligible',
  'gold.unlocked',
  'nft.created',
  'nft.staked',
  'nft.unstaked',
  'nft.burned',
  'token.created',
  'token.mint_authority_revoked',
  'token.freeze_authority_revoked',
  'token.fully_immutable',
  'transaction.submitted',
  'transaction.confirmed',
  'transaction.finalized',
  'transaction.failed',
  'fee_claim.executed',
  'fee_claim.split_executed',
  'webhook.test_event',
] as const
export type EventType = (typeof EVENT_TYPES)[number]
export const eventType = z.enum(EVENT_TYPES).openapi('EventType')

/** Hint that a build returns; it is echoed verbatim as `tracked_resource` on the submit. */
export const trackedResource = z
  .strictObject({
    resource_type: line(64),
    resource_id: line(256),
    related_events: z.array(eventType).max(5).default([]),
  })
  .openapi('TrackedResource')
export type TrackedResource = z.output<typeof trackedResource>

const unsignedShape = {
  mode: z.literal('unsigned'),
  transaction: transactionBase64,
  requiredSigners: z.array(address).optional().meta({ description: 'Who must still sign' }),
  tracked_resource: trackedResource.optional(),
}
/** Unsigned transaction payload (spec 2), with what a build adds to it. */
export function unsignedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ ...unsignedShape, ...more })
}
/** Signed transaction payload (spec 2), with what an operation adds to it. */
export function signedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ mode: z.literal('signed'), signature: signatureText, ...more })
}
/** Either payload, told apart by `mode`. */
export const eitherPayload = z
  .discriminatedUnion('mode', [unsignedPayload({}), signedPayload({})])
  .openapi('TransactionPayload')

/** What the deletion of a stored record answers. */
export const deletedSchema = z.object({ id: z.string(), deleted: z.literal(true) }).openapi('Deleted')
