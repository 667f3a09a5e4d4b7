import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import BN from 'bn.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  FULL_RANGE,
  type PoolPlan,
  planFault,
  type RaisePool,
  raisePool,
  restOf,
  seedOf,
} from '../../src/solana/raise-pool.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'

const S = 10n ** 9n
const PLAN: PoolPlan = {
  quote_bps: 5_000,
  reserve: '40000000000',
  price: 'raise',
  price_bps: 10_000,
  fee_bps: 100,
  locked_bps: 10_000,
  when: 'after',
  opens_after_seconds: 600,
}
/** 80,000 tokens of six decimals for 80 SOL. */
const SUM = { raised: 80n * S, price: { quote: 80n * S, tokens: 80_000n * 10n ** 6n } }

const opened = (plan: Partial<PoolPlan> = {}, sum: Parameters<typeof raisePool>[1] = SUM): RaisePool => {
  const pool = raisePool({ ...PLAN, ...plan }, sum)
  if (typeof pool === 'string') throw new Error(`The pool ${pool}`)
  return pool
}
const bn = (value: bigint) => new BN(value.toString())

/** What the SDK of DAMM v2 says leaves for the liquidity. */
function bySdk({ sqrtPrice, liquidity }: RaisePool) {
  const { Up } = cpAmm.Rounding
  const mode = cpAmm.CollectFeeMode.OnlyB
  const [price, delta, none] = [bn(sqrtPrice), bn(liquidity), new BN(0)]
  const a = cpAmm.getAmountAFromLiquidityDelta(price, cpAmm.MAX_SQRT_PRICE, delta, Up, mode, none, none)
  const b = cpAmm.getAmountBFromLiquidityDelta(cpAmm.MIN_SQRT_PRICE, price, delta, Up, mode, none, none)
  return { tokens: BigInt(a.toString()), quote: BigInt(b.toString()) }
}

