/** Pools: launch curves (`dbc`) and the pools they migrate to (`damm_v2`). */
import { z } from '@hono/zod-openapi'
import {
  address,
  base64Text,
  digits,
  signatureText,
  spentSecretKey,
  transactionBase64,
  u64Digits,
  uri,
} from './chain-scalars.ts'
import { buildBody, listQuery, writeBody } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { paths } from './paths.ts'
import { generatedKeys, lastValidBlockHeight, trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { anything, timestamp } from './scalars.ts'

export const POOL_TYPES = ['dbc', 'damm_v2'] as const
export const POOL_STATUSES = ['pending', 'live', 'migration_triggered', 'migrated', 'failed'] as const
export const SURPLUS_STATUSES = ['available', 'withdrawn', 'unknown'] as const

export const poolType = z
  .enum(POOL_TYPES)
  .meta({ description: '`dbc` is a launch curve, `damm_v2` a post-migration pool' })
/** Maximum SOL whose lamports fit into 64 bits. */
const MAX_SOL = 18_446_744_073

export const pool = z
  .object({
    type: poolType,
    address,
    base_mint: address,
    quote_mint: address,
    config: address.nullable(),
    creator: address.nullable(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    metadata_uri: z.url().nullable(),
    status: z.enum(POOL_STATUSES),
    curve_progress: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({ description: 'Fraction of the migration threshold; null for `damm_v2`' }),
    state: anything.meta({ description: 'Raw on-chain state, or null' }),
    fee_metrics: anything.meta({ description: 'Fees the pool holds, or null' }),
    created_at: timestamp.nullable(),
    metadata: storedMetadata.nullable(),
  })
  .openapi('Pool')

export const poolCreated = z
  .object({
    pool,
    transactions: z.array(transactionBase64).meta({ description: 'To be signed and submitted in this order' }),
    required_signers: z.object({
      base_mint_secret_key: spentSecretKey,
      config_secret_key: spentSecretKey.meta({ description: 'Secret key bytes; empty for `damm_v2`' }),
      position_nft_secret_key: spentSecretKey.optional().meta({ description: 'Secret key bytes; `damm_v2` only' }),
      platform_position_nft_secret_key: spentSecretKey
        .optional()
        .meta({ description: "Secret key bytes; `damm_v2` with a platform's part of the position only" }),
    }),
    last_valid_block_height: lastValidBlockHeight.optional(),
    generated_keys: generatedKeys.optional(),
    relay_tip_account: address,
    rpc_endpoint: z.url(),
    lock_liquidity: z
      .boolean()
      .optional()
      .meta({ description: '`damm_v2` only: whether the liquidity is locked for good' }),
    platform_position_percentage: z
      .int()
      .optional()
      .meta({ description: "`damm_v2` only: the platform's part of the position, in percent" }),
    signatures: z.array(signatureText).optional().meta({ description: 'In `signed` mode: what was submitted' }),
    tracked_resource: trackedResource.optional(),
  })
  .openapi('PoolCreated')

export const poolVerified = z.object({ pool, verified: z.boolean() }).openapi('PoolVerified')

export const curveProgress = z
  .object({
    pool_address: address,
    progress: z.number().min(0).max(1),
    migration_market_cap_usd: z.number().optional(),
  })
  .openapi('CurveProgress')

export const poolFeeMetrics = z
  .object({
    pool_address: address,
    partner_quote_fee: digits,
    partner_base_fee: digits.optional(),
    surplus_status: z.enum(SURPLUS_STATUSES),
    raw: z.unknown().optional().meta({ description: 'Raw on-chain fee state, or null' }),
  })
  .openapi('PoolFeeMetrics')

/** A link that is published permanently in the token's metadata. */
const link = uri
  .max(2048)
  .refine((text) => /^https?:\/\//i.test(text), 'must be an http or https URL')
  .meta({ example: 'https://example.com' })

const solAmount = z.number().min(0)
const percentage = z.int().min(0).max(100)
const wholeTokens = z.string().regex(/^[0-9]+(\.[0-9]+)?$/, 'must be an amount in whole tokens, as text')
const seconds = z.int().min(0).max(4_294_967_295)

/** Schema of a named curve in the configuration. */
export const curvePreset = z.strictObject({
  total_supply: wholeTokens.meta({ description: 'Whole tokens that are minted', example: '1000000000' }),
  decimals: z.int().min(6).max(9),
  initial_market_cap: solAmount.meta({
    description: 'SOL that the whole supply is worth at the first price',
    example: 30,
  }),
  migration_market_cap: solAmount.meta({ description: 'The same at the price where the pool migrates', example: 400 }),
  fee: z
    .strictObject({
      schedule: z.enum(['linear', 'exponential']).default('linear'),
      starting_bps: z.int().min(25).max(9900),
      ending_bps: z.int().min(25).max(9900),
      periods: z.int().min(0).max(65535).default(0),
      duration_seconds: seconds.default(0),
    })
    .meta({ description: 'Trading fee on the curve, and how it falls' }),
  creator_fee_percentage: percentage.default(0).meta({ description: "Creator's share of the trading fees" }),
  migration_fee_bps: z
    .union([25, 30, 100, 200, 400, 600].map((bps) => z.literal(bps)))
    .default(100)
    .meta({ description: 'Fee of the pool that it migrates to' }),
  locked_vesting: z
    .strictObject({
      amount: wholeTokens,
      periods: z.int().min(1).max(65535),
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
    })
    .meta({ description: 'Who owns the migrated liquidity, in percent that sum to 100; locked means for good' }),
  platform_position_percentage: z.int().min(0).max(99).default(0).meta({
    description: "Platform's part of the locked position of a pool launched as `damm_v2`, and so of its fees",
  }),
  shared_config: z.boolean().default(false).meta({
    description:
      'Whether the `dbc` launches of the preset share one config account, so that each is a single transaction',
  }),
})

export const poolPreset = z
  .object({
    name: z.string(),
    is_default: z.boolean(),
    ...curvePreset.shape,
    initial_price: z.string().meta({ description: 'SOL for one whole token, decimal text' }),
    migration_price: z.string().meta({ description: 'The same where the pool migrates' }),
    migration_threshold: digits.meta({ description: 'Lamports that fill the curve' }),
    curve: z.array(z.object({ sqrt_price: digits, liquidity: digits })),
  })
  .openapi('PoolPreset')

const presetName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be the name of a preset')

export const SHARED_CONFIG_STATUSES = ['missing', 'pending', 'live', 'different'] as const

export const sharedConfig = z
  .object({
    preset: z.string(),
    config: address.nullable().meta({ description: 'Address of the account; null while the status is `missing`' }),
    status: z.enum(SHARED_CONFIG_STATUSES).meta({
      description:
        '`missing`: never built for this content of the preset; `pending`: built, and not on chain; `live`: on chain with exactly what the preset says; `different`: on chain with something else, so that no launch uses it',
    }),
  })
  .openapi('SharedConfig')

export const poolSwap = z
  .object({
    pool_address: address,
    side: z.enum(['buy', 'sell']),
    amount_in: digits.meta({ description: 'What is paid: lamports for a buy, raw units of the token for a sell' }),
    estimated_out: digits.meta({ description: 'What is received at the present price, fees taken off' }),
    minimum_out: digits.meta({ description: 'Less than this and the transaction fails' }),
    fee: digits.meta({ description: 'Trading fee in raw units, of whichever side pays it' }),
    tx: unsignedPayload({}),
    tracked_resource: trackedResource.optional(),
  })
  .openapi('PoolSwap')

export type CurvePreset = z.output<typeof curvePreset>
export type SharedConfig = z.output<typeof sharedConfig>
export type PoolPreset = z.output<typeof poolPreset>
export type PoolSwap = z.output<typeof poolSwap>
export type Pool = z.output<typeof pool>
export type PoolCreated = z.output<typeof poolCreated>
export type PoolVerified = z.output<typeof poolVerified>
export type CurveProgress = z.output<typeof curveProgress>
export type PoolFeeMetrics = z.output<typeof poolFeeMetrics>

const poolParams = z.object({ address })
const presetParams = z.object({ name: presetName.meta({ example: 'standard' }) })

export const pools = {
  create: defineRoute({
    at: paths.pools.create,
    tag: 'Pools',
    summary: 'Launch a token with its pool',
    description:
      'Answers the transactions to sign with the creator wallet and the returned keys. `mode: signed` needs the platform wallet as creator.',
    body: buildBody({
      type: poolType.default('dbc'),
      creator: address,
      name: z
        .string()
        .regex(/^[a-zA-Z0-9 ]{1,20}$/, 'must be 1 to 20 letters, digits or spaces')
        .meta({ example: 'My Token' }),
      symbol: z
        .string()
        .regex(/^[A-Za-z0-9]{1,10}$/, 'must be 1 to 10 letters or digits')
        .meta({ example: 'MTK' }),
      description: z.string().max(500).optional(),
      image: base64Text.meta({ description: 'Base64 in JSON, a file part in multipart' }),
      buy_amount: z
        .number()
        .min(0)
        .max(MAX_SOL)
        .default(0)
        .meta({ description: "SOL spent on the creator's first buy", example: 0.5 }),
      website: link.optional(),
      twitter_url: link.optional(),
      telegram: link.optional(),
      loot_from: z.string().max(100).optional(),
      preset: presetName
        .optional()
        .meta({ description: 'Curve of the pool, see GET /v2/pool-presets; the configured one when left out' }),
      lock_liquidity: z.boolean().optional().meta({
        description:
          '`damm_v2` only. True, also when left out: the liquidity is locked for good; false: the creator can take it out at any time',
      }),
    }).superRefine(({ type, lock_liquidity }, context) => {
      if (type === 'dbc' && lock_liquidity !== undefined) {
        const message = 'lock_liquidity is only valid with type damm_v2: what a dbc pool locks is set by its preset'
        context.addIssue({ code: 'custom', path: ['lock_liquidity'], message })
      }
    }),
    multipart: fromMultipart,
    large: true,
    data: poolCreated,
    status: 201,
    signed: '*',
  }),
  list: defineRoute({
    at: paths.pools.list,
    tag: 'Pools',
    summary: 'List pools, newest first',
    query: listQuery({
      status: z.enum(POOL_STATUSES).optional(),
      type: poolType.optional(),
      creator: address.optional(),
    }),
    data: pool,
    list: true,
  }),
  get: defineRoute({
    at: paths.pools.get,
    tag: 'Pools',
    summary: 'Read one pool',
    params: poolParams,
    data: pool,
  }),
  curveProgress: defineRoute({
    at: paths.pools.curveProgress,
    tag: 'Pools',
    summary: 'Read how far a launch curve is filled',
    params: poolParams,
    data: curveProgress,
  }),
  feeMetrics: defineRoute({
    at: paths.pools.feeMetrics,
    tag: 'Pools',
    summary: 'Read the fees a pool holds for the partner',
    description: 'Not found once the pool has migrated: the error says where its fees are claimed.',
    params: poolParams,
    data: poolFeeMetrics,
  }),
  verify: defineRoute({
    at: paths.pools.verify,
    tag: 'Pools',
    summary: 'Check on chain that a pool is live',
    params: poolParams,
    body: writeBody({
      transactions: z
        .array(transactionBase64)
        .max(10)
        .optional()
        .meta({ description: 'Signed transactions to submit first (legacy flow)' }),
    }),
    data: poolVerified,
  }),
  swap: defineRoute({
    at: paths.pools.swap,
    tag: 'Pools',
    summary: 'Quote and build a buy or a sell',
    params: poolParams,
    body: buildBody({
      payer: address,
      side: z.enum(['buy', 'sell']),
      amount: u64Digits.meta({ description: 'What is paid: lamports for a buy, raw units of the token for a sell' }),
      slippage_bps: z.int().min(0).max(10_000).default(100),
    }),
    data: poolSwap,
    signed: 'refused',
  }),
  presets: defineRoute({
    at: paths.pools.presets,
    tag: 'Pools',
    summary: 'List the curves that pools can be launched with',
    data: z.array(poolPreset),
  }),
  sharedConfig: defineRoute({
    at: paths.pools.sharedConfig,
    tag: 'Pools',
    summary: "Read the config account that a preset's launches share",
    description:
      "The account of this cluster, of the preset's present content and of the platform wallet as receiver of its fees: another content has another account.",
    params: presetParams,
    data: sharedConfig,
  }),
  share: defineRoute({
    at: paths.pools.share,
    tag: 'Pools',
    summary: "Build the config account that a preset's launches share",
    description:
      'For presets with `shared_config: true`. The payer pays the rent of the account, once; its generated key has already signed. Repeating it before the account is on chain builds the same account again.',
    params: presetParams,
    body: buildBody({ payer: address }),
    data: unsignedPayload({ preset: z.string(), config: address }).openapi('SharedConfigBuilt'),
    signed: 'refused',
  }),
}

/** Converts text fields of a form to the types of the JSON body; the schema rejects fields that cannot be converted. */
export function fromMultipart(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  const typed: Record<string, unknown> = { ...fields }
  if (fields.buy_amount !== undefined && /^[0-9]+(\.[0-9]+)?$/.test(fields.buy_amount)) {
    typed.buy_amount = Number(fields.buy_amount)
  }
  for (const name of ['lock_liquidity', 'dry_run']) {
    if (fields[name] === 'true' || fields[name] === 'false') typed[name] = fields[name] === 'true'
  }
  if (fields.tx_version === '0' || fields.tx_version === '1') typed.tx_version = Number(fields.tx_version)
  if (fields.metadata !== undefined) {
    try {
      typed.metadata = JSON.parse(fields.metadata)
    } catch {
      // The field stays a text, and the schema reports that `metadata` must be an object.
    }
  }
  return typed
}
