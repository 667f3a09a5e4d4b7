/** The report of a token: all facts about it that the chain shows, and a verdict on each known risk. */
import { z } from '@hono/zod-openapi'
import { HOLDER_KINDS } from '../merkle/allocation/holder-kinds.ts'
import { address, digits, mintAddress, poolAddress, u64Digits } from './chain-scalars.ts'
import { poolType } from './pools.ts'
import { defineRoute } from './route.ts'
import { nullOr, timestamp } from './scalars.ts'
import { TOKEN_STATUSES, TOKENS_TAG } from './tokens.ts'

export const TOKEN_RISKS = [
  'mint_authority',
  'freeze_authority',
  'mutable_metadata',
  'unlocked_liquidity',
  'large_holder',
  'permanent_delegate',
  'transfer_fee',
  'transfer_hook',
  'frozen_by_default',
  'pausable',
  'displayed_amounts',
  'non_transferable',
] as const
const RISK_LEVELS = ['ok', 'warning', 'danger', 'unknown'] as const
const REPORT_PARTS = ['holders', 'locks', 'pools'] as const

const bps = z.int().min(0).max(10_000)
const shareBps = bps.meta({ description: 'Part of the supply in hundredths of a percent, rounded down' })
const feeShape = {
  basis_points: z.int().min(0).max(65_535).meta({ description: 'Hundredths of a percent of each transfer' }),
  maximum_fee: u64Digits.meta({ description: 'Most raw units of one transfer' }),
}

const reportRisk = z
  .object({
    risk: z.enum(TOKEN_RISKS),
    level: z.enum(RISK_LEVELS).meta({ description: '`unknown`: the node could not show what decides it' }),
    finding: z.string().meta({ description: 'What was found, in one sentence' }),
    remedy: z.string().nullable().meta({ description: 'What would close the risk; null if nothing has to or can' }),
  })
  .openapi('TokenRisk')

const reportHolders = z
  .object({
    source: z
      .enum(['chain', 'snapshot'])
      .meta({ description: '`snapshot`: the newest stored snapshot of this mint, if the node could not be asked now' }),
    snapshot_id: z.string().nullable(),
    slot: z.int().min(0).meta({ description: 'Finalized slot at which all token accounts were read' }),
    supply: digits.meta({ description: 'Supply at that slot, of which the shares are parts' }),
    accounts: z.int().min(0).meta({ description: 'Token accounts, empty ones included' }),
    holders: z.int().min(0).meta({
      description: 'Addresses with a balance, without vaults of pools and distributors, locks, and burn addresses',
    }),
    parts: z
      .array(z.object({ kind: z.enum(HOLDER_KINDS), addresses: z.int().min(0), amount: digits, share_bps: shareBps }))
      .meta({ description: 'Who holds the supply, by kind of address' }),
    top: z
      .array(
        z.object({
          wallet: address,
          kind: z.enum(HOLDER_KINDS),
          program: address
            .nullable()
            .meta({ description: 'Program whose account the holder is; null if it is none, or of a snapshot' }),
          amount: digits,
          share_bps: shareBps,
        }),
      )
      .meta({
        description:
          'The ten largest holders, the largest first. One of the kind `pda` or `program` may be a multisig, or the vault of a pool that is not read',
      }),
    top_share_bps: shareBps,
    withheld: digits.meta({ description: 'Withheld transfer fees, which belong to no holder' }),
    confidential: digits.meta({ description: 'Confidential balances, which only their holders can read' }),
  })
  .openapi('TokenReportHolders')

const reportLocks = z
  .object({
    locks: z.int().min(0).meta({ description: 'Locks of Jupiter Lock that still owe tokens, whoever made them' }),
    locked: digits.meta({ description: 'Raw units of locks with a single payout that is not due yet' }),
    vesting: digits.meta({ description: 'Raw units of locks with several payouts that are not due yet' }),
    claimable: digits.meta({ description: 'Raw units that are due and not claimed' }),
    cancellable: digits.meta({ description: 'Raw units of `locked` and `vesting` whose lock can be cancelled' }),
    next_at: timestamp.nullable().meta({ description: 'When the next tokens become claimable' }),
    last_at: timestamp.nullable().meta({ description: 'When the last tokens become claimable' }),
    largest: z
      .array(
        z.object({
          address,
          recipient: address,
          amount: digits.meta({ description: 'Raw units that are not due yet' }),
          ends_at: timestamp.nullable(),
        }),
      )
      .meta({ description: 'The locks with most that is not due yet, at most 20' }),
  })
  .openapi('TokenReportLocks')

