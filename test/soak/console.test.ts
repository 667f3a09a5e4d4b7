/** The console in Chromium: signing in, every page in both widths and colours, the keyboard, live changes, strangers. */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { PAGES } from '../../daemon/console/pages/index.ts'
import { HOUR_MS } from '../../src/platform/timing.ts'
import { listen } from '../kernel/listening.ts'
import { lacksDistributor } from '../support/airdrops.ts'
import { hasChromium, launchChromium, violationsOn } from '../support/browser.ts'
import { consoleLink, failedDelivery, HOSTILE, subscribe, switchOff } from '../support/console.ts'
import { launchPool, waitingProposal } from '../support/console-records.ts'
import { consoleTransactions } from '../support/console-transactions.ts'
import { lacksDbc } from '../support/dbc.ts'
import { tinyCurveSettings } from '../support/launches.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'
import { makeFolder, removeFolder, type Service, startService } from '../support/service.ts'
import { openSponsoredAirdrop } from '../support/sponsored-airdrop.ts'
import { SOL } from '../support/wallets.ts'

const WIDTHS = [390, 1280]
const WAIT_MS = 40_000

interface World {
  service: Service
  root: string
}

async function world(service?: Service): Promise<World> {
  service ??= await startService()
  const { port } = await listen(service)
  return { service, root: `http://127.0.0.1:${port}` }
}

