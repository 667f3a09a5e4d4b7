/** An API that builds something else than it was asked for: every command that signs refuses it, before anything is signed or sent. */
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Noun } from '../../commands/cli/command.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction, isWritable } from '../../src/solana/messages.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const NEEDED = [
  PROGRAMS.dbc,
  PROGRAMS.dammV2,
  PROGRAMS.tokenMetadata,
  PROGRAMS.core,
  PROGRAMS.lock,
  PROGRAMS.distributor,
]
const lacks = NEEDED.some(({ id }) => !hasProgram(id))
const [own, platform, friend, thief] = Array.from({ length: 4 }, () => Keypair.generate()) as [
  Keypair,
  Keypair,
  Keypair,
  Keypair,
]
const addressOf = ({ publicKey }: Keypair) => publicKey.toBase58()
const SOL = 1_000_000_000

/** Every verb with a flag for the keypair that signs, by its name. */
async function signingCommands(): Promise<string[]> {
  const nouns = await Promise.all(NOUNS.map(async ({ name, load }) => [name, await load()] as [string, Noun]))
  return nouns
    .flatMap(([name, noun]) =>
      Object.entries('verbs' in noun ? noun.verbs : {}).flatMap(([verb, { flags }]) =>
        'keypair' in flags ? [`${name} ${verb}`] : [],
      ),
    )
    .sort()
}

/** What of an answer is lied about. */
type Answer = { pool: Record<string, unknown> } & Record<string, unknown>

/** A liar's change of the instructions that the API built. */
type Lie = (instructions: TransactionInstruction[]) => unknown

const at = (instructions: TransactionInstruction[], program: string, place = 0): TransactionInstruction => {
  const found = instructions.filter(({ programId }) => programId.toBase58() === program).at(place)
  if (found === undefined) throw new Error(`the API built no call ${place} of ${program}`)
  return found
}
/** Puts the thief at an account's place; `place` counts the calls of the program. */
const account =
  (program: string, index: number, place = 0, key = thief.publicKey): Lie =>
  (instructions) => {
    at(instructions, program, place).keys[index]!.pubkey = key
  }
const data =
  (program: string, change: (data: Buffer) => Buffer, place = 0): Lie =>
  (instructions) => {
    const found = at(instructions, program, place)
    found.data = change(Buffer.from(found.data))
  }
const written = (bytes: Uint8Array, offset: number) => (before: Buffer) => {
  before.set(bytes, offset)
  return before
}

/** What can be added to anything: SOL, a delegate, and the ownership of a token account. */
const ownTokens = () => spl.getAssociatedTokenAddressSync(new PublicKey(world.mint), own.publicKey)
const ADDED: readonly (() => TransactionInstruction)[] = [
  () => SystemProgram.transfer({ fromPubkey: own.publicKey, toPubkey: thief.publicKey, lamports: 20 * SOL }),
  () => spl.createApproveInstruction(ownTokens(), thief.publicKey, own.publicKey, 1_000n),
  () => spl.createSetAuthorityInstruction(ownTokens(), own.publicKey, spl.AuthorityType.AccountOwner, thief.publicKey),
  () =>
    spl.createAssociatedTokenAccountIdempotentInstruction(
      own.publicKey,
      spl.getAssociatedTokenAddressSync(new PublicKey(world.mint), thief.publicKey),
      thief.publicKey,
      new PublicKey(world.mint),
    ),
]

/** The transaction with other instructions, unsigned, in the version that it had. */
function changed(base64: string, lie: Lie): string {
  const { message } = decodeWireTransaction(Buffer.from(base64, 'base64'))
  const key = (place: number) => new PublicKey(message.keys[place]!)
  const instructions = message.instructions.map(
    ({ programIdIndex, accounts, data }) =>
      new TransactionInstruction({
        programId: key(programIdIndex),
        keys: [...accounts].map((place) => ({
          pubkey: key(place),
          isSigner: place < message.signers,
          isWritable: isWritable(message, 0, place),
        })),
        data: Buffer.from(data),
      }),
  )
  lie(instructions)
  const { transaction } = compileTransaction({
    payer: key(0),
    recentBlockhash: message.recentBlockhash,
    instructions,
    ...(message.config === null ? {} : { config: message.config }),
    bytesOf: (one: PublicKey) => one.toBytes(),
  })
  return Buffer.from(transaction).toString('base64')
}

