/** The life of a raise from its creation to the last claim on the real program, to the unit. */
import { describe, expect, it } from 'vitest'
import { claimableNow, creatorDue, depositLimits, dustOf, feeOnTop } from '../../src/solana/raise-amounts.ts'
import { raiseStateAt } from '../../src/solana/raises.ts'
import { openTestChain, PROGRAMS_DIR } from '../support/local-chain.ts'
import { lacksPresale, landed, openRaise } from '../support/raises.ts'

const ONE = 1n << 64n

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
})
