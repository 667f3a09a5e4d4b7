/** The interactive page in a real browser that can reach nothing but this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../api/bodies.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { makeFolder, removeFolder } from '../support/service.ts'

const CHROMIUM = '/usr/bin/chromium'
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

const isLoopback = (url: string) => /^(data|blob|about):/.test(url) || new URL(url).hostname === '127.0.0.1'

describe('the docs page', () => {
  let folder: string
  let daemon: Daemon
  beforeAll(async () => {
    folder = makeFolder()
    daemon = await startDaemon({ dataDir: folder })
  })
  afterAll(async () => {
    await daemon.stop()
    removeFolder(folder)
  })

  it('names no other host: not in the page, its files, or its policy', async () => {
    const page = await daemon.request('GET', '/v2/docs', { key: null })
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe-eval|https?:|\*/)
    for (const [, file] of page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      expect([file, (await daemon.request('GET', file!, { key: null })).status]).toEqual([file, 200])
    }
    expect((await daemon.request('GET', '/assets/docs/..%2f..%2fpackage.json', { key: null })).status).toBe(404)
  })

  const installed = existsSync(CHROMIUM)
  it.skipIf(!installed)(
    `shows every operation and its schema and asks nothing of any other machine${installed ? '' : ' (skipped: Chromium is not installed)'}`,
    async () => {
      const { chromium } = await import('playwright-core')
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true })
      try {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
        const outside: string[] = []
        const failed: string[] = []
        await context.route('**/*', (route) => {
          const url = route.request().url()
          if (isLoopback(url)) return route.continue()
          outside.push(url)
          return route.abort()
        })
        const page = await context.newPage()
        page.on('pageerror', (error) => failed.push(error.message))
        page.on('console', (message) => {
          if (message.type() === 'error') failed.push(message.text())
        })
        page.on('response', (response) => {
          if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`)
        })
        await page.goto(`${daemon.url}/v2/docs`)
        await page.locator('.opblock').first().waitFor()

        const shown = await page.locator('.opblock').evaluateAll((blocks) =>
          blocks.map((block) => {
            const words = (name: string) => block.querySelector(name)?.textContent?.replaceAll('\u200b', '') ?? ''
            return `${words('.opblock-summary-method').toLowerCase()} ${words('.opblock-summary-path')}`
          }),
        )
        const documented = routes.map(([, { method, path }]) => `${method} ${path}`)
        expect(shown.filter((line) => line.includes('/v2/')).toSorted()).toEqual(documented.toSorted())

        const tree = page.locator('.opblock', { hasText: 'Build a tree from a list of wallets and amounts' }).first()
        await tree.locator('.opblock-summary-control').click()
        await tree.locator('.opblock-body').waitFor()
        await tree.getByText('Schema', { exact: true }).first().click()
        const body = tree.locator('.opblock-section-request-body')
        await body.getByText('entries', { exact: true }).first().waitFor()
        for (const field of ['mint', 'airdrop_count', 'decimals', 'duplicates', 'persist', 'replace']) {
          expect(await body.getByText(field, { exact: true }).count(), field).toBeGreaterThan(0)
        }

        const health = page.locator('.opblock', { hasText: 'Tell whether the service answers' }).first()
        await health.locator('.opblock-summary-control').click()
        await health.getByRole('button', { name: 'Try it out' }).click()
        await health.getByRole('button', { name: 'Execute' }).click()
        await health.getByText('"healthy"').first().waitFor()

        const picture = join(process.env.SVC_TEST_PICTURES ?? folder, 'docs.png')
        await page.screenshot({ path: picture })
        expect(readFileSync(picture).length).toBeGreaterThan(20_000)
        expect(outside).toEqual([])
        expect(failed).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )

  it.skipIf(!installed)(
    `shows the error that a doc_url names, in sight once the whole page is drawn${installed ? '' : ' (skipped: Chromium is not installed)'}`,
    async () => {
      const { chromium } = await import('playwright-core')
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true })
      try {
        const { doc_url } = (await daemon.request('GET', '/v2/nothing')).json.error
        expect(doc_url).toBe(`${daemon.url}/v2/docs#error-not_found`)
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
        await page.goto(doc_url)
        await page
          .locator('.opblock')
          .nth(routes.length - 1)
          .waitFor()
        const entry = page.locator('#error-not_found')
        const top = () => entry.evaluate((element) => element.getBoundingClientRect().top)
        await expect.poll(top).toBeLessThan(850)
        expect(await top()).toBeGreaterThanOrEqual(0)
        expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(3_000)
        await page.screenshot({ path: join(process.env.SVC_TEST_PICTURES ?? folder, 'docs-error.png') })

        // A reader who scrolls away is left alone, whatever opens meanwhile; another anchor is followed.
        await page.mouse.wheel(0, -1_000_000)
        await expect.poll(() => page.evaluate('scrollY')).toBe(0)
        await page.locator('.opblock-summary-control').first().click()
        await page.locator('.opblock-body').first().waitFor()
        expect(await page.evaluate('scrollY')).toBeLessThan(1_000)
        await page.evaluate("location.hash = 'error-rate_limited'")
        await expect
          .poll(() => page.locator('#error-rate_limited').evaluate((element) => element.getBoundingClientRect().top))
          .toBeLessThan(850)
      } finally {
        await browser.close()
      }
    },
  )
})