const world = {
  mint: '',
  gold: '',
  collection: '',
  asset: '',
  staked: '',
  pool: '',
  tree: '',
  open: '',
  unlaunched: '',
}
const files = { own: '', platform: '', friend: '', list: '', logo: '', nfts: '', launches: '' }
let daemon: Daemon
let proxy: Server
/** What the proxy does to answers, and how often something was submitted through it. */
const liar = {
  lie: null as Lie | null,
  answer: (data: Record<string, unknown>) => data,
  submitted: 0,
  swallows: false,
  everyOne: false,
}

/** The last transaction that an answer holds: what is sent last moves the money. */
function lied(body: string): string {
  const json = JSON.parse(body)
  const { lie } = liar
  if (json.data === undefined || json.data === null || Array.isArray(json.data)) return body
  const change = (of: Record<string, unknown>) => {
    if (lie === null) return
    if (typeof of.transaction === 'string') of.transaction = changed(of.transaction, lie)
    if (Array.isArray(of.transactions)) {
      of.transactions = of.transactions.map((one, i, all) =>
        liar.everyOne || i === all.length - 1 ? changed(one, lie) : one,
      )
    }
  }
  change(json.data)
  if (typeof json.data.tx === 'object') change(json.data.tx)
  json.data = liar.answer(json.data)
  return JSON.stringify(json)
}

const SWALLOWED = JSON.stringify({ error: { code: 'bad_request', message: 'no' }, meta: { request_id: 'r' } })
const SUBMITS = /^\/v2\/(transactions|airdrops\/[^/]+\/sponsored-claims\/[^/]+\/submissions)$/

async function run(args: readonly string[], { version = '0' }: { version?: string } = {}) {
  const env = { SVC_API_KEY: daemon.operator }
  const versioned = version === '1' ? ['--tx-version', '1'] : []
  const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return cli.svc([...args, ...versioned, '--yes', '--api', api], { env })
}

async function ok(args: readonly string[]) {
  const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'])
  expect({ exitCode, stderr }, args.join(' ')).toMatchObject({ exitCode: 0 })
  return JSON.parse(stdout)
}

/** Refused before anything is signed, as something else than was asked for or as what nobody bounded. */
async function expectUnsigned(args: readonly string[], lie: Lie | null, answer: typeof liar.answer, message: RegExp) {
  Object.assign(liar, { lie, answer, submitted: 0 })
  const { exitCode, stdout, stderr } = await run(args)
  Object.assign(liar, { lie: null, answer: (data: Record<string, unknown>) => data })
  expect(`${stdout}${stderr}`, args.join(' ')).toMatch(message)
  expect(exitCode).not.toBe(0)
  expect(liar.submitted).toBe(0)
}

async function expectRefused(args: readonly string[], lie: Lie | null, options = {}, answer = liar.answer) {
  Object.assign(liar, { lie, answer, submitted: 0 })
  const { exitCode, stdout, stderr } = await run(args, options)
  Object.assign(liar, { lie: null, answer: (data: Record<string, unknown>) => data })
  expect(`${stdout}${stderr}`, args.join(' ')).toMatch(/another transaction than requested: [\s\S]*nothing was signed/)
  expect([exitCode, liar.submitted]).toEqual([1, 0])
}

