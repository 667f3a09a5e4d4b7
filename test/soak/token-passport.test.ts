/** The passport of a token, written by the command and opened in Chromium: what the chain proves, what changed, what a wrong node shows. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandLine } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { hasChromium, launchChromium } from '../support/browser.ts'
import { type FileServer, serveFiles } from '../support/claim-site.ts'
import { type FaultyRpc, serveFaultyRpc } from '../support/faulty-rpc.ts'
import { type ForeignCurve, openForeignCurve } from '../support/foreign-curve.ts'
import { addressOf, createMint, give, run } from '../support/gold.ts'
import { embeddedNode } from '../support/node.ts'
import { hasProgram } from '../support/programs.ts'
import { SOL } from '../support/wallets.ts'

const programs = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.lock]
const isReady = hasChromium && programs.every(({ id }) => hasProgram(id))

describe.skipIf(!isReady)('the passport of a token (needs Chromium, the pools’ programs and Jupiter Lock)', () => {
  const cli = commandLine()
  const folder = join(cli.home, 'passport')
  const pictures = process.env.SVC_TEST_PICTURES || cli.home
  const [partner, creator, trader] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  let daemon: Served
  let chain: LocalChain
  let rpc: FaultyRpc
  let site: FileServer
  let browser: Browser
  let curve: ForeignCurve

  const write = async (mint: string, ...flags: string[]) => {
    chain.advance(40)
    return cli.svc(['tokens', 'passport', mint, '--out', folder, '--replace', '--rpc', rpc.url, ...flags])
  }

  /** The page as a visitor sees it, once it has an answer. */
  const open = async (width = 1280, dark = false) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(site.url)
    await answered(page)
    return { page, complaints, close: () => context.close() }
  }
  const answered = (page: Page) =>
    page
      .locator('#summary')
      .filter({ hasNotText: /^Reading/ })
      .waitFor({ timeout: 60_000 })
  const summary = (page: Page) => page.textContent('#summary')

  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir)
    chain = await daemon.local()
    for (const key of [partner, creator, trader]) chain.airdrop(addressOf(key), 1_000n * SOL)
    const node = embeddedNode(chain, 'confirmed')
    curve = await openForeignCurve(chain, node, { partner, creator, trader })
    await curve.trade(5n * SOL)
    await curve.migrate()
    rpc = await serveFaultyRpc(chain)
    mkdirSync(folder, { recursive: true })
    mkdirSync(pictures, { recursive: true })
    site = await serveFiles(folder)
    browser = await launchChromium()
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await rpc?.close()
    await daemon?.stop()
  })

  it('proves supply, authorities, lock and locked liquidity of a launched token, without a complaint of the browser', async () => {
    const mint = curve.mint.toBase58()
    const { exitCode, stderr } = await write(mint)
    expect(exitCode, stderr).toBe(0)
    for (const [width, dark] of [
      [390, false],
      [1280, false],
      [1280, true],
    ] as const) {
      const { page, complaints, close } = await open(width, dark)
      // The trader bought most of it.
      expect(await summary(page)).toMatch(
        /^\d+ of \d+ facts are proven on chain at slot \d+ by 127\.0\.0\.1:\d+\. 2 cannot be proven here\. Known risks: 1 danger\.$/,
      )
      expect(await page.locator('section:not(.verdicts) .mark[data-state="changed"]').count()).toBe(0)
      const text = await page.innerText('#facts')
      expect(text).toContain('Nobody can mint more')
      expect(text).toContain('100 % of the liquidity can never be withdrawn')
      expect(text).toMatch(
        new RegExp(`100,000 locked for ${addressOf(creator)} until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC$`, 'm'),
      )
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
      await page.screenshot({ path: join(pictures, `passport-${width}${dark ? '-dark' : ''}.png`), fullPage: true })
      expect(complaints).toEqual([])
      await close()
    }
  })

  it('marks what changed since it was written, and a report that claims more than the chain shows', async () => {
    const owner = Keypair.generate()
    chain.airdrop(addressOf(owner), 10n * SOL)
    const gold = createMint(chain, owner, { program: spl.TOKEN_2022_PROGRAM_ID })
    give(chain, owner, gold, owner.publicKey, 500n)
    expect((await write(gold.mint.toBase58())).exitCode).toBe(0)
    give(chain, owner, gold, owner.publicKey, 7n)
    const { page, close } = await open()
    expect(await summary(page)).toMatch(/1 changed/)
    expect(await summary(page)).toMatch(/Known risks: 3 dangers, 1 unknown\.$/)
    expect(await page.innerText('#facts')).toMatch(/0\.000000507[\s\S]*When this page was written: 0\.0000005/)
    run(
      chain,
      [
        spl.createSetAuthorityInstruction(
          gold.mint,
          owner.publicKey,
          spl.AuthorityType.MintTokens,
          null,
          [],
          gold.program,
        ),
      ],
      [owner],
    )
    await page.click('button')
    await page.getByText('Nobody can mint more', { exact: true }).waitFor({ timeout: 60_000 })
    await close()

    expect((await write(gold.mint.toBase58())).exitCode).toBe(0)
    const file = join(folder, 'passport.json')
    const passport = JSON.parse(readFileSync(file, 'utf8'))
    passport.report.pools = { pools: [{ address: addressOf(owner), type: 'damm_v2', locked_bps: 10_000 }] }
    passport.report.locks.largest = [
      { address: addressOf(owner), recipient: addressOf(owner), amount: '9', ends_at: null },
    ]
    passport.report.metadata = { name: '<img src=x onerror=alert(1)>', symbol: '\u202eEVIL', is_mutable: false }
    writeFileSync(file, JSON.stringify(passport))
    const lying = await open()
    const text = await lying.page.innerText('body')
    expect(text).toContain('There is no such pool')
    expect(text).toContain('There is no such lock')
    expect(await lying.page.locator('img').count()).toBe(0)
    expect(lying.complaints).toEqual([])
    await lying.close()
  })

  it('never looks all green for a token that the report calls dangerous, whoever wrote the file', async () => {
    const owner = Keypair.generate()
    chain.airdrop(addressOf(owner), 10n * SOL)
    const gold = createMint(chain, owner, { isFreezable: false })
    give(chain, owner, gold, owner.publicKey, 500n)
    const given = spl.createSetAuthorityInstruction(gold.mint, owner.publicKey, spl.AuthorityType.MintTokens, null)
    run(chain, [given], [owner])
    expect((await write(gold.mint.toBase58())).exitCode).toBe(0)
    const { page, complaints, close } = await open(390)
    const state = () => page.getAttribute('#summary', 'data-state')
    expect([await summary(page), await state()]).toEqual([
      expect.stringMatching(/Known risks: 1 danger, 1 unknown\.$/),
      'changed',
    ])
    const verdicts = await page.innerText('.verdicts')
    expect(verdicts).toMatch(/large holder\s+✗ danger, the report’s word\s+\w+ holds 100 % of the supply/)
    expect(verdicts).toMatch(/mint authority\s+✓ ok, proven\s+Nobody can mint more\./)
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    await page.screenshot({ path: join(pictures, 'passport-danger.png'), fullPage: true })
    expect(complaints).toEqual([])
    await close()

    const file = join(folder, 'passport.json')
    const passport = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...passport, report: { ...passport.report, risks: [] } }))
    const silent = await open()
    expect(await summary(silent.page)).toMatch(/Known risks: 2 unknowns\.$/)
    expect(await silent.page.getAttribute('#summary', 'data-state')).toBe('unproven')
    await silent.close()
  })

  it('proves nothing with a node of another cluster, with none, or with a file that is not a passport', async () => {
    expect((await write(curve.mint.toBase58())).exitCode).toBe(0)
    rpc.answer = (method) => (method === 'getGenesisHash' ? { result: '11111111111111111111111111111111' } : undefined)
    const wrong = await open()
    expect(await summary(wrong.page)).toMatch(/^Nothing is proven\. The node 127\.0\.0\.1:\d+ is of another cluster\.$/)
    await wrong.close()
    rpc.answer = () => undefined
    const file = join(folder, 'passport.json')
    const passport = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...passport, report: { ...passport.report, locks: null, pools: null } }))
    const partial = await open()
    expect(await summary(partial.page)).toMatch(/ 4 cannot be proven here\. /)
    await partial.close()
    writeFileSync(file, JSON.stringify({ ...passport, report: { ...passport.report, mint: 'x' } }))
    const broken = await open()
    expect(await summary(broken.page)).toBe('mint in passport.json has no address')
    await broken.close()
  })

  it('is written only where a passport may be, with nodes that a browser can ask', async () => {
    const mint = curve.mint.toBase58()
    await cli.refused(['tokens', 'passport', mint, '--out', cli.home], 'contains no token passport')
    await cli.refused(['tokens', 'passport', mint, '--out', folder], 'is there already')
    await cli.refused(
      ['tokens', 'passport', mint, '--out', folder, '--rpc', 'http://example.com'],
      '--rpc must be https URLs',
    )
  })
})
