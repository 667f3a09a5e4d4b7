/** Converts a preset to the program's curve: one segment of constant product between two market caps. */

import type { BaseFeeParams, ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { CurvePreset } from '../../../api/pools.ts'
import { ApiError, badRequest } from '../../../errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import { squareRoot } from '../../square-root.ts'
import { presetFault, type RawPreset, rawPreset } from './presets.ts'
import { dbcPriceText } from './prices.ts'
import { bigintOf, type Dbc, openDbc } from './program.ts'
import type { LaunchCurve } from './types.ts'

const MAX_U128 = 2n ** 128n - 1n
/** Limit of the correction rounds. More than a few are never needed. */
const MAX_ROUNDS = 100
const NO_MIGRATION_FEE = { feePercentage: 0, creatorFeePercentage: 0 }
const NO_LIQUIDITY_VESTING = {
  vestingPercentage: 0,
  bpsPerPeriod: 0,
  numberOfPeriods: 0,
  cliffDurationFromMigrationTime: 0,
  frequency: 0,
}

interface Segment {
  start: bigint
  end: bigint
  liquidity: bigint
  threshold: bigint
  leftover: bigint
}

/**
 * Uses whole numbers, because the SDK's own builder rejects a fifth of all presets for rounding errors of its floats.
 * The result passes the SDK's validation. Throws bad_request with the preset's field as `param`.
 */
export async function curveOf(preset: CurvePreset): Promise<LaunchCurve> {
  const raw = rawPreset(preset)
  const dbc = await openDbc()
  const segment = segmentOf(dbc, raw)
  const parameters = parametersOf(dbc, preset, raw, segment)
  validateConfigParameters(dbc, parameters)
  const { start, end, liquidity, threshold, leftover } = segment
  return {
    parameters,
    initialPrice: dbcPriceText(start, preset.decimals),
    migrationPrice: dbcPriceText(end, preset.decimals),
    initialMarketCapLamports: raw.initialMarketCap,
    totalSupply: raw.supply,
    thresholdLamports: threshold,
    startSqrtPrice: start,
    points: [{ sqrtPrice: end, liquidity }],
    leftover,
  }
}

/** Computes the most liquidity for which the sold and migrated amounts fit in the supply that is not locked. */
function segmentOf({ sdk, bn }: Dbc, { supply, locked, initialMarketCap, migrationMarketCap }: RawPreset): Segment {
  const start = squareRoot((initialMarketCap << 128n) / supply)
  const end = squareRoot((migrationMarketCap << 128n) / supply)
  const least = BigInt(sdk.MIN_SQRT_PRICE.toString())
  const most = BigInt(sdk.MAX_SQRT_PRICE.toString())
  if (start < least)
    throw presetFault('initial_market_cap', 'is too little for the supply: the first price would be none')
  if (end >= most) throw presetFault('migration_market_cap', 'is too much for the supply: no such price can be told')
  if (end <= start) throw presetFault('migration_market_cap', 'is too close to initial_market_cap')
  const available = supply - locked
  // quote/(end·start) is sold and quote/end² migrates. Together they are the available amount.
  const quote = (available * end * end * start) / (end + start)
  let liquidity = quote / (end - start)
  if (liquidity > MAX_U128) throw presetFault('migration_market_cap', 'is too close to initial_market_cap')
  for (let round = 0; round < MAX_ROUNDS && liquidity > 0n; round++) {
    const [from, to, amount] = [bn(start), bn(end), bn(liquidity)]
    const threshold = bigintOf(sdk.getDeltaAmountQuoteUnsigned(from, to, amount, sdk.Rounding.Up))
    const sold = bigintOf(sdk.getBaseTokenForSwap(from, to, [{ sqrtPrice: to, liquidity: amount }]))
    const migrated = bigintOf(sdk.getMigrationBaseToken(bn(threshold), to, sdk.MigrationOption.MET_DAMM_V2))
    if (threshold > MAX_U64)
      throw presetFault('migration_market_cap', 'is too much: what fills the curve is beyond 64 bits')
    const leftover = available - sold - migrated
    if (leftover >= 0n && sold > 0n && migrated > 0n) return { start, end, liquidity, threshold, leftover }
    liquidity -= (liquidity * (1n - leftover)) / available + 1n
  }
  throw presetFault('total_supply', 'is too little for these market caps: a curve cannot be told in whole raw units')
}

function parametersOf(dbc: Dbc, preset: CurvePreset, raw: RawPreset, segment: Segment): ConfigParameters {
  const { sdk, bn } = dbc
  const { liquidity } = preset
  const { vesting } = raw
  return {
    poolFees: { baseFee: baseFeeOf(dbc, preset.fee), dynamicFee: null },
    collectFeeMode: sdk.CollectFeeMode.QuoteToken,
    migrationOption: sdk.MigrationOption.MET_DAMM_V2,
    activationType: sdk.ActivationType.Timestamp,
    tokenType: sdk.TokenType.SPLToken,
    tokenDecimal: preset.decimals,
    partnerLiquidityPercentage: liquidity.partner,
    partnerPermanentLockedLiquidityPercentage: liquidity.partner_locked,
    creatorLiquidityPercentage: liquidity.creator,
    creatorPermanentLockedLiquidityPercentage: liquidity.creator_locked,
    migrationQuoteThreshold: bn(segment.threshold),
    sqrtStartPrice: bn(segment.start),
    lockedVesting: {
      amountPerPeriod: bn(vesting.amountPerPeriod),
      cliffDurationFromMigrationTime: bn(vesting.cliffDurationFromMigrationTime),
      frequency: bn(vesting.frequency),
      numberOfPeriod: bn(vesting.numberOfPeriod),
      cliffUnlockAmount: bn(vesting.cliffUnlockAmount),
    },
    migrationFeeOption: raw.migrationFeeOption,
    tokenSupply: { preMigrationTokenSupply: bn(raw.supply), postMigrationTokenSupply: bn(raw.supply) },
    creatorTradingFeePercentage: preset.creator_fee_percentage,
    tokenUpdateAuthority: sdk.TokenAuthorityOption.Immutable,
    migrationFee: NO_MIGRATION_FEE,
    migratedPoolFee: { collectFeeMode: 0, dynamicFee: 0, poolFeeBps: 0 },
    poolCreationFee: bn(0n),
    partnerLiquidityVestingInfo: NO_LIQUIDITY_VESTING,
    creatorLiquidityVestingInfo: NO_LIQUIDITY_VESTING,
    migratedPoolBaseFeeMode: sdk.DammV2BaseFeeMode.FeeTimeSchedulerLinear,
    migratedPoolMarketCapFeeSchedulerParams: {
      numberOfPeriod: 0,
      sqrtPriceStepBps: 0,
      schedulerExpirationDuration: 0,
      reductionFactor: bn(0n),
    },
    enableFirstSwapWithMinFee: false,
    compoundingFeeBps: 0,
    padding: [0, 0],
    curve: [{ sqrtPrice: bn(segment.end), liquidity: bn(segment.liquidity) }],
  }
}

function baseFeeOf({ sdk }: Dbc, fee: CurvePreset['fee']): ConfigParameters['poolFees']['baseFee'] {
  const baseFeeParams: BaseFeeParams = {
    baseFeeMode:
      fee.schedule === 'linear' ? sdk.BaseFeeMode.FeeSchedulerLinear : sdk.BaseFeeMode.FeeSchedulerExponential,
    feeSchedulerParam: {
      startingFeeBps: fee.starting_bps,
      endingFeeBps: fee.ending_bps,
      numberOfPeriod: fee.periods,
      totalDuration: fee.duration_seconds,
    },
  }
  const base = sdk.getBaseFeeParams(baseFeeParams)
  if (fee.periods > 0 && base.thirdFactor.isZero()) {
    throw presetFault(
      'fee.periods',
      'are too many for so small a fall: the fee of a period would be that of the one before',
    )
  }
  return base
}

/** The SDK's rules equal those of the program, and are checked before anything is paid. */
function validateConfigParameters({ sdk, key }: Dbc, parameters: ConfigParameters): void {
  try {
    // Validation accepts any address except zero as the leftover receiver.
    sdk.validateConfigParameters({ ...parameters, leftoverReceiver: key(WRAPPED_SOL) })
  } catch (error) {
    if (error instanceof ApiError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw badRequest(`The preset makes no curve that Meteora takes: ${reason}`, { cause: error })
  }
}
