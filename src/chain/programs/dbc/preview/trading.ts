/** A launch curve in memory that takes buys as the program does. */
import type { ConfigParameters, PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { MAX_U64 } from '../../../../solana/u64.ts'
import { migratedBase, migratedQuote } from '../migrating-amounts.ts'
import { bigintOf, type Dbc } from '../program.ts'
import { amountBetween, type CurvePart } from './curve-math.ts'

/** Opening of the pool in seconds, which is later than any period of a dynamic fee after zero. */
const OPENED_AT = 1_000_000n
const WHOLE_PERCENT = 100n

/** Each party's part of a fee, in raw units. */
export interface PartyAmounts {
  creator: bigint
  partner: bigint
  protocol: bigint
}

/** A config, with the figures that the program derives from it. */
export interface MemoryCurve {
  dbc: Dbc
  parameters: ConfigParameters
  parts: CurvePart[]
  startSqrtPrice: bigint
  /** Price at which the pool migrates. */
  endSqrtPrice: bigint
  /** Raw units of the quote that fill the curve. */
  threshold: bigint
  /** Raw units that are minted with the pool. */
  supply: bigint
  /** Raw units that are locked for the creator. */
  locked: bigint
}

/** State of the pool between two buys. */
export interface CurveState {
  sqrtPrice: bigint
  quoteReserve: bigint
  /** Raw units in the pool without fees. */
  baseReserve: bigint
  quoteFees: PartyAmounts
  baseFees: PartyAmounts
  volatility: Volatility
}

interface MemoryBuy {
  /** Most that is paid in raw units of the quote, fees included. */
  amount: bigint
  /** Seconds after the opening. */
  seconds: number
  /** Whether it is in the transaction that creates the pool. */
  isFirst: boolean
}

interface BuyOutcome {
  state: CurveState
  /** Raw units of the quote that were paid, fees included. */
  paid: bigint
  /** Raw units of the token that were received. */
  received: bigint
}

/** Throws an Error of the SDK for parameters that no pool can have. */
export function openMemoryCurve(dbc: Dbc, parameters: ConfigParameters): MemoryCurve {
  const { sdk } = dbc
  const { curve, sqrtStartPrice, migrationQuoteThreshold, lockedVesting, tokenSupply } = parameters
  const end = sdk.getMigrationThresholdPrice(migrationQuoteThreshold, sqrtStartPrice, curve)
  const startSqrtPrice = bigintOf(sqrtStartPrice)
  const parts = curve.map(({ sqrtPrice, liquidity }, i) => ({
    from: i === 0 ? startSqrtPrice : bigintOf(curve[i - 1]?.sqrtPrice ?? sqrtStartPrice),
    to: bigintOf(sqrtPrice),
    liquidity: bigintOf(liquidity),
  }))
  const locked = bigintOf(sdk.getTotalVestingAmount(lockedVesting))
  return {
    dbc,
    parameters,
    parts,
    startSqrtPrice,
    endSqrtPrice: bigintOf(end),
    threshold: bigintOf(migrationQuoteThreshold),
    supply: tokenSupply ? bigintOf(tokenSupply.preMigrationTokenSupply) : mintedFor(dbc, parameters, end, locked),
    locked,
  }
}

/** The supply of a config without a fixed one: the sold amount with a buffer, plus the migrated and locked amounts. */
function mintedFor(dbc: Dbc, parameters: ConfigParameters, end: BigNumber, locked: bigint): bigint {
  const { sdk } = dbc
  const { curve, sqrtStartPrice, migrationQuoteThreshold, migrationFee } = parameters
  const sold = sdk.getBaseTokenForSwap(sqrtStartPrice, end, curve)
  const quote = migratedQuote(bigintOf(migrationQuoteThreshold), migrationFee.feePercentage)
  const migrated = migratedBase(dbc, parameters, quote, bigintOf(end))
  return bigintOf(sdk.getSwapAmountWithBuffer(sold, sqrtStartPrice, curve)) + migrated + locked
}

type BigNumber = ConfigParameters['sqrtStartPrice']

const nothing = (): PartyAmounts => ({ creator: 0n, partner: 0n, protocol: 0n })

/** State of a new pool. */
export const stateAtStart = ({ startSqrtPrice, supply }: MemoryCurve): CurveState => ({
  sqrtPrice: startSqrtPrice,
  quoteReserve: 0n,
  baseReserve: supply,
  quoteFees: nothing(),
  baseFees: nothing(),
  volatility: CALM,
})

export const isFilled = ({ threshold }: MemoryCurve, { quoteReserve }: CurveState): boolean => quoteReserve >= threshold

/** Buys, up to the end of the curve. Throws an Error of the SDK when the program would fail. */
export function buyInMemory(
  curve: MemoryCurve,
  state: CurveState,
  { amount, seconds, isFirst }: MemoryBuy,
): BuyOutcome {
  const { sdk, bn } = curve.dbc
  const { collectFeeMode, creatorTradingFeePercentage, enableFirstSwapWithMinFee, poolFees } = curve.parameters
  const time = OPENED_AT + BigInt(seconds)
  const { dynamicFee } = poolFees
  const tracker =
    dynamicFee === null ? state.volatility : volatilityBefore(state.volatility, dynamicFee, state.sqrtPrice, time)
  const mode = sdk.getFeeMode(collectFeeMode, sdk.TradeDirection.QuoteToBase, false)
  const result = sdk.getSwapResultFromPartialInput(
    poolOf(curve, { ...state, volatility: tracker }),
    configOf(curve),
    bn(amount),
    mode,
    sdk.TradeDirection.QuoteToBase,
    bn(time),
    isFirst && enableFirstSwapWithMinFee,
  )
  const [trading, protocol] = [bigintOf(result.tradingFee), bigintOf(result.protocolFee)]
  const creator = (trading * BigInt(creatorTradingFeePercentage)) / WHOLE_PERCENT
  const fees = { creator, partner: trading - creator, protocol }
  const received = bigintOf(result.outputAmount)
  const sqrtPrice = bigintOf(result.nextSqrtPrice)
  const moved = { before: state.sqrtPrice, after: sqrtPrice, time }
  return {
    state: {
      sqrtPrice,
      quoteReserve: state.quoteReserve + bigintOf(result.excludedFeeInputAmount),
      baseReserve: state.baseReserve - received - (mode.feesOnInput ? 0n : trading + protocol),
      quoteFees: mode.feesOnBaseToken ? state.quoteFees : sumOf(state.quoteFees, fees),
      baseFees: mode.feesOnBaseToken ? sumOf(state.baseFees, fees) : state.baseFees,
      volatility: dynamicFee === null ? tracker : volatilityAfter(tracker, dynamicFee, moved),
    },
    paid: bigintOf(result.includedFeeInputAmount),
    received,
  }
}

const sumOf = (a: PartyAmounts, b: PartyAmounts): PartyAmounts => ({
  creator: a.creator + b.creator,
  partner: a.partner + b.partner,
  protocol: a.protocol + b.protocol,
})

/** Raw units of the quote, fees included, that a buy pays for `net` to count towards the curve, at most 64 bits. */
export function amountFor(curve: MemoryCurve, state: CurveState, net: bigint, seconds: number): bigint {
  const { sdk, bn } = curve.dbc
  if (net === 0n) return 0n
  const { feesOnInput } = sdk.getFeeMode(curve.parameters.collectFeeMode, sdk.TradeDirection.QuoteToBase, false)
  if (!feesOnInput) return net
  const { poolState } = poolOf(curve, state)
  const numerator = sdk.getTotalFeeNumeratorFromExcludedFeeAmount(
    configOf(curve).poolFees,
    poolState.volatilityTracker,
    bn(OPENED_AT + BigInt(seconds)),
    bn(OPENED_AT),
    bn(net),
    sdk.TradeDirection.QuoteToBase,
  )
  const [included] = sdk.getIncludedFeeAmount(numerator, bn(net))
  const amount = bigintOf(included)
  return amount > MAX_U64 ? MAX_U64 : amount
}

/** Fee of the next buy in billionths, for one raw unit. */
export function feeBillionthsAt(curve: MemoryCurve, state: CurveState, seconds: number, isFirst = false): number {
  const { sdk, bn } = curve.dbc
  const { poolFees } = configOf(curve)
  if (isFirst && curve.parameters.enableFirstSwapWithMinFee) {
    const { cliffFeeNumerator, firstFactor, secondFactor, thirdFactor, baseFeeMode } = poolFees.baseFee
    const handler = sdk.getBaseFeeHandler(cliffFeeNumerator, firstFactor, secondFactor, thirdFactor, baseFeeMode)
    return handler.getMinBaseFeeNumerator().toNumber()
  }
  const numerator = sdk.getTotalFeeNumeratorFromIncludedFeeAmount(
    poolFees,
    poolOf(curve, state).poolState.volatilityTracker,
    bn(OPENED_AT + BigInt(seconds)),
    bn(OPENED_AT),
    bn(1n),
    sdk.TradeDirection.QuoteToBase,
  )
  return numerator.toNumber()
}

/** Raw units of the quote, without fees, that bring the price to `sqrtPrice`. */
export const quoteUpTo = (curve: MemoryCurve, state: CurveState, sqrtPrice: bigint): bigint =>
  amountBetween(curve.dbc, 'quote', curve.parts, state.sqrtPrice, sqrtPrice)

/** The fields of the pool that the SDK's arithmetic reads. */
function poolOf({ dbc: { bn } }: MemoryCurve, { sqrtPrice, quoteReserve, volatility }: CurveState): VirtualPool {
  const volatilityTracker = {
    lastUpdateTimestamp: bn(volatility.updatedAt),
    sqrtPriceReference: bn(volatility.sqrtPriceReference),
    volatilityAccumulator: bn(volatility.accumulator),
    volatilityReference: bn(volatility.reference),
  }
  const poolState = { sqrtPrice: bn(sqrtPrice), quoteReserve: bn(quoteReserve), activationPoint: bn(OPENED_AT) }
  return { poolState: { ...poolState, volatilityTracker } } as unknown as VirtualPool
}

/** The fields of the config that the SDK's arithmetic reads. */
function configOf({ dbc: { bn }, parameters, endSqrtPrice }: MemoryCurve): PoolConfig {
  const { poolFees, collectFeeMode, curve, migrationQuoteThreshold } = parameters
  const dynamicFee = poolFees.dynamicFee === null ? { initialized: 0 } : { ...poolFees.dynamicFee, initialized: 1 }
  const config = { collectFeeMode, curve, migrationQuoteThreshold, migrationSqrtPrice: bn(endSqrtPrice) }
  return { ...config, poolFees: { baseFee: poolFees.baseFee, dynamicFee } } as unknown as PoolConfig
}

// The tracker of a dynamic fee: how far the price moved recently, by the program's arithmetic.

type DynamicFee = NonNullable<ConfigParameters['poolFees']['dynamicFee']>

const WHOLE_BASIS_POINTS = 10_000n
const ONE_Q64 = MAX_U64 + 1n

/** `VolatilityTracker` of the program; times are in seconds, prices square roots times 2^64. */
interface Volatility {
  updatedAt: bigint
  sqrtPriceReference: bigint
  accumulator: bigint
  reference: bigint
}

/** Tracker of a pool without a trade. */
const CALM: Volatility = { updatedAt: 0n, sqrtPriceReference: 0n, accumulator: 0n, reference: 0n }

/** Returns the tracker with which the program begins a trade at `time`. */
function volatilityBefore(tracker: Volatility, fee: DynamicFee, sqrtPrice: bigint, time: bigint): Volatility {
  const elapsed = time - tracker.updatedAt
  if (elapsed < BigInt(fee.filterPeriod)) return tracker
  const decays = elapsed < BigInt(fee.decayPeriod)
  const reference = decays ? (tracker.accumulator * BigInt(fee.reductionFactor)) / WHOLE_BASIS_POINTS : 0n
  return { ...tracker, sqrtPriceReference: sqrtPrice, reference }
}

/** Returns the tracker after a trade at `time` that moved the price from `before` to `after`. */
function volatilityAfter(
  tracker: Volatility,
  fee: DynamicFee,
  { before, after, time }: { before: bigint; after: bigint; time: bigint },
): Volatility {
  const step = bigintOf(fee.binStepU128)
  const moved = tracker.reference + binsBetween(step, after, tracker.sqrtPriceReference) * WHOLE_BASIS_POINTS
  const most = BigInt(fee.maxVolatilityAccumulator)
  return {
    ...tracker,
    accumulator: moved < most ? moved : most,
    updatedAt: binsBetween(step, before, after) > 0n ? time : tracker.updatedAt,
  }
}

function binsBetween(step: bigint, a: bigint, b: bigint): bigint {
  const [upper, lower] = a > b ? [a, b] : [b, a]
  return (((upper << 64n) / lower - ONE_Q64) / step) * 2n
}
