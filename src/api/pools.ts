/** Pools: launch curves (`dbc`) and the pools they migrate to (`damm_v2`). */
import { z } from '@hono/zod-openapi'
import {
  address,
  allowProgramsField,
  chosenMint,
  digits,
  imageText,
  mintAddress,
  poolAddress,
  signatureText,
  spentSecretKey,
  transactionBase64,
  u64Digits,
  uri,
  warningsField,
} from './chain-scalars.ts'
import { creatorTransferBody, poolCreatorTransfer } from './creator-transfers.ts'
import { buildBody, listQuery, writeBody } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import {
  generatedKeys,
  guardAnswer,
  lastValidBlockHeight,
  proposed,
  trackedResource,
  unsignedPayload,
} from './payloads.ts'
import { poolEarnings } from './pool-earnings.ts'
import { migrationBody, poolMigrationBuilt, waitingMigration } from './pool-migrations.ts'
import { poolPreset } from './pool-presets.ts'
import { poolPreview, previewQuery } from './pool-previews.ts'
import { poolRehearsal } from './pool-rehearsals.ts'
import { poolTrade } from './pool-trades.ts'
import { poolPositionTransfer, positionTransferBody } from './position-transfers.ts'
import { defineRoute, type Tag } from './route.ts'
import { anything, line, timestamp, tokenName } from './scalars.ts'

const POOL_TYPES = ['dbc', 'damm_v2'] as const
const POOL_STATUSES = ['pending', 'live', 'migration_triggered', 'migrated', 'failed'] as const
const SURPLUS_STATUSES = ['available', 'withdrawn', 'unknown'] as const

export const poolType = z
  .enum(POOL_TYPES)
  .meta({ description: '`dbc` is a launch curve, `damm_v2` a post-migration pool' })
/** Largest whole number of SOL whose lamports fit into 64 bits. */
const MAX_SOL = 18_446_744_073

