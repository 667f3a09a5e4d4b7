/**
 * Converts the amounts of presets to raw units, and checks the rules on single fields, with errors that name the
 * field.
 */
import type { CurvePreset } from '../../../api/pool-presets.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { NATIVE_MINT_2022, SYSTEM_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { presetFault, quoteUnits, rawAmount } from './preset-amounts.ts'
import { checkDuration, checkFee } from './preset-fees.ts'

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
  /** Raw units of the quote that the supply is worth. */
  initialMarketCap: bigint
  migrationMarketCap: bigint
  vesting: Vesting
  /** Raw units that are neither sold nor migrated: those locked and those withheld. */
  withheld: bigint
}

/** Throws bad_request with the field at fault as `param`. */
export function rawPreset(preset: CurvePreset): RawPreset {
  checkAddresses(preset)
  const supply = rawAmount(preset.total_supply, preset.decimals, 'total_supply')
  if (supply === 0n) throw presetFault('total_supply', 'must be above 0')
  const initialMarketCap = marketCapOf(preset, preset.initial_market_cap, 'initial_market_cap')
  const migrationMarketCap = marketCapOf(preset, preset.migration_market_cap, 'migration_market_cap')
  if (initialMarketCap === 0n) throw presetFault('initial_market_cap', 'must be above 0')
  if (migrationMarketCap <= initialMarketCap) {
    throw presetFault('migration_market_cap', 'must be above initial_market_cap: the price on a curve only rises')
  }
  checkFee(preset.fee)
  if (preset.creator_fee_percentage < 0 || preset.creator_fee_percentage > 100) {
    throw presetFault('creator_fee_percentage', 'must be from 0 to 100')
  }
  const vesting = vestingOf(preset)
  const locked = vesting.cliffUnlockAmount + vesting.amountPerPeriod * vesting.numberOfPeriod
  if (locked >= supply) throw presetFault('locked_vesting.amount', 'must be below total_supply: the remainder is sold')
  const leftover = rawAmount(preset.leftover, preset.decimals, 'leftover')
  if (locked + leftover >= supply) {
    throw presetFault('leftover', 'plus locked_vesting.amount must be below total_supply: the remainder is sold')
  }
  return { supply, initialMarketCap, migrationMarketCap, vesting, withheld: locked + leftover }
}

/** Converts a market cap of the preset to raw units of its quote. */
export const marketCapOf = (
  { quote_mint, quote_decimals }: Pick<CurvePreset, 'quote_mint' | 'quote_decimals'>,
  amount: number,
  field: string,
): bigint => quoteUnits(amount, quote_decimals, field, quote_mint === WRAPPED_SOL ? 'SOL' : 'the quote')

function checkAddresses({ quote_mint, quote_decimals, fee_claimer, leftover_receiver }: CurvePreset): void {
  if (quote_mint === NATIVE_MINT_2022) {
    throw presetFault('quote_mint', `must not be the wrapped SOL of Token-2022: ${WRAPPED_SOL} is that of SOL`)
  }
  if (quote_mint === WRAPPED_SOL && quote_decimals !== SOL_DECIMALS) {
    throw presetFault('quote_decimals', `must be ${SOL_DECIMALS} if the quote is SOL; set quote_mint for another quote`)
  }
  for (const [field, address] of Object.entries({ fee_claimer, leftover_receiver })) {
    if (address === SYSTEM_PROGRAM) throw presetFault(field, 'must not be the System program, which can claim nothing')
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
