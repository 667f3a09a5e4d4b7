/** What `svc airdrops watch` draws fits the terminal, and says no more than the figures do. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimPlot, shareBar, shareText } from '../../commands/airdrops/figures.ts'
import { paceOf, watchLines } from '../../commands/airdrops/watch.ts'
import { tokensText } from '../../commands/cli/amounts.ts'
import type { AirdropStats } from '../../src/api/airdrop-claims.ts'
import { someone } from '../support/local-chain.ts'

const digits = fc.bigInt(0n, 2n ** 64n - 1n).map(String)
const hours = fc
  .array(fc.nat(1_000_000), { minLength: 1, maxLength: 168 })
  .map((counts) =>
    counts.map((claims, i) => ({ at: new Date(i * 3_600_000).toISOString(), claims, wallets: claims, amount: '0' })),
  )
const stats: fc.Arbitrary<AirdropStats> = fc.record({
  ...{ id: fc.constant('A'.repeat(46)), mint: fc.constant('m'), status: fc.constantFrom('tree_built', 'claiming') },
  ...{ leaf_count: fc.nat(1_000_000), total: fc.option(digits), claimed_count: fc.option(fc.nat(1_000_000)) },
  ...{ claimed_amount: fc.option(digits), left_count: fc.option(fc.nat()), left_amount: fc.option(digits) },
  claimed_count_share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  claimed_amount_share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  ...{ vault_balance: fc.option(digits), clawed_back: fc.option(fc.boolean()), hours, days: fc.constant([]) },
  clawback_at: fc.option(fc.constant('2026-12-23T21:42:53.000Z')),
  note: fc.option(fc.string({ maxLength: 300 })),
  recorded: fc.record({
    ...{ claims: fc.nat(), wallets: fc.nat(), amount: digits, missing_count: fc.option(fc.nat()) },
    ...{ median_amount: fc.option(digits), claims_per_hour: fc.nat(100_000) },
    ...{ first_claim_at: fc.constant(null), last_claim_at: fc.constant(null) },
  }),
})
const claims = Array.from({ length: 4 }, (_, slot) => ({
  ...{ airdrop_id: 'A'.repeat(46), wallet: someone().toBase58(), amount: '18446744073709551615', amount_locked: '1' },
  ...{ signature: 's', slot, claimed_at: '2026-11-23T21:38:13.244Z' },
}))

describe('The drawing of a watched airdrop', () => {
  it('has at most 24 lines, and claims that fit its width', () => {
    const drawn = fc.property(stats, fc.constantFrom(60, 80, 120), fc.option(fc.integer()), (figures, width, pace) => {
      const lines = watchLines(figures, { claims, pace, decimals: 6, width })
      // Two lines of the time stand below, and the cursor on a line of its own.
      expect(lines.length).toBeLessThanOrEqual(21)
      for (const line of lines.slice(-2)) expect(line.length).toBeLessThan(width)
      expect(lines.join('')).not.toMatch(/\p{Cc}/u)
    })
    fc.assert(drawn, { numRuns: 300 })
  })

  it('is full, and says 100 %, only if everything is claimed', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 100 }), (share, width) => {
        const bar = shareBar(share, width, true)
        expect(bar).toHaveLength(width)
        if (share < 1)
          expect([bar.at(-1), shareText(Math.min(share, 0.999999))]).toEqual(['░', expect.not.stringMatching(/^100/)])
      }),
    )
    expect([shareBar(1, 4, true), shareBar(null, 2, false), shareText(1), shareText(null)]).toEqual([
      ...['████', '..', '100.0 %', 'unknown'],
    ])
    expect([shareText(0.583333), shareText(0.7), shareText(0.0009)]).toEqual(['58.3 %', '70.0 %', '0.0 %'])
  })

  it('plots claims by hour, scaled to the busiest hour, and nothing before the first claim', () => {
    const quiet = [0, 0, 0].map((claims, i) => ({ at: `${i}`, claims, wallets: 0, amount: '0' }))
    expect(claimPlot({ hours: quiet }, 80, true)).toEqual([])
    const busy = quiet.map((hour, i) => ({ ...hour, claims: i * 7 }))
    const lines = claimPlot({ hours: busy }, 60, false)
    expect(lines[0]).toBe('Claims an hour, the last 3 hours')
    expect(lines[1]).toMatch(/^14 \|/)
    expect(lines).toHaveLength(9)
  })

  it('measures the pace over the last minute', () => {
    const readings: { at: number; claimed: number }[] = []
    expect(paceOf(readings, { at: 0, claimed: 100 })).toBeNull()
    expect(paceOf(readings, { at: 30_000, claimed: 105 })).toBe(10)
    expect(paceOf(readings, { at: 60_000, claimed: null })).toBe(10)
    for (let at = 60_000; at <= 300_000; at += 3_000) paceOf(readings, { at, claimed: 105 })
    expect(paceOf(readings, { at: 303_000, claimed: 105 })).toBe(0)
    expect(readings.length).toBeLessThan(25)
  })

  it('shows raw units for an unknown token', () => {
    expect([tokensText('1500', 3), tokensText('1500', null), tokensText(null, 3)]).toEqual([
      '1.5',
      '1500 raw units',
      '-',
    ])
  })
})
