/** Splits of a claim: every unit is given out, nobody is a unit off, and order decides ties. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DbcPool } from '../../src/chain/programs/dbc/index.ts'
import { planTradingFeeClaim, splitAmount } from '../../src/operations/fee-claims/plan-claim.ts'
import { lamportsOfSol } from '../../src/operations/pools/launch-terms.ts'
import { runs } from '../support/runs.ts'

/** 2 to 10 parts that sum to 10,000. */
const parts = fc
  .array(fc.integer({ min: 1, max: 10_000 }), { minLength: 2, maxLength: 10 })
  .map((weights) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const bps = weights.map((weight) => Math.max(1, Math.floor((weight * 10_000) / total)))
    const largest = bps.indexOf(Math.max(...bps))
    bps[largest]! += 10_000 - bps.reduce((sum, part) => sum + part, 0)
    return bps
  })
  .filter((bps) => bps.every((part) => part >= 1))
describe('a split', () => {
  it('pays the whole amount, each share less than one unit from its part, the same every time', {
    tags: 'sampled',
  }, () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), parts, (amount, bps) => {
        const shares = splitAmount(amount, bps)
        expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(amount)
        shares.forEach((share, i) => {
          const off = share * 10_000n - amount * BigInt(bps[i]!)
          expect(off > -10_000n && off < 10_000n).toBe(true)
        })
        expect(splitAmount(amount, bps)).toEqual(shares)
      }),
      { numRuns: runs(200, 2000) },
    )
  })

  it('gives the remainder to the largest fractions, the earlier of equal ones first', () => {
    expect(splitAmount(100n, [3333, 3333, 3334])).toEqual([33n, 33n, 34n])
    expect(splitAmount(1n, [5000, 5000])).toEqual([1n, 0n])
    expect(splitAmount(10n, [2500, 2500, 2500, 2500])).toEqual([3n, 3n, 2n, 2n])
    expect(splitAmount(7n, [1, 9999])).toEqual([0n, 7n])
    expect(splitAmount(18_446_744_073_709_551_615n, [1, 9999])).toEqual([
      1_844_674_407_370_955n,
      18_444_899_399_302_180_660n,
    ])
  })
})

describe('SOL as a number', () => {
  it('is the lamports of its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), fc.nat(9), (units, digits) => {
        const text = `${units}e-${digits}`
        expect(lamportsOfSol(Number(text), 'buy_amount')).toBe(BigInt(units) * 10n ** BigInt(9 - digits))
      }),
    )
  })

  it.each([
    [1e-9, 1n],
    [5e-7, 500n],
    [18_446_744_073, 18_446_744_073_000_000_000n],
    [0.000000001, 1n],
    [1.5, 1_500_000_000n],
  ])('of %d', (sol, lamports) => {
    expect(lamportsOfSol(sol, 'buy_amount')).toBe(lamports)
  })

  it.each([1e-10, 0.1234567891, 1.0000000001])('with more than nine fractional digits is refused: %d', (sol) => {
    expect(() => lamportsOfSol(sol, 'buy_amount')).toThrow('at most 9 fractional digits')
  })
})

describe('a split claim', () => {
  it('of token fees alone says that these are not split, and how to claim them', async () => {
    const pool = { address: 'POOL', partnerQuoteFee: 0n, partnerBaseFee: 5n, transferHook: null } as DbcPool
    const request = {
      pool,
      party: { beneficiary: 'partner' as const, claimer: 'WALLET' },
      payer: 'WALLET',
      allowsPrograms: false,
    }
    const splits = [6_000, 4_000].map((bps) => ({ recipient: 'WALLET', bps }))
    await expect(planTradingFeeClaim({} as never, { ...request, splits })).rejects.toMatchObject({
      code: 'bad_request',
      message:
        'There is nothing to claim from POOL: a split pays the quote, but there are only 5 raw units of the token; claim them without splits',
    })
  })
})
