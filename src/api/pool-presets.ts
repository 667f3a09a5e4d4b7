/** Pool presets: the fields of a named curve in the configuration, and its record in answers. */
import { z } from '@hono/zod-openapi'
import { WRAPPED_SOL } from '../solana/program-ids.ts'
import { address, digits } from './chain-scalars.ts'

/** The most segments of a curve that the program allows. */
const CURVE_SEGMENTS = 16
const LEAST_MIGRATED_FEE_BPS = 10
const MOST_MIGRATED_FEE_BPS = 1_000

const quoteAmount = z.number().min(0)
const percentage = z.int().min(0).max(100)
const wholeTokens = z.string().regex(/^[0-9]+(\.[0-9]+)?$/, 'must be an amount in whole tokens, as text')
const seconds = z.int().min(0).max(4_294_967_295)
const periods = z.int().min(1).max(65535)
const weight = z.number().positive().max(1e12)
const schedule = z.enum(['linear', 'exponential'])

const migrationSupplyPercentage = z
  .int()
  .min(1)
  .max(99)
  .meta({ description: 'Part of the supply that migrates, in percent' })

/** Builders of Meteora's SDK; each curve runs between the preset's two market caps. */
const curveShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('market_cap') }),
  z.strictObject({ kind: z.literal('two_segments'), migration_supply_percentage: migrationSupplyPercentage }),
  z.strictObject({
    kind: z.literal('mid_price'),
    migration_supply_percentage: migrationSupplyPercentage,
    mid_market_cap: quoteAmount.meta({ description: 'Market cap at the price where the second segment begins' }),
  }),
  z.strictObject({
    kind: z.literal('liquidity_weights'),
    weights: z
      .array(weight)
      .length(CURVE_SEGMENTS)
      .meta({ description: 'Relative liquidity of 16 segments whose prices rise by the same factor' }),
  }),
  z.strictObject({
    kind: z.literal('custom'),
    market_caps: z
      .array(quoteAmount)
      .max(CURVE_SEGMENTS - 1)
      .meta({ description: 'Market caps between the first and the last at which a segment ends' }),
    weights: z
      .array(weight)
      .max(CURVE_SEGMENTS)
      .optional()
      .meta({ description: 'Relative liquidity of each segment; equal by default' }),
  }),
])

const liquidityVesting = z
  .strictObject({
    percentage: z.int().min(1).max(100),
    periods: z.int().min(1).max(10_000),
    duration_seconds: seconds,
    cliff_seconds: seconds.default(0),
    cliff_bps: z.int().min(0).max(10_000).default(0).meta({ description: 'Share that is released at the cliff' }),
  })
  .optional()
  .meta({ description: 'Share of the migrated liquidity that is released period by period; part of the sum of 100' })

