/** `svc raises open` and `page` on the real program: the list from a CSV, its root and its place on chain, and the page with its proofs as files. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { merkleRootAddress, serverMetadataAddress } from '../../src/chain/programs/presale/index.ts'
import { PRESALE } from '../../src/solana/programs/presale.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { walletOf } from '../merkle/reference.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { hasProgram } from '../support/programs.ts'
import { lacksPresale } from '../support/raises.ts'
import { itInSoak } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'
import { carryOutBy } from './vault.ts'

const cli = commandLine()
const URL = 'https://sale.example.com/raise'
const [A, B] = [walletOf(1), walletOf(2)]
let daemon: Served

beforeAll(async () => {
  if (lacksPresale !== '') return
  Object.assign(cli.env, { SVC_PRIORITY_FEE: 'none' })
  daemon = await serveHere(cli.dataDir, cli.env)
})
afterAll(() => daemon?.stop())

async function make() {
  const made = await listedRaise({ ...daemon, visit: (path) => fetch(`${daemon.url}${path}`) })
  const key = cli.keypair(`${made.id.slice(0, 8)}.json`, made.creator).file
  const urlOnChain = () =>
    PRESALE.decode('permissioned_server_metadata', made.account(serverMetadataAddress(made.id)))?.server_url
  const rootOnChain = (version: number) => {
    const account = PRESALE.decode('merkle_root_config', made.account(merkleRootAddress(made.id, BigInt(version))))
    return account && Buffer.from(account.root).toString('hex')
  }
  return {
    ...made,
    key,
    urlOnChain,
    rootOnChain,
    open: (...more: string[]) => ['raises', 'open', made.id, ...more, '-k', key],
  }
}

describe.skipIf(lacksPresale !== '')(`svc raises open ${lacksPresale}`, () => {
  it('stores the list, writes its root and URL, and writes the proofs that the service answers', async () => {
    const it = await make()
    const buyer = it.buyer(1)
    const wallet = addressOf(buyer.key)
    const file = cli.file('list.csv', `wallet,cap,round\n${A},0.0000005,1\n${wallet},0.0000007,2\n`)
    const out = join(cli.home, 'public', 'raise')
    const args = it.open('--allowlist', file, '--decimals', '9', '--url', `${URL}/`, '--out', out)
    const opened = await cli.json(args)
    expect(opened).toMatchObject({ id: it.id, root_version: 0, url: URL, out })
    expect([it.rootOnChain(0), it.urlOnChain()]).toEqual([opened.root, URL])
    expect(JSON.parse(readFileSync(join(out, 'proofs.json'), 'utf8'))).toEqual({
      ...{ format: 'svc-raise-proofs/1', raise: it.id, root: opened.root, root_version: 0, entries: 2 },
    })
    for (const [registry, of] of [
      [0, A],
      [1, wallet],
    ] as const) {
      const served = await it.proof(of, registry)
      expect(JSON.parse(readFileSync(join(out, it.id, String(registry), of), 'utf8'))).toEqual(served.json)
    }
    const told = JSON.parse(readFileSync(join(out, it.id, '1', wallet), 'utf8'))
    expect(it.join(buyer, told)).toBeNull()

    // Again: nothing is left to do on chain, and the folder is ours.
    await cli.refused(args, `${out} is there already`, 2)
    const again = await cli.json([...args, '--replace'])
    expect(again).toMatchObject({ id: it.id, root: opened.root, root_version: 0, url: URL })
    expect(readdirSync(out).sort()).toEqual([it.id, 'proofs.json'].sort())

    // More wallets later; the proofs as files are those of the newest root.
    writeFileSync(file, `wallet,cap,round\n${A},500,1\n${B},500,1\n${wallet},700,2\n`)
    const longer = await cli.json([...it.open('--allowlist', file, '--raw', '--url', URL, '--out', out), '--replace'])
    expect(longer).toMatchObject({ root_version: 1 })
    expect(it.rootOnChain(1)).toBe(longer.root)
    const added = it.buyer(0)
    const unlisted = await it.proof(addressOf(added.key), 0)
    expect(unlisted.status).toBe(404)
  })

  it('shows who may buy, in whole units, and says aloud what adds up', async () => {
    const it = await make()
    const file = cli.file('shown.csv', `wallet,cap,round\n${A},500,1\n${A},700,2\n${B},100,2\n`)
    const { exitCode, stdout, stderr } = await cli.svc([
      ...it.open('--allowlist', file, '--raw', '--url', URL),
      '--dry-run',
    ])
    expect(exitCode, stderr).toBe(0)
    expect(stderr).toContain(`1 wallet is in more than one round, where its caps add up: ${A}`)
    const shown = `${stdout}${stderr}`
    expect(shown).toMatch(/round 2 {3}2 wallets, caps from 0\.0000001 to 0\.0000007, 0\.0000008 of /)
    expect(shown).toContain(`proofs    ${URL}`)
    expect(shown).toContain('here: this raise is opened to this list, with proofs at this URL')
    expect([it.rootOnChain(0), (await it.proof(A, 0)).status]).toEqual([null, 404])
  })

  it('takes the root of a list that is kept elsewhere', async () => {
    const it = await make()
    const root = 'cd'.repeat(32)
    expect(await cli.json(it.open('--root', root, '--url', 'http://localhost:8080/raise'))).toMatchObject({
      root,
      root_version: 0,
    })
    expect(it.rootOnChain(0)).toBe(root)
  })

  it('reads a list from standard input, and as JSON', async () => {
    const it = await make()
    const csv = await cli.json(it.open('--allowlist', '-', '--raw', '--url', URL), { input: `${A},500\n` })
    const file = cli.file('list.json', JSON.stringify([{ wallet: A, amount: '500' }]))
    expect(await cli.json(it.open('--allowlist', file, '--raw', '--url', URL))).toMatchObject({ root: csv.root })
  })

  it('writes another URL alone, where the root is there', async () => {
    const it = await make()
    const file = cli.file('moved.csv', `${A},500\n`)
    await cli.json(it.open('--allowlist', file, '--raw', '--url', URL))
    const moved = 'https://other.example.com/raise'
    expect(await cli.json(it.open('--allowlist', file, '--raw', '--url', moved))).toMatchObject({
      root_version: 0,
      url: moved,
    })
    expect([it.urlOnChain(), it.rootOnChain(1)]).toEqual([moved, null])
  })

  it('refuses faults of the list by line, with the words of other lists, before anything is stored', async () => {
    const it = await make()
    const refused = async (name: string, text: string, message: string | RegExp, ...more: string[]) =>
      cli.refused(
        it.open('--allowlist', cli.file(name, text), '--url', URL, ...(more.length > 0 ? more : ['--raw'])),
        message,
        2,
      )
    await refused(
      'twice.csv',
      `wallet,cap,round\n${A},5,1\n${A},6,1\n`,
      /twice\.csv:3:1: wallet .* is listed twice in round 1 \(remove a row\), first at 2:1/,
    )
    await refused('zero.csv', `wallet,cap,round\n${A},5,0\n`, 'round "0" is not a round: rounds count from 1 to 5')
    await refused('unknown.csv', `wallet,cap,score\n${A},5,9\n`, '"score" is not a known name')
    await refused(
      'large.csv',
      `${A},1000001\n`,
      `large.csv: the cap 1000001 (raw units) of ${A} in round 1 is above 1000000, the most`,
    )
    await refused('third.csv', `wallet,cap,round\n${A},5,3\n`, `${A} is in round 3, and the raise has 2 rounds`)
    await refused('empty.csv', '', 'no rows; a row is wallet,cap')
    await refused('units.csv', `${A},5\n`, 'say whether its amounts are whole tokens or raw units', '--no-input')
    await refused('units.csv', `${A},5\n`, 'has 9 decimals, not 6', '--decimals', '6')
    expect((await it.proof(A, 0)).status).toBe(404)
  })

  it('refuses a URL, a folder or a raise that it must not use', async () => {
    const it = await make()
    const file = cli.file('good.csv', `${A},500\n`)
    await cli.refused(
      it.open('--allowlist', file, '--raw', '--url', 'http://sale.example.com/raise'),
      '--url must be an https URL',
      2,
    )
    const foreign = join(cli.home, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'index.html'), 'mine')
    await cli.refused(
      it.open('--allowlist', file, '--raw', '--url', URL, '--out', foreign, '--replace'),
      `${foreign} is there already, and contains no proofs of a raise`,
      2,
    )
    expect(readFileSync(join(foreign, 'index.html'), 'utf8')).toBe('mine')
    await cli.refused(['raises', 'open', A, '--allowlist', file, '--raw', '-k', it.key], `There is no raise at ${A}`, 3)
    await cli.refused(it.open('--allowlist', file, '--raw'), 'this server has no public address', 2)
    await cli.refused(it.open('--url', URL), /--allowlist|--root/, 2)
    expect(existsSync(join(cli.home, 'public-none'))).toBe(false)
  })
})

const lacksVault = lacksPresale !== '' || !hasProgram(PROGRAMS.squads.id)
describe.skipIf(lacksVault)('svc raises open by a vault (needs Meteora Presale and Squads)', () => {
  itInSoak('proposes the root and the URL, which are on chain once the members have executed it', async () => {
    const [ada, ben] = [cli.keypair('ada.json'), cli.keypair('ben.json')]
    const own = ['-k', ada.file]
    for (const { address } of [ada, ben]) await cli.json(['localnet', 'airdrop', address, '100'])
    const members = ['--member', `${ada.address}:propose,${ben.address}`, '--threshold', '1']
    const { multisig, vault } = await cli.json(['multisig', 'create', ...members, ...own])
    await cli.json(['localnet', 'airdrop', vault, '1'])
    const token = ['tokens', 'create', '--name', 'Sale', '--symbol', 'SALE', '--uri', 'https://example.com/t.json']
    const { mint } = await cli.json([...token, '--supply', '5000000', ...own])
    await cli.json(['tokens', 'revoke', mint, 'mint', ...own, '--yes'])
    const terms = ['--sale-mode', 'fixed_price', '--price', '0.001', '--min', '10', '--max', '80', '--ends', '7d']
    const creating = ['raises', 'create', mint, ...terms, '--allowlist', '--creator-vault', multisig, ...own]
    const { id } = await cli.json(creating)

    const out = join(cli.home, 'of-vault')
    const file = cli.file('of-vault.csv', `${A},20\n${B},30\n`)
    const opening = ['raises', 'open', id, '--allowlist', file, '--decimals', '9', '--url', URL, '--squads', multisig]
    const { proposal, ...proposed } = await cli.json([...opening, '--out', out, ...own])
    expect(proposed).toMatchObject({ id, root_version: 0, url: URL, vault, approvals_needed: 1 })
    const due = async () => (await cli.svc(['raises', 'get', id, '-o', 'table'])).stdout.replace(/\s+/g, ' ')
    expect(await due()).toContain(
      `creator: Open it to its allowlist: until then nobody can deposit (svc raises open ${id})`,
    )
    await carryOutBy(cli, daemon, proposal, [ben])
    expect(await due()).toContain(`buyers: Deposit, with a proof of the allowlist (svc raises deposit ${id})`)
    expect(await cli.json(['raises', 'get', id])).toMatchObject({ root: proposed.root, url: URL, creator: vault })
    // The folder that was written with the proposal has the proofs of the root that it has put on chain.
    const told = JSON.parse(readFileSync(join(out, id, '0', A), 'utf8'))
    expect(told).toEqual(await (await fetch(`${daemon.url}/raise/${id}/0/${A}`)).json())
    expect(told.merkle_root_config).toBe(merkleRootAddress(id, 0n))
  })
})

describe.skipIf(lacksPresale !== '')(`svc raises page ${lacksPresale}`, () => {
  it('writes the page with its settings, and the proofs of the root on chain beside it', async () => {
    const it = await make()
    const file = cli.file('page.csv', `wallet,cap,round\n${A},500,1\n${B},700,2\n`)
    const { root } = await cli.json(it.open('--allowlist', file, '--raw', '--url', URL))
    const out = join(cli.home, 'site')
    const config = cli.file(
      'page.json',
      JSON.stringify({ name: 'Acme', texts: { en: { raiseTitle: 'Buy {symbol}' } } }),
    )
    const args = ['raises', 'page', it.id, '--out', out, '--rpc', 'https://rpc.acme.example', '--config', config]
    const listed = [...args, '--allowlist', file, '--raw']
    expect(await cli.json(listed)).toMatchObject({ out, id: it.id, cluster: 'localnet', entries: 2 })
    const read = (...path: string[]) => readFileSync(join(out, ...path), 'utf8')
    expect(JSON.parse(read('raise.json'))).toMatchObject({ format: 'svc-raise-page/1', raise: it.id })
    expect(JSON.parse(read('site.json'))).toMatchObject({ name: 'Acme', rpc: ['https://rpc.acme.example'] })
    expect(read('index.html')).toMatch(/<title>Buy .+ · Acme<\/title>/)
    for (const [, link = ''] of read('index.html').matchAll(/(?:src|href)="([^"#]+)"/g))
      expect(link.startsWith('data:') || existsSync(join(out, link)), link).toBe(true)
    for (const [registry, wallet] of [
      ['0', A],
      ['1', B],
    ] as const)
      expect(JSON.parse(read(registry, wallet))).toEqual((await it.proof(wallet, registry)).json)
    expect(JSON.parse(read('0', A)).merkle_root_config).toBe(merkleRootAddress(it.id, 0n).toString())
    expect(await cli.json(['raises', 'get', it.id])).toMatchObject({ root, root_version: 0 })

    // The proofs of a later list lead to its own root.
    writeFileSync(file, `wallet,cap,round\n${A},500,1\n${B},700,2\n${B},9,1\n`)
    await cli.refused([...listed, '--replace'], `that of the raise ${it.id} is ${root}`)
    await cli.json(it.open('--allowlist', file, '--raw', '--url', URL))
    await cli.refused(listed, `${out} is there already`, 2)
    expect(await cli.json([...listed, '--replace'])).toMatchObject({ entries: 3 })
    expect(JSON.parse(read('0', B)).merkle_root_config).toBe(merkleRootAddress(it.id, 1n).toString())
  })

  it('refuses a page without the list it needs, a list of another raise, settings with a fault, and a foreign folder', async () => {
    const it = await make()
    const file = cli.file('other.csv', `${A},500\n`)
    const out = join(cli.home, 'no-site')
    const page = (...more: string[]) => ['raises', 'page', it.id, '--out', out, ...more]
    await cli.refused(page(), 'has an allowlist, whose proofs its page needs: give --allowlist FILE', 2)
    await cli.refused(page('--allowlist', file, '--raw'), `that of the raise ${it.id} is not stored`)
    const config = cli.file('fault.json', '{"texts":{"en":{"raiseTitel":"x"}}}')
    await cli.refused(page('--config', config), 'texts.en.raiseTitel', 2)
    await cli.refused(['raises', 'page', A, '--out', out], `There is no raise at ${A}`, 3)
    await cli.refused(page('--rpc', 'ftp://x'), '--rpc: rpc.0 must be a URL with https', 2)
    mkdirSync(join(cli.home, 'mine'))
    writeFileSync(join(cli.home, 'mine', 'index.html'), 'mine')
    const foreign = ['raises', 'page', it.id, '--out', join(cli.home, 'mine'), '--replace']
    await cli.refused(foreign, 'contains no page of a raise', 2)
    expect(existsSync(out)).toBe(false)
  })
})
