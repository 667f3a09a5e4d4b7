/** The console's pages of transactions, tokens, signer, fee schedules and ledger, over real transactions. */
import { beforeAll, describe, expect, it } from 'vitest'
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import { type ConsoleBrowser, fieldsOf, HOSTILE, signedIn } from '../support/console.ts'
import { type ConsoleTransactions, consoleTransactions, SYMBOL } from '../support/console-transactions.ts'
import { type PlatformService, sharedPlatform } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'

const shared = sharedPlatform()

describe('the console of a platform', () => {
  let world: ConsoleTransactions & { service: PlatformService; browser: ConsoleBrowser }
  beforeAll(async () => {
    const service = await shared()
    world = { ...(await consoleTransactions(service)), service, browser: await signedIn(service) }
  })
  const page = async (path: string) => {
    const shown = await world.browser.get(path)
    expect([path, shown.status], shown.text).toEqual([path, 200])
    if (shown.headers.get('content-type') === 'text/csv; charset=utf-8') return shown
    expect(shown.html).not.toContain('<script>alert')
    expect(shown.html).not.toContain(SYMBOL)
    return shown
  }

  it('lists transactions by lifecycle, each with a link to its page', async () => {
    const { memo, failed, waiting, mint } = world
    const all = await page('/console/transactions')
    for (const signature of [memo, failed, waiting]) expect(all.html).toContain(`console/transactions/${signature}`)
    expect(all.html).toContain(`href="console/tokens/${mint}"`)
    const some = await page('/console/transactions?lifecycle=failed')
    expect(some.text).toContain(failed)
    expect(some.text).not.toContain(memo)
    expect(some.text).toContain('svc tx list --lifecycle failed')
    const csv = (await page('/console/transactions?lifecycle=failed&format=csv')).html.split('\r\n')
    expect(csv[0]).toBe('created_at,signature,lifecycle,For,Error,slot,bundle_id,external_uid')
    expect(csv[1]).toContain(`,${failed},failed,`)
  })

  it('shows the life of a transaction, every instruction, and its bytes', async () => {
    const { text, html } = await page(`/console/transactions/${world.memo}`)
    expect(text).toMatch(/^Transaction, finalized/)
    expect(text).toMatch(/Life .*transaction\.submitted.*transaction\.confirmed.*transaction\.finalized/)
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(text).toContain(`svc tx get --content ${world.memo}`)
    expect(html).toMatch(/<pre tabindex="0" data-copy="true">A[A-Za-z0-9+/=]{200,}<\/pre>/)
    expect(text).not.toContain('svc tx submit')
  })

  it('says why a transaction failed, and shows the command that sends a waiting one again', async () => {
    const failed = await page(`/console/transactions/${world.failed}`)
    expect(failed.html).toMatch(/<div role="alert"><p>System program: [^<]*<\/p><p>[^<]+<\/p>/)
    const waiting = await page(`/console/transactions/${world.waiting}`)
    expect(waiting.text).toMatch(/svc tx submit A[\w+/=]+ /)
    expect(waiting.text).toContain('/v2/transactions')
  })

  it('shows tokens with what strangers call them, and finds them by symbol and mint', async () => {
    const { mint } = world
    const { text } = await page(`/console/tokens?symbol=${encodeURIComponent(SYMBOL)}`)
    expect(text).toContain(SYMBOL)
    expect((await page('/console/tokens?format=csv')).html).toContain(`${mint},${SYMBOL},My Token,`)
    expect((await page(`/console/tokens/${mint}`)).text).toContain(`svc tokens get ${mint}`)
    const report = await page(`/console/tokens/${mint}/report`)
    expect(report.text).toMatch(/Risks .*mint_authority warning|Risks .*mint_authority danger/)
    const found = async (search: string) =>
      (await page(`/console/tokens/search?text=${encodeURIComponent(search)}`)).html
    expect(await found(SYMBOL)).toContain(`href="console/tokens?symbol=${encodeURIComponent(SYMBOL)}"`)
    expect(await found(mint)).toContain(`href="console/tokens/${mint}"`)
    expect(await found(mint)).toContain(`href="console/transactions?resource_id=${mint}"`)
    const { text: all } = await page(`/console/tokens/search?text=${mint}`)
    expect(all).toMatch(new RegExp(`What Where Token ${mint} Transactions ${mint} Entries of the ledger ${mint}$`))
    expect(await found(world.memo)).toContain(`href="console/transactions/${world.memo}"`)
    expect(await found(HOSTILE)).toContain('Nothing was found for &lt;script&gt;')
  })

  it('shows the policy against its use in words, and what was refused', async () => {
    const { text, html } = await page('/console/signer')
    expect(text).toMatch(/SOL 0\.000005 10 9\.999995 0 %/)
    expect(html).toMatch(/<meter min="0" max="100" high="80" value="0" aria-label="Used of SOL">/)
    expect(text).toMatch(/What was refused .*signer\.test lamports_per_transaction/)
    expect(text).toContain('svc signer pause')
    expect((await page('/console/signer/audit?action=signing.refused')).text).toContain('lamports_per_transaction')
    expect((await page('/console/signer/verification')).text).toContain('The audit log is intact.')
  })

  it('shows that the signer is paused, and the command that resumes it', async () => {
    const { request } = world.service
    await request('POST', '/v2/signer/pauses', { body: { reason: HOSTILE } })
    const { text } = await page('/console/signer')
    expect(text).toContain('The signer is paused')
    expect(text).toContain('svc signer resume')
    await request('POST', '/v2/signer/resumptions', { body: {} })
  })

  it('adds up the ledger by month, and leads to the entries', async () => {
    const { text, html } = await page('/console/ledger')
    expect(text).toMatch(/ \d{4}-\d\d network SOL /)
    const [, link = ''] = /href="(console\/ledger\/entries\?[^"]*party=network[^"]*)"/.exec(html) ?? []
    const entries = await page(`/${link.replaceAll('&amp;', '&')}`)
    expect(entries.text).toContain('network_fee')
    expect(entries.html).toContain(`href="console/transactions/${world.memo}"`)
    expect((await page('/console/ledger/entries?created_before=2026-06-01')).text).toContain('no such entries')
    const csv = (await page('/console/ledger?format=csv')).html.split('\r\n')
    expect(csv[0]).toBe('Key,party,Token,entries,Received,Paid,Net')
    expect(csv).toContainEqual(expect.stringMatching(/^\d{4}-\d\d,network,SOL,\d+,0\.0000\d+,0,0\.0000\d+$/))
    const verified = await page('/console/ledger/verification')
    expect(verified.text).toContain('svc ledger verify')
    expect(verified.text).toContain('This step found no difference.')
  })

  it('pauses a fee schedule by its form, and a viewer only sees the command', async () => {
    const { request } = world.service
    const created = await request('POST', '/v2/fee-schedules', { body: { cron: '@hourly' } })
    const { id } = created.json.data
    const path = `/console/signer/schedules/${id}`
    const viewer = await signedIn(world.service, 'viewer')
    const seen = await viewer.get('/console/signer/schedules')
    expect(seen.text).toContain(`svc fees schedule pause ${id}`)
    expect(seen.html).not.toContain('console/acts/')
    const fields = fieldsOf((await world.browser.get(path)).html, 'console/acts/pause-schedule')
    const csrf = fieldsOf(seen.html, 'console/sign-out').csrf!
    expect((await viewer.post('/console/acts/pause-schedule', { ...fields, csrf })).status).toBe(403)
    expect((await world.browser.submit(path, 'console/acts/pause-schedule')).status).toBe(303)
    expect((await request('GET', `/v2/fee-schedules/${id}`)).json.data.active).toBe(false)
    expect((await page(path)).text).toContain(`svc fees schedule resume ${id}`)
    expect((await page('/console/signer/schedules')).text).toContain(`svc fees schedule resume ${id}`)
  })

  it('shows the last run of a schedule, and one that was refused with its command', async () => {
    const { request, services } = world.service
    const { id } = (await request('POST', '/v2/fee-schedules', { body: { cron: '@daily' } })).json.data
    await request('POST', '/v2/signer/pauses', { body: {} })
    await request('POST', `/v2/fee-schedules/${id}/runs`, { body: {} })
    await runFeeSchedules(services)
    await request('POST', '/v2/signer/resumptions', { body: {} })
    expect((await page(`/console/signer/schedules/${id}`)).text).toMatch(/Runs .* skipped signer_paused /)
    expect((await page('/console/signer/schedules')).text).toMatch(/skipped: signer_paused, 0 claimed/)
    expect((await page('/console/signer')).text).toContain(`svc fees schedule run ${id}`)
    const waits = (await request('GET', '/v2/attention?kind=schedule_stopped')).json.data
    expect(waits.map((item: { page: string }) => item.page)).toContain(`/console/signer/schedules/${id}`)
  })
})

describe('the console of an installation without a signer', () => {
  it('says so on the page of the signer, and shows a viewer of a link what it may read', async () => {
    const service = await startService()
    const operator = await signedIn(service)
    expect((await operator.get('/console/signer')).text).toContain('Provider none')
    const viewer = await signedIn(service, 'viewer')
    const { status, text } = await viewer.get('/console/signer')
    expect([status, text]).toEqual([200, expect.stringContaining('missing required scope(s): *')])
    expect((await operator.get('/console/tokens/search?text=')).status).toBe(200)
    expect((await operator.get('/console/transactions/1')).status).toBe(400)
  })
})
