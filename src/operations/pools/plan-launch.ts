/** Plans a launch for the creator: keys, transactions and addresses, before anything is on chain. */

import type { CurvePreset, PoolCreated } from '../../api/index.ts'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import { rentFor } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { TIP_ACCOUNTS } from '../../solana/bundles.ts'
import { freshKey } from '../../solana/signatures.ts'
import { MINT_SIZE } from '../../solana/token-accounts.ts'
import { sequenceTerms } from '../building.ts'
import { curveNamed } from './presets.ts'

export interface LaunchInput {
  type: 'dbc' | 'damm_v2'
  creator: string
  name: string
  symbol: string
  preset?: string | undefined
  /** Whether the position of a `damm_v2` pool is locked permanently. */
  lockLiquidity: boolean
  buyLamports: bigint
  /** Address that receives the fees. */
  partner: string
  uri: string
  /** Address of the config on chain that a `dbc` launch uses, or null for one of its own. */
  sharedConfig: string | null
  /** Whether the launch may be sent to a relay, which alone requires a tip. */
  isBundled: boolean
}

export interface PlannedLaunch {
  /** Address of the pool. */
  address: string
  mint: string
  /** Address of the config, or null for `damm_v2`. */
  config: string | null
  /** Unsigned transactions, in the order in which they must be confirmed. */
  transactions: Uint8Array[]
  requiredSigners: PoolCreated['required_signers']
  tipAccount: string
  /** The position of a `damm_v2` pool, or null for `dbc`. */
  liquidity: { lock_liquidity: boolean; platform_position_percentage: number } | null
}

/** Largest compute limit of a transaction in a launch. */
const LARGEST_LAUNCH_UNITS = 500_000

export async function planLaunch(context: Context, input: LaunchInput): Promise<PlannedLaunch> {
  const { chain, config } = context
  const connection = await chain.connection()
  const [mint, second] = [freshKey(), freshKey()]
  const { preset, curve } = await curveNamed(config, input.preset)
  const percentage = platformPercentage(preset, input)
  const platformPosition = percentage === 0 ? null : freshKey()
  const tipAccount = drawTipAccount()
  const lamports = BigInt(config.values['relay-tip'])
  const isTipped = input.isBundled && config.values['relay-url'] !== undefined && lamports > 0n
  const common = {
    creator: input.creator,
    mint: mint.address,
    name: input.name,
    symbol: input.symbol,
    uri: input.uri,
    buyLamports: input.buyLamports,
    tip: isTipped ? { account: tipAccount, lamports } : null,
    ...(await sequenceTerms(context, { payer: input.creator, units: LARGEST_LAUNCH_UNITS })),
  }
  const keys = { base_mint_secret_key: [...mint.secretKey] }
  if (input.type === 'dbc') {
    const { sharedConfig } = input
    const config = sharedConfig ?? second.address
    const built = await dbc.buildDbcLaunch({
      ...common,
      config,
      isConfigShared: sharedConfig !== null,
      feeClaimer: input.partner,
      leftoverReceiver: input.partner,
      curve,
    })
    return {
      address: await dbc.dbcPoolAddress({ mint: common.mint, config }),
      mint: common.mint,
      config,
      transactions: built.map(({ transaction }) => transaction),
      requiredSigners: { ...keys, config_secret_key: sharedConfig === null ? [...second.secretKey] : [] },
      tipAccount,
      liquidity: null,
    }
  }
  const built = await dammV2.buildSingleSidedPool({
    ...common,
    lockLiquidity: input.lockLiquidity,
    platform:
      platformPosition === null ? null : { wallet: input.partner, positionNft: platformPosition.address, percentage },
    positionNft: second.address,
    decimals: preset.decimals,
    totalSupply: curve.totalSupply,
    initialMarketCapLamports: curve.initialMarketCapLamports,
    feeBps: preset.migration_fee_bps,
    rent: await rentFor(connection, MINT_SIZE),
  })
  return {
    address: await dammV2.dammV2PoolAddress({ mint: common.mint }),
    mint: common.mint,
    config: null,
    transactions: built.map(({ transaction }) => transaction),
    requiredSigners: {
      ...keys,
      config_secret_key: [],
      position_nft_secret_key: [...second.secretKey],
      ...(platformPosition === null ? {} : { platform_position_nft_secret_key: [...platformPosition.secretKey] }),
    },
    tipAccount,
    liquidity: { lock_liquidity: input.lockLiquidity, platform_position_percentage: percentage },
  }
}

/** Returns a random account of the relay's, so that bundles do not compete for the same write lock. */
function drawTipAccount(): string {
  const [first, ...others] = TIP_ACCOUNTS
  return others[Math.floor(Math.random() * TIP_ACCOUNTS.length)] ?? first
}

/** Returns the platform's percentage of the position in the preset. It is 0 when the creator is the platform itself. */
export function platformPercentage(
  { platform_position_percentage: percentage }: Pick<CurvePreset, 'platform_position_percentage'>,
  { type, creator, partner, lockLiquidity }: Pick<LaunchInput, 'type' | 'creator' | 'partner' | 'lockLiquidity'>,
): number {
  if (type !== 'damm_v2' || percentage === 0 || creator === partner) return 0
  if (lockLiquidity) return percentage
  throw badRequest(
    `lock_liquidity must not be false with this preset, as ${percentage} % of the locked position are the platform's: leave it out, or name another preset`,
    { param: 'lock_liquidity' },
  )
}
