/** The claim page as the daemon serves it: the files of the static site, made from the database, for everybody. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { readPageFiles } from '../../src/claim-page/site/page-files.ts'
import { withHead } from '../../src/claim-page/site/page-head.ts'
import { bucketBits } from '../../src/claim-page/site/wallet-buckets.ts'
import { sha256 } from '../merkle/reference.ts'
import { airdropsOn } from '../support/airdrops.ts'
import { inSoak, runs } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { entries } from '../support/trees.ts'

const NODE = 'https://rpc.example.com'
const settings = { 'claim-pages': true, 'claim-page-rpc-url': NODE }

/** A service with a stored tree, and what a browser gets below its page. */
async function served(count: number, more: object = {}) {
  const service = await startService({ settings: { ...settings, ...more } })
  const all = await airdropsOn(service)
  const mint = all.mintFor(all.wallet(), 1n)
  const tree = await all.storeTree(mint, entries(count) as { wallet: string; amount: string }[], 0)
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.app.fetch(new Request(`http://svc.test/claim/${tree.id}${path}`, { headers }))
  const bytes = async (path: string) => Buffer.from(await (await get(path)).arrayBuffer())
  const json = async (path: string) => JSON.parse(String(await bytes(path)))
  return { ...all, service, mint, tree, get, bytes, json }
}

