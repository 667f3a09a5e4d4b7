/** The audit log: every signature of the custodial signer and every change of its policy and of API keys, hash-chained and sealed. */
import { z } from '@hono/zod-openapi'
import { listQuery } from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'
import { address, hex32, timestamp } from './scalars.ts'

export const AUDIT_ACTIONS = [
  'signing.intended',
  'signing.signed',
  'signing.refused',
  'signing.failed',
  'signer.tested',
  'policy.changed',
  'signer.paused',
  'signer.resumed',
  'spend.reset',
  'api_key.created',
  'api_key.revoked',
  'audit.sealed',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export const auditEntry = z
  .object({
    sequence: z.int().min(1).meta({ description: 'Place in the log, without gaps' }),
    at: timestamp,
    action: z.enum(AUDIT_ACTIONS),
    signer: address.nullable(),
    api_key_id: z.string(),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()),
    details_json: z.string().meta({ description: '`details` as it was hashed' }),
    previous_hash: hex32.meta({ description: 'Hash of the entry before; 64 zeros for the first' }),
    hash: hex32.meta({
      description:
        'SHA-256 over the JSON array [sequence, previous_hash, at in Unix milliseconds, action, signer, api_key_id, request_id, details_json]',
    }),
    seal: hex32
      .nullable()
      .meta({ description: "HMAC-SHA256 of `hash` under a key made of the installation's encryption key" }),
  })
  .openapi('AuditEntry')

export const auditVerification = z
  .object({
    intact: z.boolean(),
    entries: z.int().min(0).meta({ description: 'Entries that hold, from the first on' }),
    head: hex32.meta({
      description: 'Hash of the last entry that holds: keep it elsewhere, and no entry can be cut off unseen',
    }),
    broken: z.object({ sequence: z.int(), why: z.string() }).nullable().meta({
      description:
        'First entry that does not hold, or the one that the stored policy or spends do not follow from; 0 where there is none',
    }),
  })
  .openapi('AuditVerification')

export type AuditEntry = z.output<typeof auditEntry>
export type AuditVerification = z.output<typeof auditVerification>

const AUDIT_TAG = 'Signer'

export const auditEntries = {
  list: defineRoute({
    at: paths.auditEntries.list,
    tag: AUDIT_TAG,
    summary: 'List the audit log',
    description: 'Newest first; with `order=asc` oldest first, to export it.',
    query: listQuery({ action: z.enum(AUDIT_ACTIONS).optional(), order: z.enum(['asc', 'desc']).default('desc') }),
    data: auditEntry,
    list: true,
    scope: '*',
  }),
  verify: defineRoute({
    at: paths.auditEntries.verify,
    tag: AUDIT_TAG,
    summary: 'Recompute the audit log',
    description:
      "Numbers, hashes and seals of all entries, and whether the signer's policy and the spends of its day are what they left.",
    query: z.strictObject({ head: hex32.optional().meta({ description: 'Hash of an entry that must be there' }) }),
    data: auditVerification,
    scope: '*',
  }),
}
