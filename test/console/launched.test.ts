/** The console's pages of launches, airdrops and proposals, over real pools, claims and plans. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { lacksDistributor } from '../support/airdrops.ts'
import { decide } from '../support/approvers.ts'
import { type ConsoleBrowser, HOSTILE, signedIn } from '../support/console.ts'
import { launchPool, waitingProposal } from '../support/console-records.ts'
import { lacksDbc } from '../support/dbc.ts'
import { tinyCurveSettings } from '../support/launches.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'
import { openSponsoredAirdrop } from '../support/sponsored-airdrop.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const LISTS = ['launches', 'airdrops', 'proposals']

/** The text of a page, which must be there. */
async function pageOf(browser: ConsoleBrowser, path: string) {
  const page = await browser.get(path)
  expect([path, page.status], page.text).toEqual([path, 200])
  expect(page.html).not.toContain('<script>alert')
  return page
}

const csvOf = async (browser: ConsoleBrowser, path: string) =>
  (await browser.get(`${path}?format=csv`)).html.trimEnd().split('\r\n')

describe('the pages of an installation without records', () => {
  it('say how the first one is made, and have CSV with heads alone', async () => {
    const browser = await signedIn(await startService(), 'viewer')
    for (const list of LISTS) {
      const { text } = await pageOf(browser, `/console/${list}`)
      expect(text).toMatch(/There are no (pools|airdrops|proposals)/)
      expect(await csvOf(browser, `/console/${list}`)).toHaveLength(1)
    }
    expect((await browser.get('/console/proposals/prp_000000000000000000000000')).status).toBe(404)
  })
})

describe.skipIf(lacksDbc)('the page of a launch (needs the programs of launches)', () => {
  async function launched() {
    const service = await startService({ settings: { ...tinyCurveSettings(), 'platform-wallet': PARTNER } })
    return { service, ...(await launchPool(service)), browser: await signedIn(service) }
  }
  const PARTNER = addressOf(Keypair.generate())

  it('shows the curve, the point on it, what each party earns, and what has happened', async () => {
    const { service, address, browser } = await launched()
    const { html, text } = await pageOf(browser, `/console/launches/${address}`)
    const [, data = ''] = /data-chart="([^"]*)"/.exec(html) ?? []
    const { x, series, mark } = JSON.parse(data.replaceAll('&quot;', '"'))
    expect(x).toHaveLength(61)
    expect(series[0].values).toEqual(series[0].values.toSorted((a: number, b: number) => a - b))
    expect(mark.x).toBeCloseTo(0.099, 3)
    expect([mark.y > series[0].values[0], mark.y < series[0].values.at(-1)]).toEqual([true, true])
    expect(text).toContain(`the pool is at ${mark.y}`)
    const { data: earned } = (await service.request('GET', `/v2/pools/${address}/earnings`)).json
    const { accrued } = earned.parties.find(({ party }: { party: string }) => party === 'partner').quote
    expect(text).toContain(`partner dbc ${PARTNER} SOL ${Number(accrued) / 1e9}`)
    expect(text).toContain('pool.live')
    expect(text).toContain(`svc pools trades ${address}`)
    expect(text).toMatch(/UTC buy 0\.1 [\d,.]+ [\d.]+ /)
    expect(text).toContain(`svc pools earnings ${address}`)
    expect(html).toContain(`href="console/transactions?resource_id=${address}"`)
    expect(text).not.toContain('Migration')
    const csv = await csvOf(browser, `/console/launches/${address}`)
    expect(csv[0]).toBe('Time,type,id,Transaction')
    const trades = await csvOf(browser, `/console/launches/${address}/trades`)
    expect(trades[0]).toBe('traded_at,side,Paid,Received,price,trader,signature')
    expect(trades[1]).toMatch(/Z,buy,0\.1,/)
    expect(csv.slice(1).every((line) => /^2\d{3}-.*,pool\./.test(line))).toBe(true)
  })

  it('of a full curve says who may migrate it, with the command', async () => {
    const { address, buy, browser } = await launched()
    await buy(5n * SOL)
    const { text } = await pageOf(browser, `/console/launches/${address}`)
    expect(text).toContain('Any wallet may migrate it')
    expect(text).toContain(`svc pools migrate ${address}`)
    expect(text).toContain(`-d '{"payer":"YOUR_WALLET"}'`)
    expect(text).toContain('(100 %)')
  })

  it('is found in the list by its status, and shows a hostile name clean', async () => {
    const { service, address, browser } = await launched()
    await service.services.store.write((tx) => tx.updateTable('pools').set({ name: HOSTILE }).execute())
    expect((await pageOf(browser, '/console/launches?status=live')).text).toContain('alert(1)')
    expect((await pageOf(browser, '/console/launches?status=failed')).text).toContain('There are no pools')
    expect((await pageOf(browser, `/console/launches/${address}`)).text).toContain('alert(1)')
    expect((await csvOf(browser, '/console/launches'))[1]).toContain(address)
  })
})

