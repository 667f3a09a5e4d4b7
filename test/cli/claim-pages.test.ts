/** `svc airdrops page`: a static site that finds every wallet of several trees, and settings whose faults are named. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { recipientsOf, sha256 } from '../merkle/reference.ts'
import { png } from '../storage/images.ts'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()
const csvOf = (rows: readonly { wallet: string; amount: bigint }[]) =>
  rows.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')
const { json: ok } = cli
const jsonOf = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'))

describe('svc airdrops page', () => {
  const [first, second] = [recipientsOf(400).slice(0, 300), recipientsOf(400).slice(200)]
  let ids: string[] = []
  beforeAll(async () => {
    const store = (rows: typeof first, count: number) => {
      const list = cli.file(`${count}.csv`, csvOf(rows))
      return ok(['merkle', 'build', list, '--mint', MINT, '--airdrop-count', String(count), '--raw', '--persist'])
    }
    ids = [(await store(first, 0)).id, (await store(second, 1)).id]
  })

  it('writes the page, its settings, and the lists of both trees with one index', async () => {
    const out = join(cli.home, 'public', 'claim')
    cli.file('logo.png', png())
    const settings = {
      name: 'Acme',
      logo: 'logo.png',
      url: 'https://acme.example/claim/',
      colours: { light: { accent: '#7a1f5c' } },
      languages: ['en', 'de'],
      links: [{ text: 'Terms', url: 'https://acme.example/terms' }],
    }
    const config = cli.file('claim.json', JSON.stringify(settings))
    const nodes = 'https://rpc.acme.example,http://127.0.0.1:8899'
    const told = await ok(['airdrops', 'page', ...ids, '--out', out, '--config', config, '--rpc', nodes])
    expect(told).toMatchObject({ ids, leaf_count: 500, cluster: 'localnet' })
    const about = jsonOf(out, 'airdrops.json')
    expect(about).toMatchObject({ format: 'svc-claim-page/1', index: { bits: 1, count: 500 } })
    expect(about.airdrops).toMatchObject([
      { id: ids[0], mint: MINT, decimals: 9, leaf_count: 300, row_bytes: 40, block_rows: 64, clawback_at: null },
      { id: ids[1], mint: MINT, decimals: 9, leaf_count: 200, airdrop_count: 1 },
    ])
    for (const airdrop of about.airdrops) {
      const list = readFileSync(join(out, airdrop.id, 'list.bin'))
      expect(sha256(list).toString('hex')).toBe(airdrop.list_sha256)
      expect(jsonOf(out, airdrop.id, 'airdrop.json')).toMatchObject({ ...airdrop, cluster: about.cluster })
      expect(readdirSync(join(out, airdrop.id, 'rows'))).toHaveLength(Math.ceil(airdrop.leaf_count / 64))
    }
    expect(readdirSync(join(out, 'index')).sort()).toEqual(['0.bin', '1.bin'])
    expect(jsonOf(out, 'site.json')).toEqual({ ...settings, rpc: nodes.split(',') })
    expect(readFileSync(join(out, 'logo.png'))).toEqual(Buffer.from(png()))
    const page = readFileSync(join(out, 'index.html'), 'utf8')
    const symbol = about.airdrops[0].symbol || about.airdrops[0].name
    expect(page).toContain(`<title>Claim your ${symbol} · Acme</title>`)
    expect(page).toContain(`<meta property="og:title" content="Claim your ${symbol}">`)
    expect(page).toContain('<meta property="og:image" content="https://acme.example/claim/logo.png">')
    expect(page).toContain('<link rel="icon" href="logo.png">')
    // Whatever the page names stands below its folder, so that it works on any host and at any path.
    for (const [, link = ''] of page.matchAll(/(?:src|href)="([^"#]+)"/g)) {
      if (link.startsWith('data:')) continue
      expect(link).toMatch(/^[\w-]+\.\w+$/)
      expect(existsSync(join(out, link))).toBe(true)
    }
    expect(readdirSync(join(cli.home, 'public'))).toEqual(['claim'])
  })

  it('replaces a page only with --replace, and never another folder', async () => {
    const out = join(cli.home, 'again')
    await ok(['airdrops', 'page', ids[0]!, '--out', out])
    await cli.refused(['airdrops', 'page', ids[0]!, '--out', out], 'is there already')
    writeFileSync(join(out, 'old.txt'), 'x')
    await ok(['airdrops', 'page', ids[1]!, '--out', out, '--replace'])
    expect([existsSync(join(out, 'old.txt')), jsonOf(out, 'airdrops.json').airdrops[0].id]).toEqual([false, ids[1]])
    const site = join(cli.home, 'other')
    mkdirSync(site)
    writeFileSync(join(site, 'index.html'), 'mine')
    await cli.refused(['airdrops', 'page', ids[0]!, '--out', site, '--replace'], 'contains no claim page')
    expect(readdirSync(site)).toEqual(['index.html'])
  })

  it.each([
    ['{"nmae":"Acme"}', 'claim.json: nmae is not a setting of a claim page'],
    ['{"name":', 'claim.json: is not valid JSON'],
    ['{"colours":{"light":{"text":"#999999"}}}', 'colours.light.text gives text on the background'],
    ['{"colours":{"dark":{"accent":"red"}}}', 'colours.dark.accent must be a colour like #1f5fd0'],
    ['{"language":"de","languages":["en"]}', 'language is de, which `languages` does not have'],
    ['{"rpc":["http://rpc.example.com"]}', 'rpc.0 must be a URL with https'],
    ['{"rpc":["https://user:word@rpc.example.com"]}', 'rpc.0 must be a URL with https'],
    ['{"links":[{"text":"x","url":"javascript:alert(1)"}]}', 'links.0.url must be a URL with https'],
    ['{"explorers":[{"name":"x","transaction":"https://x.example/tx"}]}', 'must have {signature} in it'],
    ['{"sponsor":"https://x.example/path"}', 'sponsor must be an origin'],
    ['{"logo":"logo.gif"}', 'logo must be the path of a .png'],
    ['{"logo":"nowhere.png"}', 'nowhere.png cannot be read: there is no such file'],
  ])('names the fault of the settings %j, and writes nothing', async (text, message) => {
    const out = join(cli.home, 'faulty')
    const { exitCode, stdout, stderr } = await cli.svc([
      'airdrops',
      'page',
      ids[0]!,
      '--out',
      out,
      '--config',
      cli.file('claim.json', text),
    ])
    expect(stderr).toContain(message)
    expect([exitCode, stdout, existsSync(out)]).toEqual([2, '', false])
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('refuses a repeated airdrop, one that is not stored, and an unreachable node URL', async () => {
    const out = join(cli.home, 'refused')
    const run = (...args: string[]) => cli.svc(['airdrops', 'page', ...args, '--out', out])
    expect((await run(ids[0]!, ids[0]!)).stderr).toContain('is given twice')
    expect((await run('A'.repeat(46))).exitCode).toBe(3)
    expect((await run(ids[0]!, '--rpc', 'ftp://x')).stderr).toContain('--rpc: rpc.0 must be a URL with https')
    expect(existsSync(out)).toBe(false)
  })
})
