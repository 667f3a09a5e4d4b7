/** The reference page in a real browser that can reach nothing but this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '../../src/platform/errors.ts'
import { routes } from '../api/bodies.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { makeFolder, removeFolder } from '../support/service.ts'

const CHROMIUM = '/usr/bin/chromium'
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]
const MAX_BYTES = 1_000_000
const MAX_SCRIPT_MS = 100

const isLoopback = (url: string) => /^(data|blob|about):/.test(url) || new URL(url).hostname === '127.0.0.1'

describe.skipIf(!existsSync(CHROMIUM))('the reference page (needs Chromium)', () => {
  let folder: string
  let daemon: Daemon
  let browser: Browser
  const faults: string[] = []
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    folder = makeFolder()
    daemon = await startDaemon({ dataDir: folder })
    const { chromium } = await import('playwright-core')
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true })
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
    // Requests elsewhere, what the policy refused, errors of the script: there are none, whatever a test does.
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.stop()
    removeFolder(folder)
  })

  async function open(
    at = '',
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
  ): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    contexts.push(context)
    await context.route('**/*', (route) => {
      const url = route.request().url()
      if (isLoopback(url)) return route.continue()
      faults.push(`asks ${url}`)
      return route.abort()
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
    })
    await prepare(page)
    await page.goto(`${daemon.url}/v2/docs${at}`, { waitUntil: 'networkidle' })
    return page
  }

  /** How far below the head of the page the entry begins, in pixels. */
  const topOf = async (page: Page, id: string): Promise<number> =>
    ((await page.locator(`[id="${id}"]`).boundingBox())?.y ?? Number.NaN) - 56

  async function picture(page: Page, name: string): Promise<void> {
    const path = join(process.env.SVC_TEST_PICTURES || folder, `reference-${name}.png`)
    await page.screenshot({ path })
    expect(readFileSync(path).length).toBeGreaterThan(10_000)
  }

  /** What axe finds; the page's policy allows no script of others, so it comes through the debugger. */
  async function violations(page: Page, part = 'html'): Promise<string[]> {
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: readFileSync(AXE, 'utf8') })
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run("${part}", { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      awaitPromise: true,
      returnByValue: true,
    })
    return result.value as string[]
  }

  it('is within 1 MB, blocks for less than 100 ms with its script, and asks nothing of any other machine', async () => {
    const spent: number[] = []
    for (let visit = 0; visit < 3; visit++) {
      const sizes: Promise<number>[] = []
      let session: CDPSession | undefined
      await open('', {}, async (page) => {
        session = await page.context().newCDPSession(page)
        // The time of the thread alone, as other processes may have the processor.
        await session.send('Performance.enable', { timeDomain: 'threadTicks' })
        page.on('response', (response) => sizes.push(response.body().then(({ length }) => length)))
      })
      const { metrics } = await session!.send('Performance.getMetrics')
      spent.push((metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN) * 1_000)
      const bytes = (await Promise.all(sizes)).reduce((sum, length) => sum + length, 0)
      expect(bytes).toBeGreaterThan(100_000)
      expect(bytes).toBeLessThan(MAX_BYTES)
    }
    expect(Math.min(...spent)).toBeGreaterThan(0)
    expect(Math.min(...spent)).toBeLessThan(MAX_SCRIPT_MS)
  })

  it('shows every operation, by its address too, at the first visit and by a click', async () => {
    const page = await open('#postPools')
    await expect.poll(() => topOf(page, 'postPools')).toBeLessThan(40)
    const shown = (await page.evaluate(
      "[...document.querySelectorAll('.operation')].map(({ id, dataset }) => [id, dataset.kind + ' ' + dataset.title])",
    )) as [string, string][]
    expect(shown.map(([, line]) => line).toSorted()).toEqual(
      routes.map(([, { method, path }]) => `${method.toUpperCase()} ${path}`).toSorted(),
    )
    for (const [id] of shown) {
      await page.evaluate(`location.hash = '${id}'`)
      await expect.poll(() => topOf(page, id), { message: id }).toBeLessThan(40)
      expect(await topOf(page, id), id).toBeGreaterThanOrEqual(-1)
    }
    await page.locator('#contents a[href="#getPools"]').click()
    await expect.poll(() => topOf(page, 'getPools')).toBeLessThan(40)
    await expect.poll(() => page.locator('#contents a[aria-current]').getAttribute('href')).toBe('#getPools')
  })

  it('shows the error that a doc_url names, for every code', async () => {
    const { doc_url } = (await daemon.request('GET', '/v2/nothing')).json.error
    expect(doc_url).toBe(`${daemon.url}/v2/docs#error-not_found`)
    for (const code of Object.keys(ERROR_STATUS)) {
      const page = await open(`#error-${code}`)
      const heading = page.locator(`#error-${code} h3`)
      await expect.poll(async () => (await heading.boundingBox())?.y ?? -1, { message: code }).toBeGreaterThan(50)
      expect((await heading.boundingBox())!.y, code).toBeLessThan(850)
      expect(await heading.textContent()).toBe(code)
      await page.close()
    }
  })

  it('finds operations, fields, events and errors from the keyboard', async () => {
    const page = await open()
    const search = page.locator('#search')
    const first = page.locator('.result').first()
    const cases = [
      ['post /v2/pools', 'postPools'],
      ['gold locks', 'postGoldLocks'],
      ['clawback_after_days', 'postAirdrops'],
      ['pool.migrated', 'event-pool.migrated'],
      ['rate_limited', 'error-rate_limited'],
      ['Idempotency-Key', 'idempotency'],
    ] as const
    for (const [words, id] of cases) {
      await page.locator('#content').focus()
      await page.keyboard.press('/')
      await search.fill(words)
      await expect.poll(() => first.getAttribute('data-target'), { message: words }).toBe(id)
      await page.keyboard.press('Enter')
      await expect.poll(() => page.evaluate('location.hash')).toBe(`#${id}`)
      expect(await page.locator('#results').isVisible()).toBe(false)
    }
    await page.keyboard.press('/')
    await search.fill('pools')
    await page.keyboard.press('ArrowDown')
    expect(await search.getAttribute('aria-activedescendant')).toBe('result-1')
    await picture(page, 'search')
    expect(await violations(page, 'header')).toEqual([])
    await page.keyboard.press('Escape')
    expect(await page.locator('#results').isVisible()).toBe(false)
    await search.fill('<img src=x onerror=alert(1)>')
    expect(await page.locator('#results').textContent()).toContain('Nothing is named “<img src=x onerror=alert(1)>”')
  })

  it('shows the samples of all operations in the chosen language, which it keeps, and copies one', async () => {
    const page = await open('#postTokens')
    const samples = page.locator('#postTokens .samples')
    const shown = () => samples.locator('pre:visible').allTextContents()
    expect(await shown()).toEqual([expect.stringContaining('curl')])
    await samples.getByRole('button', { name: 'TypeScript' }).click()
    expect(await shown()).toEqual([expect.stringContaining('client.tokens')])
    await samples.getByRole('button', { name: 'svc', exact: true }).click()
    expect(await shown()).toEqual([expect.stringContaining('svc tokens create')])
    expect(await topOf(page, 'postTokens')).toBeLessThan(60)
    await page.reload()
    expect(await shown()).toEqual([expect.stringContaining('svc tokens create')])
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await samples.getByRole('button', { name: 'Copy' }).click()
    await expect.poll(() => samples.locator('.copy').textContent()).toBe('Copied')
    expect([await page.evaluate('navigator.clipboard.readText()')]).toEqual(await shown())
  })

  it('is right in light, in dark and on a phone, for a reader with assistive technology too', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('#postPools', { colorScheme })
      await picture(page, colorScheme)
      // The whole page is looked at once; the colours are the same in every entry.
      const parts =
        colorScheme === 'light' ? ['html'] : ['header', '#contents', '#keys', '#postPools', '#error-not_found']
      for (const part of parts) expect(await violations(page, part), `${colorScheme} ${part}`).toEqual([])
    }
    const page = await open('', { colorScheme: 'light' })
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    const button = page.locator('#theme')
    await button.click()
    expect([await button.getAttribute('aria-label'), await background()]).toEqual(['Colours: light', light])
    await button.click()
    expect([await button.getAttribute('aria-label'), await background()]).toEqual(['Colours: dark', 'rgb(15, 19, 25)'])
    await page.reload()
    expect(await background()).toBe('rgb(15, 19, 25)')

    const phone = await open('#postTokens', { viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true })
    await picture(phone, 'phone')
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(360)
    expect(await violations(phone, '#postTokens')).toEqual([])
    await phone.getByRole('link', { name: 'Contents' }).tap()
    const link = phone.locator('#contents a[href="#getPools"]')
    await link.scrollIntoViewIfNeeded()
    await picture(phone, 'phone-contents')
    await link.tap()
    await expect.poll(() => topOf(phone, 'getPools')).toBeLessThan(40)
    expect(await phone.locator('#contents').isVisible()).toBe(false)
  })

  it('can be read without JavaScript', async () => {
    const page = await open('#postTokens', { javaScriptEnabled: false })
    const section = page.locator('#postTokens')
    expect(await section.getByText('initial_supply', { exact: true }).first().isVisible()).toBe(true)
    expect(await section.locator('.samples pre:visible').count()).toBe(3)
    expect(await page.locator('.copy:visible').count()).toBe(0)
    await section.locator('details summary').click()
    expect(await section.locator('details').getByText('not_found').first().isVisible()).toBe(true)
  })
})
