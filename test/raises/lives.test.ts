/** The life of a raise from its creation to the last claim on the real program, to the unit. */
import { describe, expect, it } from 'vitest'
import {
  claimableNow,
  creatorDue,
  creatorGains,
  depositLimits,
  feeOnTop,
  refundableNow,
  releasesOf,
} from '../../src/solana/raise-amounts.ts'
import { raiseStateAt } from '../../src/solana/raises.ts'
import { openTestChain, PROGRAMS_DIR } from '../support/local-chain.ts'
import { dustOf, lacksPresale, landed, openRaise } from '../support/raises.ts'

const [ONE, HOUR] = [1n << 64n, 3_600]

describe.skipIf(lacksPresale !== '')(`a raise on the real program ${lacksPresale}`, () => {
  it('at a fixed price pays tokens to buyers and the quote to the creator', async () => {
    const test = await openTestChain({ programsDir: PROGRAMS_DIR })
    const raise = await openRaise(test, {
      ...{ maximum: 1_000_000n, minimum: 600_000n, price: 2n * ONE },
      rounds: [{ supply: 600_000n, buyerMin: 10n, buyerMax: 700_000n, feeBps: 100 }],
    })
    landed(raise.error)
    const [first, second] = [raise.buyer(), raise.buyer()]
    for (const [buyer, amount] of [
      [first, 700_000n],
      [second, 300_000n],
    ] as const) {
      landed(raise.join(buyer))
      const before = raise.quoteOf(buyer)
      landed(raise.deposit(buyer, 2n ** 64n - 1n))
      expect(before - raise.quoteOf(buyer)).toBe(amount + feeOnTop(amount, 100))
      expect(raise.escrowOf(buyer)).toMatchObject({ deposited: amount, fees: feeOnTop(amount, 100) })
    }
    // The maximum ended it early.
    const ended = raise.read()
    expect(raiseStateAt(ended, raise.now())).toBe('completed')
    expect(depositLimits(ended, { round: 0 }, raise.now())).toEqual({ least: 0n, most: 0n, bound: 'ended' })
    expect(creatorDue(ended, raise.now())).toEqual({
      raised: 1_000_000n,
      fees: feeOnTop(700_000n, 100) + feeOnTop(300_000n, 100),
      returned: 0n,
      unsold: 100_000n,
    })
    const owns = [first, second].map((buyer) => raise.escrowOf(buyer)!)
    for (const [i, buyer] of [first, second].entries()) {
      const { now, total, next } = claimableNow(ended, owns[i]!, raise.now())
      expect([now, next]).toEqual([total, null])
      landed(raise.claim(buyer))
      expect(raise.tokensOf(buyer)).toBe([350_000n, 150_000n][i])
    }
    landed(raise.creatorWithdraw())
    landed(raise.collectFees())
    landed(raise.settleUnsold())
    const { creator, vaults } = raise.held()
    expect(creator).toEqual({ tokens: 600_000n + 100_000n, quote: 1n + 1_000_000n + 7_071n + 3_031n })
    expect(vaults).toEqual(dustOf(ended, owns))
    expect(vaults).toEqual({ tokens: 0n, quote: 0n })
    expect(creatorDue(raise.read(), raise.now())).toEqual({ raised: 0n, fees: 0n, returned: 0n, unsold: 0n })
  })

  it('by first come ends early with lock and vesting, and is claimed second by second', async () => {
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      ...{ mode: 'first_come', maximum: 10_000n, minimum: 10_000n, rounds: [{ supply: 1_000_003n, buyerMax: 9_000n }] },
      ...{ releaseBps: 2_500, lockSeconds: 100n, vestingSeconds: 1_000n },
    })
    landed(raise.error)
    const planned = raise.read()
    const [first, second] = [raise.buyer(), raise.buyer()]
    for (const buyer of [first, second]) landed(raise.join(buyer))
    landed(raise.deposit(first, 9_999n))
    expect(raise.withdraw(first, 1n)).toBe(6013)
    expect(depositLimits(raise.read(), raise.escrowOf(second)!, raise.now())).toEqual({
      ...{ least: 1n, most: 1_000n, bound: 'raise_full' },
    })
    landed(raise.deposit(second, 5_000n))
    const ended = raise.read()
    const moved = planned.endsAt - ended.endsAt
    expect([ended.endsAt + 1n, moved > 3_000n]).toEqual([raise.now(), true])
    for (const time of ['releaseAt', 'vestingStartsAt', 'vestingEndsAt'] as const) {
      expect(planned[time] - ended[time]).toBe(moved)
    }
    const [own, total] = [raise.escrowOf(first)!, 900_002n]
    expect(releasesOf(ended, own)).toEqual([
      { from: ended.endsAt, until: ended.endsAt, tokens: 225_000n },
      { from: ended.endsAt + 100n, until: ended.endsAt + 1_100n, tokens: 675_002n },
    ])
    const claimed = []
    for (const at of [50n, 100n, 350n, 1_099n, 1_100n, 2_000n]) {
      raise.skip(ended.endsAt + at - raise.now())
      const { now } = claimableNow(raise.read(), raise.escrowOf(first)!, raise.now())
      const before = raise.tokensOf(first)
      landed(raise.claim(first))
      claimed.push(raise.tokensOf(first) - before)
      expect(claimed.at(-1)).toBe(now)
    }
    expect(claimed).toEqual([225_000n, 0n, 168_750n, 505_576n, 676n, 0n])
    expect(raise.tokensOf(first)).toBe(total)
    landed(raise.close(first))
    expect(raise.settleUnsold()).toBe(6035)
  })

  it('pro rata refunds the excess with its fee, and leaves the dust', async () => {
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      ...{ mode: 'pro_rata', maximum: 1_000n, minimum: 500n, unsold: 'burn' },
      rounds: [{ supply: 100_000n, feeBps: 1_000, buyerMax: 1_000n }],
    })
    const buyers = [raise.buyer(), raise.buyer(), raise.buyer()]
    for (const [i, buyer] of buyers.entries()) {
      landed(raise.join(buyer))
      landed(raise.deposit(buyer, [1_000n, 999n, 334n][i]!))
    }
    raise.skip(HOUR)
    const ended = raise.read()
    const owns = buyers.map((buyer) => raise.escrowOf(buyer)!)
    expect(owns.map((own) => refundableNow(ended, own, raise.now()))).toEqual([
      { deposit: 571n, fee: 63n },
      { deposit: 570n, fee: 63n },
      { deposit: 190n, fee: 21n },
    ])
    for (const [i, buyer] of buyers.entries()) {
      const before = raise.quoteOf(buyer)
      landed(raise.refund(buyer))
      expect(raise.quoteOf(buyer) - before).toBe([634n, 633n, 211n][i])
      expect(raise.refund(buyer)).toBe(6022)
      landed(raise.claim(buyer))
    }
    expect(buyers.map(raise.tokensOf)).toEqual([42_863n, 42_820n, 14_316n])
    landed(raise.creatorWithdraw())
    landed(raise.collectFees())
    expect(creatorGains(ended)).toEqual({ raised: 1_000n, fees: 112n, returned: 0n, unsold: 0n })
    expect(raise.held().creator.quote).toBe(1n + 1_112n)
    expect(dustOf(ended, owns)).toEqual({ tokens: 1n, quote: 4n })
    expect(raise.held().vaults).toEqual({ tokens: 1n, quote: 4n })
    for (const buyer of buyers) landed(raise.close(buyer))
  })

  it('pro rata returns a part of the fee also to a buyer who has withdrawn the deposit', async () => {
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      ...{ mode: 'pro_rata', maximum: 1_000n, minimum: 1n },
      rounds: [{ supply: 100_000n, feeBps: 1_000, buyerMax: 1_000n }],
    })
    const [gone, first, second] = [raise.buyer(), raise.buyer(), raise.buyer()]
    for (const buyer of [gone, first, second]) {
      landed(raise.join(buyer))
      landed(raise.deposit(buyer, 900n))
    }
    landed(raise.withdraw(gone, 900n))
    raise.skip(HOUR)
    const [ended, own] = [raise.read(), raise.escrowOf(gone)!]
    expect(refundableNow(ended, own, raise.now())).toEqual({ deposit: 0n, fee: 44n })
    const before = raise.quoteOf(gone)
    landed(raise.refund(gone))
    expect(raise.quoteOf(gone) - before).toBe(44n)
  })

  it.each(['return', 'burn'] as const)(
    'in five rounds sells those that have a deposit, and the rest is for: %s',
    async (unsold) => {
      const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
        ...{ mode: 'pro_rata', allowlist: 'operator', maximum: 1_000n, minimum: 1n, unsold },
        rounds: [1, 2, 3, 4, 5].map((i) => ({ supply: BigInt(i) * 1_000n, feeBps: i * 100 })),
      })
      landed(raise.error)
      const buyers = [0, 1, 1, 3].map((round) => raise.buyer(round))
      for (const buyer of buyers) {
        landed(raise.admit(buyer, 300n))
        landed(raise.deposit(buyer, 400n))
        expect(raise.escrowOf(buyer)).toMatchObject({ deposited: 300n, cap: 300n, round: buyer.round })
      }
      raise.skip(HOUR)
      for (const buyer of buyers) landed(raise.claim(buyer))
      expect(buyers.map(raise.tokensOf)).toEqual([1_000n, 1_000n, 1_000n, 4_000n])
      const supply = () => Buffer.from(raise.test.chain.account(raise.place.mint)!.data).readBigUInt64LE(36)
      const [held, minted] = [raise.held().creator.tokens, supply()]
      landed(raise.settleUnsold(buyers[0]!.key))
      const [back, burnt] = [raise.held().creator.tokens - held, minted - supply()]
      expect([back, burnt]).toEqual(unsold === 'return' ? [8_000n, 0n] : [0n, 8_000n])
      expect(raise.settleUnsold()).toBe(6036)
    },
  )

  it('that fails returns everything: deposits with fees, and all tokens', async () => {
    const raise = await openRaise(await openTestChain({ programsDir: PROGRAMS_DIR }), {
      ...{ maximum: 1_000n, minimum: 600n, rounds: [{ supply: 1_000n, feeBps: 333 }] },
    })
    const [buyer, idle] = [raise.buyer(), raise.buyer()]
    const before = raise.quoteOf(buyer)
    for (const each of [buyer, idle]) landed(raise.join(each))
    landed(raise.deposit(buyer, 599n))
    raise.skip(HOUR)
    const ended = raise.read()
    expect(raiseStateAt(ended, raise.now())).toBe('failed')
    expect(claimableNow(ended, raise.escrowOf(buyer)!, raise.now())).toEqual({ total: 0n, now: 0n, next: null })
    expect(creatorDue(ended, raise.now())).toEqual({ raised: 0n, fees: 0n, returned: 1_000n, unsold: 0n })
    expect([raise.claim(buyer), raise.collectFees(), raise.settleUnsold(), raise.close(buyer)]).toEqual([
      ...[6017, 6040, 6023, 6025],
    ])
    landed(raise.refund(buyer))
    expect(raise.quoteOf(buyer)).toBe(before)
    landed(raise.creatorWithdraw())
    expect(raise.creatorWithdraw()).toBe(6027)
    expect(raise.held()).toEqual({ creator: { tokens: 2_000n, quote: 1n }, vaults: { tokens: 0n, quote: 0n } })
    for (const each of [buyer, idle]) landed(raise.close(each))
  })
})