beforeAll(async () => {
  if (lacks) return
  Object.assign(cli.env, { SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_PRIORITY_FEE: 'none' })
  for (const [name, key] of Object.entries({ own, platform, friend })) {
    files[name as 'own'] = cli.file(`${name}.json`, JSON.stringify([...key.secretKey]), 0o600)
  }
  files.logo = join(cli.home, 'logo.png')
  writeFileSync(files.logo, png())
  const by = ['-k', files.own]
  await ok(['localnet', 'airdrop', addressOf(own), '100'])
  const token = ['tokens', 'create', '--name', 'Gold', '--symbol', 'GLD', '--uri', 'https://example.com/t.json', ...by]
  world.gold = (await ok([...token, '--supply', '1000', '--token-program', 'token2022'])).mint
  // One's lock ends before the tests begin.
  const gold = { SVC_GOLD_MINT: world.gold }
  const locked = async (args: string[]) => {
    const { exitCode, stderr } = await cli.svc([...args, '--yes'], { env: gold })
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  }
  await ok(['localnet', 'airdrop', addressOf(friend), '100'])
  await locked(['wallet', 'send', addressOf(friend), '5', '--mint', world.gold, ...by])
  await locked(['gold', 'lock', '--amount', '1', '--days', '1', '-k', files.friend])
  await ok(['localnet', 'advance', '86460'])
  const tiny = {
    total_supply: '1000000',
    decimals: 6,
    initial_market_cap: 1,
    migration_market_cap: 3,
    fee: { starting_bps: 100, ending_bps: 100 },
    liquidity: { partner: 50, partner_locked: 50 },
  }
  daemon = await startDaemon({
    dataDir: cli.dataDir,
    flags: ['--rpc-port', '0'],
    env: {
      ...cli.env,
      SVC_GOLD_MINT: world.gold,
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: files.platform,
      SVC_POOLS_PRESETS: cli.file('presets.json', JSON.stringify({ tiny, shared: { ...tiny, shared_config: true } })),
    },
  })
  await ok(['localnet', 'airdrop', addressOf(platform), '100'])
  world.mint = (await ok([...token, '--supply', '1000', '--keep-freeze-authority'])).mint
  world.collection = (
    await ok(['collections', 'create', '--name', 'C', '--uri', 'https://example.com/c', ...by])
  ).collection
  const mint = [
    'nfts',
    'mint',
    '--collection',
    world.collection,
    '--name',
    'N',
    '--uri',
    'https://example.com/n',
    ...by,
  ]
  for (const name of ['asset', 'staked'] as const) world[name] = (await ok(mint)).asset
  await ok(['stakes', 'create', world.staked, ...by])
  const launch = ['pools', 'create', '--name', 'Test', '--image', files.logo, ...by]
  world.pool = (await ok([...launch, '--symbol', 'POOL', '--preset', 'tiny', '--buy', '0.1'])).address
  files.list = cli.file('list.csv', `${addressOf(own)},9\n${addressOf(friend)},7\n`)
  const build = ['merkle', 'build', files.list, '--mint', world.mint, '--persist']
  world.tree = (await ok([...build, '--airdrop-count', '1'])).id
  world.unlaunched = (await ok([...build, '--airdrop-count', '2'])).id
  await ok(['airdrops', 'init', world.tree, ...by])
  await ok(['airdrops', 'sponsor', world.tree, '--budget', '1'])
  files.nfts = cli.file('nfts.csv', 'name,uri\nOne,https://example.com/1\n')
  files.launches = cli.file('launches.csv', 'name,symbol,image,buy,preset\nListed,LIST,logo.png,0.1,tiny\n')
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    if (request.method === 'POST' && SUBMITS.test(request.url ?? '')) {
      liar.submitted += 1
      if (liar.swallows) return response.writeHead(400, { 'content-type': 'application/json' }).end(SWALLOWED)
    }
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' }
    const init = { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body }) }
    const answer = await fetch(`${daemon.url}${request.url}`, init)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(lied(await answer.text()))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
}, 120_000)
afterAll(async () => {
  proxy?.close()
  await daemon?.stop()
})

const DBC = PROGRAMS.dbc.id
const CORE = PROGRAMS.core.id
const LOCK = PROGRAMS.lock.id
const DISTRIBUTOR = PROGRAMS.distributor.id
const amountOf = (lamports: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(lamports)
  return bytes
}

