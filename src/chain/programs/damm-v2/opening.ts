/** Computes the opening of a single-sided pool by the program's rules, and builds what opens and locks any pool. */

import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { solText } from '../../../solana/amounts.ts'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { MAX_U64, MAX_U128 } from '../../../solana/u64.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { dammV2PoolAddress, positionAddresses, vaultAddress } from './addresses.ts'
import { loadSdk, toBigint } from './program.ts'
import { dammV2SqrtPrice } from './state.ts'
import { type PoolAccounts, poolRoles, type TokenAccounts } from './swap.ts'
import type { SingleSidedLaunch } from './types.ts'

/** Range of the fee that the program accepts, in hundredths of a percent. */
export const FEE_BPS = { min: 1, max: 9900 } as const

/** Lamports that the program takes into a pool without any SOL, because it rounds up from nothing. */
export const LEAST_SOL = 1n
const MAX_BUY = MAX_U64 - LEAST_SOL

/** The first price and liquidity of a pool, and the range of both. */
export interface PoolOpening {
  sqrtPrice: bigint
  lowest: bigint
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
  return { sqrtPrice, lowest: sqrtPrice, highest, liquidity }
}

/** Creates the pool with its first liquidity, and the creator's position. Without a point it is open at once. */
export async function initializePool(
  { positionNft, feeBps, creator }: Pick<SingleSidedLaunch, 'positionNft' | 'feeBps' | 'creator'>,
  pool: PoolAccounts,
  { sqrtPrice, lowest, highest, liquidity }: PoolOpening,
  accounts: Pick<TokenAccounts, 'tokenA' | 'tokenB'>,
  activationPoint?: bigint,
): Promise<TransactionInstruction> {
  const [{ sdk }, asSdk] = await Promise.all([loadSdk(), sdkInstructions()])
  const { position, positionNftAccount } = positionAddresses(positionNft)
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
      sqrt_min_price: lowest,
      sqrt_max_price: highest,
      has_alpha_vault: false,
      liquidity,
      sqrt_price: sqrtPrice,
      activation_type: sdk.ActivationType.Timestamp,
      collect_fee_mode: sdk.CollectFeeMode.OnlyB,
      ...(activationPoint === undefined ? {} : { activation_point: activationPoint }),
    }),
  )
}

/** Addresses of what a pool trades, and of their token programs. By default it is an SPL token against SOL. */
export interface PoolPair {
  mint: string
  program?: string
  quote?: string
  quoteProgram?: string
}

/** Returns the accounts of the pool that does not exist yet. */
export function freshPool({
  mint,
  program = TOKEN_PROGRAM,
  quote = WRAPPED_SOL,
  quoteProgram = TOKEN_PROGRAM,
}: PoolPair): PoolAccounts & { baseFeeMode: number } {
  const address = dammV2PoolAddress({ mint, quote })
  return {
    address,
    tokenAMint: mint,
    tokenBMint: quote,
    tokenAVault: vaultAddress(mint, address),
    tokenBVault: vaultAddress(quote, address),
    tokenAProgram: program,
    tokenBProgram: quoteProgram,
    baseFeeMode: 0,
  }
}
