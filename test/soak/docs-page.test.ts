/** The API reference in a real browser that can reach nothing but this machine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '../../src/platform/errors.ts'
import { routes } from '../api/bodies.ts'
import { axeScript, hasChromium, launchChromium } from '../support/browser.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { makeFolder, removeFolder } from '../support/service.ts'

/** A busy machine needs this long to draw the page. */
const DRAWN_MS = 120_000

const isLoopback = (url: string) => /^(data|blob|about):/.test(url) || new URL(url).hostname === '127.0.0.1'

describe.skipIf(!hasChromium)('the API reference (needs Chromium)', () => {
  let folder: string
  let daemon: Daemon
  let browser: Browser
  const faults: string[] = []
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    folder = makeFolder()
    daemon = await startDaemon({ dataDir: folder })
    browser = await launchChromium()
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
    // Requests to other machines, violations of the policy and errors of the script: no test may cause one.
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.stop()
    removeFolder(folder)
  })

  async function open(at = '', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    contexts.push(context)
    await context.route('**/*', (route) => {
      const url = route.request().url()
      if (isLoopback(url)) return route.continue()
      faults.push(`asks ${url}`)
      return route.abort()
    })
    const page = await context.newPage()
    page.setDefaultTimeout(DRAWN_MS)
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(`${daemon.url}/v2/docs${at}`, { waitUntil: 'networkidle' })
    await page.locator('.opblock').first().waitFor()
    return page
  }

  const operation = (page: Page, tag: string, id: string): Locator => page.locator(`[id="operations-${tag}-${id}"]`)

  async function enterKey(page: Page, key: string): Promise<void> {
    await page.locator('.btn.authorize').click()
    await page.locator('.auth-container input').fill(key)
    await page.getByRole('button', { name: 'Apply credentials' }).click()
    await page.locator('.btn-done').click()
  }

  /** Sends the example of the opened operation, and gives the status and the text of the answer. */
  async function tryOut(shown: Locator): Promise<[string | null, string | null]> {
    await shown.locator('.try-out__btn').click()
    await shown.locator('.execute').click()
    const answer = shown.locator('.live-responses-table tbody tr.response').first()
    await answer.waitFor()
    const status = await answer.locator('.response-col_status').textContent()
    return [status, await answer.locator('.highlight-code code').first().textContent()]
  }

  async function picture(page: Page, name: string): Promise<void> {
    const path = join(process.env.SVC_TEST_PICTURES || folder, `reference-${name}.png`)
    await page.screenshot({ path })
    expect(readFileSync(path).length).toBeGreaterThan(10_000)
  }

  /** The serious and critical faults that axe finds; it comes through the debugger, as the policy allows no other script. */
  async function seriousFaults(page: Page, part: string): Promise<string[]> {
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: axeScript() })
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run(${JSON.stringify(part)}, { resultTypes: ['violations'] }).then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      awaitPromise: true,
      returnByValue: true,
    })
    return result.value as string[]
  }

  it('shows each operation with its path', async () => {
    const page = await open()
    // Other versions draw long lists in part (docs/packages.md).
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const version = await page.evaluate('versions.swaggerUI.version')
    expect(version, 'run npm ci and npm run build').toBe(devDependencies['swagger-ui-dist'])
    const shown = (await page.evaluate(
      "[...document.querySelectorAll('.opblock-tag-section .opblock')].map((e) => e.querySelector('.opblock-summary-method').textContent + ' ' + e.querySelector('.opblock-summary-path').dataset.path)",
    )) as string[]
    const paths = routes.map(([, { method, path }]) => `${method.toUpperCase()} ${path}`)
    expect(shown.toSorted()).toEqual(paths.toSorted())
  })

  it('sends a GET and a POST with the entered key, and shows the answers', async () => {
    const page = await open('#/Merkle%20trees/postMerkleTrees')
    await enterKey(page, daemon.operator)
    const [created, tree] = await tryOut(operation(page, 'Merkle_trees', 'postMerkleTrees'))
    expect(created).toContain('201')
    const { id } = JSON.parse(tree!).data
    const list = operation(page, 'Merkle_trees', 'getMerkleTrees')
    await list.locator('.opblock-summary-control').click()
    const [listed, text] = await tryOut(list)
    expect(listed).toContain('200')
    expect(JSON.parse(text!).data).toMatchObject([{ id, leaf_count: 1 }])
    expect((await daemon.request('GET', `/v2/merkle-trees/${id}`)).json.data.id).toBe(id)
    await picture(page, 'answer')
  })

  it('forgets the key on a reload, and shows the refusal of a request without one', async () => {
    const page = await open('#/Pools/getPools')
    await enterKey(page, daemon.operator)
    await page.reload({ waitUntil: 'networkidle' })
    await page.locator('.btn.authorize.unlocked').waitFor()
    const [status, text] = await tryOut(operation(page, 'Pools', 'getPools'))
    expect(status).toContain('401')
    expect(JSON.parse(text!).error.code).toBe('unauthorized')
    // The browser logs the refusal.
    await expect.poll(() => faults.length).toBe(2)
    expect(faults.splice(0)).toEqual(expect.arrayContaining([expect.stringContaining('401')]))
  })

  it('shows each request in curl, TypeScript and svc, and the next one in the chosen language', async () => {
    const page = await open('#/Tokens/postTokens')
    const samples = operation(page, 'Tokens', 'postTokens').locator('.code-samples')
    const shown = async () => (await samples.locator('pre').textContent()) ?? ''
    expect(await shown()).toContain('curl "$SVC_API/v2/tokens"')
    await samples.getByRole('button', { name: 'TypeScript' }).click()
    expect(await shown()).toContain('client.tokens.create({')
    await samples.getByRole('button', { name: 'svc', exact: true }).click()
    expect(await shown()).toContain('svc tokens create --name')
    const next = operation(page, 'Tokens', 'getTokens')
    await next.locator('.opblock-summary-control').click()
    await expect.poll(() => next.locator('.code-samples pre').textContent()).toContain('svc tokens list')
  })

  it('shows the error that a doc_url names, for each code', async () => {
    const { doc_url } = (await daemon.request('GET', '/v2/nothing')).json.error
    expect(doc_url).toBe(`${daemon.url}/v2/docs#error-not_found`)
    const page = await open('#error-not_found')
    for (const code of Object.keys(ERROR_STATUS)) {
      await page.evaluate(`location.hash = 'error-${code}'`)
      const row = page.locator('tr:has(:target)')
      await expect.poll(() => row.textContent(), { message: code }).toContain(code)
      expect((await row.boundingBox())!.y, code).toBeLessThan(850)
    }
    const first = await open('#error-conflict')
    await expect.poll(() => first.locator('tr:has(:target)').textContent()).toContain('conflict')
  })

  it('finds operations by words of their path, summary and fields', async () => {
    const page = await open()
    const found = page.locator('.opblock-tag-section .opblock-summary-path')
    for (const [words, paths] of [
      ['clawback_after_days', ['/v2/airdrops']],
      ['stop signing at once', ['/v2/signer/pauses']],
      ['GET /v2/gold-token', ['/v2/gold-token']],
    ] as const) {
      await page.locator('.operation-filter-input').fill(words)
      await expect
        .poll(() => found.evaluateAll((all) => all.map((path) => path.getAttribute('data-path'))), { message: words })
        .toEqual(paths)
    }
  })

  it('is readable in light, in dark and on a phone, also with assistive technology', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('#/Pools/postPools', { colorScheme })
      expect(await page.evaluate('document.documentElement.classList.contains("dark-mode")')).toBe(
        colorScheme === 'dark',
      )
      await page.locator('.code-samples pre').waitFor()
      await picture(page, colorScheme)
      for (const part of ['html', '[id="operations-Pools-postPools"]'])
        expect(await seriousFaults(page, part), `${colorScheme} ${part}`).toEqual([])
    }
    const phone = await open('#/Pools/postPools', { viewport: { width: 390, height: 780 }, isMobile: true })
    await phone.locator('.code-samples pre').waitFor()
    await picture(phone, 'phone')
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
