/** API keys, with their scopes and rate limits. */
import { z } from '@hono/zod-openapi'
import { addressRange } from '../platform/address-ranges.ts'
import { deletedSchema, listQuery, writeBody } from './envelope.ts'
import { defineRoute, SCOPES, type Tag } from './route.ts'
import { line, recordId, timestamp } from './scalars.ts'

const API_KEY_STATUSES = ['active', 'revoked'] as const

/** Why a stored key is refused that was not revoked. */
export const KEY_REFUSALS = ['expired', 'address', 'rotated'] as const
export type KeyRefusal = (typeof KEY_REFUSALS)[number]

/** Repeated scopes are accepted and stored, so the length of the list is limited. */
const MAX_SCOPES = 32
const limit = z.int().min(1).max(1_000_000_000)
/** Seconds: from a minute to ten years. */
const expiresIn = z.int().min(60).max(315_360_000)
const MAX_RANGES = 32
const allowIps = z
  .array(
    z
      .string()
      .max(64)
      .transform(addressRange)
      .refine((range) => range !== null, 'must be an address, or a range such as 203.0.113.0/24 or 2001:db8::/32')
      .transform((range) => range ?? '')
      .openapi({ type: 'string', example: '203.0.113.0/24' }),
  )
  .max(MAX_RANGES)
  .meta({ description: 'Addresses, or ranges as CIDR, from which the key may be used; empty for any' })

/** Complete, because users decide from it who may have a key without scopes. */
const NO_SCOPES =
  'A key without scopes reads every record except keys, signer and audit log. It builds unsigned transactions, and verifies, simulates and submits signed ones. It can have the platform wallet co-sign mints and releases that cost the wallet nothing, and it can make its own webhook subscriptions'

export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    preview: z.string().meta({ description: 'First characters of the key' }),
    scopes: z.array(z.enum(SCOPES)).meta({ description: NO_SCOPES }),
    rate_limit_per_minute: limit.nullable().meta({ description: 'Null: unlimited' }),
    rate_limit_per_day: limit.nullable().meta({ description: 'Null: unlimited' }),
    status: z.enum(API_KEY_STATUSES),
    created_at: timestamp,
    revoked_at: timestamp.nullable(),
    expires_at: timestamp.nullable().meta({ description: 'The key is refused from then on; null: never' }),
    allow_ips: z
      .array(z.string())
      .meta({ description: 'Ranges of addresses from which the key may be used; empty: any' }),
    rotated_at: timestamp.nullable().meta({ description: 'When the key last got a new text' }),
    previous_key_expires_at: timestamp
      .nullable()
      .meta({ description: 'When the last of its earlier texts is refused, or was; null: it has none' }),
    last_used_at: timestamp
      .nullable()
      .meta({ description: 'Up to a minute before its last use over the network; null: never used' }),
    last_used_from: z.string().nullable().meta({ description: 'Address of that use' }),
  })
  .openapi('ApiKey')

const apiKeyCreated = apiKey
  .extend({
    key: z.string().meta({ description: 'The key itself, shown only this once' }),
  })
  .openapi('ApiKeyCreated')

/** Hours of a week. */
const MAX_OVERLAP = 168
const keyParams = z.object({ id: recordId.meta({ example: 'key_7vQ2mXr9LdT4sYb1WnGe6KpA' }) })

export type ApiKey = z.output<typeof apiKey>
export type ApiKeyCreated = z.output<typeof apiKeyCreated>

const API_KEYS_TAG: Tag = { name: 'API keys', description: 'Who may call which parts of this API, and how often.' }

export const apiKeys = {
  create: defineRoute({
    at: ['post', '/v2/api-keys'],
    tag: API_KEYS_TAG,
    atomic: true,
    summary: 'Make a key',
    description: 'With its scopes and limits. The answer holds the whole key, this once; only its hash is kept.',
    body: writeBody({
      name: line(100).meta({ example: 'backend' }),
      scopes: z.array(z.enum(SCOPES)).max(MAX_SCOPES).default([]),
      rate_limit_per_minute: limit.optional().meta({ description: "The server's `rate-per-minute` (120) by default" }),
      rate_limit_per_day: limit.optional().meta({ description: "The server's `rate-per-day` (50,000) by default" }),
      expires_in: expiresIn.optional().meta({ description: 'Seconds until it expires; it never does by default' }),
      allow_ips: allowIps.default([]),
    }),
    example: { scopes: ['airdrop:write'], rate_limit_per_minute: 600, expires_in: 7_776_000 },
    data: apiKeyCreated,
    status: 201,
    scope: '*',
  }),
  list: defineRoute({
    at: ['get', '/v2/api-keys'],
    tag: API_KEYS_TAG,
    summary: 'List keys, newest first',
    description:
      'Names, scopes, limits, expiry and last use, including revoked keys. The keys themselves are never shown again.',
    query: listQuery({}),
    data: apiKey,
    list: true,
    scope: '*',
  }),
  update: defineRoute({
    at: ['patch', '/v2/api-keys/{id}'],
    tag: API_KEYS_TAG,
    atomic: true,
    summary: 'Change when a key expires, or from where it may be used',
    description: 'Requests that arrive after the answer are judged by the new values. A revoked key stays as it is.',
    params: keyParams,
    body: writeBody({
      expires_in: expiresIn.nullable().optional().meta({ description: 'Seconds from now; null: it never expires' }),
      allow_ips: allowIps.optional(),
    }),
    example: { allow_ips: ['203.0.113.0/24', '2001:db8::/32'] },
    data: apiKey,
    scope: '*',
  }),
  rotate: defineRoute({
    at: ['post', '/v2/api-keys/{id}/rotations'],
    tag: API_KEYS_TAG,
    atomic: true,
    summary: 'Give a key a new text',
    description:
      'The answer holds the new text, this once. Id, scopes, limits, expiry, subscriptions and records of the key stay. The old text is accepted for `overlap_hours`; with 0, every earlier text is refused at once. At most five earlier texts are accepted at a time.',
    params: keyParams,
    body: writeBody({ overlap_hours: z.int().min(0).max(MAX_OVERLAP).default(24) }),
    data: apiKeyCreated,
    scope: '*',
  }),
  revoke: defineRoute({
    at: ['delete', '/v2/api-keys/{id}'],
    tag: API_KEYS_TAG,
    atomic: true,
    summary: 'Revoke a key permanently',
    description:
      'Requests with the key are refused from now on. Webhook subscriptions that it made belong to the installation and continue; a key with `*` can change or delete them.',
    params: keyParams,
    body: writeBody({}),
    data: deletedSchema,
    scope: '*',
  }),
}
