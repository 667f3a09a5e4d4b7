/** The page of a raise in Chromium on the real program: deposits, withdrawals, and what it shows without a wallet. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { createHttpServer } from '../../daemon/http-server.ts'
import { merkleRootAddress, raiseEscrowAddress } from '../../src/chain/programs/presale/index.ts'
import { buildMultisigCreation, readSquadsSettings } from '../../src/chain/programs/squads/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeRaise, decodeRaiseEscrow } from '../../src/solana/raises.ts'
import { vaultAddress } from '../../src/solana/squads/index.ts'
import { insertRaise } from '../../src/store/resources/raises.ts'
import { hasChromium, launchChromium, violationsOn } from '../support/browser.ts'
import { type FileServer, serveFiles, writeSite } from '../support/claim-site.ts'
import { type FaultyRpc, serveFaultyRpc } from '../support/faulty-rpc.ts'
import { lamportsOf, unitsIn } from '../support/gold.ts'
import { withFee } from '../support/locks.ts'
import { listening } from '../support/ports.ts'
import { hasProgram } from '../support/programs.ts'
import { allowlistFiles, openSolRaise, openToList, raiseFiles, type SolRaise } from '../support/raise-site.ts'
import { makeFolder, openService, removeFolder, type Service } from '../support/service.ts'
import { member } from '../support/squads.ts'
import { type StandardWalletOptions, standardWallet } from '../support/standard-wallet.ts'
import { addressOf, SOL, signWith, walletOn } from '../support/wallets.ts'

const PAGE = resolve(import.meta.dirname, '../../dist/raise-page')
const WAIT_MS = 40_000
const TOKEN_2022 = spl.TOKEN_2022_PROGRAM_ID
const isReady = hasChromium && hasProgram(PROGRAMS.presale.id)

describe.skipIf(!isReady)('the page of a raise (needs Chromium and Meteora Presale)', () => {
  const data = makeFolder()
  const folder = process.env.SVC_TEST_PICTURES || data
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
    mkdirSync(folder, { recursive: true })
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
    const site = makeFolder()
    writeSite(site, new Map([...raiseFiles(chain.genesisHash, raise.id, rpc.url, vault), ...lines]))
    const server = await serveFiles(site, PAGE)
    cleanups.push(async () => {
      await server.close()
      removeFolder(site)
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
    await page.locator(`form:has(#deposit-${round}) button`).click()
  }
  const escrowOf = ({ id }: SolRaise, key: Keypair, round = 0) => {
    const address = raiseEscrowAddress(id, addressOf(key), round)
    return decodeRaiseEscrow(address, chain.account(address))
  }
  const overflow = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  const picture = (page: Page, name: string) => page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })

  /** The page at each width, of which nothing may be wider. */
  async function pictures(page: Page, name: string) {
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      expect([name, width, await overflow(page)]).toEqual([name, width, 0])
      await picture(page, `${name}-${width}`)
    }
    expect(await violationsOn(page)).toEqual([])
  }

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

  it('says what arrives of a token that keeps a fee of each transfer', async () => {
    const raise = openSolRaise(chain, { options: withFee(100, 10n ** 12n) })
    const key = buyer()
    const { page, complaints } = await open((await serve(raise)).url, key)
    expect(await page.locator('#sale').textContent()).toContain('1 % of each transfer, at most 1,000')
    await connect(page)
    await page.locator('#deposit-0').fill('3', { timeout: WAIT_MS })
    expect(await page.locator('#deposit-0-effect').textContent()).toMatch(/this buys 299\.9.* 296\.9.* arrive/)
    await pictures(page, 'fee')
    await deposit(page, '3')
    await confirmed(page)
    chain.advance(3_601)
    await press(page, 'Check again')
    await page.getByRole('button', { name: /^Claim 296\.9/ }).waitFor({ timeout: WAIT_MS })
    await pictures(page, 'fee-claim')
    await press(page, /^Claim 296\.9/)
    await confirmed(page, 2)
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(raise.mint), key.publicKey, false, TOKEN_2022)
    expect(unitsIn(chain, account)).toBe(296_999_999_999n)
    expect(complaints).toEqual([])
  })

  it('shows the cap of each of two rounds, and deposits in both', async () => {
    const round = { supply: 500n * 10n ** 9n, buyerMin: 1n, buyerMax: 10n * SOL, feeBps: 100 }
    const rounds = [round, { ...round, feeBps: 0 }]
    const raise = openSolRaise(chain, { allowlist: 'merkle', mode: 'pro_rata', rounds })
    const [key, other] = [buyer(), buyer()]
    const lines = [
      { wallet: addressOf(key), round: 0, cap: SOL },
      { wallet: addressOf(key), round: 1, cap: 2n * SOL },
      { wallet: addressOf(other), round: 1, cap: SOL },
    ]
    const { url } = await serve(raise, allowlistFiles(merkleRootAddress(raise.id, 0n), lines).files)
    const { page, complaints } = await open(url, key)
    await connect(page)
    await page.getByText('has not put the list on the chain yet').first().waitFor({ timeout: WAIT_MS })
    await pictures(page, 'rounds-waiting')
    openToList(chain, raise, lines)
    await press(page, 'Check again')
    await page.locator('#deposit-1').waitFor({ timeout: WAIT_MS })
    const parts = await page.locator('.entitlement').allTextContents()
    expect(parts).toEqual([
      expect.stringMatching(/^Round 1.*at most1 SOL/),
      expect.stringMatching(/^Round 2.*at most2 SOL/),
    ])
    expect(await page.locator('#sale').textContent()).toContain(
      'for each buyer up to its cap on the allowlist, fee on top 1 %',
    )
    await pictures(page, 'rounds')
    await deposit(page, '1')
    await confirmed(page)
    await page.getByRole('group', { name: 'Round 2' }).getByLabel('Deposit, in SOL').fill('1.5')
    await page.getByRole('group', { name: 'Round 2' }).getByRole('button', { name: 'Deposit' }).click()
    await confirmed(page, 2)
    expect([escrowOf(raise, key)?.deposited, escrowOf(raise, key, 1)?.deposited]).toEqual([SOL, (3n * SOL) / 2n])
    await pictures(page, 'rounds-deposited')
    const outsider = await open(url, other)
    await connect(outsider.page)
    await outsider.page.locator('#deposit-1').waitFor({ timeout: WAIT_MS })
    expect(await outsider.page.locator('.entitlement').first().textContent()).toContain(
      'not on the allowlist of this round',
    )
    await pictures(outsider.page, 'rounds-one')
    expect(complaints).toEqual([])
  })

  it('claims what is released in parts, and says when more comes', async () => {
    const raise = openSolRaise(chain, { lockSeconds: 600n, vestingSeconds: 1_200n, releaseBps: 2_500 })
    const key = buyer()
    const { page, complaints } = await open(await daemonPage(raise), key)
    await connect(page)
    await deposit(page, '4')
    await confirmed(page)
    await pictures(page, 'vesting')
    chain.advance(3_601)
    const claims = async (seconds: number, name: string, count: number) => {
      chain.advance(seconds)
      await press(page, 'Check again')
      await page.getByRole('button', { name: /^Claim / }).waitFor({ timeout: WAIT_MS })
      await pictures(page, name)
      await press(page, /^Claim /)
      await confirmed(page, count)
    }
    await claims(1, 'vesting-first', 2)
    expect(escrowOf(raise, key)!.claimed).toBeGreaterThan(99n * 10n ** 9n)
    expect(await page.locator('#result').textContent()).toMatch(/Bought399\.9.*Claimed so far99\.9.*Next claim from/)
    await pictures(page, 'vesting-waits')
    await claims(1_200, 'vesting-half', 3)
    expect(await page.locator('#result').textContent()).toContain('All can be claimed from')
    expect(escrowOf(raise, key)!.claimed).toBeGreaterThan(240n * 10n ** 9n)
    await claims(1_200, 'vesting-last', 4)
    expect(escrowOf(raise, key)).toBeNull()
    expect(complaints).toEqual([])
  })

  it('shows who holds the key of a vault: votes, time lock, and who can change them', async () => {
    const of = async (wish: object) => {
      const payer = buyer()
      const [createKey, members] = [
        Keypair.generate(),
        [member(payer, 'ix'), ...Array.from({ length: 3 }, () => member(buyer()))],
      ]
      const { multisig, ...made } = await buildMultisigCreation({
        ...{ payer: addressOf(payer), recentBlockhash: chain.latestBlockhash().blockhash },
        ...{ createKey: addressOf(createKey), treasury: (await readSquadsSettings(service.services.chain)).treasury },
        ...{ threshold: 2, timeLock: 0, members, rentCollector: null, configAuthority: null, ...wish },
      })
      const landed = chain.send(
        Buffer.from(signWith(Buffer.from(made.transaction).toString('base64'), [payer, createKey]), 'base64'),
      )
      expect(landed.err, landed.logs.join('\n')).toBeNull()
      return { raise: openSolRaise(chain, { creator: vaultAddress(multisig, 0) }), vault: { multisig, vault_index: 0 } }
    }
    const ruler = addressOf(Keypair.generate())
    const kinds: [string, object, string][] = [
      ['vault', {}, '2 of 3 members must approve. It has no time lock'],
      ['vault-locked', { timeLock: 5_400 }, '2 of 3 members must approve, and then a time lock of 1.5 h has to pass.'],
      ['vault-ruled', { configAuthority: ruler }, `${ruler} can change its members and rules alone.`],
    ]
    for (const [name, wish, words] of kinds) {
      const { raise, vault } = await of(wish)
      const { page, complaints } = await open((await serve(raise, undefined, vault)).url, null)
      expect(await page.locator('#sale').textContent()).toContain(words)
      expect(await page.locator('.checks .failed').count()).toBe(0)
      await pictures(page, name)
      expect(complaints).toEqual([])
    }
  })
})
