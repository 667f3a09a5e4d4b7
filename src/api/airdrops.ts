/** Airdrops: distributors on chain for a merkle root, their claims, and the withdrawal of unclaimed tokens. */

import { z } from '@hono/zod-openapi'
import { airdropClaim, airdropStats, airdropUnclaimed, statsQuery } from './airdrop-claims.ts'
import { CLAWBACK_DAYS, PROPOSED_START_DAYS } from './airdrop-terms.ts'
import {
  address,
  airdropCount,
  allowProgramsField,
  digits,
  hash32,
  hex32,
  isU64,
  mintAddress,
  platformFeeField,
  platformId,
  transactionBase64,
  treeId,
  u64Digits,
} from './chain-scalars.ts'
import { approverField, buildBody, listQuery, pageLimit, txTermsShape, writeBody } from './envelope.ts'
import { eitherPayload, signedPayload, trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

export const AIRDROP_STATUSES = ['tree_built', 'initialized', 'claiming', 'fully_claimed', 'vault_drained'] as const
export type AirdropStatus = (typeof AIRDROP_STATUSES)[number]

/**
 * Field of the distributor with the airdrop's id, with any root; null in lists, and when the chain has none or is
 * unreachable.
 */
const fromChain = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description })

export const airdrop = z
  .object({
    id: treeId,
    mint: mintAddress,
    airdrop_count: airdropCount,
    root: hex32.meta({ description: 'Merkle root, hex, no prefix' }),
    leaf_count: z.int().min(0),
    status: z.enum(AIRDROP_STATUSES),
    created_at: timestamp.nullable(),
    own: z.boolean().nullable().meta({
      description:
        'Whether the tree was stored with the API key of this request; null in lists, and if no tree is stored',
    }),
    total: digits
      .nullable()
      .meta({ description: 'Sum of the stored tree in raw units, locked amounts included; null if none is stored' }),
    total_locked: digits.nullable().meta({ description: 'The part of it that vests, raw units; 0 without vesting' }),
    distributor: fromChain(
      address,
      'Account of the airdrop; its address is derived, so it is known before the account exists',
    ),
    on_chain_root: fromChain(
      hex32,
      'Root of the distributor at this id. If it differs from `root`, all fields from the chain belong to another list than the stored tree',
    ),
    admin: fromChain(
      address,
      'Wallet that may change the receiver: the creator of the distributor, or a wallet that it named',
    ),
    vault: fromChain(address, 'Token account that claims are paid from'),
    vault_balance: fromChain(digits, 'Raw units'),
    vault_lacks: fromChain(
      digits,
      'Raw units that the vault lacks for what the stored tree can still pay out; also null if none should be sent, see `note`',
    ),
    claimed_count: fromChain(z.int().min(0), 'Wallets that have claimed'),
    claimed_amount: fromChain(digits, 'Raw units'),
    starts_at: fromChain(
      timestamp,
      'When locked amounts begin to vest; without vesting only a formality, minutes after the creation',
    ),
    ends_at: fromChain(timestamp, 'When all locked amounts have vested'),
    clawback_at: fromChain(timestamp, 'When the remaining tokens can be withdrawn'),
    clawback_receiver: fromChain(address, 'Token account that receives a withdrawal'),
    clawed_back: fromChain(z.boolean(), 'Whether the vault was withdrawn: nothing can be claimed any more'),
    note: fromChain(z.string(), 'What is wrong, in words'),
  })
  .openapi('Airdrop')

/** Reasons why a wallet cannot claim at the moment. */
export const CLAIM_FAULTS = [
  'not_initialized',
  'other_root',
  'already_claimed',
  'nothing_vested',
  'clawed_back',
  'not_started',
  'cap_reached',
  'vault_frozen',
  'unfunded',
  'account_unusable',
] as const
export type ClaimFaultReason = (typeof CLAIM_FAULTS)[number]

const airdropEntitlement = z
  .object({
    id: treeId,
    mint: mintAddress,
    airdrop_count: airdropCount,
    amount: digits.meta({ description: 'What the wallet is entitled to at once, raw units' }),
    amount_locked: digits.meta({ description: 'What vests for it in addition, raw units; 0 without vesting' }),
    status: z.enum(AIRDROP_STATUSES).meta({ description: 'Of the airdrop' }),
    claimed: z
      .boolean()
      .meta({ description: 'Whether the wallet has claimed; with vesting, more may become claimable' }),
    claimed_amount: digits.meta({ description: 'What it has claimed of both amounts, raw units' }),
    claimable_amount: digits.meta({ description: 'What a claim would pay now, raw units' }),
    vested: digits.meta({ description: 'How much of `amount_locked` has vested so far, claimed or not, raw units' }),
    next_vesting_at: timestamp
      .nullable()
      .meta({ description: 'When more becomes claimable; null if nothing is left to vest' }),
    starts_at: timestamp.nullable().meta({ description: 'Start of the vesting; null without vesting' }),
    ends_at: timestamp.nullable().meta({ description: 'End of the vesting; null without vesting' }),
    clawback_at: timestamp
      .nullable()
      .meta({ description: 'When the creator can withdraw whatever is not claimed, vested or not' }),
    claimable: z.boolean().meta({ description: 'Whether POST /v2/airdrops/{id}/claims would build a claim now' }),
    reason: z.enum(CLAIM_FAULTS).nullable().meta({ description: 'Why it is not claimable' }),
    note: z.string().nullable().meta({ description: 'The reason in words' }),
  })
  .openapi('AirdropEntitlement')

