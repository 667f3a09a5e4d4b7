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

/** What the creator of a raise can do, as people read it. */
const TEXTS = {
  open_pool: 'Open the planned pool',
  withdraw: 'Take what was raised',
  add_liquidity: 'Add what was raised to the pool',
  lock_liquidity: 'Lock the planned part of the liquidity for good',
  collect_fee: 'Collect the deposit fees',
  unsold: 'Return the unsold tokens to the creator',
  withdraw_tokens: 'Take back the tokens, because the raise has failed',
  close_price: 'Close the account of the price, which returns its rent',
} as const
export type SettlementAct = keyof typeof TEXTS
export const SETTLEMENT_ACTS = Object.keys(TEXTS) as [SettlementAct, ...SettlementAct[]]

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
  const { raised, fees, returned, unsold } = creatorDue(state.raise, state.at)
  const ofPool = poolDue(state)
  const when = (act: SettlementAct, isDue: boolean) => (isDue ? [act] : [])
  return {
    ...ofPool,
    acts: [
      ...when('withdraw', raised > 0n),
      ...when('withdraw_tokens', returned > 0n),
      ...ofPool.acts,
      ...when('collect_fee', fees > 0n),
      ...when('unsold', unsold > 0n),
      ...when('close_price', state.closesPrice),
    ],
  }
}

const NOTHING: DueActs = { acts: [], pool: null, opensAt: null, blocked: null }
const blockedBy = (blocked: string): DueActs => ({ ...NOTHING, blocked })

function poolDue(state: SettlementState): DueActs {
  const { raise, plan, pool, at } = state
  if (plan === null) return NOTHING
  const phase = raiseStateAt(raise, at)
  const isEarly = phase === 'not_started' || phase === 'ongoing'
  if (phase === 'failed' || (isEarly && plan.when === 'after')) return NOTHING
  const sum = isEarly ? mostOf(raise) : raisedSum(raise, state.transferFee)
  const whole = raisePool(plan, sum)
  if (typeof whole === 'string') return blockedBy(`The pool ${whole}`)
  if (pool === null) return openingDue(state, isEarly ? seedOf(whole) : whole, isEarly)
  if (!isPlanned(pool, raise, plan, whole) || !opensInTime(pool, state, isEarly)) return foreign(pool)
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

function openingDue(state: SettlementState, of: RaisePool, isEarly: boolean): DueActs {
  const opensAt = firstTradeAt(state)
  if (isEarly && opensAt - state.at > MOST_AHEAD) return NOTHING
  return filling(state, 'open_pool', of, isEarly ? opensAt : null)
}

function additionDue(state: SettlementState, pool: PairPool, whole: RaisePool): DueActs {
  const { position, price, address } = pool
  if (price !== whole.sqrtPrice) return blockedBy(`The price of the pool ${address} has moved since it opened`)
  if (position === null) return blockedBy(`The creator holds no position in the pool ${address}`)
  return filling(state, 'add_liquidity', restOf(whole, position.liquidity))
}

/** Fills the pool with what the creator has for it. */
function filling(
  { tokens, raise }: SettlementState,
  act: 'open_pool' | 'add_liquidity',
  pool: RaisePool,
  opensAt: bigint | null = null,
): DueActs {
  const need = `The pool needs ${pool.tokens} raw units of the token ${raise.mint}`
  if (tokens < pool.tokens) return blockedBy(`${need}, and the account of its creator ${raise.creator} has ${tokens}`)
  return { ...NOTHING, acts: pool.locked > 0n ? [act, 'lock_liquidity'] : [act], pool, opensAt }
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

const foreign = ({ address, creator }: PairPool): DueActs =>
  blockedBy(`The only pool of this pair, ${address}, was opened otherwise than planned, in the name of ${creator}`)
