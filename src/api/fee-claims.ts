/** Fee claims: claiming the fees that a pool holds for the partner, and their history. */
import { z } from '@hono/zod-openapi'
import { DELEGATE_PERMISSIONS } from '../solana/position-permissions.ts'
import {
  address,
  allowProgramsField,
  digits,
  mintAddress,
  otherWallet,
  poolAddress,
  signatureText,
} from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { eitherPayload, proposed, trackedResource } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

export const FEE_CLAIM_KINDS = [
  'dbc',
  'damm_v2',
  'surplus',
  'migration_fee',
  'leftover',
  'pool_creation_fee',
  'vesting',
] as const
export const BENEFICIARIES = ['partner', 'creator'] as const
const FEE_CLAIM_TYPES = ['fee_claim.executed', 'fee_claim.split_executed'] as const
export type FeeClaimKind = (typeof FEE_CLAIM_KINDS)[number]
export type Beneficiary = (typeof BENEFICIARIES)[number]
export type FeeClaimType = (typeof FEE_CLAIM_TYPES)[number]

/** Who can claim each kind; the first one is the default. */
export const BENEFICIARIES_OF: Readonly<Record<FeeClaimKind, readonly [Beneficiary, ...Beneficiary[]]>> = {
  dbc: ['partner', 'creator'],
  damm_v2: ['partner', 'creator'],
  surplus: ['partner', 'creator'],
  migration_fee: ['partner', 'creator'],
  leftover: ['partner'],
  pool_creation_fee: ['partner'],
  vesting: ['creator'],
}

const kind = z.enum(FEE_CLAIM_KINDS).meta({
  description:
    '`dbc` claims the trading fees of the launch curve, `damm_v2` those of positions in the migrated pool. `surplus` and `migration_fee` withdraw what a full curve holds besides its liquidity. `leftover` pays unsold tokens to the leftover receiver, `pool_creation_fee` what the creation paid, `vesting` the vested tokens',
})

const beneficiary = z.enum(BENEFICIARIES).meta({
  description:
    'Whose share is claimed: `partner` is the fee claimer of the pool’s config, `creator` the pool’s creator. By default the partner, and for `vesting` the creator; `leftover` and `pool_creation_fee` belong to the partner only',
})

export const feeSplit = z
  .strictObject({
    recipient: otherWallet,
    bps: z.int().min(1).max(10000).meta({ description: 'Share in hundredths of a percent', example: 5000 }),
  })
  .openapi('Split')

export const feeSplits = z
  .array(feeSplit)
  .min(2)
  .max(10)
  .refine((items) => items.reduce((sum, { bps }) => sum + bps, 0) === 10000, 'bps must sum to exactly 10000')
  .meta({
    description:
      'Recipients among whom the claim is split in the same transaction; bps sum to exactly 10000; only with kind `dbc`',
  })

const claimed = digits.nullish()

export const feeClaim = z
  .object({
    id: z.string(),
    type: z.enum(FEE_CLAIM_TYPES),
    pool_address: poolAddress,
    kind: kind.nullable().meta({ description: 'What was claimed; null if it is not recorded' }),
    beneficiary: z.enum(BENEFICIARIES).nullable().meta({
      description: 'Whose share it was; null for a position that belongs to neither',
    }),
    claimer: address.nullable().meta({ description: 'Wallet that claimed, or that received a leftover' }),
    signature: signatureText.nullable(),
    occurred_at: timestamp,
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    quote: claimed.meta({ description: 'Raw units of the quote that left the pool; null until the claim is final' }),
    base: claimed.meta({ description: 'Raw units of the base token that left the pool' }),
    sol: claimed.meta({ description: 'Lamports that left the pool, including the quote if it is SOL' }),
    received: z
      .array(z.object({ wallet: address, token: z.string(), amount: z.string().regex(/^-?[0-9]+$/) }))
      .nullish()
      .meta({ description: 'Who received how much of it; `token` is a mint, or `SOL`' }),
  })
  .openapi('FeeClaim')

const feeClaimCreated = z
  .object({
    pool_address: poolAddress,
    kind,
    beneficiary,
    claimer: address.meta({ description: 'Wallet that is paid; it also signs, except with kind `leftover`' }),
    estimated_quote: digits.optional().meta({ description: 'Expected amount, in raw units of the quote' }),
    estimated_base: digits.optional().meta({ description: 'Expected amount, in raw units of the pool’s token' }),
    estimated_lamports: digits.optional().meta({ description: 'Lamports of a pool creation fee' }),
    quote_mint: mintAddress,
    quote_decimals: z.int().min(0).max(255),
    base_mint: mintAddress,
    base_decimals: z.int().min(0).max(255),
    delegate: address.optional().meta({
      description: 'With kind `damm_v2`: wallet that signs instead of the claimer, which made it its delegate',
    }),
    remaining_positions: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'With kind `damm_v2`: positions with fees that did not fit; the largest come first' }),
    tx: eitherPayload,
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('FeeClaimCreated')

const feeDelegations = z
  .object({
    pool_address: poolAddress,
    owner: address.meta({ description: 'Wallet that holds the positions' }),
    positions: z.array(
      z.object({
        position: address,
        liquidity: digits,
        delegate: address.nullable().meta({ description: 'Wallet that may act for the owner; null if there is none' }),
        permissions: z.array(z.enum(DELEGATE_PERMISSIONS)).meta({
          description:
            'What a delegate may do. `claim_fees_to_owner` pays only the owner’s own token accounts; it is what svc grants',
        }),
        usable: z.boolean().meta({
          description: 'Whether the delegate can claim fees now. The program refuses one that could also move the NFT',
        }),
      }),
    ),
    remaining_positions: z.int().min(0).meta({ description: 'Smaller positions, on the next pages' }),
    next_cursor: z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one' }),
  })
  .openapi('FeeDelegations')

