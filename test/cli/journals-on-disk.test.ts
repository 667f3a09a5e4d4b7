/** Journals survive a power failure: what a command is about to send is synced to disk before the request goes out. */
import fs, { existsSync, fstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { TINY_CURVE } from '../support/launches.ts'
import { mapped } from '../support/mapped.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const { core, dbc, distributor, lock, squads, tokenMetadata } = PROGRAMS
const lacks = [core, dbc, distributor, lock, squads, tokenMetadata].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const [own, platform, friend] = mapped(['own.json', 'platform.json', 'friend.json'], (name) => cli.keypair(name))
const world = { mint: '', collection: '', multisig: '' }
let daemon: Served
let proxy: Server

/** The size that a file had at its last fsync, by inode, and the places that were named in a folder at its own. */
const synced = { sizes: new Map<number, number>(), names: new Set<string>() }
const folders = new Map<number, string>()
const { openSync, fsyncSync } = fs

/** Watches the syncs of this process; each is made. */
function watchSyncs(): void {
  fs.openSync = (path, ...more) => {
    const descriptor = openSync(path, ...more)
    folders.set(descriptor, String(path))
    return descriptor
  }
  fs.fsyncSync = (descriptor) => {
    fsyncSync(descriptor)
    const stats = fstatSync(descriptor)
    if (!stats.isDirectory()) return void synced.sizes.set(stats.ino, stats.size)
    const folder = folders.get(descriptor) ?? ''
    for (const name of readdirSync(folder)) synced.names.add(placeOf(join(folder, name)))
  }
  syncBuiltinESMExports()
}
const placeOf = (file: string) => `${statSync(file, { throwIfNoEntry: false })?.ino} ${file}`

const journals = () =>
  [cli.home, join(cli.home, '.local/state/svc')]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((file) => /\.jsonl?$/.test(file) && statSync(file).isFile())

/** Where the words of a request are on disk: synced in a file that its folder names. */
function stateOf(words: string): 'on disk' | 'not synced' | 'no journal' {
  const files = journals().filter((file) => readFileSync(file, 'utf8').includes(words))
  const isOnDisk = (file: string) =>
    synced.sizes.get(statSync(file).ino) === statSync(file).size && synced.names.has(placeOf(file))
  if (files.length === 0) return 'no journal'
  return files.some(isOnDisk) ? 'on disk' : 'not synced'
}

/** What each request that signs or sends found of its signature, or of its key if the platform wallet signs. */
const found: string[] = []
function look(path: string | undefined, key: unknown, body: string): void {
  const { transaction, mode } = JSON.parse(body === '' ? '{}' : body)
  if (path === '/v2/transactions')
    found.push(stateOf(base58.encode(Buffer.from(transaction, 'base64').subarray(1, 65))))
  else if (mode === 'signed') found.push(stateOf(String(key)))
}

beforeAll(async () => {
  if (lacks) return
  Object.assign(cli.env, {
    SVC_PROGRAMS_DIR: quickProgramsDir(),
    SVC_PRIORITY_FEE: 'none',
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: platform.file,
    SVC_POOLS_PRESETS: cli.file('presets', JSON.stringify({ tiny: TINY_CURVE })),
  })
  fs.mkdirSync(cli.dataDir, { mode: 0o700 })
  daemon = await serveHere(cli.dataDir, cli.env)
  const by = ['-k', own.file]
  for (const { address } of [own, platform]) await cli.json(['localnet', 'airdrop', address, '100'])
  const named = ['--name', 'Gold', '--symbol', 'GLD', '--uri', 'https://example.com/t.json']
  world.mint = (await cli.json(['tokens', 'create', ...named, '--supply', '1000', ...by])).mint
  await cli.json(['wallet', 'send', platform.address, '100', '--mint', world.mint, ...by])
  const collection = ['collections', 'create', '--name', 'C', '--uri', 'https://example.com/c', ...by]
  world.collection = (await cli.json(collection)).collection
  const multisig = await cli.json(['multisig', 'create', '--member', own.address, '--threshold', '1', ...by])
  await cli.json(['localnet', 'airdrop', multisig.vault, '10'])
  world.multisig = multisig.multisig
  cli.file('logo.png', png())
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    const { authorization = '', 'idempotency-key': key } = request.headers
    const headers = {
      authorization,
      'content-type': 'application/json',
      ...(key ? { 'idempotency-key': `${key}` } : {}),
    }
    if (request.method === 'POST') look(request.url, key, body)
    const init = { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body }) }
    const answer = await fetch(`${daemon.url}${request.url}`, init)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  watchSyncs()
})
afterAll(async () => {
  Object.assign(fs, { openSync, fsyncSync })
  syncBuiltinESMExports()
  void proxy?.close()
  await daemon?.stop()
})
beforeEach(() => void found.splice(0))

describe.skipIf(lacks)('Before a request that signs or sends, the journal is on disk', () => {
  const list = (name: string, content: string) => ['--from', cli.file(name, content)]
  const wallets = (name: string) => cli.file(name, `${friend.address},2\n`)
  const key = () => ['-k', own.file]
  const nfts = 'name,uri\nOne,https://example.com/1\n'
  const launches = (symbol: string) => `name,symbol,image,buy,preset\nListed,${symbol},logo.png,0.1,tiny\n`
  const launch = () => ['pools', 'create', '--name', 'One', '--image', join(cli.home, 'logo.png'), '--preset', 'tiny']
  it.each<[string, () => string[]]>([
    ['airdrops send', () => ['airdrops', 'send', wallets('a.csv'), '--mint', world.mint, '--raw', ...key()]],
    [
      'airdrops send --signed',
      () => ['airdrops', 'send', wallets('b.csv'), '--mint', world.mint, '--raw', '--again', '--signed'],
    ],
    [
      'airdrops launch',
      () => ['airdrops', 'launch', wallets('c.csv'), '--mint', world.mint, '--raw', '--again', ...key()],
    ],
    ['tokens mint --from', () => ['tokens', 'mint', world.mint, ...list('d.csv', `${friend.address},2\n`), ...key()]],
    [
      'locks create --from',
      () => [
        'locks',
        'create',
        world.mint,
        ...list('e.csv', `${friend.address},2\n`),
        '--all-at-once',
        '--cliff',
        '1d',
        ...key(),
      ],
    ],
    ['nfts mint --from', () => ['nfts', 'mint', '--collection', world.collection, ...list('f.csv', nfts), ...key()]],
    ['pools create --from', () => ['pools', 'create', ...list('g.csv', launches('LIST')), ...key()]],
    ['pools create', () => [...launch(), '--symbol', 'ONE', '--buy', '0.1', ...key()]],
    ['wallet send --squads', () => ['wallet', 'send', friend.address, '1', '--squads', world.multisig, ...key()]],
  ])('by svc %s', async (_, args) => {
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const { stderr } = await cli.svc([...args(), '--yes', '--api', api], { env: { SVC_API_KEY: daemon.operator } })
    expect(found, stderr).not.toEqual([])
    expect(new Set(found), stderr).toEqual(new Set(['on disk']))
  })
})
