/**
 * Computes what partner and creator can claim once from a launch curve, by its accounts and the program's rounding,
 * and what the curve has earned.
 */
import type { PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { bigintOf } from './program.ts'
import type { CurveEarned, DbcPool, OneTimeAmounts, OneTimeClaim } from './types.ts'

/** Percentage of a filled curve's surplus that partner and creator share. The remainder is Meteora's. */
const SURPLUS_SHARE = 80n
/** Meteora's part of a pool creation fee, in tenths. */
const PROTOCOL_PART_OF_CREATION = 10n
/** `migrationProgress` from which on the curve is full. */
const POST_BONDING_CURVE = 1
/** Bits of `migrationFeeWithdrawStatus`. */
const CREATOR_TOOK_MIGRATION_FEE = 0b010
const PARTNER_TOOK_MIGRATION_FEE = 0b100
/** Bit of `creationFeeBits`. */
const PARTNER_TOOK_CREATION_FEE = 0b010

type OneTimeClaims = Pick<
  DbcPool,
  'surplus' | 'creatorSurplus' | 'migrationFee' | 'creatorMigrationFee' | 'creationFee' | 'leftover'
>

export function oneTimeClaimsOf(pool: VirtualPool, config: PoolConfig): OneTimeClaims {
  const { poolState: state } = pool
  const once = (claimable: bigint, withdrawn: boolean): OneTimeClaim => ({
    claimable: withdrawn ? 0n : claimable,
    withdrawn,
  })
  const taken = state.migrationFeeWithdrawStatus
  const { surplus, migrationFee, creationFee } = oneTimeAmountsOf(pool, config)
  return {
    surplus: once(surplus.partner, state.isPartnerWithdrawSurplus === 1),
    creatorSurplus: once(surplus.creator, state.isCreatorWithdrawSurplus === 1),
    migrationFee: once(migrationFee.partner, (taken & PARTNER_TOOK_MIGRATION_FEE) !== 0),
    creatorMigrationFee: once(migrationFee.creator, (taken & CREATOR_TOOK_MIGRATION_FEE) !== 0),
    creationFee: once(creationFee.partner, (state.creationFeeBits & PARTNER_TOOK_CREATION_FEE) !== 0),
    leftover: { isPossible: config.fixedTokenSupplyFlag === 1, withdrawn: state.isWithdrawLeftover === 1 },
  }
}

function oneTimeAmountsOf({ poolState: state }: VirtualPool, config: PoolConfig): OneTimeAmounts {
  const [reserve, threshold] = [bigintOf(state.quoteReserve), bigintOf(config.migrationQuoteThreshold)]
  const isFull = state.migrationProgress >= POST_BONDING_CURVE && reserve >= threshold
  const over = isFull ? reserve - threshold : 0n
  const theirs = (over * SURPLUS_SHARE) / 100n
  const fee = isFull ? migrationFeeOf(threshold, config.migrationFeePercentage) : 0n
  const paid = bigintOf(config.poolCreationFee)
  const protocol = paid / PROTOCOL_PART_OF_CREATION
  return {
    surplus: { ...shared(theirs, config.creatorTradingFeePercentage), protocol: over - theirs },
    migrationFee: shared(fee, config.creatorMigrationFeePercentage),
    creationFee: { partner: paid - protocol, protocol },
  }
}

/** The creator's part is rounded down; the partner gets the remainder. */
function shared(amount: bigint, creatorPercentage: number): { partner: bigint; creator: bigint } {
  const creator = (amount * BigInt(creatorPercentage)) / 100n
  return { partner: amount - creator, creator }
}

/** The migrating amount is rounded up; the fee is the remainder of the threshold. */
function migrationFeeOf(threshold: bigint, percentage: number): bigint {
  return threshold - (threshold * BigInt(100 - percentage) + 99n) / 100n
}

/** Reads what a launch curve has earned since it was created, by the program's own counters. */
export function earnedOf(pool: VirtualPool, config: PoolConfig): CurveEarned {
  const { metrics, ...state } = pool.poolState
  return {
    ...oneTimeAmountsOf(pool, config),
    tradingFees: { quote: bigintOf(metrics.totalTradingQuoteFee), base: bigintOf(metrics.totalTradingBaseFee) },
    protocolFees: { quote: bigintOf(metrics.totalProtocolQuoteFee), base: bigintOf(metrics.totalProtocolBaseFee) },
    creatorPercentage: config.creatorTradingFeePercentage,
    protocolMigration: {
      quote: bigintOf(state.protocolMigrationQuoteFeeAmount),
      base: bigintOf(state.protocolMigrationBaseFeeAmount),
    },
    protocolTookSurplus: state.isProtocolWithdrawSurplus === 1,
  }
}
