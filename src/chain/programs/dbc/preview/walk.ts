/** Walks a launch curve by buys from its first price to its end, and returns the program's state at each point. */
import { squareRoot } from '../../../../solana/square-root.ts'
import { amountBetween } from './curve-math.ts'
import {
  amountFor,
  buyInMemory,
  type CurveState,
  feeBillionthsAt,
  isFilled,
  type MemoryCurve,
  type PartyAmounts,
  quoteUpTo,
  stateAtStart,
} from './trading.ts'

export interface WalkOptions {
  /** Raw units of the quote that the creator's first buy pays, fees included; 0 for none. */
  buy: bigint
  /** Number of steps in which the curve is filled, evenly by the quote. */
  points: number
  /** Seconds after the opening at which everybody but the creator buys. */
  seconds: number
}

export interface CurvePoint {
  at: 'start' | 'first_buy' | 'curve' | 'end'
  /** Most raw units of the quote, fees included, of the buy that leads here; it is partial at the end. */
  amount: bigint
  /** Raw units of the quote that all buys up to here paid, fees included. */
  paid: bigint
  /** Raw units of the quote that count towards the threshold. */
  quoteReserve: bigint
  /** Raw units of the token that all buys up to here received. */
  baseSold: bigint
  sqrtPrice: bigint
  /** Fee of the next buy in billionths. */
  feeBillionths: number
  quoteFees: PartyAmounts
  baseFees: PartyAmounts
  depth: Depth
}

/** Amounts that move the price; null if the curve ends before. */
export interface Depth {
  /** Raw units of the quote, fees included, that a buy pays to raise the price by 2 %. */
  up2: bigint | null
  up10: bigint | null
  /** Raw units of the token that a sell pays to lower the price by 2 %. */
  down2: bigint | null
}

interface Walk {
  points: CurvePoint[]
  last: CurveState
}

/**
 * The assumed trades are the first buy in the transaction of the pool, then one buy from each point to the next, all
 * `seconds` after the opening. A point that earlier buys have passed is left out.
 */
export function walkCurve(curve: MemoryCurve, { buy, points, seconds }: WalkOptions): Walk {
  let state = stateAtStart(curve)
  let [paid, baseSold] = [0n, 0n]
  const told: CurvePoint[] = []
  const tell = (at: CurvePoint['at'], amount: bigint) => {
    const { sqrtPrice, quoteReserve, quoteFees, baseFees } = state
    const isFirst = at === 'start' && buy > 0n
    const feeBillionths = feeBillionthsAt(curve, state, isFirst ? 0 : seconds, isFirst)
    const depth = depthAt(curve, state, seconds)
    told.push({ at, amount, paid, quoteReserve, baseSold, sqrtPrice, quoteFees, baseFees, feeBillionths, depth })
  }
  const take = (at: CurvePoint['at'], amount: bigint, isFirst = false) => {
    const outcome = buyInMemory(curve, state, { amount, seconds: isFirst ? 0 : seconds, isFirst })
    state = outcome.state
    paid += outcome.paid
    baseSold += outcome.received
    tell(isFilled(curve, state) ? 'end' : at, amount)
  }
  tell('start', 0n)
  if (buy > 0n) take('first_buy', buy, true)
  for (let point = 1; point <= points && !isFilled(curve, state); point++) {
    const isLast = point === points
    const target = (curve.threshold * BigInt(point)) / BigInt(points)
    if (!isLast && target <= state.quoteReserve) continue
    const net = isLast ? quoteUpTo(curve, state, curve.endSqrtPrice) : target - state.quoteReserve
    take('curve', amountFor(curve, state, net, seconds))
  }
  return { points: told, last: state }
}

function depthAt(curve: MemoryCurve, state: CurveState, seconds: number): Depth {
  const moved = (percent: bigint) => squareRoot((state.sqrtPrice ** 2n * (100n + percent)) / 100n)
  const up = (percent: bigint) => {
    const target = moved(percent)
    return target > curve.endSqrtPrice ? null : amountFor(curve, state, quoteUpTo(curve, state, target), seconds)
  }
  const lower = moved(-2n)
  const isBelow = lower < curve.startSqrtPrice
  return {
    up2: up(2n),
    up10: up(10n),
    down2: isBelow ? null : amountBetween(curve.dbc, 'base', curve.parts, lower, state.sqrtPrice),
  }
}
