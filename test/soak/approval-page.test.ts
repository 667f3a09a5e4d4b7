/** The page of a proposal in Chromium: a wallet approves or rejects, each refusal is a sentence, and nothing else is loaded. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import { listen } from '../kernel/listening.ts'
import { decide, NOTHING_WAITS, person, textOf } from '../support/approvers.ts'
import { hasChromium, launchChromium, violationsOn } from '../support/browser.ts'
import { type PlatformService, startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { type StandardWalletOptions, standardWallet } from '../support/standard-wallet.ts'

const WIDTHS = [390, 1280]
const WAIT_MS = 40_000
const CHECKED = 'Checked here: the hash is that of the transaction.'

// biome-ignore lint/suspicious/noExplicitAny: the data of answers
type Data = any

interface Waiting {
  service: PlatformService
  proposal: Data
  /** Of an approver each. */
  ada: Keypair
  bob: Keypair
  /** With the path of the page behind it. */
  url: string
}

/** A memo that waits for `needed` of two approvers, behind an HTTP server. */
async function waiting({ needed = 1, memo = 'hello' } = {}): Promise<Waiting> {
  const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0' })
  const [ada, bob] = [Keypair.generate(), Keypair.generate()]
  for (const [name, key] of Object.entries({ 'Ada Lovelace': ada, 'Bob <b>': bob })) {
    const body = { address: key.publicKey.toBase58(), name }
    expect((await service.request('POST', '/v2/approvers', { body })).status).toBe(201)
  }
  const rules = { ...NOTHING_WAITS, lamports_per_transaction: '1000000', lamports_per_day: '1000000' }
  const approvals = { needed, expires_in: 3600, rules }
  expect((await service.request('PATCH', '/v2/signer/policy', { body: { approvals } })).status).toBe(200)
  const { json, text } = await submitMemo(service, memo)
  expect(json.data?.mode, text).toBe('proposed')
  const { proposal } = json.data
  const { port } = await listen(service)
  return { service, proposal, ada, bob, url: `http://127.0.0.1:${port}${proposal.approver.page}` }
}

const read = async ({ service, proposal }: Pick<Waiting, 'service' | 'proposal'>): Promise<Data> =>
  (await service.request('GET', `/v2/proposals/${proposal.id}`)).json.data

