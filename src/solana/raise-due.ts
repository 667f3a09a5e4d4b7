/** What the creator of a raise can do now, decided from what is on chain and from the plan of the pool alone. */
import { creatorDue, PRICE_ONE } from './raise-amounts.ts'
import {
  FULL_RANGE,
  type PoolPlan,
  type RaisedSum,
  type RaisePool,
  raisedSum,
  raisePool,
  restOf,
  seedOf,
} from './raise-pool.ts'
import { type Raise, raiseStateAt, type UnsoldAction } from './raises.ts'
import type { TransferFee } from './token-extensions.ts'

/** The program opens no pool later than this many seconds ahead. */
const MOST_AHEAD = 31n * 86_400n
/** A pool counts its fee in parts of 10^9. */
const FEE_OF_BPS = 100_000n
/** The numbers of the program for a fee that is taken in the quote, and for times in seconds. */
const [FEE_IN_QUOTE, BY_TIME] = [1, 1]
/** The pool is read a moment after the clock. */
const MOMENT = 10n

/** The only custom pool of the token and its quote. */
export interface PairPool {
  address: string
  creator: string
  /** Square roots of the price, times 2^64. */
  firstPrice: bigint
  price: bigint
  range: { lowest: bigint; highest: bigint }
  /** In parts of 10^9. */
  fee: bigint
  feeMode: number
  activationType: number
  /** When trading begins. */
  activationPoint: bigint
  /** Whether its fee never changes, and nobody may trade before the others. */
  isPlain: boolean
  /** Liquidity of all positions that is locked for good. */
  locked: bigint
  /** The position of the raise's creator with the most liquidity that is not locked, which `liquidity` is; null without one. */
  position: { position: string; positionNftAccount: string; liquidity: bigint } | null
}

export interface SettlementState {
  raise: Raise
  plan: PoolPlan | null
  /** What the token takes of each transfer. */
  transferFee: TransferFee | null
  pool: PairPool | null
  /** Raw tokens in the creator's associated account. */
  tokens: bigint
  /** Whether the creator owns the account with the price, whose rent is not needed any more. */
  closesPrice: boolean
  /** Unix seconds of the chain. */
  at: bigint
}

/** What the creator of a raise can do. */
export const SETTLEMENT_ACTS = [
  'open_pool',
  'withdraw',
  'add_liquidity',
  'lock_liquidity',
  'collect_fee',
  'unsold',
  'withdraw_tokens',
  'close_price',
] as const
export type SettlementAct = (typeof SETTLEMENT_ACTS)[number]

const TEXTS: Readonly<Record<SettlementAct, string>> = {
  withdraw: 'Take what was raised',
  open_pool: 'Open the planned pool',
  add_liquidity: 'Add what was raised to the pool',
  lock_liquidity: 'Lock the planned part of the liquidity for good',
  collect_fee: 'Collect the deposit fees',
  unsold: 'Return the unsold tokens to the creator',
  withdraw_tokens: 'Take back the tokens, because the raise has failed',
  close_price: 'Close the account of the price, which returns its rent',
}

/** An act as people read it, wherever they do. */
export const settlementText = (act: SettlementAct, unsold: UnsoldAction): string =>
  act === 'unsold' && unsold === 'burn' ? 'Burn the unsold tokens' : TEXTS[act]

interface DueActs {
  /** In the order in which they are done. */
  acts: SettlementAct[]
  /** What goes into the pool; null if nothing does. */
  pool: RaisePool | null
  /** When trading begins in the pool, in Unix seconds; null if at once. */
  opensAt: bigint | null
  /** Why the planned pool cannot open or get its money, as a sentence; null if it can, or has it. */
  blocked: string | null
}

/** The same after every interruption: what is done shows on chain, and amounts follow from the deposits. */
export function dueActs(state: SettlementState): DueActs {
  const { raise, at, closesPrice } = state
  const { raised, fees, returned, unsold } = creatorDue(raise, at)
  const pool = poolDue(state)
  const acts: SettlementAct[] = []
  if (raised > 0n) acts.push('withdraw')
  if (returned > 0n) acts.push('withdraw_tokens')
  if ('of' in pool) acts.push(pool.act, ...(pool.of.locked > 0n ? (['lock_liquidity'] as const) : []))
  if (fees > 0n) acts.push('collect_fee')
  if (unsold > 0n) acts.push('unsold')
  if (closesPrice) acts.push('close_price')
  return {
    acts,
    pool: 'of' in pool ? pool.of : null,
    opensAt: 'of' in pool ? pool.opensAt : null,
    blocked: 'blocked' in pool ? pool.blocked : null,
  }
}

