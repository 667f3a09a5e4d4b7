/** Claims in Chromium from the pages that `svc airdrops page` and `svc raises page` write, behind a file server, and from the page that the daemon serves. */
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine } from '../cli/command-line.ts'
import { lacksDistributor } from '../support/airdrops.ts'
import { hasChromium, launchChromium } from '../support/browser.ts'
import { serveFiles } from '../support/claim-site.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { RECORDING } from '../support/golden.ts'
import { PROGRAMS_DIR } from '../support/local-chain.ts'
import { freePort } from '../support/ports.ts'
import { lacksPresale } from '../support/raises.ts'
import { standardWallet } from '../support/standard-wallet.ts'

const PICTURES = resolve(import.meta.dirname, '../../docs/pictures')
const WAIT_MS = 60_000
const isReady = hasChromium && !lacksDistributor

describe.skipIf(!isReady)('the claim page as it ships (needs Chromium and the Jito merkle distributor)', () => {
  const cli = commandLine()
  const [payer, first, second] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  let daemon: Daemon
  let browser: Browser
  let rpc: string
  let mint: string
  let ids: string[]
  let keypair: string
  const ok = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'])
    expect({ args, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ args, exitCode: 0, stderr: '' })
    return JSON.parse(stdout)
  }

  beforeAll(async () => {
    // The daemon runs in the data folder, which the first command makes.
    await cli.svc(['localnet', 'status'])
    const port = await freePort()
    rpc = `http://127.0.0.1:${port}`
    daemon = await startDaemon({
      dataDir: cli.dataDir,
      flags: ['--rpc-port', String(port)],
      env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_CLAIM_PAGES: 'true', SVC_CLAIM_PAGE_RPC_URL: rpc },
    })
    keypair = cli.file('payer.json', JSON.stringify([...payer.secretKey]), 0o600)
    for (const key of [payer, first, second]) await ok('localnet', 'airdrop', key.publicKey.toBase58(), '10')
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    mint = (await ok('tokens', 'create', ...token, '-k', keypair, '--yes')).mint
    // Two airdrops of one mint, and both wallets in both of them.
    ids = []
    for (const count of ['0', '1']) {
      const rows = [first, second].map(({ publicKey }, n) => `${publicKey.toBase58()},${n + 1}${count}.5`)
      const others = Array.from({ length: 40 }, () => `${Keypair.generate().publicKey.toBase58()},1`)
      const list = cli.file(`list${count}.csv`, ['wallet,amount', ...others, ...rows, ''].join('\n'))
      const launch = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', '--airdrop-count', count]
      const [airdrop] = await ok(...launch, '-k', keypair, '--again', '--yes')
      ids.push(airdrop.id)
    }
    browser = await launchChromium()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await daemon?.stop('SIGKILL')
  })

  async function claimAt(url: string, key: Keypair, picture: string) {
    const page = await browser.newPage({ locale: 'en-US', viewport: { width: 390, height: 844 } })
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.addInitScript(standardWallet(key))
    await page.goto(url)
    await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
    const claim = page.getByRole('button', { name: /^Claim / })
    await claim.waitFor({ timeout: WAIT_MS })
    const offered = await claim.textContent()
    for (const colorScheme of RECORDING ? (['light', 'dark'] as const) : []) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(PICTURES, `claim-page-${colorScheme}.png`) })
    }
    await claim.click()
    await page.locator('[data-signature]').first().waitFor({ timeout: WAIT_MS })
    const pictures = process.env.SVC_TEST_PICTURES
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true })
    const calls = await page.evaluate('walletCalls.length')
    await page.close()
    expect(complaints).toEqual([])
    return { offered, calls }
  }
  const claimedOf = async (id: string, key: Keypair) =>
    (await ok('airdrops', 'entitlement', id, key.publicKey.toBase58())).claimed_amount

  it(
    'claims from two airdrops with one signature if svc airdrops page wrote it',
    async () => {
      const out = join(cli.home, 'site')
      await ok('airdrops', 'page', ...ids, '--out', out, '--rpc', rpc)
      const site = await serveFiles(out)
      const { offered, calls } = await claimAt(site.url, first, 'written')
      await site.close()
      expect(offered).toMatch(/^Claim 22 /)
      expect(calls).toBe(1)
      expect([await claimedOf(ids[0]!, first), await claimedOf(ids[1]!, first)]).toEqual(['10500000', '11500000'])
    },
    WAIT_MS * 3,
  )

  it(
    'claims from its airdrop if the daemon serves it',
    async () => {
      const { offered, calls } = await claimAt(`${daemon.url}/claim/${ids[1]}/`, second, 'served')
      expect(offered).toMatch(/^Claim 21\.5 /)
      expect(calls).toBe(1)
      expect([await claimedOf(ids[0]!, second), await claimedOf(ids[1]!, second)]).toEqual(['0', '21500000'])
    },
    WAIT_MS * 3,
  )

  it.skipIf(lacksPresale !== '')(
    'deposits into a raise with an allowlist if svc raises page wrote it',
    async () => {
      const signs = ['-k', keypair, '--yes']
      await ok('tokens', 'revoke', mint, 'mint', ...signs)
      const terms = ['--sale-mode', 'fixed_price', '--price', '0.001', '--min', '1', '--max', '80', '--ends', '7d']
      const { id } = await ok('raises', 'create', mint, ...terms, '--allowlist', '--lock', '1h', ...signs)
      const wallet = first.publicKey.toBase58()
      const list = cli.file('allowlist.csv', `wallet,cap\n${wallet},2\n${second.publicKey.toBase58()},3\n`)
      const listed = ['--allowlist', list, '--decimals', '9']
      await ok('raises', 'open', id, ...listed, '--url', 'https://sale.example.com/raise', ...signs)
      const out = join(cli.home, 'raise')
      await ok('raises', 'page', id, '--out', out, ...listed, '--rpc', rpc)
      const site = await serveFiles(out)
      const page = await browser.newPage({ locale: 'en-US', viewport: { width: 390, height: 844 } })
      await page.addInitScript(standardWallet(first))
      await page.goto(site.url)
      await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
      await page.locator('#deposit-0').fill('1.5', { timeout: WAIT_MS })
      await page.getByRole('button', { name: 'Deposit', exact: true }).click()
      await page.locator('[data-signature]').first().waitFor({ timeout: WAIT_MS })
      const pictures = process.env.SVC_TEST_PICTURES
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'raise-written.png'), fullPage: true })
      await page.close()
      await site.close()
      const buyer = await ok('raises', 'get', id, '--buyer', wallet)
      expect(JSON.stringify(buyer)).toContain('"deposited":"1500000000"')
    },
    WAIT_MS * 3,
  )
})