const airdropClaimCreated = unsignedPayload({
  swap_transaction: transactionBase64
    .nullable()
    .meta({ description: 'Auxiliary swap to SOL; null unless `swap_to_sol` was asked for' }),
})
  .extend({
    tracked_resource: trackedResource,
    amount: digits.meta({ description: 'What the claim pays, raw units; more if more has vested when it lands' }),
  })
  .openapi('AirdropClaimCreated')

const vaultWithdrawal = z
  .discriminatedUnion('mode', [
    signedPayload({ mint: mintAddress, amount: digits }),
    unsignedPayload({ mint: mintAddress, amount: digits }),
  ])
  .openapi('VaultWithdrawal')

export type Airdrop = z.output<typeof airdrop>
export type AirdropEntitlement = z.output<typeof airdropEntitlement>
export type AirdropClaimCreated = z.output<typeof airdropClaimCreated>

const airdropParams = z.object({ id: treeId })

export const AIRDROPS_TAG: Tag = {
  name: 'Airdrops',
  description:
    'Distributors on chain, which pay each wallet that proves it is on a list: create and fund one, claim from it, and withdraw unclaimed tokens.',
}

export const airdrops = {
  create: defineRoute({
    at: ['post', '/v2/airdrops'],
    tag: AIRDROPS_TAG,
    summary: 'Initialize an airdrop on chain',
    description:
      'Creates and funds the distributor in one transaction. Its limits come from the stored tree with the same mint and airdrop_count, if there is one. With `mode: signed` the platform wallet pays, whatever `payer` says.',
    body: buildBody({
      payer: address,
      platform_id: platformId,
      mint: mintAddress,
      airdrop_count: airdropCount,
      merkle_root: hash32.meta({ description: '32 bytes in hex, with or without 0x' }),
      fund: z
        .boolean()
        .optional()
        .meta({ description: "Deposit the tree's total in the same transaction; true by default with a stored tree" }),
      fund_amount: u64Digits.optional().meta({ description: 'Deposit this sum in raw units instead' }),
      clawback_after_days: z.int().min(CLAWBACK_DAYS.min).max(CLAWBACK_DAYS.max).default(CLAWBACK_DAYS.fallback).meta({
        description:
          'Days until the remaining tokens can be withdrawn, counted from `ends_at` if amounts vest; with `approver` from the start otherwise',
      }),
      allow_programs: allowProgramsField.meta({
        description:
          'Whether the stored tree may have entries that are not wallets: token accounts, mints, programs, and addresses without a key, such as the vault of a multisig. What they do not claim can be withdrawn in the end',
      }),
      starts_at: timestamp.optional().meta({
        description: `Start of the vesting of locked amounts; by default in five minutes, which is also the earliest time. With \`approver\` by default in ${PROPOSED_START_DAYS} days. The proposal must be executed before it`,
      }),
      ends_at: timestamp.optional().meta({
        description: 'End of the vesting; required if the stored tree has locked amounts, refused if it has none',
      }),
    }).superRefine(({ fund, fund_amount, starts_at, ends_at }, context) => {
      if (starts_at !== undefined && ends_at === undefined) {
        context.addIssue({ code: 'custom', path: ['ends_at'], message: 'is required with starts_at' })
      }
      if (fund === false && fund_amount !== undefined) {
        context.addIssue({ code: 'custom', path: ['fund_amount'], message: 'fund_amount contradicts fund: false' })
      }
    }),
    data: eitherPayload,
    signed: 'airdrop:admin',
    payable: 'payer',
    says: ({ mint, airdrop_count }) => `Launch airdrop ${airdrop_count} of the token ${mint}`,
  }),
  list: defineRoute({
    at: ['get', '/v2/airdrops'],
    tag: AIRDROPS_TAG,
    summary: 'List airdrops, newest first',
    description:
      'One for each stored tree, from `tree_built` to `vault_drained`. An airdrop that another tool made is read by its id.',
    query: listQuery({ mint: mintAddress.optional() }),
    data: airdrop,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/airdrops/{id}'],
    tag: AIRDROPS_TAG,
    summary: 'Read one airdrop, with its state on chain',
    description: 'The tree need not be stored here if the distributor is on chain.',
    params: airdropParams,
    data: airdrop,
  }),
  stats: defineRoute({
    at: ['get', '/v2/airdrops/{id}/stats'],
    tag: AIRDROPS_TAG,
    summary: 'Read what was claimed of an airdrop by hour and day, and what is left',
    description:
      'The total claimed and what is left are read from the chain. Hours, days and the median come from the claims that are recorded here; `recorded.missing_count` says how many are missing.',
    params: airdropParams,
    query: statsQuery,
    data: airdropStats,
  }),
  claims: defineRoute({
    at: ['get', '/v2/airdrops/{id}/claims'],
    tag: AIRDROPS_TAG,
    summary: 'List the claims of an airdrop that are recorded here, newest first',
    description:
      'Claims that were submitted here, and claims of stored trees that were found on chain since svc follows them.',
    params: airdropParams,
    query: listQuery({}),
    data: airdropClaim,
    list: true,
  }),
  unclaimed: defineRoute({
    at: ['get', '/v2/airdrops/{id}/unclaimed'],
    tag: AIRDROPS_TAG,
    summary: 'List the largest entries of an airdrop of which no claim is recorded here',
    description:
      'Compares the stored tree with the recorded claims, without the chain. Claims from before this installation followed the airdrop are not known: `recorded.missing_count` of GET /v2/airdrops/{id}/stats counts them. With vesting, a wallet that has claimed once is not listed.',
    params: airdropParams,
    query: z.strictObject({ limit: pageLimit(20) }),
    data: airdropUnclaimed,
  }),
  distributor: defineRoute({
    at: ['get', '/v2/distributors/{address}'],
    tag: AIRDROPS_TAG,
    summary: 'Read the airdrop of a distributor, by its address',
    description:
      'Works for a distributor of any creator and tool: mint and version of the account give the id of the airdrop. If a tree with the same root is stored under this id, it can be claimed and is followed here.',
    params: z.object({ address: address.meta({ example: 'FR4HBTXWB87YK4gR98serDF9pUeJ3egkQfth4dGpBsrB' }) }),
    data: airdrop,
  }),
  claim: defineRoute({
    at: ['post', '/v2/airdrops/{id}/claims'],
    tag: AIRDROPS_TAG,
    summary: 'Build the claim of one wallet',
    description:
      'With the proof of the stored tree, or with an amount and a proof that you send. Checked before it is built: the proof, that the wallet has not claimed, and that the vault can pay.',
    params: airdropParams,
    body: buildBody({
      claimer: address,
      platform_id: platformId,
      amount: z
        .union([z.string(), z.number()], { error: 'must be a string of digits or a whole number' })
        .meta({ description: 'Raw units, digits; ignored when `proof` is omitted', example: '1000000' }),
      amount_locked: u64Digits.optional().meta({
        description: 'Locked amount of the leaf that `proof` belongs to, raw units; 0 by default',
        example: '0',
      }),
      proof: z.array(hash32).max(64).optional().meta({
        description: 'Sibling hashes in hex, from leaf to root; without it the stored tree gives amount and proof',
      }),
      platform_fee: platformFeeField,
      swap_to_sol: z.boolean().default(false),
    }).superRefine(({ amount, proof }, context) => {
      const exact = typeof amount === 'string' ? isU64(amount) : Number.isSafeInteger(amount) && amount >= 0
      if (proof && !exact) {
        const message = 'must be raw units that fit in 64 bits: a string of digits, or a whole number below 2^53'
        context.addIssue({ code: 'custom', path: ['amount'], message })
      }
    }),
    data: airdropClaimCreated,
    signed: 'refused',
    payable: 'claimer',
    says: ({ id }) => `Claim from the airdrop ${id}`,
  }),
  entitlement: defineRoute({
    at: ['get', '/v2/airdrops/{id}/claims/{wallet}'],
    tag: AIRDROPS_TAG,
    summary: 'Read what one wallet may claim, has claimed and can claim now',
    description: 'Combines the stored tree and the chain. If the wallet cannot claim now, `reason` says why.',
    params: z.object({ id: treeId, wallet: address }),
    data: airdropEntitlement,
  }),
  withdraw: defineRoute({
    at: ['post', '/v2/airdrops/{id}/vault-withdrawals'],
    tag: AIRDROPS_TAG,
    summary: 'Withdraw the remaining tokens from the vault of an airdrop',
    description: 'Signed by the platform wallet, whatever `mode` says. Possible only after the clawback time.',
    params: airdropParams,
    body: writeBody({
      ...txTermsShape,
      approver: approverField.optional(),
      admin: address.optional().meta({
        description:
          'If sent, it must own the receiver that is stored on chain; without it any owner is accepted. A closed receiver is opened again only for the wallet named here, or for the platform wallet',
      }),
      amount: u64Digits.meta({ description: 'Must equal the balance of the vault, in raw units' }),
    }),
    data: vaultWithdrawal,
    scope: 'airdrop:admin',
    waits: true,
    says: ({ id }) => `Withdraw what is left of the airdrop ${id}`,
  }),
  lookup: defineRoute({
    at: ['get', '/v2/wallets/{wallet}/airdrops'],
    tag: AIRDROPS_TAG,
    summary: 'List the stored airdrops that a wallet is in, newest first',
    description:
      'A page searches a limited number of trees. It may hold fewer records than `limit`, or none, and still have a next page.',
    params: z.object({ wallet: address }),
    query: listQuery({ mint: mintAddress.optional() }),
    data: airdropEntitlement,
    list: true,
  }),
}
