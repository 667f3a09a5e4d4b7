/** The documentation site as `npm run site` builds it: complete, and in a browser without a request to another host. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, launchChromium } from '../support/browser.ts'
import { type FileServer, serveFiles } from '../support/claim-site.ts'
import { makeFolder, removeFolder } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PAGES = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))

describe('the documentation site', () => {
  const folder = makeFolder()
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')

  let browser: Browser | undefined
  let site: FileServer

  beforeAll(async () => {
    await execa(join(ROOT, 'node_modules/.bin/vitepress'), ['build', 'docs', '--outDir', folder], { cwd: ROOT })
    site = await serveFiles(folder)
    if (!hasChromium) return
    browser = await launchChromium()
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    removeFolder(folder)
  })

  it('has each page with its Markdown, and a list of them for language models', () => {
    for (const page of PAGES) {
      expect(read(page)).toBe(readFileSync(join(ROOT, 'docs', page), 'utf8'))
      expect(read(page.replace('.md', '.html'))).toContain(`href="/${page}"`)
    }
    expect(read('llms.txt')).toMatch(/^# svc\n\n[\s\S]*^- \[A first launch\]\(first-launch\.md\): /m)
  })

  it('follows each link and anchor of each page', () => {
    const ids = new Map(
      PAGES.map((page) => page.replace('.md', '.html')).map((name) => [
        name,
        new Set([...read(name).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)),
      ]),
    )
    const broken = [...ids.keys()].flatMap((name) =>
      [...read(name).matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, link]) => new URL(link!, `http://site/${name}`))
        .filter(({ host }) => host === 'site')
        .filter(({ pathname, hash }) => {
          const path = pathname === '/' ? 'index.html' : pathname.slice(1)
          return (
            !existsSync(join(folder, path)) || (hash !== '' && !ids.get(path)?.has(decodeURIComponent(hash.slice(1))))
          )
        })
        .map(({ pathname, hash }) => `${name}: ${pathname}${hash}`),
    )
    expect(broken).toEqual([])
  })

  describe.skipIf(!hasChromium)('in a browser (needs Chromium)', () => {
    it.each([
      ['light', 1280],
      ['dark', 375],
    ] as const)('draws, searches and asks no other host: %s, %i pixels wide', async (colorScheme, width) => {
      const context = await browser!.newContext({ colorScheme, viewport: { width, height: 900 } })
      // A busy machine takes long to draw the first page.
      context.setDefaultNavigationTimeout(120_000)
      const page = await context.newPage()
      const faults: string[] = []
      page.on('pageerror', ({ message }) => faults.push(message))
      page.on('requestfailed', (request) => faults.push(`${request.url()} failed`))
      page.on(
        'response',
        (response) => response.status() >= 400 && faults.push(`${response.url()} ${response.status()}`),
      )
      await context.route('**/*', (route) => {
        const url = route.request().url()
        if (url.startsWith(site.url) || url.startsWith('data:')) return route.continue()
        faults.push(`asks ${url}`)
        return route.abort()
      })
      for (const name of ['index', 'how-it-works', 'architecture', 'cli', 'first-launch']) {
        await page.goto(new URL(`${name}.html`, site.url).href, { waitUntil: 'networkidle' })
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true)
      }
      await page.goto(new URL('how-it-works.html', site.url).href, { waitUntil: 'networkidle' })
      expect(await page.locator('.diagram svg').count()).toBe(3)
      expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(colorScheme === 'dark')
      await page.locator('.VPNavBarSearchButton').first().click()
      await page.locator('#localsearch-input').fill('fee schedule')
      await page.locator('.results a', { hasText: 'Fee schedules' }).first().waitFor({ timeout: 60_000 })
      await context.close()
      expect(faults).toEqual([])
    })
  })
})
