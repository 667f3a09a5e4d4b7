/** What `svc` does with a list that is stored under an id: another key may have stored it, and the API may lie about it. */
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wholeFolder } from '../../commands/ui/whole-folder.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { itOnSqliteAlone } from '../support/database.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram } from '../support/programs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const BACKUPS = 'PostgreSQL has its own backups'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const OTHER_ROOT = 'ab'.repeat(32)

it('A folder that is written whole refuses a path outside of it', async () => {
  const out = join(cli.home, 'whole')
  const folder = await wholeFolder(out, { replace: false, kind: 'page', file: 'x.json', format: 'x' })
  for (const path of ['../escaped.txt', 'a/../../escaped.txt', '..', '']) {
    await expect(folder.write((put) => put(path, 'x'))).rejects.toThrow('would not be in it')
  }
  expect(readdirSync(cli.home).filter((name) => /escaped|whole/.test(name))).toEqual([])
})

describe.skipIf(lacksPrograms)('A stored list (needs the Jito merkle distributor and Token Metadata)', () => {
  const payer = Keypair.generate()
  const [mine, theirs] = [someone().toBase58(), someone().toBase58()]
  let daemon: Served
  let mint = ''
  const files = { payer: '', mine: '', theirs: '' }
  const keys = { owner: '', thief: '' }
  const stored = { mine: { id: '', root: '' }, theirs: { id: '', root: '' } }

  const run = (args: string[], key?: string) => cli.svc(args, { env: key === undefined ? {} : { SVC_API_KEY: key } })
  const ok = (args: string[], key?: string) => cli.json(args, { env: key === undefined ? {} : { SVC_API_KEY: key } })
  const build = (file: string, count: number) => [
    ...['merkle', 'build', file, '--mint', mint],
    ...['--airdrop-count', String(count), '--raw', '--persist'],
  ]

  beforeAll(async () => {
    files.payer = cli.file('payer.json', JSON.stringify([...payer.secretKey]), 0o600)
    await cli.svc(['localnet', 'status'])
    daemon = await serveHere(cli.dataDir)
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
  afterAll(() => daemon?.stop())

  const onChain = async (id: string) => (await ok(['airdrops', 'get', id])).on_chain_root
  const commandsOn = (id: string): Record<string, string[]> => ({
    init: ['airdrops', 'init', id, '-k', files.payer, '--yes'],
    push: ['airdrops', 'push', id, '-k', files.payer, '--yes'],
    sponsor: ['airdrops', 'sponsor', id, '--budget', '1', '--yes'],
    page: ['airdrops', 'page', id, '--out', join(cli.home, 'out'), '--yes'],
    export: ['airdrops', 'export', id, '--out', join(cli.home, 'out'), '--yes'],
  })
  const NAMES = ['init', 'push', 'sponsor', 'page', 'export']

  it('is never replaced by another API key, so that `init ID --yes` funds no thief', async () => {
    const robbed = await run([...build(files.theirs, 0), '--replace'], keys.thief)
    expect([robbed.exitCode, robbed.stderr]).toEqual([4, expect.stringContaining('was stored by another API key')])
    const { id, root } = stored.mine
    expect(await ok(['airdrops', 'init', id, '-k', files.payer, '--yes'], keys.owner)).toMatchObject({ root })
    expect(await onChain(id)).toBe(root)
  })

  it.each(NAMES)('of another API key is refused by `airdrops %s ID --yes` without --root or --list', async (name) => {
    const { id, root } = stored.theirs
    const args = commandsOn(id)[name]!
    const refused = await run(args)
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(`its root is ${root}`)])
    expect(refused.stderr).toContain('--root ROOT, or --list FILE')
    for (const [more, words] of [
      [['--root', OTHER_ROOT], `has the root ${root}, and --root says ${OTHER_ROOT}`],
      [
        ['--list', files.mine, ...(name === 'push' ? ['--raw'] : [])],
        `has the root ${root}, and that of ${files.mine} is ${stored.mine.root}`,
      ],
    ] as const) {
      const other = await run([...args, ...more])
      expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining(words)])
      // Whoever stored it may still mean another list.
      expect((await run([...args, ...more], keys.thief)).exitCode).toBe(1)
    }
    expect([await onChain(id), existsSync(join(cli.home, 'out'))]).toEqual([null, false])
    expect((await run(['airdrops', 'sponsor', id])).exitCode).toBe(3)
  })

  it.each([
    [['--decimals', '6'], '--decimals needs --list'],
    [['--root', OTHER_ROOT, '--list', 'x.csv'], '--root cannot be used with --list'],
    [['--root', 'abc'], '--root must be 32 bytes in hex'],
    [['--list', 'nowhere.csv'], 'nowhere.csv cannot be read'],
  ])('is refused with %j before any action', async (more, message) => {
    const { exitCode, stderr } = await run([...commandsOn(stored.theirs.id).push!, ...more])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('is confirmed by --root or --list, read with its decimals', async () => {
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

  it('that the API returns for another id or token is neither written to a path nor paid', async () => {
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

  itOnSqliteAlone('loses no file to a backup if another program answers as the chain', BACKUPS, async () => {
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