describe('the pool of a raise', () => {
  test('opens over the whole range of DAMM v2', () => {
    expect(FULL_RANGE.lowest.toString()).toBe(cpAmm.MIN_SQRT_PRICE.toString())
    expect(FULL_RANGE.highest.toString()).toBe(cpAmm.MAX_SQRT_PRICE.toString())
  })

  test('has the price of the raise, and what its liquidity needs by the SDK', () => {
    const pool = opened()
    expect(pool.priceOfRaiseBps).toBe(10_000n)
    expect(pool.tokens).toBeGreaterThan(39_999_990_000n)
    expect(pool.tokens).toBeLessThanOrEqual(40_000_000_000n)
    expect(pool.quote).toBeGreaterThan(40n * S - 1_000_000n)
    expect(pool.quote).toBeLessThanOrEqual(40n * S)
    expect(pool).toMatchObject(bySdk(pool))
  })

  test('says how its price relates to that of the raise', () => {
    expect(opened({ price_bps: 12_500 }).priceOfRaiseBps).toBe(12_500n)
    expect(opened({ price: 'reserve', reserve: '20000000000' }).priceOfRaiseBps).toBe(20_000n)
  })

  test('leaves quote with the creator if the reserve is too small for it', () => {
    const pool = opened({ reserve: '10000000000' })
    expect(pool.tokens).toBe(10_000_000_000n)
    expect(pool.quote).toBeLessThan(10n * S + 1_000_000n)
  })

  test('locks the planned part', () => {
    const pool = opened({ locked_bps: 2_500 })
    expect(pool.locked).toBe(pool.liquidity / 4n)
    expect(opened({ locked_bps: 0 }).locked).toBe(0n)
  })

  test('takes no more than the reserve with the fee of a transfer', () => {
    const transferFee = { epoch: 0n, basisPoints: 100, maximumFee: MAX_U64 }
    const pool = opened({ price: 'reserve' }, { ...SUM, transferFee })
    expect(pool.tokens).toBeLessThanOrEqual(40_000_000_000n)
    expect(bySdk(pool).tokens).toBeLessThanOrEqual(39_600_000_000n)
    expect(bySdk(pool).tokens).toBeGreaterThan(39_599_990_000n)
  })

  test.each([
    ['nothing raised', {}, { ...SUM, raised: 0n }, 'nothing of what is raised'],
    ['no part of it', { quote_bps: 0 }, SUM, 'nothing of what is raised'],
    ['no reserve', { reserve: '0' }, SUM, 'no tokens'],
    ['nothing sold', {}, { raised: 5n, price: { quote: 5n, tokens: 0n } }, 'no price'],
    ['a lowest price', { price: 'reserve', reserve: String(MAX_U64) }, { ...SUM, raised: 2n }, 'below those'],
    ['a highest price', {}, { raised: MAX_U64, price: { quote: MAX_U64, tokens: 1n } }, 'above those'],
  ] as const)('refuses %s', (_, plan, sum, why) => {
    expect(raisePool({ ...PLAN, ...plan }, sum)).toContain(why)
  })

  test('is what it opens with and what is added, to the unit of rounding', () => {
    const pool = opened({ locked_bps: 9_000, when: 'before_end' })
    const seed = seedOf(pool)
    const rest = restOf(pool, seed.liquidity)
    expect(seed.locked).toBe(0n)
    expect(seed.quote).toBeLessThan(50_000n)
    expect(seed.liquidity + rest.liquidity).toBe(pool.liquidity)
    expect(rest.locked).toBe(pool.locked)
    expect(seed.tokens + rest.tokens).toBeLessThanOrEqual(40_000_000_000n)
    expect(seed.quote + rest.quote).toBeLessThanOrEqual(40n * S)
    expect(restOf(pool, pool.liquidity)).toMatchObject({ liquidity: 0n, quote: 0n, tokens: 0n })
  })

  test.each([
    ['after, with a lock', {}, {}, null],
    ['after, with nothing locked', {}, { lockSeconds: 0n }, 'lock_seconds'],
    ['after, with tokens that are released at the end', {}, { releaseBps: 1 }, 'release_bps'],
    ['after, with tokens that are released later', {}, { releaseBps: 1, releaseAt: 101n }, null],
    ['before the end of a fixed price', { when: 'before_end' }, { lockSeconds: 0n }, null],
    ['before the end at the price of the reserve', { when: 'before_end', price: 'reserve' }, {}, 'pool.when'],
    ['before the end without a fixed price', { when: 'before_end' }, { mode: 'pro_rata' }, 'pool.when'],
    ['before the end without a lock', { when: 'before_end', locked_bps: 0 }, {}, 'pool.locked_bps'],
  ] as const)('planned %s is judged', (_, plan, wish, field) => {
    const terms = {
      mode: 'fixed_price',
      releaseBps: 0,
      lockSeconds: 60n,
      endsAt: 100n,
      releaseAt: 100n,
      ...wish,
    } as const
    expect(planFault({ ...PLAN, ...plan }, terms)?.field ?? null).toBe(field)
  })

  test('never needs more than it has, and needs what the SDK says', () => {
    const amount = fc.bigInt({ min: 1n, max: MAX_U64 })
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        fc.constantFrom('raise', 'reserve'),
        (raised, sold, reserve, bps, price_bps, price) => {
          const plan: PoolPlan = {
            ...PLAN,
            reserve: String(reserve),
            quote_bps: bps,
            price,
            price_bps,
            locked_bps: bps,
          }
          const pool = raisePool(plan, { raised, price: { quote: raised, tokens: sold } })
          if (typeof pool === 'string') return
          expect(pool.quote).toBeLessThanOrEqual((raised * BigInt(bps)) / 10_000n)
          expect(pool.tokens).toBeLessThanOrEqual(reserve)
          expect(pool).toMatchObject(bySdk(pool))
          expect(pool.locked).toBeLessThanOrEqual(pool.liquidity)
        },
      ),
      { numRuns: 500 },
    )
  })
})
