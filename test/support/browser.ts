/** Chromium of this machine, in which tests look at pages. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
/** Without its own requests, and with no host but this machine. */
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

/** Tests of pages are skipped, by name, where this is false. */
export const hasChromium = existsSync(CHROMIUM)

/** The caller closes the browser. */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true })
}

/** axe-core as a script for a page. */
export const axeScript = (): string =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong on a page. The page's policy allows no script of others, so axe comes through the debugger. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(axeScript())
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  )
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
