/** What `svc` does with a list that is stored under an id: another key may have stored it, and the API may lie about it. */
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireMeant, type StoredList } from '../../commands/airdrops/meant-list.ts'
import type { Session } from '../../commands/cli/session.ts'
import { wholeFolder } from '../../commands/ui/whole-folder.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { recipientsOf } from '../merkle/reference.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { itOnSqliteAlone } from '../support/database.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { commandLine, MINT, onTerminal, PROGRAM } from './command-line.ts'

const BACKUPS = 'PostgreSQL has its own backups'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const csvOf = (rows: readonly { wallet: string; amount: bigint }[]) =>
  rows.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')
const OTHER_ROOT = 'ab'.repeat(32)

it('a folder that is written whole takes no file that leads out of it', async () => {
  const out = join(cli.home, 'whole')
  const folder = await wholeFolder(out, { replace: false, kind: 'page', file: 'x.json', format: 'x' })
  for (const path of ['../escaped.txt', 'a/../../escaped.txt', '..', '']) {
    await expect(folder.write((put) => put(path, 'x'))).rejects.toThrow('would not be in it')
  }
  expect(readdirSync(cli.home).filter((name) => /escaped|whole/.test(name))).toEqual([])
})

it('a list of more than 50,000 rows is that of several airdrops in their order, or has the one that is asked for', async () => {
  const file = cli.file('large.csv', csvOf(recipientsOf(50_003)))
  const { stdout } = await cli.svc(['merkle', 'build', file, '--mint', MINT, '--shard', '--json'])
  const [first, second] = JSON.parse(stdout) as [StoredList, StoredList]
  const ui = { progress: () => () => undefined, clear: () => undefined, note: () => undefined, warn: () => undefined }
  const meant = (stored: StoredList[]) =>
    requireMeant({ ui } as unknown as Session, stored, {
      roots: [],
      list: file,
      decimals: undefined,
      duplicates: undefined,
    })
  for (const stored of [[first, second], [first], [second]]) await meant(stored)
  await expect(meant([second, first])).rejects.toThrow(`has the root ${second.root}`)
  await expect(meant([first, second, first])).rejects.toThrow('is the list of 2 airdrops, and 3 are named')
})

