/** Previews of launches: a preset's curve point by point, the pool that it migrates to, and the cost of a launch. */
import { z } from '@hono/zod-openapi'
import { digits, mintAddress } from './chain-scalars.ts'

const MOST_POINTS = 100
/** Ten years: every schedule has ended by then. */
const MOST_SECONDS = 315_360_000

const VALIDATION_STATUSES = ['accepted', 'refused', 'unknown'] as const

const parties = z.object({ creator: digits, partner: digits, protocol: digits })
const tokenAmounts = z.object({ base: digits, quote: digits })

const previewPoint = z.object({
  at: z.enum(['start', 'first_buy', 'curve', 'end']),
  amount: digits.meta({ description: 'Raw units of the quote that the buy from the previous point may pay' }),
  paid: digits.meta({ description: 'Raw units of the quote that all buys have paid, including fees' }),
  quote_reserve: digits.meta({ description: 'Raw units of the quote that count towards the threshold' }),
  progress: z.number().min(0).max(1),
  base_sold: digits.meta({ description: 'Raw units of the token that all buys have received' }),
  sqrt_price: digits.meta({ description: 'Square root of the price in raw units, times 2^64' }),
  price: z.string().meta({ description: 'Whole tokens of the quote for one whole token, decimal text' }),
  market_cap: digits.meta({ description: 'Value of the whole supply in raw units of the quote' }),
  fee_bps: z.number().meta({ description: 'Trading fee of the next buy, in hundredths of a percent' }),
  fees: z
    .object({ quote: parties, base: parties })
    .meta({ description: 'Shares of all trading fees up to this point' }),
  depth: z
    .object({
      up_2_percent: digits.nullable(),
      up_10_percent: digits.nullable(),
      down_2_percent: digits.nullable(),
    })
    .meta({
      description:
        'Size of the trade that moves the price: raw units of the quote that a buy pays, including fees, or of the token that a sell pays; null beyond the ends of the curve',
    }),
})

const ownedLiquidity = z.object({
  unlocked: digits,
  locked: digits.meta({ description: 'Locked for good' }),
  vested: digits,
})

const migrationPreview = z.object({
  sqrt_price: digits,
  price: z.string(),
  market_cap: digits,
  deposit: tokenAmounts.meta({ description: 'Initial reserves of the pool' }),
  liquidity: digits,
  positions: z.object({ creator: ownedLiquidity, partner: ownedLiquidity }),
  protocol_fee: tokenAmounts.meta({ description: 'Meteora’s share of the migrated amounts' }),
  migration_fee: z.object({ creator: digits, partner: digits }),
  surplus: parties.meta({ description: 'Shares of the amount paid beyond the threshold' }),
  locked_base: digits.meta({ description: 'Raw units of the token that are locked for the creator' }),
  burned_base: digits,
  leftover_base: digits.meta({ description: 'Raw units of the token that the leftover receiver gets' }),
})

const launchCost = z.object({
  total: digits,
  rent: digits.meta({ description: 'Rent of all accounts that the launch creates' }),
  text_bytes: z.int().meta({ description: 'Total bytes of name, symbol and metadata URI that the figures assume' }),
  text_byte_rent: digits.meta({
    description: 'Change of `rent` and `total` for each byte more or less; 0 with SPL Token, which pads these texts',
  }),
  metadata_fee: digits,
  pool_creation_fee: digits,
  network_fee: digits.meta({ description: 'Without a priority fee' }),
  first_buy: digits.meta({ description: 'In SOL; 0 with another quote, because `buy` is then paid in that quote' }),
  transactions: z.int(),
  tx_version: z.union([z.literal(0), z.literal(1)]),
})

const presetValidation = z.object({
  status: z.enum(VALIDATION_STATUSES),
  by: z
    .enum(['embedded_chain', 'node'])
    .nullable()
    .meta({ description: 'Where the program ran: in memory from the program cache, or on the RPC node' }),
  program_sha256: z.string().nullable().meta({ description: 'SHA-256 of the program in the cache' }),
  reason: z.string().nullable().meta({ description: 'Why the program refuses the preset, or why it could not be run' }),
})

export const poolPreview = z
  .object({
    preset: z.string(),
    quote_mint: mintAddress,
    quote_decimals: z.int(),
    decimals: z.int().meta({ description: 'Decimals of the launched token' }),
    supply: digits.meta({ description: 'Raw units that are minted' }),
    threshold: digits.meta({ description: 'Raw units of the quote that fill the curve' }),
    buy: digits.meta({ description: "Raw units of the quote of the creator's first buy" }),
    after_seconds: z.int(),
    points: z.array(previewPoint),
    migration: migrationPreview.nullable(),
    cost: launchCost.nullable().meta({
      description: 'Lamports that a launch takes from its creator; null if it cannot be tried in memory',
    }),
    validation: presetValidation,
  })
  .openapi('PoolPreview')

export type PoolPreview = z.output<typeof poolPreview>
export type PresetValidation = z.output<typeof presetValidation>

const wholeNumber = (least: number, most: number, otherwise: number) => {
  const wrong = `must be a whole number from ${least} to ${most}`
  return z
    .string({ error: wrong })
    .regex(/^[0-9]{1,9}$/, { error: wrong, abort: true })
    .transform(Number)
    .refine((value) => value >= least && value <= most, wrong)
    .default(otherwise)
}

export const previewQuery = z.strictObject({
  buy: z
    .string()
    .regex(/^[0-9]{1,20}(\.[0-9]{1,18})?$/, 'must be a decimal amount like 0.5')
    .default('0')
    .openapi({
      type: 'string',
      default: '0',
      description: "SOL, or whole tokens of the quote, of the creator's first buy",
      example: '0.5',
    }),
  points: wholeNumber(1, MOST_POINTS, 20).openapi({
    type: 'integer',
    minimum: 1,
    maximum: MOST_POINTS,
    default: 20,
    description: 'Number of steps that fill the curve, of equal size in the quote',
  }),
  after: wholeNumber(0, MOST_SECONDS, 0).openapi({
    type: 'integer',
    minimum: 0,
    maximum: MOST_SECONDS,
    default: 0,
    description: 'Seconds after the opening at which everyone except the creator buys',
  }),
})