/** Schema of a named curve in the configuration. */
export const curvePreset = z.strictObject({
  total_supply: wholeTokens.meta({ description: 'Whole tokens that are minted', example: '1000000000' }),
  decimals: z.int().min(6).max(9),
  token_program: z.enum(['spl', 'token2022']).default('spl').meta({ description: 'Program of the launched token' }),
  quote_mint: address.default(WRAPPED_SOL).meta({
    description: 'Token that the curve is traded against: wrapped SOL, USDC, or any other mint',
    example: WRAPPED_SOL,
  }),
  quote_decimals: z
    .int()
    .min(0)
    .max(18)
    .default(9)
    .meta({ description: "Decimals of the quote's mint; a launch is refused if the mint has other decimals" }),
  initial_market_cap: quoteAmount.meta({
    description: 'SOL, or whole tokens of the quote, that the whole supply is worth at the first price',
    example: 30,
  }),
  migration_market_cap: quoteAmount.meta({
    description: 'The same at the price at which the pool migrates',
    example: 400,
  }),
  shape: curveShape
    .default({ kind: 'market_cap' })
    .meta({ description: 'How the liquidity is distributed between the two market caps; one even segment by default' }),
  leftover: wholeTokens.default('0').meta({
    description: 'Whole tokens that are reserved for the leftover receiver, who receives them after the migration',
  }),
  fee: z
    .strictObject({
      schedule: schedule.default('linear'),
      starting_bps: z.int().min(25).max(9900),
      ending_bps: z.int().min(25).max(9900),
      periods: z.int().min(0).max(65535).default(0),
      duration_seconds: seconds.default(0),
    })
    .meta({ description: 'Trading fee on the curve, and how it decreases' }),
  dynamic_fee: z.boolean().default(false).meta({
    description: 'Whether the fee on the curve rises by up to a fifth of `fee.ending_bps` while the price moves',
  }),
  collect_fee_mode: z
    .enum(['quote', 'both'])
    .default('quote')
    .meta({ description: '`quote` takes every fee in the quote, `both` in whatever the trader receives' }),
  first_swap_min_fee: z.boolean().default(false).meta({
    description:
      'Whether the first buy, in the transaction that creates the pool, pays the ending fee instead of the starting fee',
  }),
  pool_creation_fee: z.number().min(0).max(100).default(0).meta({
    description: 'SOL that a launch pays to the fee claimer, 0 or from 0.001 to 100; a tenth of it goes to Meteora',
  }),
  creator_fee_percentage: percentage.default(0).meta({ description: "Creator's share of the trading fees" }),
  fee_claimer: address
    .optional()
    .meta({ description: "Claims the partner's fees; may be a vault. By default the platform wallet" }),
  leftover_receiver: address
    .optional()
    .meta({ description: 'Receives the remaining supply; by default the platform wallet' }),
  allow_programs: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether fee claimer and leftover receiver may be addresses of programs, such as a vault' }),
  token_update_authority: z
    .enum(['immutable', 'creator', 'partner'])
    .default('immutable')
    .meta({ description: "Who can change the token's metadata; the partner is the fee claimer" }),
  migration_fee_bps: z
    .int()
    .min(LEAST_MIGRATED_FEE_BPS)
    .max(MOST_MIGRATED_FEE_BPS)
    .default(100)
    .meta({ description: 'Fee of the pool after the migration' }),
  migrated_pool: z
    .strictObject({
      collect_fee_mode: z.enum(['quote', 'both', 'compounding']).default('quote'),
      compounding_fee_bps: z
        .int()
        .min(0)
        .max(10_000)
        .default(0)
        .meta({ description: 'With `compounding`: part of the fees that stays in the pool as liquidity' }),
      dynamic_fee: z.boolean().default(false),
      fee_schedule: z
        .strictObject({
          schedule: schedule.default('linear'),
          ending_bps: z.int().min(1).max(MOST_MIGRATED_FEE_BPS),
          periods,
          price_multiple: z
            .number()
            .min(1)
            .max(1_000_000)
            .meta({ description: 'Multiple of the migration price at which the fee reaches its final value' }),
          duration_seconds: seconds.meta({ description: 'Time after which it has its final value at any price' }),
        })
        .optional()
        .meta({ description: 'How `migration_fee_bps` falls as the market cap rises' }),
    })
    .optional()
    .meta({ description: 'Further terms of the migrated pool' }),
  migration_fee: z
    .strictObject({
      percentage: z.int().min(1).max(99),
      creator_percentage: percentage
        .default(0)
        .meta({ description: "Creator's share of it; the partner receives the rest" }),
    })
    .optional()
    .meta({ description: 'Share of the curve’s proceeds that is paid out at the migration, in percent' }),
  locked_vesting: z
    .strictObject({
      amount: wholeTokens,
      periods,
      duration_seconds: seconds,
      cliff_seconds: seconds.default(0),
      cliff_amount: wholeTokens.default('0'),
    })
    .optional()
    .meta({ description: 'Whole tokens locked for the creator, released after the migration' }),
  liquidity: z
    .strictObject({
      partner: percentage,
      partner_locked: percentage,
      creator: percentage.default(0),
      creator_locked: percentage.default(0),
      partner_vesting: liquidityVesting,
      creator_vesting: liquidityVesting,
    })
    .meta({
      description:
        'Who owns the migrated liquidity, in percent that add up to 100; locked liquidity is locked permanently',
    }),
  platform_position_percentage: z.int().min(0).max(99).default(0).meta({
    description: "Platform's share of the locked position of a pool launched as `damm_v2`, and therefore of its fees",
  }),
  shared_config: z.boolean().default(false).meta({
    description:
      'Whether the `dbc` launches of the preset share one config account; each launch is then a single transaction',
  }),
})

export const poolPreset = z
  .object({
    name: z.string(),
    is_default: z.boolean(),
    ...curvePreset.shape,
    initial_price: z.string().meta({ description: 'SOL, or whole tokens of the quote, for one whole token' }),
    migration_price: z.string().meta({ description: 'The same at the migration' }),
    migration_threshold: digits.meta({ description: 'Lamports, or raw units of the quote, that fill the curve' }),
    curve: z.array(z.object({ sqrt_price: digits, liquidity: digits })),
  })
  .openapi('PoolPreset')

export type CurvePreset = z.output<typeof curvePreset>
export type PoolPreset = z.output<typeof poolPreset>