const feeDelegationCreated = z
  .object({
    pool_address: poolAddress,
    owner: address.meta({ description: 'Wallet that holds the positions, and signs' }),
    delegate: address.nullable(),
    positions: z.array(address).meta({ description: 'Positions that the transaction changes, the largest first' }),
    replaced: z.array(address).meta({ description: 'Other delegates that lose their permissions' }),
    remaining_positions: z.int().min(0).meta({ description: 'Positions that did not fit: send the request again' }),
    tx: eitherPayload,
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('FeeDelegationCreated')

export type FeeDelegationCreated = z.output<typeof feeDelegationCreated>
export type Split = z.output<typeof feeSplit>
export type FeeClaim = z.output<typeof feeClaim>
export type FeeClaimCreated = z.output<typeof feeClaimCreated>

const feeClaimParams = z.object({ address: poolAddress })
const claimFilters = { kind: kind.optional(), beneficiary: z.enum(BENEFICIARIES).optional() }

const FEE_CLAIMS_TAG: Tag = {
  name: 'Fee claims',
  description: 'Pays out what pools have earned to the partner or the creator, and splits it in the same transaction.',
}

export const feeClaims = {
  create: defineRoute({
    at: ['post', '/v2/pools/{address}/fee-claims'],
    tag: FEE_CLAIMS_TAG,
    summary: 'Claim the fees of a pool, optionally split',
    description:
      'Pays out exactly what the answer estimates: the fees of the partner, or those of the creator. With `splits` two to ten recipients are paid in the same transaction, exact to the last unit. If there is nothing to claim, the request is refused with the reason.',
    params: feeClaimParams,
    body: buildBody({
      kind: kind.default('dbc'),
      beneficiary: beneficiary.optional(),
      owner: address.optional().meta({
        description:
          'Wallet whose positions are claimed, only with kind `damm_v2`. By default the fee claimer of the curve or the platform wallet; for the creator’s share, the creator of the pool',
      }),
      position: address.optional().meta({ description: 'Claims only this position, with kind `damm_v2`' }),
      payer: address.meta({ description: 'Pays the transaction; in `signed` mode the platform wallet pays' }),
      splits: feeSplits.optional(),
      allow_programs: allowProgramsField,
    }).superRefine(({ kind, beneficiary, owner, position, splits }, context) => {
      const [only, other] = BENEFICIARIES_OF[kind]
      if (beneficiary !== undefined && other === undefined && beneficiary !== only) {
        const message = `kind ${kind} pays only the ${only}`
        context.addIssue({ code: 'custom', path: ['beneficiary'], message })
      }
      if (owner !== undefined && kind !== 'damm_v2') {
        context.addIssue({ code: 'custom', path: ['owner'], message: 'owner is only valid with kind damm_v2' })
      }
      if (position !== undefined && kind !== 'damm_v2') {
        context.addIssue({ code: 'custom', path: ['position'], message: 'position is only valid with kind damm_v2' })
      }
      if (splits && kind !== 'dbc') {
        context.addIssue({ code: 'custom', path: ['splits'], message: 'splits are only valid with kind dbc' })
      }
    }),
    data: feeClaimCreated,
    signed: 'fees:claim',
    payable: 'payer',
    says: ({ address, splits }) =>
      `Claim fees of the pool ${address}${splits?.length ? `, split among ${splits.length}` : ''}`,
  }),
  delegate: defineRoute({
    at: ['post', '/v2/pools/{address}/fee-delegations'],
    tag: FEE_CLAIMS_TAG,
    summary: 'Let another wallet claim the fees of positions, or take that back',
    description:
      'The delegate may claim the fees of the owner’s positions in the pool into the owner’s own token accounts, and nothing else: it can move neither fees nor liquidity elsewhere. It replaces an earlier delegate and all permissions of the positions. With `delegate` null they are taken back.',
    params: feeClaimParams,
    body: buildBody({
      delegate: otherWallet.nullable().meta({ description: 'Wallet that may claim for the owner; null for none' }),
      owner: address
        .optional()
        .meta({ description: 'Wallet that holds the positions, and signs. By default the payer' }),
      payer: address.meta({ description: 'Pays the transaction; in `signed` mode the platform wallet pays' }),
    }),
    data: feeDelegationCreated,
    signed: 'fees:claim',
    payable: 'payer',
    says: ({ address, delegate }) => `Let ${delegate} claim fees of the pool ${address}`,
  }),
  delegations: defineRoute({
    at: ['get', '/v2/pools/{address}/fee-delegations'],
    tag: FEE_CLAIMS_TAG,
    summary: 'Read who may claim the fees of a wallet’s positions',
    description: 'Reads the positions of the owner in the pool from the chain, the largest first.',
    params: feeClaimParams,
    query: listQuery(
      {
        owner: address.optional().meta({
          description:
            'Wallet that holds the positions. By default the fee claimer of the curve or the platform wallet',
        }),
      },
      50,
    ),
    data: feeDelegations,
  }),
  listByPool: defineRoute({
    at: ['get', '/v2/pools/{address}/fee-claims'],
    tag: FEE_CLAIMS_TAG,
    summary: 'List the fee claims of one pool, newest first',
    description: 'Claims that were submitted here, and those found on chain since svc follows the pool.',
    params: feeClaimParams,
    query: listQuery(claimFilters),
    data: feeClaim,
    list: true,
  }),
  list: defineRoute({
    at: ['get', '/v2/fee-claims'],
    tag: FEE_CLAIMS_TAG,
    summary: 'List fee claims, newest first',
    description: 'The claims of all pools: what each paid, in which currency, and to whom.',
    query: listQuery(claimFilters),
    data: feeClaim,
    list: true,
  }),
}
