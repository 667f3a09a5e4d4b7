/** Plans a launch for the creator: keys, transactions and addresses, before anything is on chain. */

import type { CurvePreset, PoolCreated } from '../../api/index.ts'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import type { Guarding } from '../../chain/sending/guard-report.ts'
import type { Envelope, UnsignedTransaction } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { TIP_ACCOUNTS } from '../../solana/bundles.ts'
import type { FreshKey } from '../../solana/signatures.ts'
import { MINT_SIZE } from '../../solana/token-accounts.ts'
import { unguardedSequence } from '../build-guards.ts'
import { buildTransaction, newKey, sequenceTerms } from '../building.ts'
import { refuseFailing } from '../programs/refuse-failing.ts'
import type { LaunchReceivers } from './launch-terms.ts'
import { curveNamed, type NamedCurve } from './presets.ts'

interface LaunchInput {
  type: 'dbc' | 'damm_v2'
  creator: string
  /** Address that pays rent and fees and also signs, if it is not the creator. */
  payer?: string | undefined
  name: string
  symbol: string
  preset?: string | undefined
  /** Whether the position of a `damm_v2` pool is locked permanently. */
  lockLiquidity: boolean
  /** Lamports, or raw units of the preset's quote. */
  buyLamports: bigint
  /** Addresses that receive the fees and the leftover of a `dbc` launch. */
  receivers: LaunchReceivers
  quote: dbc.QuoteTerms
  /** Address that receives a part of the position of a `damm_v2` pool. */
  partner: string
  uri: string
  /** Key of the mint; without a secret key if the caller has it. */
  token: Pick<FreshKey, 'address' | 'secretKey'>
  /** Address of the config on chain that a `dbc` launch uses, or null if it creates one. */
  sharedConfig: string | null
  /** Whether the launch may be sent to a relay. Only a relay requires a tip. */
  isBundled: boolean
}

export interface PlannedLaunch {
  /** Address of the pool. */
  address: string
  mint: string
  /** Mint that the token is traded against. */
  quoteMint?: string
  /** Address of the config, or null for `damm_v2`. */
  config: string | null
  /** Unsigned transactions, in the order in which they must be confirmed. */
  transactions: Uint8Array[]
  requiredSigners: PoolCreated['required_signers']
  tipAccount: string
  /** Sponsor that signs in addition to the creator. */
  payer?: string
  /** Block height after which none of the transactions can land. */
  lastValidBlockHeight?: number
  /** Transactions of version 0 follow one another, so they have no guards. Missing once the server signs them. */
  guarding?: Guarding
  /** The position of a `damm_v2` pool, or null for `dbc`. */
  liquidity: { lock_liquidity: boolean; platform_position_percentage: number } | null
}

/** Largest compute limit of a transaction in a launch. */
const LARGEST_LAUNCH_UNITS = 500_000

/** A launch of version 1 is a single transaction. A launch of version 0 has several if it does not fit into one. */
export async function planLaunch(context: Context, input: LaunchInput): Promise<PlannedLaunch> {
  const named = await curveNamed(context.config, input.preset)
  const common = {
    creator: input.creator,
    payer: input.payer ?? input.creator,
    mint: input.token.address,
    name: input.name,
    symbol: input.symbol,
    uri: input.uri,
    buyLamports: input.buyLamports,
  }
  const plan = input.type === 'dbc' ? planDbcLaunch : planDammV2Launch
  return plan(context, input, { ...named, common, tipAccount: drawTipAccount() })
}

interface LaunchParts extends NamedCurve {
  common: Pick<LaunchInput, 'creator' | 'name' | 'symbol' | 'uri' | 'buyLamports'> & { mint: string; payer: string }
  tipAccount: string
}

async function planDbcLaunch(
  context: Context,
  input: LaunchInput,
  { curve, common, tipAccount }: LaunchParts,
): Promise<PlannedLaunch> {
  const { sharedConfig } = input
  const configKey = sharedConfig === null ? newKey(context) : null
  const config = sharedConfig ?? configKey?.address ?? ''
  const launch = {
    ...common,
    config,
    isConfigShared: sharedConfig !== null,
    ...input.receivers,
    ...input.quote,
    curve,
  }
  const { quoteMint } = curve
  const { built, lastValidBlockHeight, guarding } =
    context.txVersion === 1
      ? await wholeLaunch(context, input, dbc.wholeLaunchUnits(launch), (envelope) =>
          dbc.buildWholeDbcLaunch({ ...envelope, ...launch }),
        )
      : await launchSequence(context, input, tipAccount, (terms) => dbc.buildDbcLaunch({ ...launch, ...terms }))
  return {
    address: await dbc.dbcPoolAddress({ mint: common.mint, config, quoteMint }),
    mint: common.mint,
    quoteMint,
    config,
    transactions: built.map(({ transaction }) => transaction),
    requiredSigners: {
      base_mint_secret_key: [...input.token.secretKey],
      config_secret_key: configKey === null ? [] : [...configKey.secretKey],
    },
    tipAccount,
    ...(input.payer === undefined ? {} : { payer: input.payer }),
    lastValidBlockHeight,
    guarding,
    liquidity: null,
  }
}