export const pool = z
  .object({
    type: poolType,
    address,
    base_mint: mintAddress,
    quote_mint: mintAddress,
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

/** One pool as it is read by its address. */
const poolRead = pool
  .extend({
    migration: waitingMigration
      .optional()
      .meta({ description: 'Only while a full curve of this service waits for its migration' }),
  })
  .openapi('PoolRead')

const poolCreated = z
  .object({
    pool,
    transactions: z.array(transactionBase64).meta({ description: 'To be signed and submitted in this order' }),
    required_signers: z.object({
      base_mint_secret_key: spentSecretKey,
      config_secret_key: spentSecretKey.meta({ description: 'Secret key bytes; empty for `damm_v2`' }),
      position_nft_secret_key: spentSecretKey.optional().meta({ description: 'Secret key bytes; only for `damm_v2`' }),
      platform_position_nft_secret_key: spentSecretKey
        .optional()
        .meta({ description: "Secret key bytes; only for `damm_v2` with a platform's part of the position" }),
    }),
    last_valid_block_height: lastValidBlockHeight.optional(),
    generated_keys: generatedKeys.optional(),
    guard: guardAnswer.optional(),
    relay_tip_account: address,
    rpc_endpoint: z.url(),
    payer: address
      .optional()
      .meta({ description: 'Wallet that pays and signs besides the creator, if it is another wallet' }),
    lock_liquidity: z
      .boolean()
      .optional()
      .meta({ description: 'Only for `damm_v2`: whether the liquidity is locked permanently' }),
    platform_position_percentage: z
      .int()
      .optional()
      .meta({ description: "Only for `damm_v2`: the platform's share of the position, in percent" }),
    signatures: z.array(signatureText).optional().meta({ description: 'In `signed` mode: the submitted transactions' }),
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
    warnings: warningsField,
  })
  .openapi('PoolCreated')

const poolVerified = z.object({ pool, verified: z.boolean() }).openapi('PoolVerified')

export const curveProgress = z
  .object({
    pool_address: poolAddress,
    progress: z.number().min(0).max(1),
    migration_market_cap_usd: z.number().optional(),
  })
  .openapi('CurveProgress')

const poolFeeMetrics = z
  .object({
    pool_address: poolAddress,
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

const presetName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be the name of a preset')

const SHARED_CONFIG_STATUSES = ['missing', 'pending', 'live', 'different'] as const

export const sharedConfig = z
  .object({
    preset: z.string(),
    config: address.nullable().meta({ description: 'Address of the account; null while the status is `missing`' }),
    status: z.enum(SHARED_CONFIG_STATUSES).meta({
      description:
        '`missing`: never built for this content of the preset; `pending`: built, but not on chain; `live`: on chain, with exactly the content of the preset; `different`: on chain with other content, so no launch uses it',
    }),
  })
  .openapi('SharedConfig')

export const poolSwap = z
  .object({
    pool_address: poolAddress,
    side: z.enum(['buy', 'sell']),
    amount_in: digits.meta({
      description: 'Amount to pay in raw units: of the quote (lamports for SOL) for a buy, of the token for a sell',
    }),
    estimated_out: digits.meta({ description: 'Amount received at the present price, after fees' }),
    minimum_out: digits.meta({ description: 'The transaction fails if it would receive less than this' }),
    fee: digits.meta({ description: 'Trading fee in raw units of the side that pays it' }),
    tx: unsignedPayload({}),
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('PoolSwap')

export type SharedConfig = z.output<typeof sharedConfig>
export type PoolSwap = z.output<typeof poolSwap>
export type Pool = z.output<typeof pool>
export type PoolRead = z.output<typeof poolRead>
export type PoolCreated = z.output<typeof poolCreated>
export type CurveProgress = z.output<typeof curveProgress>
export type PoolFeeMetrics = z.output<typeof poolFeeMetrics>

const poolParams = z.object({ address: poolAddress })
const presetParams = z.object({ name: presetName.meta({ example: 'standard' }) })
/** The built-in preset has no shared config account. */
const sharedConfigParams = z.object({ name: presetName.meta({ example: 'my-curve' }) })

/** The fields of a launch; a rehearsal takes the same. */
const launchBody = buildBody({
  type: poolType.default('dbc'),
  creator: address,
  payer: address.optional().meta({
    description:
      'Sponsor of a `dbc` launch: it pays rent and fees, and signs together with the creator, who still pays the first buy. By default the creator',
  }),
  name: tokenName.meta({ example: 'My Token' }),
  symbol: z
    .string()
    .regex(/^[A-Za-z0-9]{1,10}$/, 'must be 1 to 10 letters or digits')
    .meta({ example: 'MTK' }),
  description: z.string().max(500).optional(),
  image: imageText.meta({ description: 'Base64 or a data URL in JSON, a file part in multipart' }),
  buy_amount: z.number().min(0).max(MAX_SOL).default(0).meta({
    description: "SOL, or whole tokens of the preset's quote, spent on the creator's first buy",
    example: 0.5,
  }),
  website: link.optional(),
  twitter_url: link.optional(),
  telegram: link.optional(),
  loot_from: z.string().max(100).optional(),
  preset: presetName
    .optional()
    .meta({ description: 'Curve of the pool, see GET /v2/pool-presets; by default the configured one' }),
  allow_programs: allowProgramsField,
  base_mint: chosenMint,
  lock_liquidity: z.boolean().optional().meta({
    description:
      'Only for `damm_v2`. True (default): the liquidity is locked permanently; false: the creator can withdraw it at any time',
  }),
}).superRefine(({ type, mode, base_mint, lock_liquidity, creator, payer = creator }, context) => {
  if (mode === 'signed' && base_mint !== undefined) {
    const message =
      'base_mint is only valid with mode unsigned: the key of that mint must sign too, and the server has no keys of yours'
    context.addIssue({ code: 'custom', path: ['base_mint'], message })
  }
  if (type === 'damm_v2' && payer !== creator) {
    const message = 'payer is only valid with type dbc: the creator of a damm_v2 pool pays for it'
    context.addIssue({ code: 'custom', path: ['payer'], message })
  }
  if (type === 'dbc' && lock_liquidity !== undefined) {
    const message = 'lock_liquidity is only valid with type damm_v2: what a dbc pool locks is set by its preset'
    context.addIssue({ code: 'custom', path: ['lock_liquidity'], message })
  }
})

const POOLS_TAG: Tag = {
  name: 'Pools',
  description:
    'Launches on a bonding curve of Meteora: preview, rehearse and launch, buy and sell, and follow the pool to its migration.',
}

export const pools = {
  create: defineRoute({
    at: ['post', '/v2/pools'],
    tag: POOLS_TAG,
    summary: 'Launch a token with its pool',
    description:
      'Answers with the transactions to sign with the creator wallet and the returned keys. With `base_mint`, you have the key of the mint: it signs too, and the answer has none. `mode: signed` needs the platform wallet as creator.',
    body: launchBody,
    example: { buy_amount: 0.5 },
    multipart: fromMultipart,
    large: true,
    data: poolCreated,
    status: 201,
    signed: '*',
    says: ({ name, symbol, buy_amount }) =>
      `Launch ${name} (${symbol})${Number(buy_amount ?? 0) === 0 ? '' : ', with a first buy'}`,
  }),
  rehearse: defineRoute({
    at: ['post', '/v2/pool-rehearsals'],
    tag: POOLS_TAG,
    summary: 'Rehearse a launch on a copy of the cluster',
    description:
      'Takes the body of POST /v2/pools, and runs the launch in memory on a copy of the cluster’s accounts. After the launch come a buyer who fills the curve, the migration, a trade, and what each party can claim. Nothing is signed, sent or stored, whatever `mode` and `dry_run` say; with `mode: signed` there is no tip. Only one runs at a time: a second one waits for the first.',
    body: launchBody,
    example: { buy_amount: 0.5 },
    multipart: fromMultipart,
    large: true,
    data: poolRehearsal,
    dry: true,
  }),
  list: defineRoute({
    at: ['get', '/v2/pools'],
    tag: POOLS_TAG,
    summary: 'List pools, newest first',
    description:
      'Pools that were launched through this service, and the pools they migrated to, with their state on chain. The state is missing while the node fails or is slow. Other pools can only be read one by one. A page may have fewer than `limit`, because only pools of this chain are listed.',
    query: listQuery({
      status: z.enum(POOL_STATUSES).optional(),
      type: poolType.optional(),
      creator: address.optional(),
      mint: mintAddress.optional().meta({ description: 'Only pools of this token' }),
      symbol: line(32).optional().meta({ description: 'Only pools of tokens with this symbol, in any case' }),
    }),
    data: pool,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/pools/{address}'],
    tag: POOLS_TAG,
    summary: 'Read one pool',
    description:
      "Reads a pool of any creator by its address. A pool without a record here is read only from the chain. For a stored pool the chain's state is missing while the node fails or is slow.",
    params: poolParams,
    data: poolRead,
  }),
  curveProgress: defineRoute({
    at: ['get', '/v2/pools/{address}/curve-progress'],
    tag: POOLS_TAG,
    summary: 'Read the progress of a launch curve',
    description:
      'How much the curve has raised of what it needs, and the value of the whole supply at the migration. The value in dollars is included if a price source is configured.',
    params: poolParams,
    data: curveProgress,
  }),
  feeMetrics: defineRoute({
    at: ['get', '/v2/pools/{address}/fee-metrics'],
    tag: POOLS_TAG,
    summary: 'Read the fees a pool holds for the partner',
    description: 'After the migration the answer is `not_found`, and the error says where the fees are claimed.',
    params: poolParams,
    data: poolFeeMetrics,
  }),
  earnings: defineRoute({
    at: ['get', '/v2/pools/{address}/earnings'],
    tag: POOLS_TAG,
    summary: 'Read what a pool has earned for partner, creator and protocol',
    description:
      'By source, before and after the migration, exactly as the programs count it. An amount that the chain does not contain is null.',
    params: poolParams,
    data: poolEarnings,
  }),
  trades: defineRoute({
    at: ['get', '/v2/pools/{address}/trades'],
    tag: POOLS_TAG,
    summary: 'List the trades of a pool, newest first',
    description:
      'Read from the history of the pool at the node, whoever traded. A page reads `limit` transactions: it may hold fewer trades, or none, and still have a next page. Nodes without a full history lack old ones.',
    params: poolParams,
    query: listQuery({}),
    data: poolTrade,
    list: true,
  }),
  verify: defineRoute({
    at: ['post', '/v2/pools/{address}/verifications'],
    tag: POOLS_TAG,
    summary: 'Check on chain that a pool is live',
    description:
      'Checks immediately, without waiting for the worker, and records the pool as live if its account exists. `transactions` are submitted first.',
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
    at: ['post', '/v2/pools/{address}/swaps'],
    tag: POOLS_TAG,
    summary: 'Quote and build a buy or a sell',
    description:
      'Trades on the launch curve, or on the pool after its migration. The answer contains the quote. The transaction fails on chain if the price has moved by more than `slippage_bps`.',
    params: poolParams,
    body: buildBody({
      payer: address,
      side: z.enum(['buy', 'sell']),
      amount: u64Digits.meta({
        description: 'Amount to pay in raw units: of the quote (lamports for SOL) for a buy, of the token for a sell',
      }),
      slippage_bps: z.int().min(0).max(10_000).default(100),
    }),
    data: poolSwap,
    signed: 'refused',
    payable: 'payer',
    says: ({ address, side }) => `${side === 'sell' ? 'Sell to' : 'Buy from'} the pool ${address}`,
  }),
  transferCreator: defineRoute({
    at: ['post', '/v2/pools/{address}/creator-transfers'],
    tag: POOLS_TAG,
    summary: "Transfer the role of a pool's creator",
    description:
      'The new creator can claim what the old one has not claimed yet, and everything that the pool earns its creator from now on. Vested tokens and the positions of the migrated pool stay with their present wallets. A transfer is not possible between the end of the curve and its migration.',
    params: poolParams,
    body: creatorTransferBody,
    data: poolCreatorTransfer,
    signed: 'refused',
    payable: 'payer',
    says: ({ address, new_creator }) => `Make ${new_creator} the creator of the pool ${address}`,
  }),
  transferPositions: defineRoute({
    at: ['post', '/v2/pools/{address}/position-transfers'],
    tag: POOLS_TAG,
    summary: 'Send positions of a DAMM v2 pool to another wallet',
    description:
      'Sends the NFTs of the positions; whoever holds one owns its liquidity and its fees, also the unclaimed ones. The new owner can be the vault of a multisig, with `allow_programs`. Delegates of the old owner lose their permission. The address may be that of the curve that became the pool.',
    params: poolParams,
    body: positionTransferBody,
    data: poolPositionTransfer,
    signed: 'refused',
    payable: 'payer',
  }),
  migrate: defineRoute({
    at: ['post', '/v2/pools/{address}/migrations'],
    tag: POOLS_TAG,
    summary: 'Build the migration of a full curve',
    description:
      'Any wallet may pay for it. A curve with vested tokens takes two transactions: repeat the request once the first is confirmed. The setting `pools.crank` lets the platform wallet send them.',
    params: poolParams,
    body: migrationBody,
    data: poolMigrationBuilt,
    signed: 'refused',
    payable: 'payer',
    says: ({ address }) => `Migrate the pool ${address}`,
  }),
  presets: defineRoute({
    at: ['get', '/v2/pool-presets'],
    tag: POOLS_TAG,
    summary: 'List the curves that pools can be launched with',
    description:
      'The built-in curve, then those in the file of the setting `pools.presets`, in the order of the file. A launch selects one with `preset`.',
    query: listQuery({}),
    data: poolPreset,
    list: true,
  }),
  preview: defineRoute({
    at: ['get', '/v2/pool-presets/{name}/preview'],
    tag: POOLS_TAG,
    summary: 'Preview a launch with a preset, from the first price to the migration',
    description:
      'Computed without the chain, with the same arithmetic as the program. The figures are exact for the assumed trades: the first buy in the transaction that creates the pool, then one buy from each point to the next. Cost and validation come from a launch that is run in memory.',
    params: presetParams,
    query: previewQuery,
    data: poolPreview,
  }),
  sharedConfig: defineRoute({
    at: ['get', '/v2/pool-presets/{name}/shared-config'],
    tag: POOLS_TAG,
    summary: 'Read the config account that the launches of a preset share',
    description:
      "The account belongs to this cluster, to the preset's present content and to the platform wallet as receiver of its fees. Other content has another account.",
    params: sharedConfigParams,
    data: sharedConfig,
  }),
  share: defineRoute({
    at: ['post', '/v2/pool-presets/{name}/shared-config'],
    tag: POOLS_TAG,
    summary: 'Build the config account that the launches of a preset share',
    description:
      'For presets with `shared_config: true`. The payer pays the rent of the account once; the generated key of the account has already signed. If you repeat the request before the account is on chain, the same account is built again.',
    params: sharedConfigParams,
    body: buildBody({ payer: address }),
    data: unsignedPayload({ preset: z.string(), config: address }).openapi('SharedConfigBuilt'),
    signed: 'refused',
    payable: 'payer',
  }),
}

/**
 * Converts text fields of a form to the types of the JSON body; the schema rejects fields that cannot be converted. A
 * browser sends every input, so an empty field counts as absent.
 */
export function fromMultipart(given: Readonly<Record<string, string>>): Record<string, unknown> {
  const fields = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== ''))
  const typed: Record<string, unknown> = { ...fields }
  if (fields.buy_amount !== undefined && /^[0-9]+(\.[0-9]+)?$/.test(fields.buy_amount)) {
    typed.buy_amount = Number(fields.buy_amount)
  }
  for (const name of ['lock_liquidity', 'allow_programs', 'dry_run']) {
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
