/** Converts the owners of the migrated liquidity, with its locked and vested parts, to the program's parameters. */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { CurvePreset } from '../../../api/pool-presets.ts'
import { presetFault } from './preset-amounts.ts'
import { checkDuration } from './preset-fees.ts'
import type { Dbc } from './program.ts'

/** The program requires a tenth of the migrated liquidity to be locked for at least a day. */
const LEAST_LOCKED = 10
const WHOLE_BPS = 10_000
/** Two years. */
const LONGEST_LOCK_SECONDS = 63_072_000

type LiquidityParameters = Pick<
  ConfigParameters,
  | 'partnerLiquidityPercentage'
  | 'partnerPermanentLockedLiquidityPercentage'
  | 'creatorLiquidityPercentage'
  | 'creatorPermanentLockedLiquidityPercentage'
  | 'partnerLiquidityVestingInfo'
  | 'creatorLiquidityVestingInfo'
>
type Vesting = CurvePreset['liquidity']['partner_vesting']

/** Throws bad_request with the field at fault as `param`. */
export function liquidityParameters({ sdk }: Dbc, { liquidity }: CurvePreset): LiquidityParameters {
  const { partner, partner_locked, creator, creator_locked, partner_vesting, creator_vesting } = liquidity
  const vested = (partner_vesting?.percentage ?? 0) + (creator_vesting?.percentage ?? 0)
  const sum = partner + partner_locked + creator + creator_locked + vested
  if (sum !== 100) throw presetFault('liquidity', `must sum to 100, not ${sum}`)
  const partnerVesting = vestingInfo(partner_vesting, 'liquidity.partner_vesting')
  const creatorVesting = vestingInfo(creator_vesting, 'liquidity.creator_vesting')
  const locked = partner_locked + creator_locked
  const isLockedEnough = sdk.validateMinimumLockedLiquidity(
    partner_locked,
    creator_locked,
    partnerVesting,
    creatorVesting,
  )
  if (!isLockedEnough) {
    throw presetFault(
      'liquidity.partner_locked',
      `and liquidity.creator_locked must be ${LEAST_LOCKED} together at least, not ${locked}: Meteora requires that much to be locked permanently, or by a vesting for at least a day`,
    )
  }
  return {
    partnerLiquidityPercentage: partner,
    partnerPermanentLockedLiquidityPercentage: partner_locked,
    creatorLiquidityPercentage: creator,
    creatorPermanentLockedLiquidityPercentage: creator_locked,
    partnerLiquidityVestingInfo: partnerVesting,
    creatorLiquidityVestingInfo: creatorVesting,
  }
}

function vestingInfo(vesting: Vesting, field: string): LiquidityParameters['partnerLiquidityVestingInfo'] {
  if (vesting === undefined) {
    return {
      vestingPercentage: 0,
      bpsPerPeriod: 0,
      numberOfPeriods: 0,
      cliffDurationFromMigrationTime: 0,
      frequency: 0,
    }
  }
  const { percentage, periods, duration_seconds, cliff_seconds, cliff_bps } = vesting
  checkDuration(duration_seconds, periods, field)
  if (cliff_seconds + duration_seconds > LONGEST_LOCK_SECONDS) {
    throw presetFault(`${field}.duration_seconds`, `and cliff_seconds must be two years together at most`)
  }
  // The program adds the remainder of the division to the cliff.
  const bpsPerPeriod = Math.floor((WHOLE_BPS - cliff_bps) / periods)
  if (bpsPerPeriod === 0) {
    const most = WHOLE_BPS - cliff_bps
    throw presetFault(
      `${field}.periods`,
      `are too many: each releases at least a hundredth of a percent, so at most ${most} fit in addition to the cliff`,
    )
  }
  return {
    vestingPercentage: percentage,
    bpsPerPeriod,
    numberOfPeriods: periods,
    cliffDurationFromMigrationTime: cliff_seconds,
    frequency: duration_seconds / periods,
  }
}
