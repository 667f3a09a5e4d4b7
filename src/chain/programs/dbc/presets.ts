/** Converts presets to raw units, and checks every rule of the program on a single field, with errors that name the field. */
import type { CurvePreset } from '../../../api/pools.ts'
import { type ApiError, badRequest } from '../../../errors.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { MAX_U64 } from '../../../solana/u64.ts'

/** The program requires a tenth of the migrated liquidity to be locked for at least a day. */
const LEAST_LOCKED = 10
/** `MigrationFeeOption` of the program, by the fee of the pool that the curve migrates to. */
const MIGRATION_FEE_OPTIONS = [25, 30, 100, 200, 400, 600]

/** Parameters of the program's locked vesting in raw units, all zero without vesting. */
export interface Vesting {
  amountPerPeriod: bigint
  cliffDurationFromMigrationTime: bigint
  frequency: bigint
  numberOfPeriod: bigint
  cliffUnlockAmount: bigint
}

export interface RawPreset {
  supply: bigint
  /** Lamports that the supply is worth. */
  initialMarketCap: bigint
  migrationMarketCap: bigint
  migrationFeeOption: number
  vesting: Vesting
  /** Raw units that are locked in total. */
  locked: bigint
}

/** Returns bad_request that names the preset's field. */
export const presetFault = (param: string, message: string): ApiError => badRequest(`${param} ${message}`, { param })

/** Throws bad_request with the field at fault as `param`. */
export function rawPreset(preset: CurvePreset): RawPreset {
  const supply = rawAmount(preset.total_supply, preset.decimals, 'total_supply')
  if (supply === 0n) throw presetFault('total_supply', 'must be above 0')
  const initialMarketCap = presetLamports(preset.initial_market_cap, 'initial_market_cap')
  const migrationMarketCap = presetLamports(preset.migration_market_cap, 'migration_market_cap')
  if (initialMarketCap === 0n) throw presetFault('initial_market_cap', 'must be above 0')
  if (migrationMarketCap <= initialMarketCap) {
    throw presetFault('migration_market_cap', 'must be above initial_market_cap: the price on a curve only rises')
  }
  checkFee(preset.fee)
  checkLiquidity(preset.liquidity)
  if (preset.creator_fee_percentage < 0 || preset.creator_fee_percentage > 100) {
    throw presetFault('creator_fee_percentage', 'must be from 0 to 100')
  }
  const migrationFeeOption = MIGRATION_FEE_OPTIONS.indexOf(preset.migration_fee_bps)
  if (migrationFeeOption < 0)
    throw presetFault('migration_fee_bps', `must be one of ${MIGRATION_FEE_OPTIONS.join(', ')}`)
  const vesting = vestingOf(preset)
  const locked = vesting.cliffUnlockAmount + vesting.amountPerPeriod * vesting.numberOfPeriod
  if (locked >= supply)
    throw presetFault('locked_vesting.amount', 'must be below total_supply: the rest is what is sold')
  return { supply, initialMarketCap, migrationMarketCap, migrationFeeOption, vesting, locked }
}

function checkFee({ starting_bps, ending_bps, periods, duration_seconds }: CurvePreset['fee']): void {
  if (starting_bps < 25 || starting_bps > 9900) throw presetFault('fee.starting_bps', 'must be from 25 to 9900')
  if (ending_bps < 25) throw presetFault('fee.ending_bps', 'must be at least 25')
  if (ending_bps > starting_bps)
    throw presetFault('fee.ending_bps', 'must not be above fee.starting_bps: fees only fall')
  if (ending_bps === starting_bps) {
    const field = periods !== 0 ? 'fee.periods' : duration_seconds !== 0 ? 'fee.duration_seconds' : null
    if (field !== null) throw presetFault(field, 'must be 0 where fee.ending_bps is the same as fee.starting_bps')
    return
  }
  if (periods === 0) throw presetFault('fee.periods', 'must be above 0 for a fee that falls')
  checkDuration(duration_seconds, periods, 'fee')
}

