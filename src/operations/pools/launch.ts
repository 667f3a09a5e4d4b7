/** A launch as it goes to the creator: keys made, transactions built, addresses known before anything is on chain. */

import type { Keypair } from '@solana/web3.js'
import type { CurvePreset, PoolCreated } from '../../api/index.ts'
import { offeredPrice } from '../../chain/compute-budget.ts'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import { readLatestBlockhash, rentFor } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { TIP_ACCOUNTS } from '../../solana/bundles.ts'
import { MINT_SIZE } from '../../solana/token-accounts.ts'
import { curveNamed } from './presets.ts'

export interface LaunchInput {
  type: 'dbc' | 'damm_v2'
  creator: string
  name: string
  symbol: string
  preset?: string | undefined
  /** Of `damm_v2`: whether the position is locked for good. */
  lockLiquidity: boolean
  buyLamports: bigint
  /** Address that the fees belong to. */
  partner: string
  uri: string
  /** Whether it may go to a relay: only that is tipped. */
  isBundled: boolean
}

export interface Launch {
  /** Of the pool. */
  address: string
  mint: string
  /** Null for `damm_v2`. */
  config: string | null
  /** In the order in which they must land, unsigned. */
  transactions: Uint8Array[]
  requiredSigners: PoolCreated['required_signers']
  tipAccount: string
  /** Of `damm_v2`. */
  liquidity: { lock_liquidity: boolean; platform_position_percentage: number } | null
}

/** Most that a transaction of a launch asks for. */
const MOST_UNITS = 500_000

export async function planLaunch(context: Context, input: LaunchInput): Promise<Launch> {
  const { chain, config } = context
  const connection = await chain.connection()
  const { Keypair } = await import('@solana/web3.js')
  const [mint, second] = [Keypair.generate(), Keypair.generate()]
  const { preset, curve } = await curveNamed(config, input.preset)
  const percentage = platformPercentage(preset, input)
  const platformPosition = percentage === 0 ? null : Keypair.generate()
  const tipAccount = TIP_ACCOUNTS[Math.floor(Math.random() * TIP_ACCOUNTS.length)]!
  const lamports = BigInt(config.values['relay-tip'])
  const isTipped = input.isBundled && config.values['relay-url'] !== undefined && lamports > 0n
  const accounts = [input.creator]
  const common = {
    creator: input.creator,
    mint: addressOf(mint),
    name: input.name,
    symbol: input.symbol,
    uri: input.uri,
    buyLamports: input.buyLamports,
    tip: isTipped ? { account: tipAccount, lamports } : null,
    recentBlockhash: await readLatestBlockhash(connection),
    computeUnitPrice: await offeredPrice({ connection, config }, accounts, MOST_UNITS),
  }
  const keys = { base_mint_secret_key: [...mint.secretKey] }
  if (input.type === 'dbc') {
    const built = await dbc.buildLaunch({
      ...common,
      config: addressOf(second),
      feeClaimer: input.partner,
      leftoverReceiver: input.partner,
      curve,
    })
    return {
      address: await dbc.poolAddress({ mint: common.mint, config: addressOf(second) }),
      mint: common.mint,
      config: addressOf(second),
      transactions: built.map(({ transaction }) => transaction),
      requiredSigners: { ...keys, config_secret_key: [...second.secretKey] },
      tipAccount,
      liquidity: null,
    }
  }
  const built = await dammV2.buildSingleSidedPool({
    ...common,
    lockLiquidity: input.lockLiquidity,
    platform:
      platformPosition === null
        ? null
        : { wallet: input.partner, positionNft: addressOf(platformPosition), percentage },
    positionNft: addressOf(second),
    decimals: preset.decimals,
    totalSupply: curve.totalSupply,
    initialMarketCapLamports: curve.initialMarketCapLamports,
    feeBps: preset.migration_fee_bps,
    rent: await rentFor(connection, MINT_SIZE),
  })
  return {
    address: await dammV2.poolAddress({ mint: common.mint }),
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

/** What the preset gives the platform of the position; a creator that is the platform itself has all of it. */
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

const addressOf = (keypair: Keypair) => keypair.publicKey.toBase58()
