/** Computes the liquidity that wanted amounts buy in a pool, and the most that may leave for it. */
import {
  type DammV2Pool,
  type LiquidityCost,
  liquidityFor,
  type PoolMoment,
  type TokenAmounts,
} from '../../chain/programs/damm-v2/index.ts'
import { badRequest } from '../../platform/errors.ts'
import { MAX_U64, MAX_U128 } from '../../solana/u64.ts'

const WHOLE_BPS = 10_000n

export interface AdditionInput {
  amount_a?: string | undefined
  amount_b?: string | undefined
  slippage_bps: number
}

export interface Addition {
  cost: LiquidityCost
  maximum: TokenAmounts
}

/** Throws bad_request that names the amount if there is none, or if it buys no liquidity, or more than fits. */
export async function additionOf(pool: DammV2Pool, moment: PoolMoment, input: AdditionInput): Promise<Addition> {
  const { amount_a, amount_b } = input
  if (amount_a === undefined && amount_b === undefined) {
    throw badRequest('give amount_a, amount_b, or both: the most that may be added of each token', {
      param: 'amount_a',
    })
  }
  const amountOf = (text: string | undefined) => (text === undefined ? null : BigInt(text))
  const cost = await liquidityFor(moment, { amountA: amountOf(amount_a), amountB: amountOf(amount_b) })
  if (cost.liquidity === 0n) throw buysNothing(pool, cost, input)
  const param = amount_a === undefined ? 'amount_b' : 'amount_a'
  if (cost.liquidity + pool.liquidity > MAX_U128 || cost.amountA > MAX_U64 || cost.amountB > MAX_U64) {
    throw badRequest(`${param} is more than the pool ${pool.address} can hold at its present price`, { param })
  }
  const most = (amount: bigint) => {
    const raised = amount + (amount * BigInt(input.slippage_bps)) / WHOLE_BPS
    return raised < MAX_U64 ? raised : MAX_U64
  }
  return { cost, maximum: { amountA: most(cost.amountA), amountB: most(cost.amountB) } }
}

function buysNothing(pool: DammV2Pool, { takesA, takesB }: LiquidityCost, { amount_a, amount_b }: AdditionInput) {
  const only = amount_a === undefined ? 'amount_b' : amount_b === undefined ? 'amount_a' : null
  if (!takesA && !takesB) {
    return badRequest(`The pool ${pool.address} has no liquidity, so it has no price to add more at`, {
      param: 'address',
    })
  }
  if (only === 'amount_a' && !takesA) return takesNone('amount_a', pool.tokenAMint, 'amount_b')
  if (only === 'amount_b' && !takesB) return takesNone('amount_b', pool.tokenBMint, 'amount_a')
  const param = only ?? (takesA && BigInt(amount_a ?? 0) === 0n ? 'amount_a' : 'amount_b')
  return badRequest(`${param} is too small: it buys no liquidity`, { param })
}

const takesNone = (param: string, mint: string, other: string) =>
  badRequest(`At its present price the pool takes none of ${mint}: give ${other} instead`, { param })

/** The fields of an answer about what goes into a pool. */
export const additionRecord = ({ cost, maximum }: Addition) => ({
  added_liquidity: String(cost.liquidity),
  amount_a: String(cost.amountA),
  amount_b: String(cost.amountB),
  maximum_a: String(maximum.amountA),
  maximum_b: String(maximum.amountB),
})