async function planDammV2Launch(
  context: Context,
  input: LaunchInput,
  { preset, curve, common, tipAccount }: LaunchParts,
): Promise<PlannedLaunch> {
  requireLockedShare(preset, input)
  const percentage = platformPercentage(preset, input)
  const [position, platformPosition] = [newKey(context), percentage === 0 ? null : newKey(context)]
  const launch = {
    ...common,
    lockLiquidity: input.lockLiquidity,
    platform:
      platformPosition === null ? null : { wallet: input.partner, positionNft: platformPosition.address, percentage },
    positionNft: position.address,
    decimals: preset.decimals,
    totalSupply: curve.totalSupply,
    initialMarketCapLamports: curve.initialMarketCapLamports,
    feeBps: preset.migration_fee_bps,
    rent: await rentFor(context.chain, MINT_SIZE),
  }
  const { built, lastValidBlockHeight, guarding } =
    context.txVersion === 1
      ? await wholeLaunch(context, input, dammV2.wholePoolUnits(launch), (envelope) =>
          dammV2.buildWholeSingleSidedPool({ ...envelope, ...launch }),
        )
      : await launchSequence(context, input, tipAccount, (terms) =>
          dammV2.buildSingleSidedPool({ ...launch, ...terms }),
        )
  return {
    address: dammV2.dammV2PoolAddress({ mint: common.mint }),
    mint: common.mint,
    config: null,
    transactions: built.map(({ transaction }) => transaction),
    requiredSigners: {
      base_mint_secret_key: [...input.token.secretKey],
      config_secret_key: [],
      position_nft_secret_key: [...position.secretKey],
      ...(platformPosition === null ? {} : { platform_position_nft_secret_key: [...platformPosition.secretKey] }),
    },
    tipAccount,
    lastValidBlockHeight,
    guarding,
    liquidity: { lock_liquidity: input.lockLiquidity, platform_position_percentage: percentage },
  }
}

/** Builds the single transaction of a launch. It needs no bundle and pays no tip. Its simulation sets its limits. */
async function wholeLaunch(
  context: Context,
  { creator, payer = creator }: LaunchInput,
  fallbackUnits: number,
  build: (envelope: Envelope) => Promise<UnsignedTransaction>,
): Promise<LaunchTransactions> {
  const built = await buildTransaction(context, { payer, fallbackUnits, build })
  return { built: [built], lastValidBlockHeight: built.lastValidBlockHeight, guarding: built.guarding }
}

interface LaunchTransactions {
  built: readonly UnsignedTransaction[]
  lastValidBlockHeight: number
  guarding: Guarding
}

interface SequenceTerms {
  recentBlockhash: string
  /** Micro-lamports per unit, or 0 for none. */
  computeUnitPrice: bigint
  tip: { account: string; lamports: bigint } | null
}

/** Builds a launch whose transactions may be sent as a bundle: with one blockhash, one price and a tip. */
async function launchSequence(
  context: Context,
  { creator, payer = creator, isBundled }: LaunchInput,
  tipAccount: string,
  build: (terms: SequenceTerms) => Promise<readonly UnsignedTransaction[]>,
): Promise<LaunchTransactions> {
  const { values } = context.config
  const lamports = BigInt(values['relay-tip'])
  const guarding = unguardedSequence(context)
  const isTipped = isBundled && values['relay-url'] !== undefined && lamports > 0n
  const { lastValidBlockHeight, ...terms } = await sequenceTerms(context, {
    payer,
    units: LARGEST_LAUNCH_UNITS,
  })
  const built = await build({ ...terms, tip: isTipped ? { account: tipAccount, lamports } : null })
  // Nobody pays for the first transaction if a later one is known to fail.
  for (const { transaction } of built) await refuseFailing(context, transaction, { force: context.force })
  return { built, lastValidBlockHeight, guarding }
}

/** Returns a random tip account of the relay, so that bundles do not compete for one write lock. */
function drawTipAccount(): string {
  const [first, ...others] = TIP_ACCOUNTS
  return others[Math.floor(Math.random() * TIP_ACCOUNTS.length)] ?? first
}

type SharedPosition = Pick<LaunchInput, 'type' | 'creator' | 'partner'>

/** Returns the platform's percentage of the position in the preset. It is 0 when the creator is the platform itself. */
const platformPercentage = (
  { platform_position_percentage: percentage }: Pick<CurvePreset, 'platform_position_percentage'>,
  { type, creator, partner }: SharedPosition,
): number => (type === 'damm_v2' && creator !== partner ? percentage : 0)

/** Throws bad_request if the platform has a share of the position and the liquidity is not locked. */
export function requireLockedShare(
  preset: Pick<CurvePreset, 'platform_position_percentage'>,
  input: SharedPosition & Pick<LaunchInput, 'lockLiquidity'>,
): void {
  const percentage = platformPercentage(preset, input)
  if (percentage === 0 || input.lockLiquidity) return
  throw badRequest(
    `lock_liquidity must not be false with this preset, because ${percentage} % of the locked position belong to the platform: leave it out, or use another preset`,
    { param: 'lock_liquidity' },
  )
}
