/** API keys, with their scopes and rate limits. */
import { z } from '@hono/zod-openapi'
import { deletedSchema, listQuery, writeBody } from './envelope.ts'
import { defineRoute, SCOPES, type Tag } from './route.ts'
import { line, recordId, timestamp } from './scalars.ts'

const API_KEY_STATUSES = ['active', 'revoked'] as const

/** Repeated scopes are accepted and stored, so the length of the list is limited. */
const MAX_SCOPES = 32
const limit = z.int().min(1).max(1_000_000_000)

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
  })
  .openapi('ApiKey')

const apiKeyCreated = apiKey
  .extend({
    key: z.string().meta({ description: 'The key itself, shown only this once' }),
  })
  .openapi('ApiKeyCreated')

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
    }),
    example: { scopes: ['airdrop:write'], rate_limit_per_minute: 600 },
    data: apiKeyCreated,
    status: 201,
    scope: '*',
  }),
  list: defineRoute({
    at: ['get', '/v2/api-keys'],
    tag: API_KEYS_TAG,
    summary: 'List keys, newest first',
    description: 'Names, scopes and limits, including revoked keys. The keys themselves are never shown again.',
    query: listQuery({}),
    data: apiKey,
    list: true,
    scope: '*',
  }),
  revoke: defineRoute({
    at: ['delete', '/v2/api-keys/{id}'],
    tag: API_KEYS_TAG,
    atomic: true,
    summary: 'Revoke a key permanently',
    description:
      'Requests with the key are refused from now on. Webhook subscriptions that it made belong to the installation and continue; a key with `*` can change or delete them.',
    params: z.object({ id: recordId.meta({ example: 'key_7vQ2mXr9LdT4sYb1WnGe6KpA' }) }),
    body: writeBody({}),
    data: deletedSchema,
    scope: '*',
  }),
}
