/** The page of a raise in Chromium on the real program: deposits, withdrawals, and what it shows without a wallet. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { createHttpServer } from '../../daemon/http-server.ts'
import { raiseEscrowAddress } from '../../src/chain/programs/presale/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeRaise, decodeRaiseEscrow } from '../../src/solana/raises.ts'
import { insertRaise } from '../../src/store/resources/raises.ts'
import { hasChromium, launchChromium, violationsOn } from '../support/browser.ts'
import { type FileServer, serveFiles, writeSite } from '../support/claim-site.ts'
import { type FaultyRpc, serveFaultyRpc } from '../support/faulty-rpc.ts'
import { lamportsOf, unitsIn } from '../support/gold.ts'
import { listening } from '../support/ports.ts'
import { hasProgram } from '../support/programs.ts'
import { openSolRaise, openToList, raiseFiles, type SolRaise } from '../support/raise-site.ts'
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
  let daemon: string
  let stopDaemon: () => Promise<void>
  let browser: Browser
  let ticking: NodeJS.Timeout
  const cleanups: (() => Promise<void>)[] = []

  beforeAll(async () => {
    service = await openService({ dataDir: data, settings: { 'claim-pages': true } })
    chain = (await walletOn(service.services)).chain
    rpc = await serveFaultyRpc(chain)
    const app = await createApp(service.services, { localRpc: () => rpc.url })
    const server = createHttpServer(app, service.services.config)
    daemon = await listening(server)
    stopDaemon = async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await app.close()
    }
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
    await stopDaemon?.()
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

  /** The page of the raise as the daemon serves it over HTTP. */
  async function daemonPage({ id, mint, creator }: SolRaise): Promise<string> {
    const { store, chain: source } = service.services
    const raise = decodeRaise(id, chain.account(id))!
    const row = {
      ...{ id, mint, quote_mint: raise.quoteMint, creator: addressOf(creator), sale_mode: raise.mode },
      ...{ min: String(raise.minimum), max: String(raise.maximum), supply: String(raise.supply) },
      ...{ genesis: await source.genesisHash(), state: 'ongoing' as const, ends_at: 0, created_at: 0 },
    }
    await store.write((tx) => insertRaise(tx, row))
    return `${daemon}/raise/${id}`
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

  it('is served by the daemon: a refund of a failed raise closes the account and returns all of it', async () => {
    const raise = openSolRaise(chain)
    const key = buyer()
    const before = lamportsOf(chain, key.publicKey)
    const { page, complaints } = await open(await daemonPage(raise), key)
    await connect(page)
    await deposit(page, '0.5')
    await confirmed(page)
    chain.advance(3_601)
    await press(page, 'Check again')
    await page.getByRole('button', { name: /^Take back 0\.505/ }).waitFor({ timeout: WAIT_MS })
    await picture(page, 'failed-390')
    await press(page, /^Take back 0\.505/)
    await confirmed(page, 2)
    expect(escrowOf(raise, key)).toBeNull()
    expect(before - lamportsOf(chain, key.publicKey)).toBeLessThan(200_000n)
    expect(await page.getByRole('button', { name: /^Take back/ }).count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('claims after the end, and closes the account with the last claim', async () => {
    const raise = openSolRaise(chain)
    const key = buyer()
    const { page, complaints } = await open(await daemonPage(raise), key, { dark: true })
    await connect(page)
    await deposit(page, '3')
    await confirmed(page)
    chain.advance(3_601)
    await press(page, 'Check again')
    await page.getByRole('button', { name: /^Claim / }).waitFor({ timeout: WAIT_MS })
    await picture(page, 'completed-390-dark')
    await press(page, /^Claim /)
    await confirmed(page, 2)
    expect(escrowOf(raise, key)).toBeNull()
    const tokens = unitsIn(chain, spl.getAssociatedTokenAddressSync(new PublicKey(raise.mint), key.publicKey))
    expect(tokens).toBeGreaterThan(299n * 10n ** 9n)
    expect(await violationsOn(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('deposits up to the cap that the proof of the daemon shows, and refuses a false proof', async () => {
    // The program takes only these limits with an allowlist, whose caps stand in their place.
    const rounds = [{ supply: 1_000n * 10n ** 9n, buyerMin: 1n, buyerMax: 10n * SOL, feeBps: 100 }]
    const raise = openSolRaise(chain, { allowlist: 'merkle', rounds })
    const [key, other] = [buyer(), buyer()]
    const lines = [key, other].map((each) => ({ wallet: addressOf(each), round: 0, cap: SOL }))
    const files = openToList(chain, raise, lines)
    const url = await daemonPage(raise)
    const entries = lines.map(({ wallet, cap }) => ({ wallet, cap: String(cap) }))
    const stored = await service.request('POST', `/v2/raises/${raise.id}/allowlist`, { body: { entries } })
    expect(stored.status, stored.text).toBeLessThan(300)
    const { page, complaints } = await open(url, key)
    await connect(page)
    await deposit(page, '1')
    await confirmed(page)
    expect(escrowOf(raise, key)).toMatchObject({ deposited: SOL, cap: SOL })
    expect(complaints).toEqual([])
    await picture(page, 'allowlist-390')
    const outsider = await open(url, buyer())
    await connect(outsider.page)
    await outsider.page.getByText('This wallet is not on the allowlist').waitFor({ timeout: WAIT_MS })
    const line = JSON.parse(String(files.get(`0/${addressOf(other)}`)))
    const lie = Buffer.from(JSON.stringify({ ...line, deposit_cap: Number(5n * SOL) }))
    const { url: lying } = await serve(raise, new Map([[`0/${addressOf(other)}`, lie]]))
    const deceived = await open(lying, other)
    await connect(deceived.page)
    const refusal = deceived.page.getByText('The allowlist of this page is not the one on the chain')
    await refusal.waitFor({ timeout: WAIT_MS })
    expect(await deceived.page.locator('#deposit-0').count()).toBe(0)
  })
})
