/** Computes the opening of a single-sided pool: prices and liquidity, checked by the program's rules, and the instruction. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { solText } from '../../../solana/amounts.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import { poolKey, positionKeys, vaultKey } from './addresses.ts'
import { dammV2SqrtPrice } from './prices.ts'
import { dammV2Instruction, loadSdk, toBigint } from './program.ts'
import type { TokenAccounts } from './swap.ts'
import type { SingleSidedLaunch } from './types.ts'

/** Range of the fee that the program accepts, in hundredths of a percent. */
export const FEE_BPS = { min: 1, max: 9900 } as const

/** Lamports that the program takes into a pool without any SOL, because it rounds up from nothing. */
export const LEAST_SOL = 1n
const MAX_BUY = MAX_U64 - LEAST_SOL

const MAX_LIQUIDITY = 2n ** 128n - 1n

interface PoolOpening {
  sqrtPrice: bigint
  highest: bigint
  liquidity: bigint
}

/** Throws bad_request for prices, amounts and fees that the program refuses. */
export async function poolOpeningOf({
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
  if (liquidity > MAX_LIQUIDITY) throw refuse('too high')
  return { sqrtPrice, highest, liquidity }
}

/** Creates the pool with the whole supply in it, and the creator's position. */
export async function initializePool(
  { mint, positionNft, feeBps }: SingleSidedLaunch,
  { sqrtPrice, highest, liquidity }: PoolOpening,
  creator: PublicKey,
  accounts: TokenAccounts,
): Promise<TransactionInstruction> {
  const [{ PublicKey, SystemProgram }, spl, { sdk, toBn }] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    loadSdk(),
  ])
  const [tokenAMint, pool, positionNftMint] = [new PublicKey(mint), await poolKey(mint), new PublicKey(positionNft)]
  const { FeeTimeSchedulerLinear } = sdk.BaseFeeMode
  const baseFee = sdk.getFeeTimeSchedulerParams(feeBps, feeBps, FeeTimeSchedulerLinear, 0, 0)
  const params = {
    poolFees: { baseFee, compoundingFeeBps: 0, padding: 0, dynamicFee: null },
    sqrtMinPrice: toBn(sqrtPrice),
    sqrtMaxPrice: toBn(highest),
    hasAlphaVault: false,
    liquidity: toBn(liquidity),
    sqrtPrice: toBn(sqrtPrice),
    activationType: sdk.ActivationType.Timestamp,
    collectFeeMode: sdk.CollectFeeMode.OnlyB,
    activationPoint: null,
  }
  return dammV2Instruction('initializeCustomizablePool', [params], {
    ...(await positionKeys(positionNftMint)),
    creator,
    payer: creator,
    positionNftMint,
    pool,
    tokenAMint,
    tokenBMint: spl.NATIVE_MINT,
    tokenAVault: await vaultKey(tokenAMint, pool),
    tokenBVault: await vaultKey(spl.NATIVE_MINT, pool),
    payerTokenA: accounts.tokenA,
    payerTokenB: accounts.tokenB,
    tokenAProgram: spl.TOKEN_PROGRAM_ID,
    tokenBProgram: spl.TOKEN_PROGRAM_ID,
    token2022Program: spl.TOKEN_2022_PROGRAM_ID,
    systemProgram: SystemProgram.programId,
  })
}