const reportPool = z
  .object({
    address: poolAddress,
    type: poolType,
    quote_mint: mintAddress,
    quote_decimals: z.int().min(0).max(255),
    base_amount: digits.meta({ description: 'Raw units of the token in the pool, unclaimed fees included' }),
    quote_amount: digits.meta({ description: 'Raw units of the quote in the pool, unclaimed fees included' }),
    locked_bps: bps.meta({
      description:
        'Part of the liquidity that nobody can ever withdraw, rounded down: locked for good, or of positions in burn addresses',
    }),
    vesting_bps: bps.nullable().meta({
      description:
        'Part that a schedule, or a lock that has the position, frees later, rounded down. Null if the positions were not read; `gaps` says why',
    }),
    unlocked_bps: bps
      .nullable()
      .meta({ description: 'The rest, which its owners can withdraw now; null if the positions were not read' }),
    burned_positions: z
      .array(z.object({ address, nft_mint: mintAddress, nft_account: address }))
      .meta({ description: 'Large positions whose NFT is in a burn address, at most 20' }),
    frozen: z.boolean().meta({ description: 'Whether a vault is frozen, so that nobody can trade with the pool' }),
    migrated_locked_bps: bps.nullable().meta({
      description: 'For a launch curve: part of the liquidity that its migration locks for good; null for other pools',
    }),
  })
  .openapi('TokenReportPool')

const reportPools = z
  .object({
    found: z.int().min(0).meta({ description: 'Pools and launch curves that hold some of the token' }),
    base_amount: digits.meta({ description: 'Raw units of the token in the listed pools' }),
    sol_amount: digits.meta({ description: 'Lamports in the listed pools whose quote is SOL' }),
    pools: z.array(reportPool).meta({ description: 'The pools with most of the token, at most 50' }),
  })
  .openapi('TokenReportPools')

const tokenReport = z
  .object({
    mint: mintAddress,
    slot: z.int().min(0),
    at: timestamp.nullable().meta({ description: 'Time of the chain at that slot' }),
    status: z.enum(TOKEN_STATUSES),
    token_program: z.enum(['spl', 'token2022']),
    decimals: z.int().min(0).max(255),
    supply: digits,
    metadata: nullOr(
      z.object({
        name: z.string().nullable().meta({ description: 'Chosen by the creator, so it proves nothing; visible text' }),
        symbol: z.string().nullable(),
        uri: z.string().nullable(),
        source: z.enum(['metaplex', 'extension']),
        is_mutable: z.boolean(),
        update_authority: address.nullable(),
      }),
    ),
    authorities: z
      .array(z.object({ type: z.string(), holder: address.nullable() }))
      .meta({ description: 'Every authority of the mint and its extensions; null if it was given up' }),
    extensions: z
      .array(z.object({ number: z.int().min(0).max(65_535), name: z.string() }))
      .meta({ description: 'Extensions of Token-2022, in the order of the mint' }),
    transfer_fee: nullOr(
      z.object({
        ...feeShape,
        next: nullOr(z.object({ ...feeShape, from_epoch: digits })).meta({ description: 'A change that is under way' }),
        withheld_in_mint: digits,
      }),
    ),
    transfer_hook: address.nullable().meta({ description: 'Program that every transfer calls' }),
    permanent_delegate: address.nullable(),
    frozen_by_default: z.boolean(),
    paused: z.boolean().nullable().meta({ description: 'Null for a mint that cannot be paused' }),
    transferable: z.boolean(),
    holders: nullOr(reportHolders),
    locks: nullOr(reportLocks),
    pools: nullOr(reportPools),
    risks: z.array(reportRisk).meta({ description: 'One verdict on each known risk, always in the same order' }),
    gaps: z
      .array(z.object({ part: z.enum(REPORT_PARTS), reason: z.string() }))
      .meta({ description: 'Parts that could not be read, or not from the chain now, and why' }),
  })
  .openapi('TokenReport')

export type TokenReport = z.output<typeof tokenReport>
export type TokenRisk = z.output<typeof reportRisk>
export type TokenReportHolders = z.output<typeof reportHolders>
export type TokenReportLocks = z.output<typeof reportLocks>
export type TokenReportPools = z.output<typeof reportPools>

const PERCENT = 'must be a whole number from 1 to 100'

/** Routes of `api.tokens` that read a token as a whole. */
export const tokenReports = {
  report: defineRoute({
    at: ['get', '/v2/tokens/{mint}/report'],
    tag: TOKENS_TAG,
    summary: 'Read everything that the chain shows about a token, with a verdict on each known risk',
    description:
      'For a token of any creator: supply, authorities, extensions, holders, locks of Jupiter Lock, pools of Meteora DBC and DAMM v2. Holders are read now if there are up to 50,000 token accounts, otherwise from the newest snapshot (`POST /v2/holder-snapshots`). Pools of other programs are not read: liquidity elsewhere is not counted. A part that the node does not show is null, and `gaps` says why. A report makes at most 200 calls to the node and takes at most 30 seconds.',
    params: z.object({ mint: mintAddress }),
    query: z.strictObject({
      holder_limit: z
        .string({ error: PERCENT })
        .regex(/^[1-9][0-9]{0,2}$/, { error: PERCENT, abort: true })
        .transform(Number)
        .refine((limit) => limit <= 100, PERCENT)
        .default(10)
        .openapi({
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 10,
          description: 'Percent of the supply above which one holder is a risk',
        }),
    }),
    data: tokenReport,
  }),
}