/** There is nothing to compare with: a person is shown the content, and says yes. */
const SHOWN_BEFORE_SIGNING = ['tx sign']
const casesOf = <C extends string>(cases: Record<C, { args: () => string[]; lies: Record<string, Lie> }>) => cases
/** What each command is asked for, and the lies that suit it, beside what can be added to anything. */
const CASES = casesOf({
  'wallet send': {
    args: () => ['wallet', 'send', addressOf(friend), '1.5', '-k', files.own],
    lies: {
      'another recipient': account(SYSTEM_PROGRAM, 1),
      'another amount': data(SYSTEM_PROGRAM, written(amountOf(20n * BigInt(SOL)), 4)),
    },
  },
  'tokens create': {
    args: () => [
      ...['tokens', 'create', '--name', 'T', '--symbol', 'T', '--uri', 'https://example.com/t', '--supply', '1'],
      ...['-k', files.own],
    ],
    lies: { 'another mint authority': data(TOKEN_PROGRAM, written(thief.publicKey.toBytes(), 2)) },
  },
  'tokens revoke': {
    args: () => ['tokens', 'revoke', world.mint, 'freeze', '-k', files.own],
    lies: {
      'another holder of it': data(TOKEN_PROGRAM, () => Buffer.from([6, 1, 1, ...thief.publicKey.toBytes()])),
      'another authority': data(TOKEN_PROGRAM, () => Buffer.from([6, 0, 0])),
    },
  },
  'gold lock': {
    args: () => ['gold', 'lock', '--amount', '1', '--days', '1', '--platform-fee', '1000', '-k', files.own],
    lies: {
      'another recipient': account(LOCK, 6),
      'a larger fee': data(SYSTEM_PROGRAM, written(amountOf(BigInt(SOL)), 4), -1),
      'a longer time': data(LOCK, written(amountOf(4_000_000_000n), 16)),
    },
  },
  'gold unlock': {
    args: () => ['gold', 'unlock', '-k', files.friend],
    lies: { 'another receiver': account(LOCK, 4), 'another receiver of the rest': account(LOCK, 4, -1) },
  },
  'collections create': {
    args: () => ['collections', 'create', '--name', 'C', '--uri', 'https://example.com/c', '-k', files.own],
    lies: { 'another authority': account(CORE, 1) },
  },
  'nfts mint': {
    args: () => [
      ...['nfts', 'mint', '--collection', world.collection, '--name', 'N', '--uri', 'https://example.com/n'],
      ...['-k', files.own],
    ],
    lies: {
      'another owner': account(CORE, 4),
      'a plugin': data(CORE, (before) => Buffer.concat([before.subarray(0, -10), Buffer.from('0101000000', 'hex')])),
    },
  },
  'nfts burn': {
    args: () => ['nfts', 'burn', world.asset, '-k', files.own],
    lies: { 'another asset': (all) => account(CORE, 0, 0, new PublicKey(world.staked))(all) },
  },
  'stakes create': {
    args: () => ['stakes', 'create', world.asset, '-k', files.own],
    // The plugin 3 lets its holder transfer the asset.
    lies: {
      'another plugin': data(CORE, () => Buffer.concat([Buffer.from('02030103', 'hex'), thief.publicKey.toBytes()])),
    },
  },
  'stakes release': {
    args: () => ['stakes', 'release', world.staked, '-k', files.own],
    lies: { 'another asset': (all) => account(CORE, 0, 0, new PublicKey(world.asset))(all) },
  },
  'pools create': {
    args: () => [
      ...['pools', 'create', '--name', 'Test', '--symbol', 'LIE', '--image', files.logo, '--preset', 'tiny'],
      ...['--buy', '0.1', '-k', files.own],
    ],
    lies: {
      'another receiver of the first buy': account(DBC, 4, -1),
      'a larger first buy': data(DBC, written(amountOf(10n * BigInt(SOL)), 8), -1),
    },
  },
  'pools share': {
    args: () => ['pools', 'share', 'shared', '-k', files.own],
    lies: { 'another account': account(DBC, 0) },
  },
  'pools swap': {
    args: () => ['pools', 'swap', world.pool, '--buy', '0.1', '-k', files.own],
    lies: {
      'another receiver': account(DBC, 4),
      'another pool': account(DBC, 2),
      'another referrer': account(DBC, 12),
      'a program of the thief': account(DBC, 10),
      'a lower minimum': data(DBC, written(amountOf(1n), 16)),
    },
  },
  'pools transfer-creator': {
    args: () => ['pools', 'transfer-creator', world.pool, '--to', addressOf(friend), '-k', files.own],
    lies: { 'another wallet': account(DBC, 3) },
  },
  'fees claim': {
    args: () => [
      ...['fees', 'claim', world.pool, '--split', `${addressOf(friend)}:7500,${addressOf(own)}:2500`],
      ...['-k', files.platform],
    ],
    lies: {
      'another recipient of a share': account(SYSTEM_PROGRAM, 1),
      'a larger share': data(SYSTEM_PROGRAM, written(amountOf(BigInt(SOL)), 4)),
      'a smaller share': data(SYSTEM_PROGRAM, written(amountOf(1n), 4)),
      'another account for the fees': account(DBC, 4),
    },
  },
  'airdrops init': {
    args: () => ['airdrops', 'init', world.unlaunched, '-k', files.own],
    lies: {
      'another receiver of the rest': account(DISTRIBUTOR, 1),
      'another root': data(DISTRIBUTOR, written(new Uint8Array(32), 16)),
      'another vault': account(TOKEN_PROGRAM, 2),
    },
  },
  'airdrops launch': {
    args: () => [
      'airdrops',
      'launch',
      files.list,
      '--mint',
      world.mint,
      '--airdrop-count',
      '3',
      '--again',
      '-k',
      files.own,
    ],
    lies: { 'another root': data(DISTRIBUTOR, written(new Uint8Array(32), 16)) },
  },
  'airdrops claim': {
    args: () => ['airdrops', 'claim', world.tree, '--platform-fee', '1000', '-k', files.own],
    lies: { 'another receiver': account(DISTRIBUTOR, 3), 'another airdrop': account(DISTRIBUTOR, 0) },
  },
  'airdrops send': {
    args: () => ['airdrops', 'send', files.list, '--mint', world.mint, '--again', '-k', files.own],
    lies: { 'another receiver': account(TOKEN_PROGRAM, 2) },
  },
  'airdrops push': {
    args: () => ['airdrops', 'push', world.unlaunched, '--again', '-k', files.own],
    lies: { 'another receiver': account(TOKEN_PROGRAM, 2) },
  },
})
/** Commands that have no flag for the version, or whose lists are another's. */
const VERSION_0_ALONE: readonly string[] = ['airdrops launch']

