/** The page of a raise in Chromium on the real program: deposits, withdrawals, and what it shows without a wallet. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { raiseEscrowAddress } from '../../src/chain/programs/presale/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeRaiseEscrow } from '../../src/solana/raises.ts'
import { hasChromium, launchChromium, violationsOn } from '../support/browser.ts'
import { type FileServer, serveFiles, writeSite } from '../support/claim-site.ts'
import { type FaultyRpc, serveFaultyRpc } from '../support/faulty-rpc.ts'
import { lamportsOf, unitsIn } from '../support/gold.ts'
import { hasProgram } from '../support/programs.ts'
import { openSolRaise, raiseFiles, type SolRaise } from '../support/raise-site.ts'
import { makeFolder, openService, removeFolder, type Service } from '../support/service.ts'
import { type StandardWalletOptions, standardWallet } from '../support/standard-wallet.ts'
import { addressOf, SOL, walletOn } from '../support/wallets.ts'

const PAGE = resolve(import.meta.dirname, '../../dist/raise-page')
const WAIT_MS = 40_000
const isReady = hasChromium && hasProgram(PROGRAMS.presale.id)

describe.skipIf(!isReady)('the page of a raise (needs Chromium and Meteora Presale)', () => {
  const data = makeFolder()
  const pictures = process.env.SVC_TEST_PICTURES || data
  let service: Service
  let chain: LocalChain
  let rpc: FaultyRpc
  let browser: Browser
  let ticking: NodeJS.Timeout
  const cleanups: (() => Promise<void>)[] = []

  beforeAll(async () => {
    service = await openService({ dataDir: data })
    chain = (await walletOn(service.services)).chain
    rpc = await serveFaultyRpc(chain)
    browser = await launchChromium()
    mkdirSync(pictures, { recursive: true })
    ticking = setInterval(() => chain.advance(0.2), 200)
  }, 120_000)
  afterEach(async () => {
    rpc.answer = () => undefined
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })
  afterAll(async () => {
    clearInterval(ticking)
    await browser?.close()
    await rpc?.close()
    await service?.close()
    removeFolder(data)
  })

  async function serve(
    raise: SolRaise,
    lines = new Map<string, Buffer>(),
    vault: object | null = null,
  ): Promise<FileServer> {
    const folder = makeFolder()
    writeSite(folder, new Map([...raiseFiles(chain.genesisHash, raise.id, rpc.url, vault), ...lines]))
    const server = await serveFiles(folder, PAGE)
    cleanups.push(async () => {
      await server.close()
      removeFolder(folder)
    })
    return server
  }

  type Look = StandardWalletOptions & { dark?: boolean; width?: number; locale?: string }

  async function open(
    url: string,
    key: Keypair | null,
    { dark = false, width = 390, locale = 'en-US', ...wallet }: Look = {},
  ) {
    const context = await browser.newContext({
      viewport: { width, height: 844 },
      colorScheme: dark ? 'dark' : 'light',
      locale,
      timezoneId: 'UTC',
    })
    cleanups.push(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
    })
    await page.exposeFunction('sent', (wire: string) => {
      chain.send(Buffer.from(wire, 'base64'))
    })
    if (key) await page.addInitScript(standardWallet(key, wallet))
    await page.goto(url)
    await page.locator('#sale-heading').waitFor({ timeout: WAIT_MS })
    return { page, complaints }
  }

  const buyer = (lamports = 20n * SOL): Keypair => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), lamports)
    return key
  }
  const connect = (page: Page) => page.getByRole('button', { name: 'Connect Test Wallet' }).click()
  const press = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' }).click({ timeout: WAIT_MS })
  const confirmed = async (page: Page, count = 1) => {
    await page
      .locator('[data-signature]')
      .nth(count - 1)
      .waitFor({ timeout: WAIT_MS })
    await page.locator('#progress:empty').waitFor({ state: 'attached', timeout: WAIT_MS })
  }
  const deposit = async (page: Page, amount: string, round = 0) => {
    await page.locator(`#deposit-${round}`).fill(amount, { timeout: WAIT_MS })
    await press(page, 'Deposit')
  }
  const escrowOf = ({ id }: SolRaise, key: Keypair, round = 0) => {
    const address = raiseEscrowAddress(id, addressOf(key), round)
    return decodeRaiseEscrow(address, chain.account(address))
  }
  const overflow = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })

  it('shows a raise without a wallet, in both languages, light and dark, from 390 to 1280 pixels', async () => {
    const { url } = await serve(openSolRaise(chain))
    for (const look of [{ width: 390 }, { width: 1280, dark: true }, { width: 320, locale: 'de-DE', dark: true }]) {
      const { page, complaints } = await open(url, null, look)
      expect(await overflow(page)).toBe(0)
      expect(await violationsOn(page)).toEqual([])
      expect(complaints).toEqual([])
      await picture(page, `raise-${look.width}`)
      const words = await page.locator('#sale').textContent()
      expect(words).toContain(look.locale ? 'Ein Verkauf ist Vertrauen' : 'A raise is trust')
      expect(await page.locator('.checks .passed').count()).toBe(5)
    }
  })

  it('deposits SOL with its fee on top, withdraws a part, and leaves no wrapped SOL behind', async () => {
    const raise = openSolRaise(chain)
    const { url } = await serve(raise)
    const key = buyer()
    const { page, complaints } = await open(url, key)
    await connect(page)
    await page.locator('#deposit-0').fill('1')
    expect(await page.locator('#deposit-0-effect').textContent()).toContain('You pay 1.010101')
    await picture(page, 'deposit-390')
    await deposit(page, '1')
    await confirmed(page)
    expect(escrowOf(raise, key)).toMatchObject({ deposited: 999_999_999n + 1n })
    expect(unitsIn(chain, spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, key.publicKey))).toBeNull()
    expect(await page.locator('.checks .passed').count()).toBe(6)
    expect(await violationsOn(page)).toEqual([])
    await picture(page, 'deposited-390')
    const before = lamportsOf(chain, key.publicKey)
    await page.locator('#withdraw-0').fill('0.5')
    await press(page, 'Withdraw')
    await confirmed(page, 2)
    expect(escrowOf(raise, key)?.deposited).toBe(SOL / 2n)
    expect(lamportsOf(chain, key.publicKey) - before).toBeGreaterThan(SOL / 2n - 200_000n)
    expect(complaints).toEqual([])
  })
})