type PoolDue =
  | { act: 'open_pool' | 'add_liquidity'; of: RaisePool; opensAt: bigint | null }
  | { blocked: string }
  | { nothing: true }

const NOTHING = { nothing: true } as const

function poolDue(state: SettlementState): PoolDue {
  const { raise, plan, pool, at } = state
  if (plan === null) return NOTHING
  const phase = raiseStateAt(raise, at)
  const isEarly = phase === 'not_started' || phase === 'ongoing'
  if (phase === 'failed' || (isEarly && plan.when === 'after')) return NOTHING
  const sum = isEarly ? mostOf(raise) : raisedSum(raise, state.transferFee)
  const whole = raisePool(plan, sum)
  if (typeof whole === 'string') return { blocked: `The pool ${whole}` }
  if (pool === null) return openingDue(state, isEarly ? seedOf(whole) : whole, isEarly)
  if (!isPlanned(pool, raise, plan, whole) || !opensInTime(pool, state, isEarly)) return { blocked: foreignText(pool) }
  // Half is enough: the fee of the token's transfers may have changed since.
  if (isEarly || (whole.locked > 0n ? 2n * pool.locked >= whole.locked : true)) return NOTHING
  return additionDue(state, pool, whole)
}

/** Before the end the maximum is what can come. */
const mostOf = ({ maximum, price }: Raise): RaisedSum => ({
  raised: maximum,
  price: { quote: price ?? 0n, tokens: PRICE_ONE },
})

/** The first trade in a pool that opens before the end. */
const firstTradeAt = ({ raise, plan }: SettlementState): bigint => raise.endsAt + BigInt(plan?.opens_after_seconds ?? 0)

function openingDue(state: SettlementState, of: RaisePool, isEarly: boolean): PoolDue {
  const opensAt = firstTradeAt(state)
  if (isEarly && opensAt - state.at > MOST_AHEAD) return NOTHING
  return lacking(state, of) ?? { act: 'open_pool', of, opensAt: isEarly ? opensAt : null }
}

function additionDue(state: SettlementState, pool: PairPool, whole: RaisePool): PoolDue {
  const { position, price, address } = pool
  if (price !== whole.sqrtPrice) return { blocked: `The price of the pool ${address} has moved since it opened` }
  if (position === null) return { blocked: `The creator holds no position in the pool ${address}` }
  const of = restOf(whole, position.liquidity)
  return lacking(state, of) ?? { act: 'add_liquidity', of, opensAt: null }
}

function lacking({ tokens, raise }: SettlementState, of: RaisePool): PoolDue | null {
  if (tokens >= of.tokens) return null
  const need = `The pool needs ${of.tokens} raw units of the token ${raise.mint}`
  return { blocked: `${need}, and the account of its creator ${raise.creator} has ${tokens}` }
}

/** Anybody can open a pool in the creator's name, so all of its terms must be those of the plan, too. */
const isPlanned = (pool: PairPool, { creator }: Raise, plan: PoolPlan, { sqrtPrice }: RaisePool): boolean =>
  pool.creator === creator &&
  pool.firstPrice === sqrtPrice &&
  pool.range.lowest === FULL_RANGE.lowest &&
  pool.range.highest === FULL_RANGE.highest &&
  pool.fee === BigInt(plan.fee_bps) * FEE_OF_BPS &&
  pool.feeMode === FEE_IN_QUOTE &&
  pool.activationType === BY_TIME &&
  pool.isPlain

/** A raise that has ended early does not show for which end its pool was opened. */
function opensInTime({ activationPoint }: PairPool, state: SettlementState, isEarly: boolean): boolean {
  if (isEarly) return activationPoint === firstTradeAt(state)
  return state.plan?.when === 'before_end' || activationPoint <= state.at + MOMENT
}

const foreignText = ({ address, creator }: PairPool): string =>
  `The only pool of this pair, ${address}, was opened otherwise than planned, in the name of ${creator}`