describe.skipIf(lacksDistributor)('the page of an airdrop (needs the Jito merkle distributor)', () => {
  it('shows what was claimed when and by whom, what is left, who pays, and where people claim', async () => {
    const at = await openSponsoredAirdrop({ settings: { 'claim-pages': true } })
    await at.settle()
    const { signature } = await at.claimBy(at.claimers[0]!)
    await at.settle()
    const browser = await signedIn(at)
    const { html, text } = await pageOf(browser, `/console/airdrops/${at.id}`)
    const { claimed_amount_share, left_amount } = await at.ok('GET', `/v2/airdrops/${at.id}/stats`)
    expect(text).toContain(`Share claimed ${Math.floor(claimed_amount_share * 10_000) / 100} %`)
    expect(left_amount).toBe('5000')
    expect(text).toMatch(/Left amount [\d.,]+ Left count 2/)
    expect(html.match(/data-chart=/g)).toHaveLength(2)
    expect(html).toContain(`href="./claim/${at.id}/"`)
    expect(html).toContain(`href="console/transactions/${signature}"`)
    const { used } = await at.sponsorship()
    expect(text).toContain(`Used ${Number(used) / 1e9} SOL`)
    expect(text).toContain(`svc airdrops sponsor ${at.id} --budget SOL`)
    expect(text).toContain(`svc airdrops withdraw ${at.id}`)
    expect((await csvOf(browser, `/console/airdrops/${at.id}`))[1]).toContain(`${addressOf(at.claimers[0]!)},`)
    const rows = await csvOf(browser, `/console/airdrops/${at.id}/unclaimed`)
    expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual([2, 1].map((n) => addressOf(at.claimers[n]!)))
    expect((await pageOf(browser, `/console/airdrops/${at.id}/unclaimed`)).text).toContain(
      `svc airdrops unclaimed ${at.id} --limit 100`,
    )
    expect((await pageOf(browser, `/console/airdrops?mint=${at.mint}`)).text).toContain(at.id)
  })
})

describe('the page of a proposal of a rule', () => {
  it('shows the whole plan, who has decided, until when, and what can be done, and signs nothing', async () => {
    const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0' })
    const { proposal, approvers } = await waitingProposal(service)
    const [first] = approvers
    const read = async () => (await service.request('GET', `/v2/proposals/${proposal.id}`)).json.data
    const browser = await signedIn(service)
    const { html, text } = await pageOf(browser, `/console/proposals/${proposal.id}`)
    const { plan, approver, expires_at, next } = await read()
    const words = (lines: readonly string[]) => lines.join(' ').replaceAll(/\s+/g, ' ').trim()
    expect(text).toContain(words(plan))
    expect(text).toContain(next)
    expect(text).toContain(expires_at.slice(0, 19).replace('T', ' '))
    expect(html).toContain(`href=".${approver.page}"`)
    for (const step of ['approve', 'reject', 'cancel']) expect(text).toContain(`svc proposals ${step} ${proposal.id}`)
    expect(text).not.toContain('svc proposals execute')
    expect(text).toContain('0 of 2 approvals')
    expect(html.split('<main')[1]).not.toMatch(/action="console\/acts\/(?!snooze)/)

    await decide(service, await read(), first!)
    const decided = await pageOf(browser, `/console/proposals/${proposal.id}`)
    expect(decided.text).toContain(`1 of 2 approvals Approver Decision At Signature ${first!.address} approved`)
    expect((await pageOf(browser, '/console/proposals?kind=rule&status=active')).text).toContain(proposal.id)
    expect((await pageOf(browser, '/console/proposals?kind=squads')).text).toContain('There are no proposals')
    expect((await csvOf(browser, '/console/proposals'))[1]).toContain(proposal.id)
  })
})

describe.skipIf(lacksTreasury)(`the page of a proposal of a multisig${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  it('shows plan, members, what it would change now, and the step that is next', async () => {
    const browser = await signedIn(at.service)
    const { id } = await at.payment()
    const { text } = await pageOf(browser, `/console/proposals/${id}`)
    const { plan, what } = await at.proposalOf(id)
    expect(text.startsWith(what)).toBe(true)
    expect(text).toContain(plan.join(' ').replaceAll(/\s+/g, ' ').trim())
    for (const key of [at.a, at.b, at.c]) expect(text).toContain(addressOf(key))
    expect(text).toContain(`Balance changes`)
    expect(text).toContain(`svc proposals approve ${id}`)
    await at.step('approvals', id, at.a)
    await at.step('approvals', id, at.b)
    const approved = (await pageOf(browser, `/console/proposals/${id}`)).text
    expect(approved).toContain('2 of 2 approvals')
    expect(approved).toContain(`svc proposals execute ${id}`)
    expect(approved).not.toContain(`svc proposals approve ${id}`)
  })
})