describe.skipIf(!hasChromium)('the console in a browser (needs Chromium)', () => {
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
    context: BrowserContext
    page: Page
    /** Errors of scripts and violations of the page's policy. */
    complaints: string[]
    asked: string[]
  }

  async function open({ width = 1280, dark = false, script = true } = {}): Promise<Opened> {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
      isMobile: width < 600,
      hasTouch: width < 600,
      javaScriptEnabled: script,
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
    return { context, page, complaints, asked }
  }

  async function signIn({ service, root }: World, page: Page, role?: 'viewer'): Promise<void> {
    await page.goto(root + (await consoleLink(service, role)))
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.waitForURL(`${root}/console`)
  }

  it('shows every page in both widths and colours, and asks nothing of other hosts', async () => {
    const here = await world()
    const { service } = here
    const id = await subscribe(service)
    await failedDelivery(service, id, HOSTILE)
    service.clock.advance(30_000)
    await failedDelivery(service, id, 'HTTP 503', 2)
    await subscribe(service, 'https://other.example/hooks')
    await switchOff(service)
    await look(here, [
      ...PAGES.map(({ path }) => path).filter((path) => !path.includes('{')),
      `/console/webhooks/${id}`,
      `/console/webhooks/${id}/whd_000000000000000000000001`,
    ])
  })

  it.skipIf(lacksDbc || lacksDistributor)('shows launches, airdrops and proposals (needs their programs)', async () => {
    const limits = { lamports_per_transaction: '0', lamports_per_day: '0' }
    const settings = { ...tinyCurveSettings(), 'claim-pages': true }
    const service = await startPlatform(GENEROUS, { settings })
    const { address } = await launchPool(service)
    const full = await launchPool(service, 'FULL')
    await full.buy(5n * SOL)
    const at = await openSponsoredAirdrop({ service })
    await at.settle()
    await at.claimBy(at.first)
    await at.settle()
    await service.request('PATCH', '/v2/signer/policy', { body: limits })
    service.clock.advance(25 * HOUR_MS)
    const { proposal } = await waitingProposal(service)
    await look(await world(service), [
      ...[address, full.address].map((pool) => `/console/launches/${pool}`),
      `/console/launches/${address}/trades`,
      `/console/airdrops/${at.id}`,
      `/console/airdrops/${at.id}/unclaimed`,
      `/console/proposals/${proposal.id}`,
    ])
  })

  it.skipIf(lacksDbc)('moves the point on a curve when somebody buys (needs the programs of launches)', async () => {
    const here = await world(await startPlatform(GENEROUS, { settings: tinyCurveSettings() }))
    const { address, buy } = await launchPool(here.service)
    const { page, complaints } = await open()
    await signIn(here, page)
    await page.goto(`${here.root}/console/launches/${address}`)
    const drawn = page.locator('[data-chart] canvas')
    const before = await drawn.screenshot()
    await buy(SOL / 2n)
    await page.getByText('0.594').first().waitFor()
    await expect.poll(async () => (await drawn.screenshot()).equals(before), { timeout: WAIT_MS }).toBe(false)
    expect(complaints).toEqual([])
  })

  async function look(here: World, paths: readonly string[]): Promise<void> {
    const { root } = here
    for (const width of WIDTHS) {
      for (const dark of [false, true]) {
        const { page, complaints, asked } = await open({ width, dark })
        await signIn(here, page)
        for (const path of paths) {
          const answer = await page.goto(root + path)
          expect([path, answer?.status()]).toEqual([path, 200])
          const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
          expect([path, await page.evaluate(overflow)]).toEqual([path, 0])
          expect([path, await violationsOn(page)]).toEqual([path, []])
          const name = `console${path.replace('/console', '').replaceAll('/', '-').slice(0, 12)}${path.split('/').length}-${width}-${dark ? 'dark' : 'light'}.png`
          await page.screenshot({ path: join(pictures, name), fullPage: true })
        }
        expect(complaints).toEqual([])
        expect(asked.filter((url) => !url.startsWith(root) && url !== 'data:,')).toEqual([])
      }
    }
  }

  it('shows transactions, a token, a fee schedule and refusals', async () => {
    const service = await startPlatform()
    const { memo, failed, waiting, mint } = await consoleTransactions(service)
    const { id } = (await service.request('POST', '/v2/fee-schedules', { body: { cron: '@hourly' } })).json.data
    await look(await world(service), [
      '/console/transactions',
      ...[memo, failed, waiting].map((signature) => `/console/transactions/${signature}`),
      '/console/tokens',
      `/console/tokens/${mint}`,
      `/console/tokens/${mint}/report`,
      `/console/tokens/search?text=${mint}`,
      '/console/signer',
      '/console/signer/audit',
      '/console/signer/schedules',
      `/console/signer/schedules/${id}`,
      '/console/ledger',
      '/console/ledger/entries',
    ])
  })

  it('reads and acts without script', async () => {
    const here = await world()
    const id = await subscribe(here.service)
    await failedDelivery(here.service, id, 'HTTP 500')
    const { page } = await open({ script: false })
    await signIn(here, page)
    await page.goto(`${here.root}/console/webhooks/${id}`)
    await page.getByRole('button', { name: 'Deliver again' }).click()
    await expect.poll(() => page.getByRole('status').textContent()).toContain('The event is queued')
  })

  it('is used by the keyboard alone', async () => {
    const here = await world()
    const { page } = await open()
    await signIn(here, page)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${here.root}/console#main`)
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.keyboard.press('Tab')
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
    await page.goto(`${here.root}/console`)
    const link = page.getByRole('link', { name: 'Webhooks', exact: true })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${here.root}/console/webhooks`)
  })

  it('shows by itself what changes, and leaves what somebody types', async () => {
    const here = await world()
    const { page, complaints } = await open()
    await signIn(here, page)
    const streaming = page.waitForResponse((answer) => answer.url().endsWith('/console/stream'))
    await page.goto(`${here.root}/console/webhooks`)
    await streaming
    await page.getByText('There are no receivers.').waitFor()
    const id = await subscribe(here.service)
    await here.service.request('POST', `/v2/webhook-subscriptions/${id}/test`, { body: {} })
    await page.getByRole('link', { name: id }).waitFor()

    await switchOff(here.service)
    await page.goto(`${here.root}/console`)
    await page.getByText('Snooze', { exact: true }).first().click()
    const reason = page.getByLabel('Why it can wait').first()
    await reason.fill('moved on Fri')
    const again = page.waitForResponse((answer) => answer.url() === `${here.root}/console`)
    await subscribe(here.service)
    await here.service.request('POST', `/v2/webhook-subscriptions/${id}/test`, { body: {} })
    await again
    expect(await reason.inputValue()).toBe('moved on Fri')
    await reason.press('Enter')
    await page.getByText('It is left out of the list until then.').waitFor()
    expect(complaints).toEqual([])
  })

  it('opens a page that a colleague sent, from a link on another site', async () => {
    const here = await world()
    const { page } = await open()
    await signIn(here, page)
    const letter = `<a href="${here.root}/console/webhooks">look</a>`
    await page.route('http://letters.test/', (route) => route.fulfill({ contentType: 'text/html', body: letter }))
    await page.goto('http://letters.test/')
    await page.getByRole('link', { name: 'look' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  })

  it('has a cookie that a page of another site cannot use', async () => {
    const here = await world()
    const { page, context } = await open()
    await signIn(here, page)
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    expect(await page.evaluate('document.cookie')).toBe('')
    const evil = createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(
        `<form method="post" action="${here.root}/console/sign-out"><input name="csrf" value="x"><button>go</button></form><iframe src="${here.root}/console"></iframe>`,
      )
    })
    onTestFinished(() => void evil.close())
    await new Promise<void>((settle) => evil.listen(0, '127.0.0.1', settle))
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}`)
    const posted = page.waitForResponse((answer) => answer.url().endsWith('/console/sign-out'))
    await page.getByRole('button', { name: 'go' }).click()
    expect((await posted).status()).toBe(403)
    // The same cookie in another program's hands, from another site.
    const stolen = await fetch(`${here.root}/console/sign-out`, {
      method: 'POST',
      headers: { cookie: `${cookie!.name}=${cookie!.value}`, origin: 'https://evil.example' },
      body: new URLSearchParams({ csrf: 'x' }),
    })
    expect(stolen.status).toBe(403)
    await page.goto(`${here.root}/console`)
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
  })
})