describe.skipIf(!hasChromium)('the page of a proposal in a browser (needs Chromium)', () => {
  const folder = makeFolder()
  const pictures = process.env.SVC_TEST_PICTURES || folder
  let browser: Browser
  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true })
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    removeFolder(folder)
  })

  interface Opened {
    page: Page
    /** Errors of scripts and violations of the page's policy. */
    complaints: string[]
    asked: string[]
  }

  async function open(
    url: string,
    key: Keypair | null,
    {
      width = 390,
      dark = false,
      change,
      host,
      ...wallet
    }: StandardWalletOptions & {
      width?: number
      dark?: boolean
      change?: (html: string) => string
      /** Another name by which the browser asks for the page. */
      host?: string
    } = {},
  ): Promise<Opened> {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
      isMobile: width < 600,
      hasTouch: width < 600,
    })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    const complaints: string[] = []
    const asked: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
    })
    page.on('request', (request) => asked.push(request.url()))
    if (change !== undefined) {
      await page.route(url, async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        return route.fulfill({ response, body: change(await response.text()) })
      })
    }
    if (key) await page.addInitScript(standardWallet(key, { features: ['solana:signMessage'], ...wallet }))
    if (host !== undefined) {
      await page.route(`http://${host}/**`, async (route) => route.fulfill({ response: await route.fetch({ url }) }))
    }
    await page.goto(host === undefined ? url : `http://${host}/`)
    return { page, complaints, asked }
  }

  const approve = (page: Page) => page.getByRole('button', { name: 'Approve with Test Wallet' })
  const reject = (page: Page) => page.getByRole('button', { name: 'Reject with Test Wallet' })
  const state = (page: Page) => page.locator('#state')
  const shows = (page: Page, text: string | RegExp) =>
    expect.poll(() => state(page).textContent(), { timeout: WAIT_MS }).toMatch(text)
  const field = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`)
  const calls = (page: Page) => page.evaluate<Data[]>('globalThis.walletCalls ?? []')
  const buttons = (page: Page) => page.getByRole('button').count()

  /** A picture of the whole page, which is as wide as the window. */
  async function picture(page: Page, name: string): Promise<void> {
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overflow)).toBe(0)
    expect(await violationsOn(page)).toEqual([])
    await page.screenshot({ path: join(pictures, `approval-${name}.png`), fullPage: true })
  }

  it.each(WIDTHS)(
    'shows the act, lets a wallet sign its text, and says that it is executed, %i px wide',
    async (width) => {
      const world = await waiting({ memo: 'pay the auditors' })
      const { proposal, ada, url } = world
      for (const dark of [true, false]) {
        const { page } = await open(url, ada, { width, dark })
        await approve(page).waitFor()
        await picture(page, `open-${width}-${dark ? 'dark' : 'light'}`)
      }
      const { page, complaints, asked } = await open(url, ada, { width })
      await expect.poll(() => page.locator('#check').textContent()).toBe(CHECKED)
      expect(await page.locator('h1').textContent()).toBe(proposal.what)
      expect(await field(page, 'Message SHA-256').textContent()).toBe(proposal.message_sha256)
      expect(await field(page, 'Network').textContent()).toBe(proposal.approver.genesis)
      expect(await field(page, 'Leaves at most').textContent()).toBe('0.000005 SOL')
      expect(await field(page, 'Needs').textContent()).toBe('1 of Ada Lovelace, Bob <b>')
      await approve(page).click()
      await shows(page, /^Recorded\. The act is executed\.$/)
      const text = textOf(proposal, 'approved', proposal.approver.genesis)
      expect(await calls(page)).toEqual([{ isOwnAccount: true, text }])
      expect(await buttons(page)).toBe(0)
      await picture(page, `executed-${width}`)
      expect(await read(world)).toMatchObject({
        status: 'executed',
        decisions: [{ approver: ada.publicKey.toBase58(), decision: 'approved' }],
      })
      expect(complaints).toEqual([])
      expect(asked).toEqual([url, url])
      await page.reload()
      await shows(page, /^The act is executed: nothing more can be decided about it\.$/)
      expect(await field(page, 'Approved by').textContent()).toMatch(/^Ada Lovelace at /)
      expect(await buttons(page)).toBe(0)
    },
  )

  it('waits for a second approver, shows who has approved, and takes one decision of each', async () => {
    const world = await waiting({ needed: 2 })
    const first = await open(world.url, world.ada)
    await approve(first.page).click()
    await shows(first.page, /^Recorded\. The act is active\.$/)
    const again = await open(world.url, world.ada)
    expect(await field(again.page, 'Approved by').textContent()).toMatch(/^Ada Lovelace at /)
    await approve(again.page).click()
    await shows(again.page, /^Nothing was recorded\. .* has approved the proposal .* already\.$/)
    await picture(again.page, 'twice-390')
    const second = await open(world.url, world.bob)
    await approve(second.page).click()
    await shows(second.page, /^Recorded\. The act is executed\.$/)
    expect((await read(world)).decisions).toHaveLength(2)
  })

  it('lets a wallet reject, after which nothing is signed', async () => {
    const world = await waiting({ needed: 2 })
    const { page, complaints } = await open(world.url, world.bob, { width: 1280 })
    await reject(page).click()
    await shows(page, /^Recorded\. The act is rejected\.$/)
    await picture(page, 'rejected-1280')
    expect(await calls(page)).toMatchObject([
      { text: textOf(world.proposal, 'rejected', world.proposal.approver.genesis) },
    ])
    expect(await read(world)).toMatchObject({ status: 'rejected', signature: null })
    expect(complaints).toEqual([])
  })

  it('says that a wallet is not an approver, and takes the account of an approver among several', async () => {
    const world = await waiting()
    const eve = Keypair.generate()
    const wrong = await open(world.url, eve)
    await approve(wrong.page).click()
    await shows(
      wrong.page,
      new RegExp(`^Nothing was recorded\\. approver: ${eve.publicKey.toBase58()} is not an approver`),
    )
    await picture(wrong.page, 'stranger-390')
    expect(await read(world)).toMatchObject({ status: 'active', decisions: [] })
    const several = await open(world.url, world.ada, { others: [eve.publicKey.toBase58()] })
    await approve(several.page).click()
    await shows(several.page, /^Recorded\. The act is executed\.$/)
  })

  it('records nothing if the wallet declines, and signs with the same button afterwards', async () => {
    const world = await waiting()
    const { page } = await open(world.url, world.ada, { declines: 1, late: 300 })
    await approve(page).click()
    await shows(page, /^Nothing was recorded\. User rejected the request\.$/)
    expect(await read(world)).toMatchObject({ decisions: [] })
    await approve(page).click()
    await shows(page, /^Recorded\. The act is executed\.$/)
  })

  it('offers no second decision while the wallet asks about the first', async () => {
    const world = await waiting()
    const { page } = await open(world.url, world.ada, { holds: 1 })
    await approve(page).click()
    await shows(page, /^Sign the text in your wallet\.$/)
    expect([await approve(page).isDisabled(), await reject(page).isDisabled()]).toEqual([true, true])
    await page.evaluate('approve()')
    await shows(page, /^Recorded\. The act is executed\.$/)
    expect(await calls(page)).toHaveLength(1)
  })

  it.each(WIDTHS)(
    'offers no button for a transaction, hash or network that was changed on the way, %i px wide',
    async (width) => {
      const world = await waiting()
      const { message_sha256: sha256, transaction } = world.proposal
      const other = Buffer.from(transaction, 'base64')
      other[other.length - 1]! ^= 1
      const changes: ((html: string) => string)[] = [
        (html) => html.replace(`"transaction":"${transaction}"`, `"transaction":"${other.toString('base64')}"`),
        (html) => html.replace(`"message_sha256":"${sha256}"`, `"message_sha256":"${'0'.repeat(64)}"`),
        (html) => html.replaceAll(sha256, '0'.repeat(64)),
        (html) => html.replaceAll(`message sha256 ${sha256}`, `message sha256 ${'0'.repeat(64)}`),
      ]
      for (const change of changes) {
        const { page, complaints } = await open(world.url, world.ada, { width, change })
        await expect.poll(() => page.locator('#check').textContent()).toMatch(/^Do not sign: /)
        expect(await buttons(page)).toBe(0)
        expect(complaints).toEqual([])
      }
      const { page } = await open(world.url, world.ada, { width, change: changes[0]! })
      await picture(page, `changed-${width}`)
      // The text of another network is not the one that the daemon asks for, so its signature counts for nothing.
      const { genesis } = world.proposal.approver
      const elsewhere = Keypair.generate().publicKey.toBase58()
      const moved = await open(world.url, world.ada, { width, change: (html) => html.replaceAll(genesis, elsewhere) })
      await approve(moved.page).click()
      await shows(moved.page, /^Nothing was recorded\. signature: is not the signature of /)
      await picture(moved.page, `network-${width}`)
      expect(await read(world)).toMatchObject({ status: 'active', decisions: [] })
    },
  )

  it.each(WIDTHS)('says that an act has expired, before and after a wallet signs, %i px wide', async (width) => {
    const world = await waiting()
    const { page } = await open(world.url, world.ada, { width })
    await approve(page).waitFor()
    world.service.clock.advance(3_600_000)
    await approve(page).click()
    await shows(page, /^Nothing was recorded\. The proposal .* expired at /)
    await page.reload()
    await shows(page, /^The act is expired: nothing more can be decided about it\.$/)
    expect(await buttons(page)).toBe(0)
    await picture(page, `expired-${width}`)
    await followRuleProposals(world.service.services)
    await page.reload()
    expect(await field(page, 'Status').textContent()).toBe('expired')
    expect(await read(world)).toMatchObject({ status: 'expired', decisions: [] })
  })

  it('says why an approved act was not executed', async () => {
    const world = await waiting()
    const { page } = await open(world.url, world.ada)
    await approve(page).waitFor()
    expect((await world.service.request('POST', '/v2/signer/pauses')).status).toBe(200)
    await approve(page).click()
    await shows(page, /^Recorded\. The act is approved\. It was not executed: .*paused.*\.$/)
    await page.reload()
    expect(await field(page, 'Fault').textContent()).toMatch(/paused/)
    expect(await field(page, 'Next step').textContent()).toContain(`svc proposals execute ${world.proposal.id}`)
    await picture(page, 'not-executed-390')
  })

  it('says that no wallet was found, that the link is wrong, and that the hash needs https', async () => {
    const world = await waiting()
    const none = await open(world.url, null)
    await shows(none.page, /^No wallet that signs messages was found in this browser\.$/)
    await picture(none.page, 'no-wallet-390')
    const wrong = await open(
      world.url.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
      world.ada,
    )
    expect(await wrong.page.textContent('body')).toContain('There is no proposal behind this link')
    const changed = await open(world.url, world.ada, { change: (html) => html.replace('<script>', '<script>;') })
    await expect.poll(() => changed.complaints.join(' ')).toMatch(/Content Security Policy/)
    expect(await buttons(changed.page)).toBe(0)
    // A browser computes hashes for this machine and for https alone.
    const plain = await open(world.url, world.ada, { host: 'phone.test' })
    await expect.poll(() => plain.page.locator('#check').textContent()).toMatch(/open the link with https\.$/)
    expect(await buttons(plain.page)).toBe(0)
  })

  it('is not signed by a decision that somebody else took meanwhile', async () => {
    const world = await waiting()
    const { page } = await open(world.url, world.ada, { holds: 1 })
    await approve(page).click()
    await shows(page, /^Sign the text in your wallet\.$/)
    expect((await world.service.request('POST', `/v2/proposals/${world.proposal.id}/cancellations`)).status).toBe(200)
    await page.evaluate('approve()')
    await shows(page, /^Nothing was recorded\. The proposal .* is cancelled/)
    expect((await decide(world.service, world.proposal, person(world.bob))).status).toBe(400)
    expect(await read(world)).toMatchObject({ status: 'cancelled', signature: null })
  })
})
