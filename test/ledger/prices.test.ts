/** Prices of the ledger's entries, from a real server of prices, and what an accountant's export makes of them. */
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pricedValue } from '../../commands/ledger/entries.ts'
import type { LedgerEntry } from '../../src/api/ledger.ts'
import { airdropsOn } from '../support/airdrops.ts'
import { startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { listening } from '../support/ports.ts'

async function servingPrices(answer: string): Promise<string> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
  )
  onTestFinished(() => void server.close())
  return listening(server)
}

/** The entries of a transaction that the platform wallet pays 5,000 lamports for. */
async function entriesOf(settings: Record<string, unknown>, passSeconds = 20): Promise<LedgerEntry[]> {
  const all = await airdropsOn(await startPlatform(undefined, { settings }))
  // The chain takes its time from the machine.
  all.clock.advance(Date.now() - all.clock.now())
  const { json } = await submitMemo(all)
  await all.settle()
  all.pass(passSeconds)
  const { data } = (await all.request('GET', `/v2/ledger?signature=${json.data.signature}`)).json
  expect(data).toHaveLength(2)
  return data
}

describe('an entry', () => {
  it('of SOL has the price of its time, with currency and source, and an exact value', async () => {
    const url = await servingPrices('{"data":{"SOL":"150.5"}}')
    const entries = await entriesOf({ 'price-url': url, 'price-field': 'data.SOL' })
    for (const entry of entries) {
      expect(entry).toMatchObject({ token: 'SOL', price: '150.5', price_currency: 'USD', price_source: '127.0.0.1' })
    }
    expect(entries.map(pricedValue).toSorted()).toEqual(['-0.0007525', '0.0007525'])
  })

  it('has no price without a source, or if the source answers something else', async () => {
    const unpriced = { price: null, price_currency: null, price_source: null }
    for (const entry of await entriesOf({})) expect(entry).toMatchObject(unpriced)
    const url = await servingPrices('{"data":{"SOL":"a lot"}}')
    for (const entry of await entriesOf({ 'price-url': url, 'price-field': 'data.SOL' }))
      expect(entry).toMatchObject(unpriced)
  })

  it("that is written more than an hour after its transaction has no price, because today's price is wrong", async () => {
    const url = await servingPrices('{"data":{"SOL":"150.5"}}')
    for (const { price } of await entriesOf({ 'price-url': url, 'price-field': 'data.SOL' }, 2 * 3_600))
      expect(price).toBeNull()
  })
})
