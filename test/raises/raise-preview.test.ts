import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PoolPlan } from '../../src/solana/raise-pool.ts'
import { type OutcomeFigures, previewRaise } from '../../src/solana/raise-preview.ts'
import type { LiveRound, Raise, RaiseMode } from '../../src/solana/raises.ts'

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
const ADDRESS = '11111111111111111111111111111111'
const NONE = { deposited: 0n, fees: 0n, escrows: 0n, claimed: 0n, refunded: 0n }

/** As a raise is on chain before its first deposit: 80,000 tokens, for 80 SOL at most. */
function raiseOf(wish: Partial<Raise>, rounds: Partial<LiveRound>[] = [{}]): Raise {
  const all = rounds.map((round) => ({
    ...{ ...NONE, supply: 80_000n * 10n ** 6n, buyerMin: 1n, buyerMax: 80n * S, feeBps: 0 },
    ...round,
  }))
  return {
    ...{ address: ADDRESS, creator: ADDRESS, base: ADDRESS, mint: ADDRESS, quoteMint: ADDRESS },
    ...{ baseVault: ADDRESS, quoteVault: ADDRESS, tokenProgram: 'spl', quoteTokenProgram: 'spl' },
    ...{ mode: 'fixed_price', allowlist: 'none', maximum: 80n * S, minimum: 20n * S, startsAt: 0n, endsAt: 3_600n },
    ...{ unsold: 'return', earlyEnd: true, releaseBps: 0, releaseAt: 3_600n, lockSeconds: 3_600n, vestingSeconds: 0n },
    ...{ ...NONE, createdAt: 0n, vestingStartsAt: 7_200n, vestingEndsAt: 7_200n },
    ...{ feesCollected: false, creatorWithdrawn: false, unsoldDone: false, withdrawable: false },
    supply: all.reduce((sum, { supply }) => sum + supply, 0n),
    price: (wish.mode ?? 'fixed_price') === 'fixed_price' ? 1n << 64n : null,
    rounds: all,
    ...wish,
  } as Raise
}

const preview = (raise: Raise, plan: PoolPlan | null = PLAN) =>
  previewRaise({
    raise,
    plan,
    decimals: { token: 6, quote: 9 },
    transferFee: null,
    signatures: 2,
    rentOf: (bytes) => 5_080n * BigInt(bytes + 128),
  })

const numbers = (of: OutcomeFigures) => {
  const n = (text: string) => BigInt(text)
  return {
    tokens: n(of.buyers_get) + n(of.dust) + n(of.burned) + n(of.creator_tokens) + n(of.pool_tokens),
    quote: n(of.creator_gets) + n(of.pool_quote) + n(of.fees) + n(of.refunded),
  }
}

const AT_TEN_PER_UNIT = (80n * S * (1n << 64n)) / (80_000n * 10n ** 6n)

describe('the preview of a raise', () => {
  test('says what everybody gets at its most', () => {
    const { best, fault } = preview(raiseOf({ price: AT_TEN_PER_UNIT }))
    expect(fault).toBeNull()
    expect(best).toMatchObject({
      raised: String(80n * S),
      buyers_get: '80000000000',
      price: '0.001',
      fees: '0',
      refunded: '0',
      burned: '0',
      dust: '0',
      pool_price: '0.001',
      pool_price_bps: 10_000,
      locked_bps: 10_000,
    })
    expect(BigInt(best.pool_quote)).toBeGreaterThan(40n * S - 1_000_000n)
    // Rent of the raise, its vaults and the pool, and five signatures.
    expect(best.lamports).toBe(String(7_112_000n + 2_976_880n + 16_499_840n + 25_000n))
  })

  test('expects the least with which it succeeds', () => {
    const { expected } = preview(raiseOf({ price: AT_TEN_PER_UNIT }))
    expect(expected).toMatchObject({ raised: String(20n * S), buyers_get: '20000000000' })
    expect(BigInt(expected.creator_tokens)).toBeGreaterThanOrEqual(60_000_000_000n + 30_000_000_000n)
  })

  test('returns everything if it fails, and opens no pool', () => {
    const { failed } = preview(raiseOf({ price: AT_TEN_PER_UNIT }, [{ feeBps: 100 }]))
    const fee = 202_020_203n
    expect(failed).toMatchObject({
      raised: '0',
      buyers_get: '0',
      price: null,
      creator_gets: '0',
      creator_tokens: '120000000000',
      fees: '0',
      refunded: String(20n * S - 1n + fee),
      pool_quote: '0',
      pool_price: null,
      locked_bps: 0,
      lamports: String(7_112_000n + 2_976_880n + 15_000n),
    })
  })

  test('sells everything without a fixed price, at a price that follows from the deposits', () => {
    const { best, expected } = preview(raiseOf({ mode: 'pro_rata' }))
    expect([best.price, expected.price]).toEqual(['0.001', '0.00025'])
    expect([best.buyers_get, expected.buyers_get]).toEqual(['80000000000', '80000000000'])
  })

  test('burns what is not sold if it says so', () => {
    const { expected } = preview(raiseOf({ price: AT_TEN_PER_UNIT, unsold: 'burn' }), null)
    expect(expected).toMatchObject({ burned: '60000000000', creator_tokens: '0', pool_quote: '0' })
  })

  test('says why a pool cannot open', () => {
    expect(preview(raiseOf({ minimum: 1n })).fault).toBe('would have nothing of what is raised')
  })

  test('adds up to the unit in every mode and case', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 15n })
    const round = fc.record({
      supply: amount,
      buyerMax: fc.bigInt({ min: 10n ** 6n, max: 10n ** 15n }),
      feeBps: fc.integer({ min: 0, max: 5_000 }),
    })
    fc.assert(
      fc.property(
        fc.constantFrom<RaiseMode>('fixed_price', 'pro_rata', 'first_come'),
        fc.array(round, { minLength: 1, maxLength: 5 }),
        fc.tuple(amount, amount),
        fc.integer({ min: 0, max: 10_000 }),
        fc.constantFrom('return', 'burn'),
        fc.option(fc.record({ reserve: amount, quote_bps: fc.integer({ min: 1, max: 10_000 }) }), { nil: null }),
        (mode, rounds, [a, b], releaseBps, unsold, wish) => {
          const supply = rounds.reduce((sum, each) => sum + each.supply, 0n)
          const [minimum, maximum] = a < b ? [a, b] : [b, a]
          // As the program demands: the rounds sell at least what the maximum buys.
          const price = mode === 'fixed_price' ? (maximum << 64n) / supply + 1n : null
          const raise = raiseOf({ mode, minimum, maximum, releaseBps, unsold, price }, rounds)
          const plan = wish === null ? null : { ...PLAN, ...wish, reserve: String(wish.reserve) }
          const { fault: _, ...cases } = preview(raise, plan)
          for (const of of Object.values(cases)) {
            expect(numbers(of).tokens).toBe(supply + (wish?.reserve ?? 0n))
            expect(BigInt(of.dust)).toBeGreaterThanOrEqual(0n)
          }
          expect(numbers(cases.best).quote).toBe(maximum + BigInt(cases.best.fees))
          expect(numbers(cases.expected).quote).toBe(minimum + BigInt(cases.expected.fees))
          expect(BigInt(cases.failed.refunded)).toBeGreaterThanOrEqual(minimum - 1n)
        },
      ),
      { numRuns: 500 },
    )
  })
})