describe('every command that signs', () => {
  it('is lied to below', async () => {
    const known = [...Object.keys(CASES), ...SHOWN_BEFORE_SIGNING].sort()
    expect(await signingCommands()).toEqual(known)
    expect(known.length).toBeGreaterThan(20)
  })

  it('signs through the one function that takes checked transactions alone', () => {
    const folder = join(import.meta.dirname, '../../commands')
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    expect(sources.length).toBeGreaterThan(200)
    const signing = sources.filter((name) => /wallet\.sign\(/.test(readFileSync(join(folder, name), 'utf8')))
    expect(signing.sort()).toEqual(['signing/signatures.ts', 'transactions/sign.ts'])
  })
})

describe.skipIf(lacks)('an API that builds something else', () => {
  const commands = Object.entries(CASES)
  const rows = commands.flatMap(([command, { args, lies }]) =>
    Object.entries(lies).map(([name, lie]) => [command, name, args, lie] as const),
  )
  it.each(rows)('is refused by svc %s: %s', async (_, __, args, lie) => {
    await expectRefused(args(), lie)
  })

  it.each(commands.map(([command, { args }], i) => [command, args, ADDED[i % ADDED.length]!] as const))(
    'is refused by svc %s where it adds a call, in both versions',
    async (command, args, added) => {
      await expectRefused(args(), (all) => all.push(added()))
      if (!VERSION_0_ALONE.includes(command))
        await expectRefused(args(), (all) => all.push(ADDED[0]!()), { version: '1' })
    },
  )

  it.each<[string, string, () => string[], (data: Answer) => void]>([
    ['tokens create', 'mint', CASES['tokens create'].args, (data) => Object.assign(data, { mint: addressOf(thief) })],
    [
      'collections create',
      'collection',
      CASES['collections create'].args,
      (data) => Object.assign(data, { collection: addressOf(thief) }),
    ],
    ['nfts mint', 'asset', CASES['nfts mint'].args, (data) => Object.assign(data, { asset: addressOf(thief) })],
    [
      'pools create',
      'pool',
      CASES['pools create'].args,
      (data) => Object.assign(data.pool, { address: addressOf(thief) }),
    ],
    [
      'pools create',
      'mint',
      CASES['pools create'].args,
      (data) => Object.assign(data.pool, { base_mint: addressOf(thief) }),
    ],
  ])('is refused by svc %s where it names another %s', async (_, __, args, change) => {
    await expectRefused(args(), null, {}, (data) => {
      if ('transaction' in data || 'transactions' in data) change(data as Answer)
      return data
    })
  })

  const fee = (microLamports: bigint) => [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
  ]
  it.each<[string, () => string[], Lie]>([
    ['a token to another wallet', () => sendsToken(), account(TOKEN_PROGRAM, 2)],
    ['a token that it approves for another', () => sendsToken(), (all) => all.push(ADDED[1]!())],
    ['a priority fee beyond reason', CASES['wallet send'].args, (all) => all.splice(0, 1, ...fee(20_000_000n))],
    ['a nonce that nobody asked for', CASES['wallet send'].args, (all) => all.unshift(advancesNonce())],
    ['the claim of a sponsor, paid to another', () => sponsored(), account(DISTRIBUTOR, 3)],
    ['the claim of a sponsor, and a transfer', () => sponsored(), (all) => all.push(ADDED[0]!())],
    ['a list of NFTs', () => listOfNfts(), account(CORE, 4)],
    ['a list of launches', () => listOfLaunches(), account(DBC, 4, -1)],
  ])('is refused with %s', async (_, args, lie) => {
    await expectRefused(args(), lie)
  })

  it('is refused where a lookup table hides the recipient', async () => {
    const table = new AddressLookupTableAccount({
      key: Keypair.generate().publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [thief.publicKey],
      },
    })
    await expectRefused(CASES['wallet send'].args(), null, {}, (data) => {
      if (typeof data.transaction !== 'string') return data
      const payment = SystemProgram.transfer({
        fromPubkey: own.publicKey,
        toPubkey: thief.publicKey,
        lamports: 1.5 * SOL,
      })
      const parts = { payerKey: own.publicKey, recentBlockhash: addressOf(friend), instructions: [payment] }
      const message = new TransactionMessage(parts).compileToV0Message([table])
      expect(message.addressTableLookups).toHaveLength(1)
      const hidden = new VersionedTransaction(message).serialize()
      return { ...data, transaction: Buffer.from(hidden).toString('base64') }
    })
  })

  it('is refused where it named another payer', async () => {
    await expectRefused(CASES['wallet send'].args(), null, {}, (data) => {
      if (typeof data.transaction !== 'string') return data
      const { message } = decodeWireTransaction(Buffer.from(data.transaction, 'base64'))
      const payment = SystemProgram.transfer({
        fromPubkey: own.publicKey,
        toPubkey: friend.publicKey,
        lamports: 1.5 * SOL,
      })
      const parts = { payerKey: friend.publicKey, recentBlockhash: message.recentBlockhash, instructions: [payment] }
      const other = new VersionedTransaction(new TransactionMessage(parts).compileToV0Message()).serialize()
      return { ...data, transaction: Buffer.from(other).toString('base64') }
    })
  })

  it('is refused by a launch that an earlier run left in its journal', async () => {
    const journal = `${files.launches}.launch.json`
    const args = listOfLaunches()
    // The signed bytes never arrive, so that the journal keeps what was built.
    liar.swallows = true
    const stopped = await run(args)
    liar.swallows = false
    expect(stopped.exitCode).toBe(1)
    const [head, ...lines] = readFileSync(journal, 'utf8').trim().split('\n')
    const entry = JSON.parse(lines.findLast((line) => line.startsWith('{"row":"LIST"')) ?? '{}')
    const { built } = entry
    expect(built.transactions.length).toBeGreaterThan(0)
    built.transactions = built.transactions.map((one: string) => changed(one, (all) => all.push(ADDED[0]!())))
    delete built.generated_keys
    const changedEntry = JSON.stringify({ ...entry, built, signed: null, signatures: [] })
    writeFileSync(journal, `${head}\n${changedEntry}\n`, { mode: 0o600 })
    await expectRefused(args, null)
  })

  it('does what it was asked for where it is honest, and says what was checked', async () => {
    const { exitCode, stderr } = await run(CASES['wallet send'].args())
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('checked   here: one transfer, of this amount')])
    expect(stderr).not.toContain('not encrypted')
  })
})