/** The program counts whole seconds per period. */
function checkDuration(seconds: number, periods: number, parent: string): void {
  if (seconds > 0 && seconds % periods === 0) return
  throw presetFault(`${parent}.duration_seconds`, `must be a multiple of ${parent}.periods (${periods}), and above 0`)
}

function checkLiquidity({ partner, partner_locked, creator, creator_locked }: CurvePreset['liquidity']): void {
  const sum = partner + partner_locked + creator + creator_locked
  if (sum !== 100) throw presetFault('liquidity', `must sum to 100, this is ${sum}`)
  const locked = partner_locked + creator_locked
  if (locked < LEAST_LOCKED) {
    throw presetFault(
      'liquidity.partner_locked',
      `and liquidity.creator_locked must be ${LEAST_LOCKED} together at least, this is ${locked}: Meteora wants that much locked for good`,
    )
  }
}

function vestingOf({ locked_vesting: vesting, decimals }: CurvePreset): Vesting {
  if (vesting === undefined) {
    return {
      amountPerPeriod: 0n,
      cliffDurationFromMigrationTime: 0n,
      frequency: 0n,
      numberOfPeriod: 0n,
      cliffUnlockAmount: 0n,
    }
  }
  const amount = rawAmount(vesting.amount, decimals, 'locked_vesting.amount')
  const cliff = rawAmount(vesting.cliff_amount, decimals, 'locked_vesting.cliff_amount')
  if (amount === 0n)
    throw presetFault('locked_vesting.amount', 'must be above 0; leave locked_vesting out to lock nothing')
  if (cliff > amount) throw presetFault('locked_vesting.cliff_amount', 'must not be above locked_vesting.amount')
  if (vesting.periods < 1) throw presetFault('locked_vesting.periods', 'must be at least 1')
  checkDuration(vesting.duration_seconds, vesting.periods, 'locked_vesting')
  const periods = BigInt(vesting.periods)
  const amountPerPeriod = (amount - cliff) / periods
  return {
    amountPerPeriod,
    cliffDurationFromMigrationTime: BigInt(vesting.cliff_seconds),
    frequency: BigInt(vesting.duration_seconds) / periods,
    numberOfPeriod: periods,
    // The remainder of the division is added to the cliff, so that the whole amount is locked.
    cliffUnlockAmount: amount - amountPerPeriod * periods,
  }
}

/** Converts whole tokens as text to raw units of 64 bits. */
function rawAmount(text: string, decimals: number, field: string): bigint {
  const [, whole, fraction = ''] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined) throw presetFault(field, 'must be an amount in whole tokens, as text')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) throw presetFault(field, `has more than the ${decimals} fractional digits of the token`)
  const raw = BigInt(whole + digits.padEnd(decimals, '0'))
  if (raw > MAX_U64) {
    const most = MAX_U64 / 10n ** BigInt(decimals)
    throw presetFault(field, `must be at most ${most} whole tokens: with ${decimals} decimals no more fit in 64 bits`)
  }
  return raw
}

/** Uses the shortest decimal text of the number, which is what its author wrote. */
function presetLamports(sol: number, field: string): bigint {
  const [, whole, fraction = '', exponent = '0'] = /^([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(sol)) ?? []
  if (whole === undefined) throw presetFault(field, 'must be an amount of SOL')
  const digits = BigInt(whole + fraction)
  const shift = SOL_DECIMALS - fraction.length + Number(exponent)
  const unit = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % unit !== 0n) throw presetFault(field, `must have at most ${SOL_DECIMALS} fractional digits`)
  const raw = shift < 0 ? digits / unit : digits * unit
  if (raw > MAX_U64) throw presetFault(field, `must be at most ${MAX_U64 / 10n ** 9n} SOL`)
  return raw
}