describe.skipIf(lacksPrograms)('a stored list (needs the Jito merkle distributor and Token Metadata)', () => {
  const payer = Keypair.generate()
  const [mine, theirs] = [someone().toBase58(), someone().toBase58()]
  let daemon: Daemon
  let mint = ''
  const files = { payer: '', mine: '', theirs: '' }
  const keys = { owner: '', thief: '' }
  const stored = { mine: { id: '', root: '' }, theirs: { id: '', root: '' } }

  const run = (args: string[], key?: string) => cli.svc(args, { env: key === undefined ? {} : { SVC_API_KEY: key } })
  const ok = async (args: string[], key?: string) => {
    const { exitCode, stdout, stderr } = await run([...args, '--json'], key)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) })
    return JSON.parse(stdout)
  }
  const build = (file: string, count: number) => [
    ...['merkle', 'build', file, '--mint', mint],
    ...['--airdrop-count', String(count), '--persist'],
  ]

  beforeAll(async () => {
    files.payer = cli.file('payer.json', JSON.stringify([...payer.secretKey]), 0o600)
    await cli.svc(['localnet', 'status'])
    const env = { SVC_PROGRAMS_DIR: PROGRAMS_DIR }
    daemon = await startDaemon({ dataDir: cli.dataDir, flags: ['--rpc-port', '0'], env })
    await ok(['localnet', 'airdrop', payer.publicKey.toBase58(), '10'])
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    mint = (await ok(['tokens', 'create', ...token, '-k', files.payer, '--yes'])).mint
    for (const name of ['owner', 'thief'] as const) {
      keys[name] = (await ok(['keys', 'create', '--name', name, '--scopes', 'airdrop:write'])).key
    }
    files.mine = cli.file('mine.csv', `${mine},900000\n`)
    files.theirs = cli.file('theirs.csv', `${theirs},900000\n`)
    stored.mine = await ok(build(files.mine, 0), keys.owner)
    stored.theirs = await ok(build(files.theirs, 1), keys.thief)
  })
  afterAll(() => daemon?.stop('SIGKILL'))

  const onChain = async (id: string) => (await ok(['airdrops', 'get', id])).on_chain_root
  const commandsOn = (id: string): Record<string, string[]> => ({
    init: ['airdrops', 'init', id, '-k', files.payer, '--yes'],
    push: ['airdrops', 'push', id, '-k', files.payer, '--yes'],
    sponsor: ['airdrops', 'sponsor', id, '--budget', '1', '--yes'],
    page: ['airdrops', 'page', id, '--out', join(cli.home, 'out'), '--yes'],
    export: ['airdrops', 'export', id, '--out', join(cli.home, 'out'), '--yes'],
  })
  const NAMES = ['init', 'push', 'sponsor', 'page', 'export']

  it('is not replaced by another key, so that `init ID --yes` never funds a thief', async () => {
    const robbed = await run([...build(files.theirs, 0), '--replace'], keys.thief)
    expect([robbed.exitCode, robbed.stderr]).toEqual([4, expect.stringContaining('was stored by another API key')])
    const { id, root } = stored.mine
    expect(await ok(['airdrops', 'init', id, '-k', files.payer, '--yes'], keys.owner)).toMatchObject({ root })
    expect(await onChain(id)).toBe(root)
  })

  it.each(NAMES)('of another key is not taken by `airdrops %s ID --yes` without --root or --list', async (name) => {
    const { id, root } = stored.theirs
    const args = commandsOn(id)[name]!
    const refused = await run(args)
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(`its root is ${root}`)])
    expect(refused.stderr).toContain('--root ROOT, or --list FILE')
    for (const [more, words] of [
      [['--root', OTHER_ROOT], `has the root ${root}, and --root says ${OTHER_ROOT}`],
      [['--list', files.mine], `has the root ${root}, and that of ${files.mine} is ${stored.mine.root}`],
    ] as const) {
      const other = await run([...args, ...more])
      expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining(words)])
      // Whoever stored it may still mean another list.
      expect((await run([...args, ...more], keys.thief)).exitCode).toBe(1)
    }
    expect([await onChain(id), existsSync(join(cli.home, 'out'))]).toEqual([null, false])
    expect((await run(['airdrops', 'sponsor', id])).exitCode).toBe(3)
  })

  it('of another key is warned of on a terminal, where somebody sees its root', async () => {
    const { id, root } = stored.theirs
    const { exitCode, screen } = await onTerminal(
      cli,
      ['airdrops', 'export', id, '--out', join(cli.home, 'seen')],
      [],
      400,
    )
    expect([exitCode, screen]).toEqual([
      0,
      expect.stringContaining(`was not stored with this API key; its root is ${root}`),
    ])
  })

  it.each([
    [['--decimals', '6'], '--decimals needs --list'],
    [['--root', OTHER_ROOT, '--list', 'x.csv'], 'give either --root or --list'],
    [['--root', 'abc'], '--root must be 32 bytes in hex'],
    [['--list', 'nowhere.csv'], 'nowhere.csv cannot be read'],
  ])('is refused with %j before anything is done', async (more, message) => {
    const { exitCode, stderr } = await run([...commandsOn(stored.theirs.id).push!, ...more])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('is named by --root or --list, and read with the decimals that it has', async () => {
    const { id, root } = stored.theirs
    const whole = cli.file('whole.csv', `${theirs},0.9\n`)
    const { page, push, init, sponsor } = commandsOn(id)
    const wrong = await run([...page!, '--list', whole, '--decimals', '9'])
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('read with --decimals 6')])
    await ok([...page!, '--list', whole, '--decimals', '6'])
    await ok([...page!, '--root', `0x${root.toUpperCase()}`, '--replace'])
    const both = ['airdrops', 'page', stored.mine.id, id, '--out', join(cli.home, 'both'), '--yes', '--root']
    const swapped = await run([...both, `${root},${stored.mine.root}`])
    expect([swapped.exitCode, swapped.stderr]).toEqual([1, expect.stringContaining(`--root says ${root}`)])
    expect((await run([...both, root])).stderr).toContain('--root must have 2 roots')
    await ok([...both, `${stored.mine.root},${root}`])
    // Nothing is signed in a dry run, which shows the root.
    expect((await run([...push!, '--dry-run'])).exitCode).toBe(0)
    await ok([...init!, '--list', files.theirs])
    expect(await onChain(id)).toBe(root)
    expect(await ok([...sponsor!, '--list', files.theirs])).toMatchObject({ root, ended: false, budget: '1000000000' })
    expect(await ok(['airdrops', 'sponsor', id, '--budget', '2', '--yes'])).toMatchObject({ budget: '2000000000' })
  })

  it('that the API answers for another id, or of another token, becomes no path and is not paid', async () => {
    const { id } = stored.theirs
    const evil = { id: `../../${'x'.repeat(40)}`, mint: someone().toBase58(), airdrop_count: 7 }
    let lie: keyof typeof evil = 'id'
    const liar = createServer(async (request, response) => {
      const sent = await text(request)
      const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' }
      const body = sent === '' ? {} : { body: sent }
      const answer = await fetch(`${daemon.url}${request.url}`, { method: request.method ?? 'GET', headers, ...body })
      const told = JSON.parse(await answer.text())
      if (told.data?.[lie] !== undefined) told.data[lie] = evil[lie]
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(told))
    }).listen(0, '127.0.0.1')
    await once(liar, 'listening')
    try {
      const key = readFileSync(join(cli.dataDir, 'operator.key'), 'utf8').trim()
      const env = { SVC_API: `http://127.0.0.1:${(liar.address() as AddressInfo).port}`, SVC_API_KEY: key }
      const before = readdirSync(cli.home)
      for (lie of ['id', 'mint', 'airdrop_count'] as const) {
        for (const name of NAMES) {
          const args = commandsOn(id)[name]!.map((word) => word.replace(/\/out$/, '/lied'))
          const { exitCode, stderr } = await cli.svc([...args, '--root', stored.theirs.root], { env })
          expect([lie, name, exitCode, stderr]).toEqual([lie, name, 1, expect.stringContaining('another airdrop than')])
        }
      }
      expect(readdirSync(cli.home)).toEqual(before)
    } finally {
      liar.close()
    }
  })

  itOnSqliteAlone(
    'a killed backup of a served chain does not delay the next one, and leaves no copy',
    BACKUPS,
    async () => {
      const owner = join(cli.dataDir, 'localnet.json')
      const told = JSON.parse(readFileSync(owner, 'utf8'))
      // Between the backup and the chain, so that it is killed when the copy is made and before it has it.
      let killed: { kill(signal: 'SIGKILL'): unknown } | undefined
      const between = createServer(async (request, response) => {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(told.rpc_url, { method: 'POST', headers, body: await text(request) })
        const copied = await answer.text()
        killed?.kill('SIGKILL')
        response.end(copied)
      }).listen(0, '127.0.0.1')
      await once(between, 'listening')
      const copies = () => readdirSync(cli.dataDir).filter((name) => name.startsWith('chain.copy-'))
      const args = ['db', 'backup', join(cli.home, 'chained'), '--include', 'chain', '--data-dir', cli.dataDir]
      try {
        const rpc_url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
        writeFileSync(owner, JSON.stringify({ ...told, rpc_url }))
        const child = execa(process.execPath, [PROGRAM, ...args], { cwd: cli.home, env: cli.env, reject: false })
        killed = child
        expect((await child).signal).toBe('SIGKILL')
        expect(copies()).toHaveLength(1)
      } finally {
        writeFileSync(owner, JSON.stringify(told))
        between.close()
      }
      const { exitCode, stderr } = await run(args.slice(0, 5))
      expect(exitCode, stderr).toBe(0)
      expect(copies()).toEqual([])
    },
  )

  itOnSqliteAlone('a backup removes no file that whoever answers as the chain has named', BACKUPS, async () => {
    const precious = cli.file('precious.txt', 'mine')
    const liar = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { file: precious } }))
    }).listen(0, '127.0.0.1')
    await once(liar, 'listening')
    const owner = join(cli.dataDir, 'localnet.json')
    const told = readFileSync(owner, 'utf8')
    try {
      const rpc_url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
      writeFileSync(owner, JSON.stringify({ ...JSON.parse(told), rpc_url }))
      const { exitCode, stderr } = await run(['db', 'backup', join(cli.home, 'backup'), '--include', 'chain'])
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('which is not a copy of the chain')])
      expect(existsSync(precious)).toBe(true)
    } finally {
      writeFileSync(owner, told)
      liar.close()
    }
  })
})
