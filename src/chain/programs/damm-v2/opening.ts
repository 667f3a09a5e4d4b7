/** Computes the opening of a single-sided pool: prices and liquidity, checked by the program's rules, and the instruction. */

import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { solText } from '../../../solana/amounts.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { MAX_U64, MAX_U128 } from '../../../solana/u64.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { positionAddresses } from './addresses.ts'
import { loadSdk, toBigint } from './program.ts'
import { dammV2SqrtPrice } from './state.ts'
import { type PoolAccounts, poolRoles, type TokenAccounts } from './swap.ts'
import type { SingleSidedLaunch } from './types.ts'

/** Range of the fee that the program accepts, in hundredths of a percent. */
export const FEE_BPS = { min: 1, max: 9900 } as const

/** Lamports that the program takes into a pool without any SOL, because it rounds up from nothing. */
export const LEAST_SOL = 1n
const MAX_BUY = MAX_U64 - LEAST_SOL

interface PoolOpening {
  sqrtPrice: bigint
  highest: bigint
  liquidity: bigint
}

/** Throws bad_request for prices, amounts and fees that the program refuses. */
export async function planPoolOpening({
  totalSupply,
  initialMarketCapLamports,
  feeBps,
  buyLamports,
}: SingleSidedLaunch): Promise<PoolOpening> {
  const { min, max } = FEE_BPS
  if (!Number.isInteger(feeBps) || feeBps < min || feeBps > max) {
    throw badRequest(`fee_bps must be a whole number from ${min} to ${max}`, { param: 'fee_bps' })
  }
  if (totalSupply <= 0n || totalSupply > MAX_U64) {
    throw badRequest(`total_supply must be from 1 to ${MAX_U64} raw units`, { param: 'total_supply' })
  }
  if (buyLamports < 0n || buyLamports > MAX_BUY) {
    throw badRequest(`buy_amount must be from 0 to ${solText(MAX_BUY)}`, { param: 'buy_amount' })
  }
  const { sdk, toBn } = await loadSdk()
  const sqrtPrice = initialMarketCapLamports > 0n ? dammV2SqrtPrice(initialMarketCapLamports, totalSupply) : 0n
  const [lowest, highest] = [toBigint(sdk.MIN_SQRT_PRICE), toBigint(sdk.MAX_SQRT_PRICE)]
  const refuse = (reason: string) =>
    badRequest(
      `initial_market_cap is ${reason} for DAMM v2: ${solText(initialMarketCapLamports)} for ${totalSupply} raw units`,
      { param: 'initial_market_cap' },
    )
  if (sqrtPrice < lowest) throw refuse('too low')
  if (sqrtPrice >= highest) throw refuse('too high')
  const mode = sdk.CollectFeeMode.OnlyB
  const liquidity = toBigint(sdk.getLiquidityDeltaFromAmountA(toBn(totalSupply), toBn(sqrtPrice), toBn(highest), mode))
  if (liquidity > MAX_U128) throw refuse('too high')
  return { sqrtPrice, highest, liquidity }
}

/** Creates the pool with the whole supply in it, and the creator's position. */
export async function initializePool(
  { positionNft, feeBps, creator }: SingleSidedLaunch,
  pool: PoolAccounts,
  { sqrtPrice, highest, liquidity }: PoolOpening,
  accounts: TokenAccounts,
): Promise<TransactionInstruction> {
  const [{ sdk }, asSdk, { position, positionNftAccount }] = await Promise.all([
    loadSdk(),
    sdkInstructions(),
    positionAddresses(positionNft),
  ])
  const { FeeTimeSchedulerLinear } = sdk.BaseFeeMode
  const baseFee = sdk.getFeeTimeSchedulerParams(feeBps, feeBps, FeeTimeSchedulerLinear, 0, 0)
  const roles = {
    ...poolRoles(pool),
    creator,
    payer: creator,
    position,
    position_nft_mint: positionNft,
    position_nft_account: positionNftAccount,
    payer_token_a: accounts.tokenA,
    payer_token_b: accounts.tokenB,
  }
  return asSdk(
    DAMM_V2.instruction('initialize_customizable_pool', roles, {
      data: Uint8Array.from(baseFee.data),
      compounding_fee_bps: 0,
      padding: 0,
      sqrt_min_price: sqrtPrice,
      sqrt_max_price: highest,
      has_alpha_vault: false,
      liquidity,
      sqrt_price: sqrtPrice,
      activation_type: sdk.ActivationType.Timestamp,
      collect_fee_mode: sdk.CollectFeeMode.OnlyB,
    }),
  )
}
