/** Lists of launches: what is wrong with one is said by its place, nothing outside of its folder is read, and each row is launched once. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { forecastCost } from '../../commands/pools/launch-list.ts'
import type { LaunchedEntry } from '../../commands/pools/list-journal.ts'
import { readLaunchList } from '../../commands/pools/list-rows.ts'
import { requireFunds, totalLines } from '../../commands/signing/funds.ts'
import { png } from '../storage/images.ts'
import { lacksDbc } from '../support/dbc.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { runs } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const folder = join(cli.home, 'list')
const keypair = join(cli.home, 'creator.json')
const [payer, platform] = [Keypair.generate(), Keypair.generate()]
const env: Record<string, string> = { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_SIGNER: 'keypair' }

beforeAll(() => {
  mkdirSync(folder)
  writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
  writeFileSync(join(cli.home, 'platform.json'), JSON.stringify([...platform.secretKey]), { mode: 0o600 })
  env.SVC_SIGNER_KEYPAIR = join(cli.home, 'platform.json')
  writeFileSync(join(folder, 'logo.png'), png())
  writeFileSync(join(cli.home, 'secret.png'), png())
  symlinkSync(join(cli.home, 'secret.png'), join(folder, 'link.png'))
})

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const create = (args: string[]) => cli.svc(['pools', 'create', ...args, '-k', keypair], { env })
/** The lines of faults, without the path of the list. */
async function faultsOf(name: string, text: string) {
  const path = file(name, text)
  const { exitCode, stderr } = await create(['--from', path])
  expect([exitCode, statSync(`${path}.launch.json`, { throwIfNoEntry: false })]).toEqual([2, undefined])
  return stderr.split('\n').flatMap((line) => (line.includes(`${path}:`) ? [line.replace(`${path}:`, '')] : []))
}

