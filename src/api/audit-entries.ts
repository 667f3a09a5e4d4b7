/**
 * The audit log: every signature of the custodial signer and every change of its policy, of API keys and of fee
 * schedules, hash-chained and sealed.
 */
import { z } from '@hono/zod-openapi'
import { AUDIT_ACTIONS } from './audit-actions.ts'
import { address, hex32 } from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { defineRoute } from './route.ts'
import { timestamp } from './scalars.ts'
import { SIGNER_TAG } from './signer.ts'

const auditEntry = z
  .object({
    sequence: z.int().min(1).meta({ description: 'Place in the log, without gaps' }),
    at: timestamp,
    action: z.enum(AUDIT_ACTIONS),
    signer: address.nullable(),
    api_key_id: z.string(),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()),
    details_json: z.string().meta({ description: '`details` in the exact text that was hashed' }),
    previous_hash: hex32.meta({ description: 'Hash of the previous entry; 64 zeros for the first' }),
    hash: hex32.meta({
      description:
        'SHA-256 over the JSON array [sequence, previous_hash, at in Unix milliseconds, action, signer, api_key_id, request_id, details_json]',
    }),
    seal: hex32
      .nullable()
      .meta({ description: "HMAC-SHA256 of `hash` with a key derived from the installation's encryption key" }),
  })
  .openapi('AuditEntry')

const auditCutShape = z.object({
  sequence: z.int().min(1).meta({ description: 'Last entry that was removed' }),
  hash: hex32.meta({ description: 'Its hash, which is the last one in the exported file' }),
  cut_at: timestamp,
})

const auditCut = auditCutShape
  .extend({ entries: z.int().min(0).meta({ description: 'Entries that this cut removed' }) })
  .openapi('AuditCut')

const auditVerification = z
  .object({
    intact: z.boolean(),
    entries: z.int().min(0).meta({ description: 'Number of valid stored entries, from the first on' }),
    head: hex32.meta({
      description:
        'Hash of the last valid entry. Store it elsewhere, and a removal of later entries cannot go unnoticed',
    }),
    broken: z.object({ sequence: z.int(), why: z.string() }).nullable().meta({
      description:
        'First invalid entry, or the entry that a stored policy, spend, key, sponsorship or schedule contradicts; 0 if there is none',
    }),
    cut: auditCutShape.optional().meta({ description: 'The last cut; the first stored entry follows it' }),
  })
  .openapi('AuditVerification')

export type AuditEntry = z.output<typeof auditEntry>
export type AuditVerification = z.output<typeof auditVerification>

export const auditEntries = {
  list: defineRoute({
    at: ['get', '/v2/audit-entries'],
    tag: SIGNER_TAG,
    summary: 'List the audit log',
    description: 'Newest first; with `order=asc` oldest first, to export it.',
    query: listQuery({ action: z.enum(AUDIT_ACTIONS).optional(), order: z.enum(['asc', 'desc']).default('desc') }),
    data: auditEntry,
    list: true,
    scope: '*',
  }),
  verify: defineRoute({
    at: ['get', '/v2/audit-verification'],
    tag: SIGNER_TAG,
    summary: 'Recompute the audit log',
    description:
      "Checks sequence, hashes and seals of all entries. It also checks that the signer's policy and daily spends, API keys, sponsorships and fee schedules are the ones that the entries recorded.",
    query: z.strictObject({ head: hex32.optional().meta({ description: 'Hash of an entry that must exist' }) }),
    data: auditVerification,
    scope: '*',
  }),
  cut: defineRoute({
    at: ['post', '/v2/audit-cuts'],
    tag: SIGNER_TAG,
    summary: 'Cut the beginning of the audit log',
    description:
      'Removes the entries up to `through`; export them first. They are verified, and a sealed anchor takes their place, so the export and the remaining entries can still be verified. Entries of the last two days stay.',
    body: writeBody({
      through: z.int().min(1).meta({ description: 'Sequence of the last entry to remove' }),
      hash: hex32.meta({ description: 'Hash of that entry, from the export' }),
      file_sha256: hex32.optional().meta({ description: 'SHA-256 of the exported file, recorded in the log' }),
    }),
    data: auditCut,
    scope: '*',
  }),
}
