/**
 * Converts the fees of a preset to the program's parameters: on the curve, at the migration, and in the migrated pool.
 */
import type { BaseFeeParams, ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { CurvePreset } from '../../../api/pool-presets.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { presetFault, quoteUnits } from './preset-amounts.ts'
import type { Dbc } from './program.ts'

/** Lamports that a pool creation fee may be, unless it is 0. */
const LEAST_CREATION_FEE = 1_000_000n
const MOST_CREATION_FEE = 100_000_000_000n
const MAX_U16 = 65_535
/** A hundredth of a percent, in billionths. */
const LEAST_MIGRATED_FEE_NUMERATOR = 100_000
/**
 * `MigrationFeeOption` of the program, by the fee of the pool. Any other fee makes the migrated pool a customized one.
 */
const MIGRATION_FEE_OPTIONS = [25, 30, 100, 200, 400, 600]
const NO_MARKET_CAP_SCHEDULE = { numberOfPeriod: 0, sqrtPriceStepBps: 0, schedulerExpirationDuration: 0 }
const NO_MIGRATED_POOL_FEE = { collectFeeMode: 0, dynamicFee: 0, poolFeeBps: 0 }
/** Values of the program for the fees of a migrated pool. */
const MIGRATED_COLLECT_FEE_MODES = ['quote', 'both', 'compounding']

/** The fee fields of a config. */
export type FeeParameters = Pick<
  ConfigParameters,
  | 'poolFees'
  | 'collectFeeMode'
  | 'migrationFeeOption'
  | 'migrationFee'
  | 'migratedPoolFee'
  | 'poolCreationFee'
  | 'migratedPoolBaseFeeMode'
  | 'migratedPoolMarketCapFeeSchedulerParams'
  | 'compoundingFeeBps'
>

/** Throws bad_request with the field at fault as `param`. */
export function feeParameters(dbc: Dbc, preset: CurvePreset): FeeParameters {
  const { sdk } = dbc
  const { fee, dynamic_fee, collect_fee_mode, migration_fee } = preset
  return {
    poolFees: {
      baseFee: baseFeeOf(dbc, fee),
      dynamicFee: dynamic_fee ? sdk.getDynamicFeeParams(fee.ending_bps) : null,
    },
    collectFeeMode: collect_fee_mode === 'quote' ? sdk.CollectFeeMode.QuoteToken : sdk.CollectFeeMode.OutputToken,
    migrationFee: {
      feePercentage: migration_fee?.percentage ?? 0,
      creatorFeePercentage: migration_fee?.creator_percentage ?? 0,
    },
    poolCreationFee: dbc.bn(creationFeeOf(preset)),
    ...migratedPoolOf(dbc, preset),
  }
}

function creationFeeOf({ pool_creation_fee }: CurvePreset): bigint {
  const lamports = quoteUnits(pool_creation_fee, SOL_DECIMALS, 'pool_creation_fee', 'SOL')
  if (lamports === 0n || (lamports >= LEAST_CREATION_FEE && lamports <= MOST_CREATION_FEE)) return lamports
  throw presetFault('pool_creation_fee', 'must be 0, or from 0.001 to 100 SOL')
}

/** Checks everything that does not need the SDK. Throws bad_request with the field at fault as `param`. */
export function checkFee({ starting_bps, ending_bps, periods, duration_seconds }: CurvePreset['fee']): void {
  if (starting_bps < 25 || starting_bps > 9900) throw presetFault('fee.starting_bps', 'must be from 25 to 9900')
  if (ending_bps < 25) throw presetFault('fee.ending_bps', 'must be at least 25')
  if (ending_bps > starting_bps)
    throw presetFault('fee.ending_bps', 'must not be above fee.starting_bps: fees only fall')
  if (ending_bps === starting_bps) {
    const field = periods !== 0 ? 'fee.periods' : duration_seconds !== 0 ? 'fee.duration_seconds' : null
    if (field !== null) throw presetFault(field, 'must be 0 if fee.ending_bps is the same as fee.starting_bps')
    return
  }
  if (periods === 0) throw presetFault('fee.periods', 'must be above 0 for a fee that falls')
  checkDuration(duration_seconds, periods, 'fee')
}

/** The program counts whole seconds per period. */
export function checkDuration(seconds: number, periods: number, parent: string): void {
  if (seconds > 0 && seconds % periods === 0) return
  throw presetFault(`${parent}.duration_seconds`, `must be a multiple of ${parent}.periods (${periods}), and above 0`)
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
  if (fee.periods > 0 && base.thirdFactor.isZero()) throw tooManyPeriods('fee.periods')
  const { cliffFeeNumerator, firstFactor, thirdFactor, baseFeeMode } = base
  const least = sdk.getFeeSchedulerMinBaseFeeNumerator(cliffFeeNumerator, firstFactor, thirdFactor, baseFeeMode)
  if (least.ltn(sdk.MIN_FEE_NUMERATOR)) throw roundedAway('fee.ending_bps', 25)
  return base
}

/** An exponential fall is computed with rounded steps, so it can end a little below the requested fee. */
const roundedAway = (field: string, least: number) =>
  presetFault(field, `is too little: rounding over the periods takes it below ${least}, the least; take a little more`)

const tooManyPeriods = (field: string) =>
  presetFault(field, 'are too many for so small a fall: two periods in a row would have the same fee')

/**
 * A fee with a ready config of Meteora and without further terms is an option; everything else is a customized pool.
 */
function migratedPoolOf(
  dbc: Dbc,
  preset: CurvePreset,
): Omit<FeeParameters, 'poolFees' | 'collectFeeMode' | 'migrationFee' | 'poolCreationFee'> {
  const { sdk, bn } = dbc
  const { migration_fee_bps, migrated_pool } = preset
  const option = MIGRATION_FEE_OPTIONS.indexOf(migration_fee_bps)
  const plain = {
    migratedPoolFee: NO_MIGRATED_POOL_FEE,
    migratedPoolBaseFeeMode: sdk.DammV2BaseFeeMode.FeeTimeSchedulerLinear,
    migratedPoolMarketCapFeeSchedulerParams: { ...NO_MARKET_CAP_SCHEDULE, reductionFactor: bn(0n) },
    compoundingFeeBps: 0,
  }
  if (migrated_pool === undefined && option >= 0) return { ...plain, migrationFeeOption: option }
  const { collect_fee_mode = 'quote', compounding_fee_bps = 0, dynamic_fee = false } = migrated_pool ?? {}
  if (collect_fee_mode === 'compounding' && compounding_fee_bps === 0) {
    throw presetFault('migrated_pool.compounding_fee_bps', 'must be above 0 with collect_fee_mode compounding')
  }
  if (collect_fee_mode !== 'compounding' && compounding_fee_bps > 0) {
    throw presetFault('migrated_pool.compounding_fee_bps', 'is only valid with collect_fee_mode compounding')
  }
  const customized = {
    ...plain,
    migrationFeeOption: sdk.MigrationFeeOption.Customizable,
    migratedPoolFee: {
      collectFeeMode: MIGRATED_COLLECT_FEE_MODES.indexOf(collect_fee_mode),
      dynamicFee: dynamic_fee ? 1 : 0,
      poolFeeBps: migration_fee_bps,
    },
    compoundingFeeBps: compounding_fee_bps,
  }
  const schedule = migrated_pool?.fee_schedule
  return schedule === undefined ? customized : { ...customized, ...marketCapSchedule(dbc, migration_fee_bps, schedule) }
}

type FeeSchedule = NonNullable<NonNullable<CurvePreset['migrated_pool']>['fee_schedule']>

function marketCapSchedule({ sdk }: Dbc, startingBps: number, schedule: FeeSchedule) {
  const { ending_bps, periods, price_multiple, duration_seconds } = schedule
  const field = (name: keyof FeeSchedule) => `migrated_pool.fee_schedule.${name}`
  if (ending_bps >= startingBps) throw presetFault(field('ending_bps'), 'must be below migration_fee_bps')
  if (duration_seconds === 0) throw presetFault(field('duration_seconds'), 'must be above 0')
  const step = Math.floor(((Math.sqrt(price_multiple) - 1) * 10_000) / periods)
  if (step < 1) throw presetFault(field('price_multiple'), `is too little for ${periods} periods`)
  if (step > MAX_U16) throw presetFault(field('price_multiple'), `is too much for ${periods} periods`)
  const { FeeMarketCapSchedulerLinear, FeeMarketCapSchedulerExponential } = sdk.DammV2BaseFeeMode
  const mode = schedule.schedule === 'linear' ? FeeMarketCapSchedulerLinear : FeeMarketCapSchedulerExponential
  const terms = [periods, price_multiple, duration_seconds] as const
  const made = sdk.getMigratedPoolMarketCapFeeSchedulerParams(startingBps, ending_bps, mode, ...terms)
  if (made.reductionFactor.isZero()) throw tooManyPeriods(field('periods'))
  const { FeeSchedulerLinear, FeeSchedulerExponential } = sdk.BaseFeeMode
  const fall = schedule.schedule === 'linear' ? FeeSchedulerLinear : FeeSchedulerExponential
  const cliff = sdk.bpsToFeeNumerator(startingBps)
  const last = sdk.getFeeSchedulerMinBaseFeeNumerator(cliff, periods, made.reductionFactor, fall)
  if (last.ltn(LEAST_MIGRATED_FEE_NUMERATOR)) throw roundedAway(field('ending_bps'), 1)
  return { migratedPoolBaseFeeMode: mode, migratedPoolMarketCapFeeSchedulerParams: made }
}
