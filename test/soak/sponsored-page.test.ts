/** The claim page in Chromium, for a wallet without SOL: the platform wallet of a daemon at another origin pays. */
import { resolve } from 'node:path'
import { serve } from '@hono/node-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { distributorAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { addressOf, lacksDistributor } from '../support/airdrops.ts'
import { hasChromium, launchChromium } from '../support/browser.ts'
import { serveFiles, siteFiles, writeSite } from '../support/claim-site.ts'
import { serveFaultyRpc } from '../support/faulty-rpc.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { openSponsoredAirdrop, SPONSORED_COST } from '../support/sponsored-airdrop.ts'
import { standardWallet } from '../support/standard-wallet.ts'

const PAGE = resolve(import.meta.dirname, '../../dist/claim-page')
const isReady = hasChromium && !lacksDistributor

describe.skipIf(!isReady)('a sponsored claim on the page (needs Chromium and the Jito merkle distributor)', () => {
  it('costs the visitor one signature and no lamport; the platform wallet pays fee and rent', async () => {
    const folder = makeFolder()
    const site = await serveFiles(folder, PAGE)
    const origin = new URL(site.url).origin
    const all = await openSponsoredAirdrop({ settings: { 'claim-pages': true, 'claim-origins': [origin] } })
    const rpc = await serveFaultyRpc(all.chain)
    const daemon = serve({ fetch: (request) => all.app.fetch(request), port: 0, hostname: '127.0.0.1' })
    await new Promise<void>((listening) => daemon.once('listening', () => listening()))
    const address = daemon.address() as { port: number }
    const ticking = setInterval(() => all.chain.advance(0.2), 200)
    const browser = await launchChromium()
    onTestFinished(async () => {
      clearInterval(ticking)
      await browser.close()
      daemon.close()
      await rpc.close()
      await site.close()
      removeFolder(folder)
    })
    const { claimers, mint, first, platform, lamportsOf, id } = all
    // The amounts of the helper: 1,000 units for the first wallet, 2,000 for the second, and so on.
    const list = listFromEntries(claimers.map((key, n) => ({ wallet: addressOf(key), amount: BigInt(n + 1) * 1_000n })))
    const distributor = await distributorAddress({ mint, airdropCount: 0 })
    const cluster = { genesis_hash: all.chain.genesisHash, name: 'localnet', chain: 'solana:localnet' }
    const settings = { rpc: [rpc.url], sponsor: `http://127.0.0.1:${address.port}` }
    writeSite(folder, siteFiles([{ id, list, mint, distributor }], cluster, settings))

    const page = await browser.newPage({ locale: 'en-US' })
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.addInitScript(standardWallet(first))
    await page.goto(site.url)
    await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
    await page.getByText('The network costs are paid for you.').waitFor()
    const before = lamportsOf(platform)
    await page.getByRole('button', { name: /^Claim / }).click()
    await page.locator('[data-signature]').waitFor({ timeout: 40_000 })
    expect([all.tokensOf(mint, first), lamportsOf(first), before - lamportsOf(platform)]).toEqual([
      1_000n,
      0n,
      SPONSORED_COST,
    ])
    expect(await page.evaluate('walletCalls.length')).toBe(1)
    expect(complaints).toEqual([])
  })
})
