/** Decides which pools of a token count: anybody can open pools, and fill them with tokens of no value. */
import type { TokenReportPools } from '../../../api/token-report.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { bpsOf } from './shares.ts'

type Pool = TokenReportPools['pools'][number]
type Amounts = Pick<Pool, 'base_amount' | 'quote_amount' | 'quote_mint'>

/** A pool counts if it has at least this part of the token in pools, or of all SOL, USDC or USDT in pools. */
const RELEVANT_PARTS = 10n
/**
 * Quotes of value, with the raw units below which a pool has no counterweight to its tokens: 0.1 SOL, 10 dollars.
 * Anybody can make other tokens, and a pool full of them may be worth nothing.
 */
const MONEY: ReadonlyMap<string, bigint> = new Map([
  [WRAPPED_SOL, 100_000_000n],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 10_000_000n],
  ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 10_000_000n],
])
const WHOLE_BPS = 10_000

/**
 * Returns the pools that count; if all are small, all count. A pool without a counterweight holds much of the token
 * against a lamport. It is left out of the sum that decides which pools are small, so that it hides none.
 */
export function relevantPools<T extends Amounts>(pools: readonly T[], baseAmount: bigint): T[] {
  const weighty = sumOf(pools.filter(hasCounterweight), 'base_amount')
  const relevant = pools.filter((pool) => {
    const [base, quote] = [BigInt(pool.base_amount) * RELEVANT_PARTS, quoteIn(pools, pool)]
    return (
      base >= baseAmount ||
      (hasCounterweight(pool) && base >= weighty) ||
      (quote > 0n && BigInt(pool.quote_amount) * RELEVANT_PARTS >= quote)
    )
  })
  return relevant.length === 0 ? [...pools] : relevant
}

const hasCounterweight = ({ quote_mint, quote_amount }: Amounts): boolean =>
  BigInt(quote_amount) >= (MONEY.get(quote_mint) ?? 1n)

/** All of the pool's quote in pools; 0 for a quote whose value is not known. */
const quoteIn = (pools: readonly Amounts[], { quote_mint }: Amounts): bigint =>
  MONEY.has(quote_mint)
    ? sumOf(
        pools.filter((each) => each.quote_mint === quote_mint),
        'quote_amount',
      )
    : 0n

const sumOf = (pools: readonly Amounts[], side: 'base_amount' | 'quote_amount'): bigint =>
  pools.reduce((sum, pool) => sum + BigInt(pool[side]), 0n)

interface FreeLiquidity {
  /** The pool with most of it. */
  address: string
  quoteMint: string
  /** The largest part of the token, or of one money, that all of these owners together can withdraw. */
  bps: number
  /** What `bps` is a part of. */
  of: 'token' | 'money'
  /** Whether a pool is among them whose quote cannot be weighed, with a ten thousandth of the token or more. */
  isStrange: boolean
}

/** What the owners of the pools that do not count can withdraw of all pools; null if nothing. Unread is withdrawable. */
export function freeOutside(pools: readonly Pool[], relevant: readonly Pool[]): FreeLiquidity | null {
  const outside = pools
    .filter((pool) => !relevant.includes(pool))
    .map((pool) => ({ pool, free: BigInt(pool.unlocked_bps ?? WHOLE_BPS - pool.locked_bps) }))
    .filter(({ free }) => free > 0n)
  const partOf = (side: 'base_amount' | 'quote_amount', of: (pool: Amounts) => boolean) => {
    const free = outside.filter(({ pool }) => of(pool)).map(({ pool, free }) => BigInt(pool[side]) * free)
    const all = sumOf(pools.filter(of), side)
    return bpsOf(
      free.reduce((sum, each) => sum + each, 0n),
      all * BigInt(WHOLE_BPS),
    )
  }
  const largestFirst = (side: 'base_amount' | 'quote_amount') =>
    outside.toSorted((a, b) => (BigInt(a.pool[side]) * a.free > BigInt(b.pool[side]) * b.free ? -1 : 1))
  const [first] = largestFirst('base_amount')
  if (first === undefined) return null
  const token = partOf('base_amount', () => true)
  const moneys = [...MONEY.keys()].map((mint) => ({
    bps: partOf('quote_amount', ({ quote_mint }) => quote_mint === mint),
    pool: largestFirst('quote_amount').find(({ pool }) => pool.quote_mint === mint)?.pool,
  }))
  const money = moneys.reduce((a, b) => (b.bps > a.bps ? b : a))
  const weighty = sumOf(pools.filter(hasCounterweight), 'base_amount')
  const strange = outside.find(
    ({ pool }) => !MONEY.has(pool.quote_mint) && bpsOf(BigInt(pool.base_amount), weighty) > 0,
  )
  const isMoney = money.bps > token && money.pool !== undefined
  const shown = isMoney ? money.pool : token < 100 && strange !== undefined ? strange.pool : first.pool
  return {
    address: (shown ?? first.pool).address,
    quoteMint: (shown ?? first.pool).quote_mint,
    bps: Math.max(token, money.bps),
    of: isMoney ? 'money' : 'token',
    isStrange: strange !== undefined,
  }
}