describe('the claim page that the daemon serves', () => {
  it('does not exist unless the setting enables it', async () => {
    const { get } = await served(3, { 'claim-pages': false })
    for (const path of ['', '/', '/airdrops.json']) expect((await get(path)).status).toBe(404)
  })

  it('is the built page, with a strict policy, in its own folder', async () => {
    const { get, bytes } = await served(3)
    const moved = await get('')
    expect([moved.status, moved.headers.get('location')]).toEqual([308, expect.stringMatching(/^\.\/[\w-]{46}\/$/)])
    expect((await get('?wallet=abc')).headers.get('location')).toMatch(/\/\?wallet=abc$/)
    const page = await get('/')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = page.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect(policy).not.toContain('unsafe')
    for (const [path, content] of await readPageFiles())
      if (path !== 'index.html') expect(await bytes(`/${path}`)).toEqual(content)
    expect((await get('/claim.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  it('has the list of the tree in blocks, with the published hashes', async () => {
    const { tree, mint, json, bytes, get } = await served(700)
    const { airdrops, index, cluster } = await json('/airdrops.json')
    expect(cluster.name).toBe('localnet')
    expect(airdrops).toMatchObject([
      { id: tree.id, mint, root: tree.root, list_sha256: tree.list_sha256, leaf_count: 700, decimals: 6 },
    ])
    const list = await bytes(`/${tree.id}/list.bin`)
    expect(sha256(list).toString('hex')).toBe(tree.list_sha256)
    expect(await json(`/${tree.id}/airdrop.json`)).toMatchObject({ ...airdrops[0], cluster })
    const blocks = await Promise.all(Array.from({ length: 11 }, (_, n) => bytes(`/${tree.id}/rows/${n}.bin`)))
    const rows = blocks.map((block, n) => block.subarray(0, 40 * Math.min(64, 700 - 64 * n)))
    expect(Buffer.concat(rows)).toEqual(list)
    expect(blocks.map((block, n) => (block.length - rows[n]!.length) / 32)).toEqual(Array(11).fill(4))
    expect(index).toMatchObject({ bits: 2, count: 700 })
    const buckets = await Promise.all([0, 1, 2, 3].map((k) => bytes(`/index/${k}.bin`)))
    expect(buckets.reduce((sum, { length }) => sum + (length - 64) / 12, 0)).toBe(700)
    for (const path of [`/${tree.id}/rows/11.bin`, '/index/4.bin', '/index/00.bin', '/nothing', '/../v2/health']) {
      expect((await get(path)).status, path).toBe(404)
    }
  })

  it('is fetched again only when it has changed', async () => {
    const { tree, get } = await served(3)
    for (const path of ['/', '/airdrops.json', '/site.json', '/index/0.bin', `/${tree.id}/list.bin`]) {
      const tag = (await get(path)).headers.get('etag')!
      const again = await get(path, { 'if-none-match': tag })
      expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
    }
    expect((await get('/index/0.bin')).headers.get('cache-control')).toBe('no-cache')
  })

  it('names the node of its setting and the settings of its file, but never the node of the daemon', async () => {
    const folder = makeSharedFolder('svc-claim-page-')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    writeFileSync(join(folder, 'mark.svg'), svg)
    const settings = { name: '"Acme" <&>', logo: 'mark.svg' }
    writeFileSync(join(folder, 'claim.json'), JSON.stringify(settings))
    const address = 'https://launch.example.com/svc'
    const { tree, json, get } = await served(3, {
      'claim-page-config': join(folder, 'claim.json'),
      'public-url': address,
    })
    expect(await json('/site.json')).toEqual({ sponsor: '', rpc: [NODE], ...settings, logo: 'logo.svg' })
    // What other sites show of a link to it.
    const head = await (await get('/')).text()
    expect(head).toContain('<meta property="og:site_name" content="&quot;Acme&quot; &lt;&amp;&gt;">')
    expect(head).toContain(`<meta property="og:url" content="${address}/claim/${tree.id}/">`)
    expect(head).toContain('<link rel="icon" href="logo.svg">')
    expect(head).not.toContain('og:image')
    const logo = await get('/logo.svg')
    expect(logo.headers.get('content-type')).toBe('image/svg+xml')
    expect(logo.headers.get('content-security-policy')).toContain('sandbox')
  })

  it('shows the symbol as it is written, whatever its characters', async () => {
    const index = (await readPageFiles()).get('index.html')!.toString('utf8')
    const head = { settings: {}, texts: { title: 'Claim your {symbol}' }, symbol: "$&<$'", address: undefined }
    expect(withHead(index, head)).toContain("<title>Claim your $&amp;&lt;$'</title>")
  })

  it('asks the embedded chain that the daemon serves if no setting names a node', async () => {
    const { service, tree } = await served(3, { 'claim-page-rpc-url': undefined })
    const app = await createApp(service.services, { localRpc: () => 'http://127.0.0.1:9899' })
    const answer = await app.fetch(new Request(`http://svc.test/claim/${tree.id}/site.json`))
    expect(await answer.json()).toEqual({ sponsor: '', rpc: ['http://127.0.0.1:9899'] })
    await app.close()
  })

  it('explains a broken link, and reveals nothing about the daemon', async () => {
    const { service } = await served(3)
    for (const id of ['A'.repeat(46), 'x', '%00']) {
      const answer = await service.app.fetch(new Request(`http://svc.test/claim/${id}/`))
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(await answer.text()).toContain('This claim page does not exist')
    }
  })

  it.skipIf(!inSoak)('reads few lists at once, and few per minute for one address', { tags: 'sampled' }, async () => {
    const { service, storeTree, mint } = await served(1, { 'trusted-proxies': 1 })
    service.clock.advance(60_000 - (service.clock.now() % 60_000))
    const ids: string[] = []
    for (let n = 1; n <= 31; n++) {
      const tree = await storeTree(mint, entries(2) as { wallet: string; amount: string }[], n)
      ids.push(tree.id as string)
    }
    const from = (address: string, id: string) =>
      service.app.fetch(
        new Request(`http://svc.test/claim/${id}/index/0.bin`, { headers: { 'x-forwarded-for': address } }),
      )
    const many = ids.slice(0, 20).map((id) => from('1.2.3.4', id))
    expect((await from('5.6.7.8', ids[30]!)).status).toBe(200)
    const statuses = (await Promise.all(many)).map(({ status }) => status)
    // Three at once; one that has ended meanwhile makes room for another.
    const answered = statuses.filter((status) => status === 200).length
    expect([answered >= 3 && answered < 15, statuses.filter((status) => status === 429).length]).toEqual([
      true,
      20 - answered,
    ])
    const again = []
    for (const id of ids.slice(0, 30)) again.push((await from('1.2.3.4', id)).status)
    expect(again).toEqual(Array(30).fill(200))
    const next = await storeTree(mint, entries(2) as { wallet: string; amount: string }[], 32)
    const refused = await from('1.2.3.4', next.id as string)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    for (const id of ids) expect((await from('1.2.3.4', id)).status).toBe(200)
    expect((await from('5.6.7.8', next.id as string)).status).toBe(200)
  })

  it('is made between other work if it has many wallets', { tags: 'sampled' }, async () => {
    const count = runs(4_000, 50_000)
    const { bytes } = await served(count)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    try {
      const [first, second] = await Promise.all([
        bytes('/index/0.bin'),
        bytes(`/index/${2 ** bucketBits(count) - 1}.bin`),
      ])
      expect(first.length + second.length).toBeLessThan(8_000)
    } finally {
      clearInterval(timer)
    }
    expect(turns).toBeGreaterThan(runs(1, 5))
  })
})
