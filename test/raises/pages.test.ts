/** The page of a raise as the daemon serves it: its files, what they name, and the proofs beside them. */
import { describe, expect, it } from 'vitest'
import { raiseSubjectOf } from '../../src/claim-page/browser/raise/raise-files.ts'
import { readPageFiles } from '../../src/claim-page/site/page-files.ts'
import { vaultAddress } from '../../src/solana/squads/index.ts'
import { updateRaise } from '../../src/store/resources/raises.ts'
import { FIRST_COME, lacksPresale, raisesOn } from '../support/new-raises.ts'
import { ORIGIN, startService } from '../support/service.ts'
import { someAddress } from '../support/wallets.ts'

const NODE = 'https://rpc.example.com'
const SETTINGS = { 'claim-pages': true, 'claim-page-rpc-url': NODE, 'public-url': 'https://sale.example.com/svc' }

/** A service with a built raise, and what a browser gets below its page. */
async function served(settings: object = SETTINGS) {
  const service = await startService({ settings: { 'priority-fee': 'none', ...settings } })
  const raises = await raisesOn(service)
  const { id } = await raises.build({ ...FIRST_COME })
  const visit = (path: string, headers: Record<string, string> = {}) =>
    service.app.fetch(new Request(`${ORIGIN}/raise/${path}`, { headers }))
  return { ...raises, service, id, visit, get: (path: string) => visit(`${id}${path}`) }
}

describe.skipIf(lacksPresale !== '')(`the page of a raise that the daemon serves ${lacksPresale}`, () => {
  it('does not exist unless the setting enables it', async () => {
    const { get } = await served({})
    for (const path of ['', '/', '/raise.json']) expect((await get(path)).status, path).toBe(404)
  })

  it('is the built page in its own folder, with the policy of the claim page and the names of the raise', async () => {
    const { id, get } = await served()
    const moved = await get('?wallet=abc')
    expect([moved.status, moved.headers.get('location')]).toEqual([308, `./${id}/?wallet=abc`])
    const page = await get('/')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const head = await page.text()
    expect(head).toMatch(/<title>Buy .+<\/title>/)
    expect(head).toContain(`<meta property="og:url" content="https://sale.example.com/svc/raise/${id}/">`)
    for (const [path, content] of await readPageFiles('raise-page')) {
      if (path === 'index.html') continue
      expect(Buffer.from(await (await get(`/${path}`)).arrayBuffer()), path).toEqual(content)
    }
  })

  it('names the raise and the cluster as the page reads them, and never the node of the daemon', async () => {
    const { id, service, visit, get } = await served()
    const answer = await get('/raise.json')
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(raiseSubjectOf(await answer.json())).toEqual({
      genesisHash: await service.services.chain.genesisHash(),
      ...{ clusterName: 'localnet', chain: 'solana:localnet', raise: id, vault: null },
    })
    expect(await (await get('/site.json')).json()).toEqual({ sponsor: '', rpc: [NODE] })
    const again = await visit(`${id}/raise.json`, { 'if-none-match': answer.headers.get('etag')! })
    expect([again.status, await again.text()]).toEqual([304, ''])
    // The page itself reads the multisig; visitors make the daemon ask no node for it.
    const multisig = someAddress()
    const vault = { creator: vaultAddress(multisig, 1), creator_vault: `${multisig}:1` }
    await service.services.store.write((tx) => updateRaise(tx, id, vault))
    expect(raiseSubjectOf(await (await get('/raise.json')).json()).vault).toEqual({ multisig, index: 1 })
  })

  it('answers 404 for another raise and another file, and leaves proofs to their own route', async () => {
    const { id, mint, visit, get } = await served()
    for (const path of ['/nothing', '/claim.js', '/texts/fr.json', '/../v2/health']) {
      expect((await get(path)).status, path).toBe(404)
    }
    for (const strange of [mint, 'nothing', '%00']) expect((await visit(`${strange}/`)).status, strange).toBe(404)
    const proof = await get(`/0/${id}`)
    expect([proof.status, proof.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  })
})
