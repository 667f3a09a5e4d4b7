/** What is read of raises: their prices, their accounts by one call, and which ones a transaction calls. */
import { Rounding, uiPriceToQPrice } from '@meteora-ag/presale'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { raisesIn, readRaise, readRaiseOfBuyer, readRaises } from '../../src/chain/programs/presale/index.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { priceOfText, priceText } from '../../src/solana/raise-amounts.ts'
import { goldenTransaction } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR } from '../support/local-chain.ts'
import { embeddedNode } from '../support/node.ts'
import { lacksPresale, landed, openRaise } from '../support/raises.ts'
import { addressOf } from '../support/wallets.ts'

const ONE = 1n << 64n

describe('the price of a raise', () => {
  it.each<[text: string, token: number, quote: number, price: bigint | null]>([
    ['0.001', 6, 9, ONE],
    ['1', 9, 9, ONE],
    ['0.03', 0, 0, (3n * ONE) / 100n + 1n],
    ['0', 6, 9, null],
    ['-1', 6, 9, null],
    ['1e3', 6, 9, null],
    ['1,5', 6, 9, null],
    [`0.${'0'.repeat(28)}1`, 9, 0, 1n],
    ['9'.repeat(30), 0, 9, null],
  ])('of %s for a token of %i decimals in a quote of %i is rounded up', (text, token, quote, price) => {
    expect(priceOfText(text, { token, quote })).toBe(price)
  })

  it('reads back as the text that it was made of, and is that of the SDK as far as floats go', () => {
    const digits = fc.integer({ min: 1, max: 999_999 })
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 8 }), fc.integer({ min: 2, max: 9 }), (n, places, token) => {
        const [decimals, text] = [
          { token, quote: 9 },
          priceText(BigInt(n), 10n ** BigInt(places), { token: 0, quote: 0 }),
        ]
        const price = priceOfText(text, decimals)!
        expect(priceText(price, ONE, decimals)).toBe(text)
        const sdk = BigInt(String(uiPriceToQPrice(Number(text), token, 9, Rounding.Up)))
        expect(Math.abs(Number(price - sdk)) / Number(price)).toBeLessThan(1e-13)
      }),
    )
  })

  it.each<[quote: bigint, token: bigint, text: string]>([
    [1n, 3n, '0.333333333333'],
    [2n, 3n, '0.666666666667'],
    [1n, 3_000_000n, '0.000000333333333333'],
    [10n ** 15n, 7n, '142857142857143'],
    [0n, 7n, '0'],
    [7n, 0n, '0'],
  ])('of %i for %i is shown to twelve digits', (quote, token, text) => {
    expect(priceText(quote, token, { token: 6, quote: 6 })).toBe(text)
  })
})

it('names the raises that a transaction calls', () => {
  for (const name of ['create-fixed-price', 'open', 'deposit-proven', 'claim-and-close', 'unsold']) {
    const { message } = decodeWireTransaction(goldenTransaction(`raises/${name}.json`))
    const [raise, ...others] = new Set(raisesIn(message))
    expect([message.keys.includes(raise ?? ''), others]).toEqual([true, []])
  }
  expect(raisesIn(decodeWireTransaction(goldenTransaction('raises/close-price.json')).message)).toEqual([])
})

describe.skipIf(lacksPresale !== '')(`raises of a node ${lacksPresale}`, () => {
  it('are read with the escrows of a wallet in one slot, and null for any other address', async () => {
    const test = await openTestChain({ programsDir: PROGRAMS_DIR })
    const rounds = [{ supply: 2_000n }, { supply: 2_000n }]
    const raise = await openRaise(test, { mode: 'pro_rata', allowlist: 'operator', rounds })
    const node = embeddedNode(test.chain)
    const { address, mint } = raise.place
    expect((await readRaise(node, address)).raise).toEqual(raise.read())
    expect((await readRaises(node, [mint, address])).raises).toEqual([null, raise.read()])
    const buyer = raise.buyer(1)
    landed(raise.admit(buyer, 7n))
    const found = await readRaiseOfBuyer(node, address, addressOf(buyer.key))
    expect(found).toMatchObject({ raise: raise.read(), escrows: [null, raise.escrowOf(buyer)] })
    expect(found.at.unixSeconds).toBe(Number(raise.now()))
    expect(await readRaiseOfBuyer(node, mint, addressOf(buyer.key))).toMatchObject({ raise: null, escrows: [] })
  })
})
