/** Airdrops: distributors on chain over a merkle root, their claims and the withdrawal of what is left. */
import { z } from '@hono/zod-openapi'
import {
  address,
  airdropCount,
  digits,
  eitherPayload,
  hash32,
  hex32,
  isU64,
  listQuery,
  platformFee,
  platformId,
  signedPayload,
  timestamp,
  trackedResource,
  transactionBase64,
  treeId,
  u64,
  unsignedPayload,
  writeBody,
} from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'

export const AIRDROP_STATUSES = ['tree_built', 'initialized', 'claiming', 'fully_claimed', 'vault_drained'] as const
export type AirdropStatus = (typeof AIRDROP_STATUSES)[number]

export const airdrop = z
  .object({
    id: treeId,
    mint: address,
    airdrop_count: airdropCount,
    root: hex32.meta({ description: 'Merkle root, hex, no prefix' }),
    leaf_count: z.int().min(0),
    status: z.enum(AIRDROP_STATUSES),
    created_at: timestamp.nullable(),
  })
  .openapi('Airdrop')

export const airdropClaimCreated = unsignedPayload({
  swap_transaction: transactionBase64
    .nullable()
    .meta({ description: 'Auxiliary swap to SOL; null unless `swap_to_sol` was asked for' }),
  tracked_resource: trackedResource,
}).openapi('AirdropClaimCreated')

export const vaultWithdrawal = signedPayload({ mint: address, amount: digits }).openapi('VaultWithdrawal')

export type Airdrop = z.output<typeof airdrop>
export type AirdropClaimCreated = z.output<typeof airdropClaimCreated>
export type VaultWithdrawal = z.output<typeof vaultWithdrawal>

const params = z.object({ id: treeId })

export const airdrops = {
  create: defineRoute({
    at: paths.airdrops.create,
    tag: 'Airdrops',
    summary: 'Initialize an airdrop on chain',
    description: 'Caps are those of the stored tree with the same mint and airdrop_count, where there is one.',
    body: writeBody({
      payer: address,
      platform_id: platformId,
      mint: address,
      airdrop_count: airdropCount,
      merkle_root: hash32.meta({ description: '32 bytes in hex, with or without 0x' }),
      fund: z
        .boolean()
        .optional()
        .meta({ description: "Deposit the tree's total in the same transaction; true by default with a stored tree" }),
      fund_amount: u64.optional().meta({ description: 'Deposit this sum in raw units instead' }),
      clawback_after_days: z
        .int()
        .min(1)
        .max(3650)
        .default(30)
        .meta({ description: 'Days until what is left can be withdrawn' }),
    }).superRefine(({ fund, fund_amount }, context) => {
      if (fund === false && fund_amount !== undefined) {
        context.addIssue({ code: 'custom', path: ['fund_amount'], message: 'fund_amount contradicts fund: false' })
      }
    }),
    data: eitherPayload,
    signed: 'airdrop:admin',
  }),
  list: defineRoute({
    at: paths.airdrops.list,
    tag: 'Airdrops',
    summary: 'List airdrops, newest first',
    query: listQuery({ mint: address.optional() }),
    data: airdrop,
    list: true,
  }),
  get: defineRoute({
    at: paths.airdrops.get,
    tag: 'Airdrops',
    summary: 'Read one airdrop',
    params,
    data: airdrop,
  }),
  claim: defineRoute({
    at: paths.airdrops.claim,
    tag: 'Airdrops',
    summary: 'Build the claim of one wallet',
    params,
    body: writeBody({
      claimer: address,
      platform_id: platformId,
      amount: z
        .union([z.string(), z.number()], { error: 'must be a string of digits or a whole number' })
        .meta({ description: 'Raw units, digits; ignored when `proof` is omitted', example: '1000000' }),
      proof: z
        .array(hash32)
        .optional()
        .meta({ description: 'Sibling hashes in hex, leaf to root; omitted, the stored tree gives amount and proof' }),
      platform_fee: platformFee,
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
  }),
  withdraw: defineRoute({
    at: paths.airdrops.withdraw,
    tag: 'Airdrops',
    summary: 'Withdraw what is left in the vault of an airdrop',
    description: 'Signed by the platform wallet, whatever `mode` says. Possible only after the clawback time.',
    params,
    body: writeBody({
      admin: address.optional().meta({ description: 'Owner of the stored receiver; the platform wallet by default' }),
      amount: u64.meta({ description: 'Must equal the balance of the vault, in raw units' }),
    }),
    data: vaultWithdrawal,
    scope: 'airdrop:admin',
  }),
}
