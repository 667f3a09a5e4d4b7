/** What the program of raises leaves open, on the real program: each is refused or shown elsewhere. */
import * as spl from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  claimableNow,
  creatorGains,
  depositLimits,
  priceOfText,
  tokensAt,
  wholePart,
  withdrawableNow,
} from '../../src/solana/raise-amounts.ts'
import { raiseStateAt } from '../../src/solana/raises.ts'
import { type Extension, run, unitsIn } from '../support/gold.ts'
import { PROGRAMS_DIR, sharedTestChain } from '../support/local-chain.ts'
import { dustOf, lacksPresale, landed, openRaise, type RaiseWish } from '../support/raises.ts'

const shared = sharedTestChain({ programsDir: PROGRAMS_DIR })
const ONE = 1n << 64n
const HOUR = 3_600
const open = async (wish: RaiseWish) => openRaise(await shared(), wish)

const FEE_OF_ONE_PERCENT: Extension = {
  type: spl.ExtensionType.TransferFeeConfig,
  initialize: (mint, program, authority) =>
    spl.createInitializeTransferFeeConfigInstruction(mint, authority, authority, 100, 10n ** 12n, program),
}

describe.skipIf(lacksPresale !== '')(`what the program of raises leaves open ${lacksPresale}`, () => {
  it('is a price that rounded down sells a unit too many, so that prices are rounded up', async () => {
    // Three units of the quote for a hundred of the token, of which there are exactly enough for the maximum.
    const [maximum, supply] = [9n * 10n ** 16n, 3n * 10n ** 18n]
    const price = priceOfText('0.03', { token: 0, quote: 0 })!
    const wish = (price: bigint) => ({
      maximum,
      minimum: 1n,
      price,
      rounds: [{ supply, buyerMin: 3n }],
    })
    expect((await open(wish(price - 1n))).error).toBe(6007)
    expect(tokensAt(price, maximum)).toBeLessThanOrEqual(supply)
    landed((await open(wish(price))).error)
  })

  it('is a rest below the least deposit of a buyer, which nobody can fill', async () => {
    const raise = await open({ maximum: 100n, minimum: 95n, rounds: [{ supply: 100n, buyerMin: 20n, buyerMax: 90n }] })
    const [first, second] = [raise.buyer(), raise.buyer()]
    for (const buyer of [first, second]) landed(raise.join(buyer))
    landed(raise.deposit(first, 90n))
    const limits = depositLimits(raise.read(), { round: 0 }, raise.now())
    expect(limits).toEqual({ least: 0n, most: 0n, bound: 'gap_below_minimum' })
    expect(raise.deposit(second, 20n)).toBe(6019)
    raise.skip(HOUR)
    expect(raiseStateAt(raise.read(), raise.now())).toBe('failed')
  })

  it('is a maximum that is no multiple of the price, which is never reached and ends nothing early', async () => {
    const raise = await open({
      maximum: 1_003n,
      minimum: 100n,
      price: (7n * ONE) / 3n + 1n,
      rounds: [{ supply: 430n, buyerMin: 3n }],
    })
    const buyer = raise.buyer()
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 1_003n))
    const { price, deposited, endsAt } = raise.read()
    expect(deposited).toBe(wholePart(price, 1_003n))
    expect([deposited, endsAt > raise.now()]).toEqual([1_002n, true])
    expect(depositLimits(raise.read(), { round: 0 }, raise.now()).bound).toBe('gap_below_minimum')
  })

  it.each(['pro_rata', 'first_come'] as const)(
    'is that 11 units buy all tokens of a raise of the mode %s',
    async (mode) => {
      const raise = await open({ mode, maximum: 1_000_000n, minimum: 1n, rounds: [{ supply: 4_000n }] })
      const buyer = raise.buyer()
      landed(raise.join(buyer))
      landed(raise.deposit(buyer, 11n))
      raise.skip(HOUR)
      expect(creatorGains(raise.read())).toEqual({ raised: 11n, fees: 0n, returned: 0n, unsold: 0n })
      landed(raise.claim(buyer))
      expect(raise.tokensOf(buyer)).toBe(4_000n)
    },
  )

  it('is a fee that a withdrawal does not return, and a new deposit pays again', async () => {
    const raise = await open({ maximum: 10_000n, minimum: 5_000n, rounds: [{ supply: 10_000n, feeBps: 1_000 }] })
    const buyer = raise.buyer()
    const before = raise.quoteOf(buyer)
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 900n))
    landed(raise.withdraw(buyer, 900n))
    expect(before - raise.quoteOf(buyer)).toBe(100n)
    expect(raise.close(buyer)).toBe(6025)
    landed(raise.deposit(buyer, 900n))
    expect(before - raise.quoteOf(buyer)).toBe(1_100n)
    // A failed raise returns both.
    raise.skip(HOUR)
    landed(raise.refund(buyer))
    expect(raise.quoteOf(buyer)).toBe(before)
    landed(raise.close(buyer))
  })

  it.each([true, false])(
    'is a buyer who lets a full raise fail in its last second, if it is withdrawable: %s',
    async (withdrawable) => {
      const raise = await open({
        maximum: 1_000n,
        minimum: 900n,
        withdrawable,
        earlyEnd: false,
        rounds: [{ supply: 1_000n }],
      })
      const [small, large] = [raise.buyer(), raise.buyer()]
      for (const [buyer, amount] of [
        [small, 100n],
        [large, 900n],
      ] as const) {
        landed(raise.join(buyer))
        landed(raise.deposit(buyer, amount))
      }
      raise.skip(raise.read().endsAt - raise.now() - 1n)
      const { all } = withdrawableNow(raise.read(), raise.escrowOf(large)!, raise.now())
      expect(all).toBe(withdrawable ? 900n : 0n)
      expect(raise.withdraw(large, 900n)).toBe(withdrawable ? null : 6013)
      raise.skip(1)
      expect(raiseStateAt(raise.read(), raise.now())).toBe(withdrawable ? 'failed' : 'completed')
      expect(raise.claim(small)).toBe(withdrawable ? 6017 : null)
    },
  )

  it('is a fee of the token, which the payer adds and each buyer loses', async () => {
    const mint = { program: spl.TOKEN_2022_PROGRAM_ID, extensions: [FEE_OF_ONE_PERCENT] }
    const raise = await open({ mode: 'pro_rata', mint, rounds: [{ supply: 1_000_000n }] })
    landed(raise.error)
    expect(raise.held()).toMatchObject({ creator: { tokens: 2_000_000n - 1_010_102n }, vaults: { tokens: 1_000_000n } })
    const buyer = raise.buyer()
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 7n))
    raise.skip(HOUR)
    expect(claimableNow(raise.read(), raise.escrowOf(buyer)!, raise.now()).now).toBe(1_000_000n)
    landed(raise.claim(buyer))
    expect(raise.tokensOf(buyer)).toBe(990_000n)
  })

  it('is a plain transfer into a vault, which counts for nobody and stays there', async () => {
    const raise = await open({ maximum: 100n, minimum: 100n - 1n, rounds: [{ supply: 100n }] })
    const [buyer, generous] = [raise.buyer(), raise.buyer()]
    const { quoteVault } = raise.place
    const transfer = spl.createTransferInstruction(
      generous.quotes,
      new PublicKey(quoteVault),
      generous.key.publicKey,
      55n,
    )
    expect(run(raise.test.chain, [transfer], [generous.key]).err).toBeNull()
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 100n))
    expect(raise.read().deposited).toBe(100n)
    const owns = [raise.escrowOf(buyer)!]
    landed(raise.claim(buyer))
    landed(raise.creatorWithdraw())
    expect(raise.held().vaults.quote).toBe(dustOf(raise.read(), owns).quote + 55n)
  })

  it('is a freeze authority, which can stop claims while the creator takes the money', async () => {
    const raise = await open({ mode: 'first_come', rounds: [{ supply: 1_000n }], mint: { isFreezable: true } })
    const buyer = raise.buyer()
    landed(raise.join(buyer))
    landed(raise.deposit(buyer, 1_000_000n))
    const { creator, token, place } = raise
    const vault = new PublicKey(place.baseVault)
    const freeze = spl.createFreezeAccountInstruction(vault, token.mint, creator.publicKey)
    expect(run(raise.test.chain, [freeze], [creator]).err).toBeNull()
    expect(raise.claim(buyer)).toBe(0x11)
    landed(raise.creatorWithdraw())
    expect(raise.held().creator.quote).toBe(1n + 1_000_000n)
  })

  it('is the supply of a round at a fixed price, which limits nothing', async () => {
    const rounds = [{ supply: 100n }, { supply: 900n }]
    const raise = await open({ maximum: 1_000n, minimum: 1n, allowlist: 'operator', rounds })
    const [first, second] = [raise.buyer(0), raise.buyer(1)]
    for (const buyer of [first, second]) landed(raise.admit(buyer, 1_000n))
    landed(raise.deposit(first, 800n))
    landed(raise.deposit(second, 200n))
    for (const buyer of [first, second]) landed(raise.claim(buyer))
    expect([first, second].map(raise.tokensOf)).toEqual([800n, 200n])
    expect(unitsIn(raise.test.chain, new PublicKey(raise.place.baseVault))).toBe(0n)
  })
})
