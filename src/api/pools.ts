/** Pools: launch curves (`dbc`) and the pools they migrate to (`damm_v2`). */
import { z } from '@hono/zod-openapi'
import {
  address,
  anything,
  base64,
  digits,
  listQuery,
  metadata,
  signature,
  spentSecretKey,
  timestamp,
  trackedResource,
  transactionBase64,
  uri,
  writeBody,
} from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'

export const POOL_TYPES = ['dbc', 'damm_v2'] as const
export const POOL_STATUSES = ['pending', 'live', 'migration_triggered', 'migrated', 'failed'] as const
export const SURPLUS_STATUSES = ['available', 'withdrawn', 'unknown'] as const
export type PoolType = (typeof POOL_TYPES)[number]
export type PoolStatus = (typeof POOL_STATUSES)[number]
export type SurplusStatus = (typeof SURPLUS_STATUSES)[number]

export const poolType = z
  .enum(POOL_TYPES)
  .meta({ description: '`dbc` is a launch curve, `damm_v2` a post-migration pool' })
/** Most SOL whose lamports fit in 64 bits. */
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
    metadata: metadata.nullable(),
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
    }),
    relay_tip_account: address,
    rpc_endpoint: z.url(),
    signatures: z.array(signature).optional().meta({ description: 'In `signed` mode: what was submitted' }),
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

export type Pool = z.output<typeof pool>
export type PoolCreated = z.output<typeof poolCreated>
export type PoolVerified = z.output<typeof poolVerified>
export type CurveProgress = z.output<typeof curveProgress>
export type PoolFeeMetrics = z.output<typeof poolFeeMetrics>

const params = z.object({ address })

export const pools = {
  create: defineRoute({
    at: paths.pools.create,
    tag: 'Pools',
    summary: 'Launch a token with its pool',
    description:
      'Answers the transactions to sign with the creator wallet and the returned keys. `mode: signed` needs the platform wallet as creator.',
    body: writeBody({
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
      image: base64.meta({ description: 'Base64 in JSON, a file part in multipart' }),
      buy_amount: z
        .number()
        .min(0)
        .max(MAX_SOL)
        .default(0)
        .meta({ description: "SOL spent on the creator's first buy", example: 0.5 }),
      website: uri.optional(),
      twitter_url: uri.optional(),
      telegram: uri.optional(),
      loot_from: z.string().max(100).optional(),
    }),
    multipart: fromMultipart,
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
    params,
    data: pool,
  }),
  curveProgress: defineRoute({
    at: paths.pools.curveProgress,
    tag: 'Pools',
    summary: 'Read how far a launch curve is filled',
    params,
    data: curveProgress,
  }),
  feeMetrics: defineRoute({
    at: paths.pools.feeMetrics,
    tag: 'Pools',
    summary: 'Read the fees a pool holds for the partner',
    params,
    data: poolFeeMetrics,
  }),
  verify: defineRoute({
    at: paths.pools.verify,
    tag: 'Pools',
    summary: 'Check on chain that a pool is live',
    params,
    body: writeBody({
      transactions: z
        .array(transactionBase64)
        .max(10)
        .optional()
        .meta({ description: 'Signed transactions to submit first (legacy flow)' }),
    }),
    data: poolVerified,
  }),
}

/** Gives a form's text fields the types of the JSON body; what does not parse stays for the schema to refuse. */
export function fromMultipart(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  const typed: Record<string, unknown> = { ...fields }
  if (fields.buy_amount !== undefined && /^[0-9]+(\.[0-9]+)?$/.test(fields.buy_amount)) {
    typed.buy_amount = Number(fields.buy_amount)
  }
  if (fields.metadata !== undefined) {
    try {
      typed.metadata = JSON.parse(fields.metadata)
    } catch {
      // Left as text: the schema says that `metadata` must be an object.
    }
  }
  return typed
}