describe('A list of launches', () => {
  it('has the faults of a CSV named by line and column', async () => {
    const text = [
      ...['name,symbol,image,buy,type', 'Alpha!,ALP,logo.png,0.1,', 'Beta,alp,../secret.png,x,'],
      ...[',GAM,logo.png,,', 'Delta,DEL,link.png,,', 'Echo,ECH,none.png,,curve', 'Fox,FOX,logo.png,,,more'],
      ...['Golf,GOL,/etc/passwd,,'],
    ]
    expect(await faultsOf('bad.csv', text.join('\n'))).toEqual([
      '2:1: the name must be 1 to 20 letters, digits or spaces',
      '3:6: the symbol ALP appears twice, and a ticker can be taken only once',
      '3:10: the image is not below the folder of the list',
      '3:24: the buy must be an amount like 1.5, not "x"',
      '4:1: the name is missing',
      '5:11: the image is not below the folder of the list',
      '6:10: the image cannot be read: there is no such file',
      expect.stringMatching(/^6:20: the type /),
      expect.stringContaining('7:20: 6 cells, but 5 columns'),
      '8:10: the image is not below the folder of the list',
    ])
    expect(await faultsOf('strange.csv', 'name,symbol,picture\n')).toEqual([expect.stringContaining('1:13: "picture"')])
    expect(await faultsOf('short.csv', 'name,symbol\n')).toEqual([expect.stringContaining('no column image')])
    expect(await faultsOf('empty.csv', '')).toEqual(['1:1: no launches'])
  })

  it('has the faults of a JSON file named by line and column', async () => {
    const row = (more: string) => `{"name": "A", "symbol": "A", "image": "logo.png"${more}}`
    expect(await faultsOf('a.json', `[\n${row(', "colour": 1')}\n]`)).toEqual([
      expect.stringMatching(/^2:61: "colour" is not a field/),
    ])
    expect(await faultsOf('b.json', `[\n${row(', "buy": 1e-12')},\n${row('')} ]`)).toEqual([
      expect.stringContaining('2:58: the buy must be an amount'),
      expect.stringContaining('3:25: the symbol A appears twice'),
    ])
    expect(await faultsOf('c.json', `[${row('')} ${row('')}]`)).toEqual([
      expect.stringMatching(/^1:52: expected ',' or '\]', found/),
    ])
    expect(await faultsOf('d.json', '{}')).toEqual([expect.stringContaining("1:1: expected '[', found")])
    expect(await faultsOf('e.json', `[${row(', "name": "B"')}]`)).toEqual([
      expect.stringContaining('the field name appears twice'),
    ])
  })

  it('names each keypair file of a mint that cannot be used, and a mint that two rows have', async () => {
    const mint = Keypair.generate()
    const key = JSON.stringify([...mint.secretKey])
    for (const name of ['mint.json', 'same.json']) writeFileSync(join(folder, name), key, { mode: 0o600 })
    writeFileSync(join(folder, 'open.json'), key, { mode: 0o644 })
    const rows = ['mint.json', 'none.json', '../creator.json', 'logo.png', 'open.json', 'same.json']
    const lines = rows.map((name, i) => `Token,S${i},logo.png,${name}`)
    expect(await faultsOf('mints.csv', ['name,symbol,image,mint_keypair', ...lines].join('\n'))).toEqual([
      '3:19: the mint_keypair cannot be read: there is no such file',
      '4:19: the mint_keypair is not below the folder of the list',
      expect.stringContaining('5:19: the keypair file'),
      expect.stringMatching(/^6:19: the keypair file .* can be read by others .*chmod 600/),
      `7:19: the mint ${mint.publicKey.toBase58()} is that of line 2, and can exist only once`,
    ])
    const path = file('vault.csv', 'name,symbol,image,mint_keypair\nToken,TOK,logo.png,mint.json\n')
    const vault = ['--squads', '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g']
    const { stderr } = await create(['--from', path, ...vault, '--dry-run'])
    expect(stderr).toContain(`${path}:2:20: a mint_keypair is for a wallet of your own`)
  })

  it('shows at most a hundred faults', { tags: 'sampled' }, async () => {
    const rows = Array.from({ length: 400 }, (_, i) => `Name!,S${i},logo.png`)
    expect(await faultsOf('many.csv', `name,symbol,image\n${rows.join('\n')}`)).toHaveLength(100)
    const unclosed = `[${'{"é":1},'.repeat(runs(10_000, 100_000))}`
    expect(await faultsOf('unclosed.json', unclosed)).toEqual([expect.stringContaining('found the end of the text')])
  })

  it('is forecast by one run for each preset, with and without a first buy, each buy in its own quote token', async () => {
    const rows = ['A,A,logo.png,0.5,', 'B,B,logo.png,1,', 'C,C,logo.png,,', 'D,D,logo.png,,rich']
    const quoted = ['E,E,logo.png,100,usdc', 'F,F,logo.png,50.5,usdc']
    const path = file('mixed.csv', ['name,symbol,image,buy,preset', ...rows, ...quoted].join('\n'))
    const run: string[] = []
    const totals: Record<string, string> = { A: '520000000', C: '18000000', D: '5020000000', E: '21000000' }
    const session = {
      clock: { sleep: async () => undefined },
      client: {
        transactions: {
          async forecast({ transactions: [symbol = ''] }: { transactions: string[] }) {
            run.push(symbol)
            const amount = totals[symbol]
            const sol = {
              wallet: 'payer',
              mint: null,
              decimals: null,
              amount,
              needed: `${Number(amount) + 9}`,
              held: '7',
            }
            const usdc = { ...sol, mint: 'dollars', decimals: 6, amount: '100000000', needed: '100000000', held: '5' }
            return { data: { failed: null, exact: true, payments: symbol === 'E' ? [sol, usdc] : [sol] } }
          },
        },
      },
    } as unknown as Session
    const list = await readLaunchList(path)
    const built = new Map(list.rows.map((row) => [row, [row.symbol]]))
    const { funds, each } = await forecastCost(session, [], built)
    expect(each).toBe('0.018 to 5.02 SOL')
    expect(totalLines(funds, 'payer')).toEqual([
      '  total     6.62 SOL (you have 0.000000007)',
      '            150.5 of dollars (you have 0.000005)',
      '  missing   6.620000002 SOL in payer',
      '            150.499995 of dollars in payer',
    ])
    expect(run).toEqual(['A', 'C', 'D', 'E'])
    expect(() => requireFunds(funds, 'embedded')).toThrow(
      'payer has 0.000000007 SOL, and 6.620000009 SOL is needed: nothing was signed or sent',
    )
  })

  it('has the same row whatever the order of its columns', async () => {
    const of = async (name: string, text: string) =>
      (await readLaunchList(file(name, text))).rows.map((row) => row.sha256)
    const one = await of('order-one.csv', 'name,symbol,image,buy\nAlpha,ALP,logo.png,0.1\nBeta,BET,logo.png,\n')
    expect(await of('order-two.csv', 'image,buy,symbol,name\nlogo.png,0.1,ALP,Alpha\nlogo.png,,BET,Beta\n')).toEqual(
      one,
    )
    expect(await of('order-three.csv', 'image,buy,symbol,name\nlogo.png,0.2,ALP,Alpha\nlogo.png,,BET,Beta\n')).toEqual([
      expect.not.stringMatching(one[0]!),
      one[1],
    ])
  })

  it('takes no flags of a single launch', async () => {
    for (const flag of ['--name', '--symbol', '--buy']) {
      const { exitCode, stderr } = await create(['--from', 'x.csv', flag, '1'])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${flag} cannot be used with --from`)])
    }
    for (const flag of ['--build-only', '--bundle', '--signed']) {
      expect(await create(['--from', 'x.csv', flag])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(new RegExp(`cannot be used with (--from|${flag})`)),
      })
    }
    expect((await create(['--journal', 'x', '--name', 'A', '--symbol', 'A', '--image', 'x'])).stderr).toContain(
      '--journal needs --from',
    )
    expect((await create([])).stderr).toContain('missing --name, --symbol, --image')
  })
})

describe.skipIf(lacksDbc)('A list of launches on a chain', () => {
  let daemon: Served
  beforeAll(async () => {
    mkdirSync(cli.dataDir, { recursive: true })
    daemon = await serveHere(cli.dataDir, env)
  })
  afterAll(() => daemon?.stop())

  it('is launched, each row once; a launched row cannot change', async () => {
    for (const key of [payer, platform])
      await cli.svc(['localnet', 'airdrop', key.publicKey.toBase58(), '100'], { env })
    const list = (second: string) =>
      file('launches.csv', `name,symbol,image,buy,description\nAlpha,ALP,logo.png,0.1,"One, two"\n${second}\n`)
    // All with a first buy: one run forecasts them.
    const path = list('Beta,BET,logo.png,0.1,')
    const journal = `${path}.launch.json`
    const json = async () => JSON.parse((await create(['--from', path, '--json'])).stdout)

    const launched = await json()
    expect(launched).toMatchObject({ total: 2, launched: 2, failed: 0 })
    expect(statSync(journal).mode & 0o777).toBe(0o600)
    // Neither a key nor a signed transaction stays once the pool is live.
    const [, ...kept] = readFileSync(journal, 'utf8')
      .trim()
      .split('\n')
      .map((line): LaunchedEntry => JSON.parse(line))
    expect(kept).toMatchObject([
      { isLive: true, built: null, signed: null },
      { isLive: true, built: null },
    ])
    expect(await json()).toMatchObject({
      launched: 0,
      launched_already: 2,
      pools: launched.pools.map(({ pool }: { pool: string }) => ({ pool })),
    })

    list('Better,BET,logo.png,0.1,')
    const { exitCode, stderr } = await create(['--from', path])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(':3:8: BET was started with another row')])
    const other = join(cli.home, 'other.json')
    writeFileSync(other, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 })
    await cli.refused(['pools', 'create', '--from', path, '-k', other], 'was started with the keypair', 2, { env })
  })

  it('has the mints whose keypair files its rows name, once', async () => {
    const keys = Array.from({ length: 5 }, () => Keypair.generate())
    const addresses = keys.map(({ publicKey }) => publicKey.toBase58())
    for (const [i, { secretKey }] of keys.entries())
      writeFileSync(join(folder, `own-${i}.json`), JSON.stringify([...secretKey]), { mode: 0o600 })
    const line = (i: number, symbol = `OWN${i}`) => `Own,${symbol},logo.png,${i < 2 ? '0.1' : ''},own-${i}.json`
    const text = (lines: string[]) => ['name,symbol,image,buy,mint_keypair', ...lines, ''].join('\n')
    const path = file('own.csv', text(keys.map((_, i) => line(i))))
    const { stdout } = await create(['--from', path, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ launched: 5, pools: addresses.map((mint) => ({ mint })) })
    expect(JSON.parse((await create(['--from', path, '--json'])).stdout)).toMatchObject({ launched_already: 5 })
    const kept = readFileSync(`${path}.launch.json`, 'utf8')
    for (const { secretKey } of keys) expect(kept).not.toContain(secretKey.subarray(0, 8).join(','))

    // Another key in the file of a launched row is another launch.
    writeFileSync(join(folder, 'own-4.json'), JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 })
    expect((await create(['--from', path])).stderr).toContain(`${path}:6:5: OWN4 was started with another row`)
    expect(await faultsOf('taken.csv', text([line(0, 'NEW')]))).toEqual([
      expect.stringContaining(`2:22: base_mint: an account exists at ${addresses[0]} already`),
    ])
  })

  it('is refused as a whole, with the places, before anything is sent', async () => {
    const text = 'name,symbol,image,preset\nDelta,DEL,logo.png,\nEcho,ECH,logo.png,none\n'
    expect(await faultsOf('refused.csv', text)).toEqual([expect.stringContaining('3:19: There is no preset none')])
    const poor = join(cli.home, 'poor.json')
    writeFileSync(poor, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 })
    const path = file('poor.csv', 'name,symbol,image\nDelta,DEL,logo.png\n')
    const { exitCode, stderr } = await cli.svc(['pools', 'create', '--from', path, '-k', poor], { env })
    expect([exitCode, statSync(`${path}.launch.json`, { throwIfNoEntry: false })]).toEqual([1, undefined])
    expect(stderr).toMatch(/has 0 SOL, and 0\.\d+ SOL is needed: nothing was signed or sent/)
    expect(stderr).toMatch(/svc localnet airdrop \w+ 1\b/)
  })
})