/** Puts other values at the places of an answer's fields, wherever they stand in it. */
const saying =
  (fields: Record<string, unknown>) =>
  (data: Record<string, unknown>): Record<string, unknown> => {
    const change = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(change)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fields[name] ?? change(one)]))
    }
    return change(data) as Record<string, unknown>
  }

describe.skipIf(lacks)('an API whose answer says the same as its transaction', () => {
  const other = () => new PublicKey(world.mint)
  const launchArgs = CASES['pools create'].args

  it('is refused by svc pools create with another quote than SOL', async () => {
    const lie: Lie = (all) => {
      for (const { programId, keys } of all) {
        if (programId.toBase58() !== DBC) continue
        for (const key of keys) if (key.pubkey.toBase58() === WRAPPED_SOL) key.pubkey = other()
      }
    }
    const answer = saying({ quote_mint: world.mint })
    await expectUnsigned(launchArgs(), lie, answer, /not SOL/)
    await expectUnsigned([...launchArgs(), '--quote', addressOf(friend)], lie, answer, /its quote is/)
  })

  it('is refused by svc pools create and share with a pool creation fee beyond the bound', async () => {
    const fee = (all: TransactionInstruction[]) => {
      const config = all.find(({ programId, data }) => programId.toBase58() === DBC && data.length > 200)
      if (config === undefined) return
      const data = Buffer.from(config.data)
      const afterDynamicFee = data[35] === 1 ? 68 : 36
      const supply = afterDynamicFee + 74
      data.writeBigUInt64LE(50n * BigInt(SOL), supply + (data[supply] === 1 ? 17 : 1) + 8)
      config.data = data
    }
    liar.everyOne = true
    await expectUnsigned(launchArgs(), fee, liar.answer, /takes 50 SOL as pool creation fee, more than 0\.1/)
    await expectUnsigned(CASES['pools share'].args(), fee, liar.answer, /takes 50 SOL/)
    liar.everyOne = false
  })

  it('is refused by svc pools create with an older config of its own', async () => {
    const config = Keypair.generate().publicKey
    const answer = (data: Record<string, unknown>) => {
      const { transactions } = data
      return Array.isArray(transactions) ? { ...data, transactions: transactions.slice(-1) } : data
    }
    await expectUnsigned(launchArgs(), account(DBC, 0, 0, config), answer, /pool creation fee may be 100 SOL/)
  })

  it('is refused by svc gold lock with a later end, and other decimals', async () => {
    const years = (lock: Buffer) => {
      for (const place of [8, 16]) lock.writeBigUInt64LE(lock.readBigUInt64LE(place) + 315_360_000n, place)
      return lock
    }
    const later = saying({ unlocks_at: '2040-01-01T00:00:00.000Z' })
    await expectUnsigned(CASES['gold lock'].args(), data(LOCK, years), later, /the chain's clock/)
    const end = data(LOCK, (lock) => {
      lock.writeBigUInt64LE(lock.readBigUInt64LE(16) + 315_360_000n, 16)
      return lock
    })
    await expectRefused(CASES['gold lock'].args(), end, {}, later)
    await expectRefused(CASES['gold lock'].args(), null, {}, saying({ decimals: 5 }))
  })

  it('is refused by svc gold unlock where a claim passes another account', async () => {
    const added: Lie = (all) => at(all, LOCK).keys.push({ pubkey: thief.publicKey, isSigner: false, isWritable: true })
    await expectRefused(CASES['gold unlock'].args(), added)
  })

  it('is refused by svc airdrops init with another list as its own, a larger total, and a time to come', async () => {
    const args = CASES['airdrops init'].args()
    const other = { own: true, root: 'ab'.repeat(32) }
    await expectUnsigned(args, null, saying(other), /was not stored as it is now on this machine/)
    const more = (built: Lie): [string[], Lie, typeof liar.answer, RegExp] => [
      args,
      built,
      saying({ total: '900', own: true }),
      /a deposit of 900 raw units/,
    ]
    await expectUnsigned(
      ...more((all) => {
        data(TOKEN_PROGRAM, written(amountOf(900n), 1), -1)(all)
        data(DISTRIBUTOR, written(amountOf(900n), 48))(all)
      }),
    )
    const late: Lie = data(DISTRIBUTOR, (made) => {
      for (const place of [64, 72, 80]) made.writeBigInt64LE(made.readBigInt64LE(place) + 30_000_000_000n, place)
      return made
    })
    await expectRefused(args, late)
  })

  it('is refused by svc airdrops init without a tree, with a deposit that nobody named', async () => {
    const bare = ['airdrops', 'init', '--mint', world.mint, '--airdrop-count', '2', '-k', files.own]
    const { root } = await ok(['airdrops', 'get', world.unlaunched])
    await expectUnsigned([...bare, '--root', root], null, liar.answer, /a deposit of 16 raw units/)
  })

  it('is refused by svc airdrops claim with no bound for what a sale brings', async () => {
    const args = ['airdrops', 'claim', world.tree, '--swap-to-sol', '-k', files.own]
    await expectUnsigned(args, null, liar.answer, /needs --min-sol/)
  })

  it('is refused by svc pools create where less liquidity is locked than the pool has', async () => {
    const args = [...launchArgs().filter((one) => !['--preset', 'tiny'].includes(one)), '--type', 'damm_v2']
    liar.everyOne = true
    await expectRefused(args, (all) => {
      const lock = all.find(({ programId, data }) => programId.toBase58() === PROGRAMS.dammV2.id && data.length === 24)
      if (lock !== undefined) lock.data = written(amountOf(1n), 8)(Buffer.from(lock.data))
    })
    liar.everyOne = false
  })

  it('is refused by svc fees claim where the shares could be paid from what was wrapped before', async () => {
    await expectRefused(CASES['fees claim'].args(), (all) => {
      const closes = ({ programId, data }: TransactionInstruction) =>
        programId.equals(spl.TOKEN_PROGRAM_ID) && data[0] === 9
      all.splice(all.findIndex(closes), 1)
    })
  })

  it('is refused by svc stakes create where another wallet alone could release it', async () => {
    const thawedByThief = data(CORE, () => Buffer.from([2, 1, 1, 1, 3, ...thief.publicKey.toBytes()]))
    await expectUnsigned(CASES['stakes create'].args(), thawedByThief, liar.answer, /only \w+ can release it/)
  })

  it('is not suspected by svc pools swap and gold lock where it is honest', async () => {
    for (const args of [['pools', 'swap', world.pool, '--sell', '1', '-k', files.own], CASES['gold lock'].args()]) {
      const { exitCode, stderr } = await run([...args, '--dry-run'])
      expect({ exitCode, stderr }, args.join(' ')).toMatchObject({ exitCode: 0 })
    }
  })

  it('is refused by svc pools swap with other decimals or sides', async () => {
    const sells = ['pools', 'swap', world.pool, '--sell', '1', '-k', files.own]
    const thousandfold = (data: Record<string, unknown>) =>
      'state' in data ? saying({ tokenDecimal: 9 })(data) : saying({ amount_in: '1000000000' })(data)
    await expectRefused(sells, null, {}, thousandfold)
    const swapped = (data: Record<string, unknown>) =>
      'base_mint' in data ? { ...data, base_mint: data.quote_mint, quote_mint: data.base_mint } : data
    await expectUnsigned(['pools', 'swap', world.pool, '--buy', '0.5', '-k', files.own], null, swapped, /not SOL/)
  })
})

const sendsToken = () => ['wallet', 'send', addressOf(friend), '1.5', '--mint', world.mint, '-k', files.own]
const sponsored = () => ['airdrops', 'claim', world.tree, '--sponsor', '-k', files.friend]
const listOfNfts = () => ['nfts', 'mint', '--collection', world.collection, '--from', files.nfts, '-k', files.own]
const listOfLaunches = () => ['pools', 'create', '--from', files.launches, '-k', files.own]
const advancesNonce = () =>
  SystemProgram.nonceAdvance({ noncePubkey: thief.publicKey, authorizedPubkey: own.publicKey })

describe('svc tx sign', () => {
  const payment = () =>
    new VersionedTransaction(
      new TransactionMessage({
        payerKey: own.publicKey,
        recentBlockhash: addressOf(friend),
        instructions: [SystemProgram.transfer({ fromPubkey: own.publicKey, toPubkey: thief.publicKey, lamports: SOL })],
      }).compileToV0Message(),
    ).serialize()

  it('shows what it signs, and asks for a yes where a mistake costs money', async () => {
    const keypair = cli.file('signer.json', JSON.stringify([...own.secretKey]), 0o600)
    const args = ['tx', 'sign', Buffer.from(payment()).toString('base64'), '-k', keypair]
    const shown = await cli.svc(args)
    expect([shown.exitCode, shown.stderr]).toEqual([0, expect.stringContaining(addressOf(thief))])
    expect(shown.stderr).toContain('lamports  1 SOL')
    const mainnet = { env: { SVC_URL: 'mainnet-beta', SVC_DATA_DIR: join(cli.home, 'elsewhere') } }
    const unasked = await cli.svc(args, mainnet)
    expect([unasked.exitCode, unasked.stdout, unasked.stderr]).toEqual([2, '', expect.stringContaining('--yes')])
    expect((await cli.svc([...args, '--yes'], mainnet)).exitCode).toBe(0)
  })
})

describe('an API that is spoken to without encryption', () => {
  it('is warned of once, where it is another machine', async () => {
    const { stderr } = await cli.svc(['health', '--api', 'http://svc.invalid'], {
      env: { SVC_API_KEY: 'svc_test_key' },
    })
    expect(stderr.match(/http:\/\/svc\.invalid is not encrypted/g)).toHaveLength(1)
  })
})
