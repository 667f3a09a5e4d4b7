/** Fee claims: claiming the fees that a pool holds for the partner, and their history. */
import { z } from '@hono/zod-openapi'
import { address, digits, signatureText } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { paths } from './paths.ts'
import { eitherPayload, trackedResource } from './payloads.ts'
import { defineRoute } from './route.ts'
import { timestamp } from './scalars.ts'

export const FEE_CLAIM_KINDS = ['dbc', 'damm_v2', 'surplus'] as const
export const FEE_CLAIM_TYPES = ['fee_claim.executed', 'fee_claim.split_executed'] as const
export type FeeClaimKind = (typeof FEE_CLAIM_KINDS)[number]
export type FeeClaimType = (typeof FEE_CLAIM_TYPES)[number]

const kind = z.enum(FEE_CLAIM_KINDS).meta({
  description:
    '`dbc` claims partner fees, `damm_v2` claims from the post-migration pool, `surplus` withdraws its surplus',
})

export const feeSplit = z
  .strictObject({
    recipient: address,
    bps: z.int().min(1).max(10000).meta({ description: 'Share in hundredths of a percent', example: 5000 }),
  })
  .openapi('Split')

const splits = z
  .array(feeSplit)
  .min(2)
  .max(10)
  .refine((items) => items.reduce((sum, { bps }) => sum + bps, 0) === 10000, 'bps must sum to exactly 10000')
  .meta({ description: 'Claim and split in one transaction; bps sum to exactly 10000; only with kind `dbc`' })

export const feeClaim = z
  .object({
    id: z.string(),
    type: z.enum(FEE_CLAIM_TYPES),
    pool_address: address,
    signature: signatureText.nullable(),
    occurred_at: timestamp,
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
  })
  .openapi('FeeClaim')

export const feeClaimCreated = z
  .object({
    pool_address: address,
    kind,
    estimated_quote: digits
      .optional()
      .meta({ description: 'What the claim is expected to move, in raw units of the quote' }),
    tx: eitherPayload,
    tracked_resource: trackedResource.optional(),
  })
  .openapi('FeeClaimCreated')

export type Split = z.output<typeof feeSplit>
export type FeeClaim = z.output<typeof feeClaim>
export type FeeClaimCreated = z.output<typeof feeClaimCreated>

const feeClaimParams = z.object({ address })

export const feeClaims = {
  create: defineRoute({
    at: paths.feeClaims.create,
    tag: 'Fee claims',
    summary: 'Claim the fees of a pool, optionally split',
    params: feeClaimParams,
    body: buildBody({
      kind: kind.default('dbc'),
      payer: address.meta({ description: 'Pays the transaction; in `signed` mode the platform wallet pays' }),
      splits: splits.optional(),
    }).superRefine(({ kind, splits }, context) => {
      if (splits && kind !== 'dbc') {
        context.addIssue({ code: 'custom', path: ['splits'], message: 'splits are only valid with kind dbc' })
      }
    }),
    data: feeClaimCreated,
    signed: 'fees:claim',
  }),
  listByPool: defineRoute({
    at: paths.feeClaims.listByPool,
    tag: 'Fee claims',
    summary: 'List the fee claims of one pool, newest first',
    params: feeClaimParams,
    query: listQuery({}),
    data: feeClaim,
    list: true,
  }),
  list: defineRoute({
    at: paths.feeClaims.list,
    tag: 'Fee claims',
    summary: 'List fee claims, newest first',
    query: listQuery({}),
    data: feeClaim,
    list: true,
  }),
}
