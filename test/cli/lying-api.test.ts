/** An API that builds something else than it was asked for: every command that signs refuses it, before anything is signed or sent. */
import { hash } from 'node:crypto'
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
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Noun } from '../../commands/cli/command.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import type { PoolCreated } from '../../src/api/pools.ts'
import { raiseEscrowAddress } from '../../src/chain/programs/presale/index.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { type Guard, guardInstructions, readGuards, type TokenGuard } from '../../src/solana/guards.ts'
import { decodeWireTransaction, isWritable } from '../../src/solana/messages.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { vaultAddress } from '../../src/solana/squads/index.ts'
import { png } from '../storage/images.ts'
import { TINY_CURVE } from '../support/launches.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { signed } from '../support/local-chain-transactions.ts'
import { mapped } from '../support/mapped.ts'
import { isoOf, raisesOn } from '../support/new-raises.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { itInSoak, oneIn, oneOfEach } from '../support/runs.ts'
import { POOL } from '../support/settled-raises.ts'
import { addressOf } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const NEEDED = [
  PROGRAMS.dbc,
  PROGRAMS.dammV2,
  PROGRAMS.tokenMetadata,
  PROGRAMS.core,
  PROGRAMS.lock,
  PROGRAMS.distributor,
  PROGRAMS.squads,
  PROGRAMS.presale,
]
const lacks = NEEDED.some(({ id }) => !hasProgram(id))
const [own, platform, friend, thief] = mapped([1, 2, 3, 4], () => Keypair.generate())
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
const PRESALE = PROGRAMS.presale.id
const DAMM_V2 = PROGRAMS.dammV2.id
const POOL_TYPED = ['--pool-quote', '500000000', '--pool-tokens', '500000000000', '--raw']
const DEPOSIT = () => ['raises', 'deposit', world.sale, '0.5', '-k', files.own]
const otherRound = (raise: string) => new PublicKey(raiseEscrowAddress(raise, addressOf(own), 1))
const LIGHTHOUSE = PROGRAMS.lighthouse.id
const isGuard = ({ programId }: TransactionInstruction) => programId.toBase58() === LIGHTHOUSE
/** Programs that a call may name among its accounts. */
const NAMED_PROGRAMS: readonly string[] = [
  ...[SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM],
  PROGRAMS.tokenMetadata.id,
]
/**
 * Puts the thief in the place of every program among the accounts of the act, and counts them. It throws nothing: a lie
 * that throws leaves the command without an answer.
 */
function strangersProgram(): { lie: Lie; count(): number } {
  let count = 0
  const lie: Lie = (instructions) => {
    for (const meta of instructions.flatMap((each) => (isGuard(each) ? [] : each.keys))) {
      if (!NAMED_PROGRAMS.includes(meta.pubkey.toBase58())) continue
      meta.pubkey = thief.publicKey
      count++
    }
  }
  return { lie, count: () => count }
}
const written = (bytes: Uint8Array, offset: number) => (before: Buffer) => {
  before.set(bytes, offset)
  return before
}

/** Guards written anew, as the API writes them; without any, their instructions are gone. */
const guarding =
  (change: (guards: readonly Guard[]) => readonly Guard[], payer = own): Lie =>
  (all) => {
    const { guards } = readGuards(
      addressOf(payer),
      all.map(({ programId, keys, data }) => ({
        program: programId.toBase58(),
        accounts: keys.map(({ pubkey }) => pubkey.toBase58()),
        data,
      })),
    )
    const others = all.filter((each) => !isGuard(each))
    const { first, last } = guardInstructions(addressOf(payer), change(guards))
    const [before, after] = [first, last].map((some) =>
      some.map(
        ({ program, accounts, data }) =>
          new TransactionInstruction({
            programId: new PublicKey(program),
            keys: accounts.map(({ address, ...meta }) => ({ pubkey: new PublicKey(address), ...meta })),
            data: Buffer.from(data),
          }),
      ),
    )
    const start = others.findIndex(({ programId }) => !programId.equals(ComputeBudgetProgram.programId))
    all.splice(0, all.length, ...others.slice(0, start), ...before!, ...others.slice(start), ...after!)
  }
const weaker = (kind: Guard['kind'], by: bigint) =>
  guarding((guards) =>
    guards.map((guard): Guard => (guard.kind === kind ? { ...guard, change: (guard.change ?? 0n) - by } : guard)),
  )
const controlled = (control: Partial<TokenGuard>) =>
  guarding((guards) => guards.map((guard): Guard => (guard.kind === 'token' ? { ...guard, ...control } : guard)))
/** Moves an instruction of a guard, or changes it. */
const inGuards = (change: (guards: TransactionInstruction[], all: TransactionInstruction[]) => void): Lie => {
  return (all) => change(all.filter(isGuard), all)
}
const LIES_ABOUT_GUARDS: Readonly<Record<string, Lie>> = {
  'the guard of the wallet left out': guarding((guards) => guards.filter(({ kind }) => kind !== 'wallet')),
  'the guard of the token account left out': guarding((guards) => guards.filter(({ kind }) => kind !== 'token')),
  'all guards left out': guarding(() => []),
  'a lower bound of the wallet': weaker('wallet', 10_000_000n),
  'a lower bound of the token account': weaker('token', 1n),
  'no bound of the token account': controlled({ change: null }),
  'the guard of another account': guarding((guards) =>
    guards.map((guard) => ({ ...guard, address: addressOf(friend) })),
  ),
  'another owner of the token account': controlled({ owner: addressOf(thief) }),
  'no mint of the token account': controlled({ owner: addressOf(own) }),
  'a delegate of the token account': controlled({ delegate: addressOf(thief) }),
  'another close authority of the token account': controlled({ closeAuthority: addressOf(thief) }),
}
/** Refused whatever is required, because svc does not write them. */
const FOREIGN_GUARDS: Readonly<Record<string, Lie>> = {
  'a memory that stays open': inGuards((guards, all) => all.splice(all.indexOf(guards.at(-1)!), 1)),
  'the balance remembered at another place': inGuards(([write]) => {
    write!.data[3] = 16
  }),
  'the balance remembered after the act': inGuards(([write], all) => {
    all.splice(all.indexOf(write!), 1)
    all.splice(-guardsAtEnd(all), 0, write!)
  }),
  'an instruction behind the guards': (all) => all.push(all[all.findIndex((each) => isGuard(each)) + 2]!),
  'a call behind the guards': (all) =>
    all.push(
      ...all.splice(
        all.findLastIndex((each) => !isGuard(each)),
        1,
      ),
    ),
  "a stranger's program in place of Lighthouse": inGuards((guards) => {
    for (const each of guards) each.programId = thief.publicKey
  }),
  "a stranger's program among the accounts": inGuards((guards) => {
    for (const meta of guards.flatMap(({ keys }) => keys))
      if ([LIGHTHOUSE, SYSTEM_PROGRAM].includes(meta.pubkey.toBase58())) meta.pubkey = thief.publicKey
  }),
}
const guardsAtEnd = (all: readonly TransactionInstruction[]) =>
  all.length - 1 - all.findLastIndex((each) => !isGuard(each))

/** All calls but those of the budget, from the last to the first. */
const reversed: Lie = (instructions) => {
  const isBudget = ({ programId }: TransactionInstruction) => programId.equals(ComputeBudgetProgram.programId)
  const first = instructions.findIndex((each) => !isBudget(each))
  instructions.push(...instructions.splice(first).reverse())
}

/** What can be added to anything: SOL, a delegate, and the ownership of a token account. */
const withheldAt = () =>
  spl
    .getAssociatedTokenAddressSync(new PublicKey(world.fees), friend.publicKey, false, spl.TOKEN_2022_PROGRAM_ID)
    .toBase58()
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
  position: '',
  empty: '',
  mine: '',
  mint: '',
  gold: '',
  fees: '',
  lock: '',
  ownLock: '',
  spentLock: '',
  collection: '',
  asset: '',
  staked: '',
  pool: '',
  full: '',
  direct: '',
  tree: '',
  open: '',
  unlaunched: '',
  multisig: '',
  vault: '',
  group: '',
  active: '',
  approved: '',
  executed: '',
  frozen: '',
  pausable: '',
  paused: '',
  listed: '',
  sale: '',
  bought: '',
  planned: '',
  failed: '',
  sold: '',
}
const files = {
  own: '',
  seller: '',
  platform: '',
  friend: '',
  list: '',
  logo: '',
  nfts: '',
  launches: '',
  locks: '',
  mint: '',
  allowlist: '',
}
let daemon: Served
let proxy: Server
/** What the proxy does to answers, and how often something was submitted through it. */
const liar = {
  lie: null as Lie | null,
  answer: (data: Record<string, unknown>) => data,
  /** What it makes of the address and of the body of a request. */
  asks: (sent: string) => sent,
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
  // A proposal's own transaction has lies of its own, below.
  if (typeof json.data.message_sha256 !== 'string') change(json.data)
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

const ok = (args: readonly string[]) => cli.json([...args])

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
  Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' })
  for (const [name, key] of Object.entries({ own, platform, friend })) {
    files[name as 'own'] = cli.file(`${name}.json`, JSON.stringify([...key.secretKey]), 0o600)
  }
  files.mint = cli.keypair('mint.json').file
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
  world.fees = (await ok([...token, '--supply', '1000', '--transfer-fee', '1%'])).mint
  const paid = cli.file('paid.csv', `${addressOf(friend)},5\n`)
  await ok(['airdrops', 'send', paid, '--mint', world.fees, '--raw', '--accept-transfer-fee', ...by])
  await ok(['localnet', 'advance', '86460'])
  daemon = await serveHere(cli.dataDir, {
    ...cli.env,
    SVC_GOLD_MINT: world.gold,
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: files.platform,
    SVC_POOLS_PRESETS: cli.file(
      'presets.json',
      JSON.stringify({ tiny: TINY_CURVE, shared: { ...TINY_CURVE, shared_config: true } }),
    ),
  })
  await ok(['localnet', 'airdrop', addressOf(platform), '100'])
  const freezable = [...token, '--supply', '1000', '--keep-freeze-authority']
  world.mint = (await ok(freezable)).mint
  world.frozen = (await ok(freezable)).mint
  await ok(['tokens', 'freeze', world.frozen, addressOf(own), ...by])
  const pausable = [...token, '--supply', '0', '--token-program', 'token2022', '--pausable', '--closable']
  for (const name of ['pausable', 'paused'] as const) world[name] = (await ok(pausable)).mint
  await ok(['tokens', 'pause', world.paused, ...by])
  const tip = [SystemProgram.transfer({ fromPubkey: own.publicKey, toPubkey: ownTokens(), lamports: 1_000_000 })]
  const node = new Connection(daemon.rpcUrl, 'confirmed')
  const excess = signed(tip, [own], { blockhash: (await node.getLatestBlockhash()).blockhash })
  await node.sendRawTransaction(excess)
  world.collection = (
    await ok(['collections', 'create', '--name', 'C', '--uri', 'https://example.com/c', ...by])
  ).collection
  const mint = [
    ...['nfts', 'mint', '--collection', world.collection, '--name', 'N', '--uri', 'https://example.com/n'],
    ...[...by],
  ]
  for (const name of ['asset', 'staked'] as const) world[name] = (await ok(mint)).asset
  await ok(['stakes', 'create', world.staked, ...by])
  const launch = ['pools', 'create', '--name', 'Test', '--image', files.logo, ...by]
  world.pool = (await ok([...launch, '--symbol', 'POOL', '--preset', 'tiny', '--buy', '0.1'])).address
  world.full = (await ok([...launch, '--symbol', 'FULL', '--preset', 'tiny', '--buy', '5'])).address
  const direct = await ok([...launch, '--symbol', 'DRCT', '--type', 'damm_v2'])
  world.direct = direct.address
  const unlocked = [...launch, '--symbol', 'FREE', '--type', 'damm_v2', '--unlocked-liquidity', '--buy', '5']
  world.mine = (await ok(unlocked)).address
  world.position = (
    await ok(['pools', 'positions', 'list', world.mine, '--owner', addressOf(own)])
  ).positions[0].position
  const added = ['--amount-a', '100000000', '--amount-b', '0.1', ...by]
  world.empty = (await ok(['pools', 'positions', 'open', world.mine, ...added])).position
  await ok(['pools', 'positions', 'remove', world.mine, world.empty, '--all', ...by])
  // A program before 0.2.5 has no delegates, so one is set as it would leave it.
  const chain = await daemon.local()
  for (const { position } of (await ok(['fees', 'delegate', 'list', world.direct, '--owner', addressOf(own)]))
    .positions) {
    const account = chain.account(position)!
    const permitted = Buffer.from(account.data)
    permitted.writeUInt32LE(8, 392)
    chain.setAccount(position, { ...account, data: permitted })
  }
  files.list = cli.file('list.csv', `${addressOf(own)},9\n${addressOf(friend)},7\n`)
  const build = ['merkle', 'build', files.list, '--mint', world.mint, '--raw', '--persist']
  world.tree = (await ok([...build, '--airdrop-count', '1'])).id
  world.unlaunched = (await ok([...build, '--airdrop-count', '2'])).id
  await ok(['airdrops', 'init', world.tree, ...by])
  await ok(['airdrops', 'sponsor', world.tree, '--budget', '1'])
  const lock = async (wallet: Keypair, ...more: string[]) =>
    (await ok(['locks', 'create', world.mint, addressOf(wallet), '3', '--all-at-once', ...more, ...by])).address
  const changeable = ['--cancellable-by', 'creator', '--recipient-changeable-by', 'creator']
  world.lock = await lock(friend, '--periods', '3', '--frequency', '365d', ...changeable)
  world.ownLock = await lock(own)
  world.spentLock = await lock(friend)
  await ok(['locks', 'claim', world.spentLock, '-k', files.friend])
  const members = [own, friend, platform].map(addressOf).join(',')
  const group = await ok(['multisig', 'create', '--member', members, '--threshold', '2', ...by])
  Object.assign(world, { multisig: group.multisig, vault: group.vault })
  await ok(['localnet', 'airdrop', world.vault, '10'])
  const { multisig } = await ok(['multisig', 'create', '--member', addressOf(own), '--threshold', '1', ...by])
  world.group = multisig
  await ok(['localnet', 'airdrop', vaultAddress(multisig, 0), '10'])
  for (const name of ['active', 'approved', 'executed'] as const) {
    world[name] = (await ok(['wallet', 'send', addressOf(friend), '1', '--squads', multisig, ...by])).proposal
    if (name !== 'active') await ok(['proposals', 'approve', world[name], ...by])
  }
  await ok(['proposals', 'execute', world.executed, ...by])
  world.listed = (await listedRaise({ ...daemon, visit: fetch, creator: own })).id
  await makeSales(by)
  world.sold = (await ok([...token, '--supply', '1000'])).mint
  await ok(['tokens', 'revoke', world.sold, 'mint', ...by, '--yes'])
  files.allowlist = cli.file('allowlist.csv', `${addressOf(friend)},500\n`)
  files.locks = cli.file('locks.csv', `wallet,amount\n${addressOf(friend)},2\n`)
  files.nfts = cli.file('nfts.csv', 'name,uri\nOne,https://example.com/1\n')
  files.launches = cli.file('launches.csv', 'name,symbol,image,buy,preset\nListed,LIST,logo.png,0.1,tiny\n')
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    if (request.method === 'POST' && SUBMITS.test(request.url ?? '')) {
      liar.submitted += 1
      if (liar.swallows) return response.writeHead(400, { 'content-type': 'application/json' }).end(SWALLOWED)
    }
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' }
    const init = { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body: liar.asks(body) }) }
    const answer = await fetch(`${daemon.url}${liar.asks(request.url ?? '')}`, init)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(lied(await answer.text()))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
})
afterAll(async () => {
  proxy?.close()
  await daemon?.stop()
})

const DBC = PROGRAMS.dbc.id
const CORE = PROGRAMS.core.id
const LOCK = PROGRAMS.lock.id
const DISTRIBUTOR = PROGRAMS.distributor.id
const SQUADS = PROGRAMS.squads.id
/** Raises of SOL with deposits of the own wallet: an ongoing one, one that has reached its minimum, and a failed one. */
async function makeSales(by: readonly string[]) {
  const chain = await daemon.local()
  const on = await raisesOn({ ...daemon, services: { chain: { local: async () => chain } } } as never)
  const ends_at = isoOf(on.now() + 600)
  for (const [name, more, paid] of [
    ['sale', { withdrawable: true }, '1'],
    ['bought', { ends_at }, '1'],
    ['failed', { ends_at }, '0.5'],
    ['planned', { ends_at, pool: POOL, max: '2000000000' }, '1'],
  ] as const) {
    world[name] = (await on.create(more)).id
    await ok(['raises', 'deposit', world[name], paid, ...by])
  }
  files.seller = cli.keypair('seller.json', on.seller).file
  on.at(Date.parse(ends_at) / 1_000 + 1)
}

const amountOf = (lamports: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(lamports)
  return bytes
}

/** There is nothing to compare with: a person is shown the content, and says yes. */
const SHOWN_BEFORE_SIGNING = ['tx sign']
/** It signs a proposal, whose lies are below. */
const PROPOSES = ['proposals create', 'proposals renew']
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
  'wallet reclaim': {
    args: () => ['wallet', 'reclaim', '-k', files.own],
    lies: {
      'another receiver': account(TOKEN_PROGRAM, 1),
      'a closed account': data(TOKEN_PROGRAM, () => Buffer.of(9)),
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
      'a larger amount': data(LOCK, written(amountOf(2_000_000_000n), 32)),
    },
  },
  'gold unlock': {
    args: () => ['gold', 'unlock', '-k', files.friend],
    lies: { 'another receiver': account(LOCK, 4), 'another receiver of the rest': account(LOCK, 4, -1) },
  },
  'locks create': {
    args: () => [
      ...['locks', 'create', world.mint, addressOf(friend), '6', '--cliff-amount', '2', '--cliff', '1d'],
      ...['--periods', '2', '--frequency', '30d', '--title', 'Team', '-k', files.own],
    ],
    lies: {
      'another recipient': account(LOCK, 6),
      'a later start': data(LOCK, written(amountOf(4_000_000_000n), 8)),
      'a later cliff': data(LOCK, written(amountOf(4_000_000_000n), 16)),
      'a longer period': data(LOCK, written(amountOf(4_000_000_000n), 24)),
      'a larger amount at the cliff': data(LOCK, written(amountOf(3_000_000n), 32)),
      'a larger amount of each period': data(LOCK, written(amountOf(3_000_000n), 40)),
      'more periods': data(LOCK, written(amountOf(3n), 48)),
      'a recipient who can be changed': data(LOCK, written(Uint8Array.of(1), 56)),
      'a lock that can be cancelled': data(LOCK, written(Uint8Array.of(1), 57)),
      'another title': data(LOCK, written(Buffer.from('Tram'), 12), 1),
    },
  },
  'locks claim': {
    args: () => ['locks', 'claim', world.ownLock, '-k', files.own],
    lies: {
      'another receiver': account(LOCK, 4),
      'another receiver of the rent': account(LOCK, 5, 1),
      'another lock': (all) => account(LOCK, 0, 0, new PublicKey(world.lock))(all),
    },
  },
  'locks cancel': {
    args: () => ['locks', 'cancel', world.lock, '-k', files.own],
    lies: {
      'another receiver of the rest': account(LOCK, 3),
      'another receiver of the part': account(LOCK, 4),
      'another receiver of the rent': account(LOCK, 5),
      'another lock': (all) => account(LOCK, 0, 0, new PublicKey(world.ownLock))(all),
    },
  },
  'locks transfer': {
    args: () => ['locks', 'transfer', world.lock, addressOf(own), '-k', files.own],
    lies: {
      'another recipient': data(LOCK, written(thief.publicKey.toBytes(), 8)),
      'another lock': (all) => account(LOCK, 0, 0, new PublicKey(world.ownLock))(all),
    },
  },
  'locks update': {
    args: () => ['locks', 'update', world.lock, '--title', 'Team', '-k', files.own],
    lies: {
      'another title': data(LOCK, written(Buffer.from('Tram'), 12)),
      'another lock': (all) => account(LOCK, 0, 0, new PublicKey(world.ownLock))(all),
    },
  },
  'locks close': {
    args: () => ['locks', 'close', world.spentLock, '-k', files.own],
    lies: {
      'another receiver': account(LOCK, 4),
      'another lock': (all) => account(LOCK, 0, 0, new PublicKey(world.lock))(all),
    },
  },
  'raises create': {
    args: () => [
      ...['raises', 'create', world.sold, '--sale-mode', 'fixed_price', '--price', '0.001', '--min', '0.1'],
      ...['--max', '0.5', '--ends', '7d', '--then-pool', 'standard', '--guard', 'off', '-k', files.own],
    ],
    lies: {
      'another creator': account(PROGRAMS.presale.id, 7, -1),
      'another owner of the price': account(PROGRAMS.presale.id, 1),
      'another price': data(PROGRAMS.presale.id, written(amountOf(5n), 41)),
      'a price at which buyers can withdraw': data(PROGRAMS.presale.id, written(Uint8Array.of(0), 40)),
      'a larger maximum': data(PROGRAMS.presale.id, written(amountOf(900_000_000n), 8), -1),
      'a smaller minimum': data(PROGRAMS.presale.id, written(amountOf(1n), 16), -1),
      'a later start': data(PROGRAMS.presale.id, written(amountOf(4_000_000_000n), 24), -1),
      'a later end': data(PROGRAMS.presale.id, written(amountOf(4_000_000_000n), 32), -1),
      'an allowlist': data(PROGRAMS.presale.id, written(Uint8Array.of(1), 40), -1),
      'another mode': data(PROGRAMS.presale.id, written(Uint8Array.of(1), 41), -1),
      'burnt tokens': data(PROGRAMS.presale.id, written(Uint8Array.of(1), 42), -1),
      'another mint': (all) => account(PROGRAMS.presale.id, 0, -1, new PublicKey(world.gold))(all),
      'other decimals of the token': data(TOKEN_PROGRAM, written(Uint8Array.of(9), 9)),
      'no proof of its decimals': (all) => all.splice(all.indexOf(at(all, TOKEN_PROGRAM)), 1),
    },
  },
  'raises open': {
    args: () => [
      ...['raises', 'open', world.listed, '--allowlist', files.allowlist, '--raw'],
      ...['--url', 'https://example.com/raise', '-k', files.own],
    ],
    lies: {
      'another root': data(PROGRAMS.presale.id, written(new Uint8Array(32), 8)),
      'another version': data(PROGRAMS.presale.id, written(amountOf(1n), 40)),
      'another raise': account(PROGRAMS.presale.id, 0),
      'another URL': data(PROGRAMS.presale.id, written(Buffer.from('https://exemple'), 12), -1),
    },
  },
  'raises deposit': {
    args: DEPOSIT,
    lies: {
      'another raise': (all) => account(PRESALE, 0, 0, new PublicKey(world.bought))(all),
      'a larger amount': data(PRESALE, written(amountOf(600_000_000n), 8)),
      'another buyer': account(PRESALE, 3),
      'another round': (all) => account(PRESALE, 3, 0, otherRound(world.sale))(all),
      'another payer account': account(PRESALE, 4),
      'more SOL that is wrapped': data(SYSTEM_PROGRAM, written(amountOf(600_000_000n), 4)),
      'another account that is wrapped into': account(SYSTEM_PROGRAM, 1),
    },
  },
  'raises withdraw': {
    args: () => ['raises', 'withdraw', world.sale, '0.5', '-k', files.own],
    lies: {
      'another raise': (all) => account(PRESALE, 0, 0, new PublicKey(world.bought))(all),
      'a larger amount': data(PRESALE, written(amountOf(600_000_000n), 8)),
      'another round': (all) => account(PRESALE, 4, 0, otherRound(world.sale))(all),
      'another receiver': account(PRESALE, 5),
      'another receiver of what is unwrapped': account(TOKEN_PROGRAM, 1),
    },
  },
  'raises claim': {
    args: () => ['raises', 'claim', world.bought, '-k', files.own],
    lies: {
      'another raise': (all) => account(PRESALE, 0, 0, new PublicKey(world.sale))(all),
      'another round': (all) => account(PRESALE, 4, 0, otherRound(world.bought))(all),
      'another receiver': account(PRESALE, 5),
      'another receiver of the rent': account(PRESALE, 3, -1),
    },
  },
  'raises refund': {
    args: () => ['raises', 'refund', world.failed, '-k', files.own],
    lies: {
      'another raise': (all) => account(PRESALE, 0, 0, new PublicKey(world.sale))(all),
      'another round': (all) => account(PRESALE, 4, 0, otherRound(world.failed))(all),
      'another receiver': account(PRESALE, 5),
      'another receiver of the rent': account(PRESALE, 3, -1),
    },
  },
  'raises settle': {
    args: () => ['raises', 'settle', world.bought, '-k', files.seller],
    lies: {
      'another raise': (all) => account(PRESALE, 0, 0, new PublicKey(world.sale))(all),
      'another receiver': account(PRESALE, 2),
    },
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
  'pools migrate': {
    args: () => ['pools', 'migrate', world.full, '-k', files.own],
    lies: { 'another pool': account(DBC, 0) },
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
  'fees delegate grant': {
    args: () => ['fees', 'delegate', 'grant', world.direct, '--to', addressOf(friend), '-k', files.own],
    lies: {
      'another delegate': account(TOKEN_2022_PROGRAM, 1),
      'a delegate that can take the position': data(TOKEN_2022_PROGRAM, written(amountOf(1n), 1)),
      'another permission': data(PROGRAMS.dammV2.id, written(Uint8Array.of(255), 8)),
      'another position': account(PROGRAMS.dammV2.id, 0),
    },
  },
  'fees delegate revoke': {
    args: () => ['fees', 'delegate', 'revoke', world.direct, '-k', files.own],
    lies: { 'a permission instead': data(PROGRAMS.dammV2.id, written(Uint8Array.of(16), 8)) },
  },
  'airdrops init': {
    args: () => ['airdrops', 'init', world.unlaunched, '-k', files.own],
    lies: {
      'another receiver of the rest': account(DISTRIBUTOR, 1),
      'another root': data(DISTRIBUTOR, written(new Uint8Array(32), 16)),
      'another vault': account(TOKEN_PROGRAM, 2),
      'another deposit': data(TOKEN_PROGRAM, written(amountOf(3n), 1)),
    },
  },
  'airdrops launch': {
    args: () => [
      ...['airdrops', 'launch', files.list, '--mint', world.mint, '--raw', '--airdrop-count', '3', '--again'],
      ...['-k', files.own],
    ],
    lies: { 'another root': data(DISTRIBUTOR, written(new Uint8Array(32), 16)) },
  },
  'airdrops claim': {
    args: () => ['airdrops', 'claim', world.tree, '--platform-fee', '1000', '-k', files.own],
    lies: { 'another receiver': account(DISTRIBUTOR, 3), 'another airdrop': account(DISTRIBUTOR, 0) },
  },
  'airdrops send': {
    args: () => ['airdrops', 'send', files.list, '--mint', world.mint, '--raw', '--again', '-k', files.own],
    lies: { 'another receiver': account(TOKEN_PROGRAM, 2) },
  },
  'airdrops push': {
    args: () => ['airdrops', 'push', world.unlaunched, '--again', '-k', files.own],
    lies: { 'another receiver': account(TOKEN_PROGRAM, 2) },
  },
  'tokens withdraw-withheld': {
    args: () => ['tokens', 'withdraw-withheld', world.fees, '-k', files.own],
    lies: {
      'another receiver': account(TOKEN_2022_PROGRAM, 1),
      'fees of another token': (all) => account(TOKEN_2022_PROGRAM, 0, 0, new PublicKey(world.gold))(all),
    },
  },
  'tokens harvest': {
    args: () => ['tokens', 'harvest', world.fees, '--accounts', withheldAt(), '-k', files.own],
    lies: {
      'another account': account(TOKEN_2022_PROGRAM, 1),
      'another token': (all) => account(TOKEN_2022_PROGRAM, 0, 0, new PublicKey(world.gold))(all),
      'a withdrawal': data(TOKEN_2022_PROGRAM, () => Buffer.of(26, 2)),
    },
  },
  'tokens set-extensions': {
    args: () => ['tokens', 'set-extensions', world.fees, '--transfer-fee', '2%', '-k', files.own],
    lies: {
      'another fee': data(TOKEN_2022_PROGRAM, written(Uint8Array.of(201), 2)),
      'another largest fee': data(TOKEN_2022_PROGRAM, written(amountOf(1n), 4)),
      'another token': (all) => account(TOKEN_2022_PROGRAM, 0, 0, new PublicKey(world.gold))(all),
    },
  },
  'tokens update': {
    args: () => ['tokens', 'update', world.fees, '--symbol', 'NEW', '--field', 'site=a.b', '-k', files.own],
    lies: {
      'another symbol': data(TOKEN_2022_PROGRAM, (before) => before.fill(0x58, before.length - 3)),
      'another field': data(TOKEN_2022_PROGRAM, (before) => before.fill(0x58, before.length - 3), 1),
      'another token': (all) => account(TOKEN_2022_PROGRAM, 0, 0, new PublicKey(world.gold))(all),
      'another authority': account(TOKEN_2022_PROGRAM, 1),
    },
  },
  'tokens set-authority': {
    args: () => ['tokens', 'set-authority', world.mint, 'freeze', addressOf(friend), '-k', files.own],
    lies: {
      'another holder': data(TOKEN_PROGRAM, written(thief.publicKey.toBytes(), 3)),
      'another authority': data(TOKEN_PROGRAM, written(Uint8Array.of(0), 1)),
      'nobody as the holder': data(TOKEN_PROGRAM, () => Buffer.of(6, 1, 0)),
    },
  },
  'tokens mint': {
    args: () => ['tokens', 'mint', world.mint, '5', '--to', addressOf(friend), '-k', files.own],
    lies: {
      'another receiver': account(TOKEN_PROGRAM, 1),
      'another amount': data(TOKEN_PROGRAM, written(amountOf(6n), 1)),
      'other decimals': data(TOKEN_PROGRAM, written(Uint8Array.of(0), 9)),
    },
  },
  'tokens burn': {
    args: () => ['tokens', 'burn', world.mint, '5', '-k', files.own],
    lies: {
      'another amount': data(TOKEN_PROGRAM, written(amountOf(6n), 1)),
      'another holder': account(TOKEN_PROGRAM, 0),
    },
  },
  'tokens freeze': {
    args: () => ['tokens', 'freeze', world.mint, addressOf(own), '-k', files.own],
    lies: {
      'another account': account(TOKEN_PROGRAM, 0),
      'a thaw': data(TOKEN_PROGRAM, () => Buffer.of(11)),
    },
  },
  'tokens thaw': {
    args: () => ['tokens', 'thaw', world.frozen, addressOf(own), '-k', files.own],
    lies: {
      'another account': account(TOKEN_PROGRAM, 0),
      'a freeze': data(TOKEN_PROGRAM, () => Buffer.of(10)),
    },
  },
  'tokens transfer': {
    args: () => ['tokens', 'transfer', world.mint, addressOf(friend), '5', '-k', files.own],
    lies: {
      'another receiver': account(TOKEN_PROGRAM, 2),
      'another amount': data(TOKEN_PROGRAM, written(amountOf(6n), 1)),
    },
  },
  'tokens pause': {
    args: () => ['tokens', 'pause', world.pausable, '-k', files.own],
    lies: {
      'another mint': account(TOKEN_2022_PROGRAM, 0),
      'a resumption': data(TOKEN_2022_PROGRAM, () => Buffer.of(44, 2)),
    },
  },
  'tokens resume': {
    args: () => ['tokens', 'resume', world.paused, '-k', files.own],
    lies: {
      'another mint': account(TOKEN_2022_PROGRAM, 0),
      'a pause': data(TOKEN_2022_PROGRAM, () => Buffer.of(44, 1)),
    },
  },
  'tokens close': {
    args: () => ['tokens', 'close', world.pausable, '-k', files.own],
    lies: {
      'another receiver of the rent': account(TOKEN_2022_PROGRAM, 1),
      'another account': account(TOKEN_2022_PROGRAM, 0),
    },
  },
  'collections transfer-authority': {
    args: () => ['collections', 'transfer-authority', world.collection, addressOf(friend), '-k', files.own],
    lies: {
      'another holder': account(CORE, 3),
      'another collection': (all) => account(CORE, 0, 0, new PublicKey(world.asset))(all),
      'another name': data(CORE, () => Buffer.from('10010100000041' + '00', 'hex')),
    },
  },
  'multisig create': {
    args: () => [
      ...['multisig', 'create', '--member', `${addressOf(friend)}:propose,${addressOf(own)}`, '--threshold', '1'],
      ...['-k', files.own],
    ],
    lies: {
      'another member': data(SQUADS, written(thief.publicKey.toBytes(), 15)),
      'more rights of a member': data(SQUADS, written(Uint8Array.of(7), 47)),
      'an authority that may change it': data(SQUADS, (before) =>
        Buffer.concat([before.subarray(0, 8), Buffer.of(1), thief.publicKey.toBytes(), before.subarray(9)]),
      ),
      'another receiver of the rent': data(SQUADS, written(thief.publicKey.toBytes(), 86)),
    },
  },
  'proposals approve': {
    args: () => ['proposals', 'approve', world.active, '-k', files.own],
    lies: {
      'another proposal': account(SQUADS, 2),
      'another multisig': account(SQUADS, 0),
      'a cancellation': data(SQUADS, () => Buffer.from('cd29c23ddc8b10f700', 'hex')),
    },
  },
  'proposals reject': {
    args: () => ['proposals', 'reject', world.active, '-k', files.own],
    lies: {
      'an approval': data(SQUADS, () => Buffer.from('9025a488bcd82af800', 'hex')),
      'another proposal': account(SQUADS, 2),
    },
  },
  'proposals cancel': {
    args: () => ['proposals', 'cancel', world.approved, '-k', files.own],
    lies: {
      'an approval': data(SQUADS, () => Buffer.from('9025a488bcd82af800', 'hex')),
      'another proposal': account(SQUADS, 2),
    },
  },
  'proposals execute': {
    args: () => ['proposals', 'execute', world.approved, '-k', files.own],
    lies: {
      'another account than the plan has': account(SQUADS, 5),
      'another proposal': account(SQUADS, 1),
      'another stored transaction': account(SQUADS, 2),
      'one more account': (all) =>
        at(all, SQUADS).keys.push({ pubkey: own.publicKey, isSigner: true, isWritable: true }),
      'one account fewer': (all) => at(all, SQUADS).keys.pop(),
    },
  },
  'proposals reclaim': {
    args: () => ['proposals', 'reclaim', world.executed, '-k', files.own],
    lies: { 'another proposal': account(SQUADS, 1), 'another transaction': account(SQUADS, 2) },
  },
  'pools positions remove': {
    args: () => [
      ...['pools', 'positions', 'remove', world.mine, world.position, '--liquidity', '1000000000000000000000'],
      ...['-k', files.own],
    ],
    lies: {
      'another account for the token': account(PROGRAMS.dammV2.id, 3),
      'another account for the SOL': account(PROGRAMS.dammV2.id, 4),
      'another position': account(PROGRAMS.dammV2.id, 2),
      'more liquidity': data(PROGRAMS.dammV2.id, written(amountOf(BigInt(SOL)), 16)),
      'no minimum': data(PROGRAMS.dammV2.id, written(amountOf(0n), 24)),
    },
  },
  'pools positions add': {
    args: () => [
      ...['pools', 'positions', 'add', world.mine, world.position, '--amount-a', '1000', '--amount-b', '1'],
      ...['-k', files.own],
    ],
    lies: {
      'more of the token': data(PROGRAMS.dammV2.id, written(amountOf(BigInt(SOL) * 1_000n), 24)),
      'more SOL': data(PROGRAMS.dammV2.id, written(amountOf(2n * BigInt(SOL)), 32)),
      'another position': account(PROGRAMS.dammV2.id, 1),
      'another account of the SOL': account(PROGRAMS.dammV2.id, 3),
      'other decimals': data(TOKEN_PROGRAM, written(Buffer.from([9]), 9)),
    },
  },
  'pools positions open': {
    // With guards there is no room for one more address.
    args: () => [
      ...['pools', 'positions', 'open', world.mine, '--guard', 'off'],
      ...['--amount-a', '1000', '--amount-b', '1', '-k', files.own],
    ],
    lies: {
      'another owner': account(PROGRAMS.dammV2.id, 0),
      'liquidity for another position': account(PROGRAMS.dammV2.id, 1, 1),
      'more of the token': data(PROGRAMS.dammV2.id, written(amountOf(BigInt(SOL) * 1_000n), 24), 1),
      'more SOL': data(PROGRAMS.dammV2.id, written(amountOf(2n * BigInt(SOL)), 32), 1),
    },
  },
  'pools positions vest': {
    args: () => [
      ...['pools', 'positions', 'vest', world.mine, world.position, '--liquidity', '1000000000000000000000'],
      ...['--cliff', '2d', '--periods', '3', '--frequency', '1h', '-k', files.own],
    ],
    lies: {
      'another position': account(PROGRAMS.dammV2.id, 1),
      'another cliff': data(PROGRAMS.dammV2.id, written(amountOf(4_000_000_000n), 9)),
      'longer periods': data(PROGRAMS.dammV2.id, written(amountOf(86_400n), 17)),
      'more liquidity': data(PROGRAMS.dammV2.id, written(amountOf(BigInt(SOL)), 33)),
      'more periods': data(PROGRAMS.dammV2.id, written(Buffer.from([9]), 57)),
    },
  },
  'pools positions claim': {
    args: () => ['pools', 'positions', 'claim', world.mine, world.position, '-k', files.own],
    lies: {
      'another account of the SOL': account(PROGRAMS.dammV2.id, 4),
      'another position': account(PROGRAMS.dammV2.id, 2),
    },
  },
  'pools positions close': {
    args: () => ['pools', 'positions', 'close', world.mine, world.empty, '-k', files.own],
    lies: {
      'another position': account(PROGRAMS.dammV2.id, 3),
      'the rent for another wallet': account(PROGRAMS.dammV2.id, 5),
    },
  },
  'pools positions lock': {
    args: () => [
      ...['pools', 'positions', 'lock', world.mine, world.position, '--liquidity', '1000000000000000000000'],
      ...['-k', files.own],
    ],
    lies: {
      'more liquidity': data(PROGRAMS.dammV2.id, written(amountOf(BigInt(SOL)), 16)),
      'another position': account(PROGRAMS.dammV2.id, 1),
    },
  },
  'pools positions transfer': {
    args: () => ['pools', 'positions', 'transfer', world.direct, '--to', addressOf(friend), '-k', files.own],
    lies: {
      'another receiver': account(TOKEN_2022_PROGRAM, 2),
      'another token': (all) => account(TOKEN_2022_PROGRAM, 1, 0, new PublicKey(world.gold))(all),
    },
  },
})
/** Their dry run checks no transaction: what each batch does is checked before it is signed. */
const CHECKED_BEFORE_EACH_BATCH: readonly string[] = [
  ...['wallet reclaim', 'airdrops launch', 'airdrops send', 'airdrops push'],
]
/** No call of theirs names a program among its accounts. */
const PASSES_NO_PROGRAM: readonly string[] = [
  ...['wallet send', 'wallet reclaim', 'airdrops send', 'airdrops push', 'nfts burn'],
  ...['tokens revoke', 'tokens withdraw-withheld', 'tokens harvest', 'tokens set-extensions', 'tokens update'],
  ...['tokens set-authority', 'tokens mint', 'tokens burn', 'tokens freeze', 'tokens thaw', 'tokens transfer'],
  ...['tokens pause', 'tokens resume', 'tokens close', 'pools transfer-creator', 'pools positions vest'],
  ...['pools positions lock', 'fees delegate grant', 'fees delegate revoke', 'proposals approve', 'proposals reject'],
]
/** A multisig's plan names its accounts without roles. */
const passesStranger = () =>
  new RegExp(
    `it passes ${addressOf(thief)}( as \\w*program|, which the plan does not have there); nothing was signed`,
    'i',
  )
const NOT_SIMULATED = 'the transaction cannot be simulated yet, so nobody knows what it takes'
const LACKS_INSTRUCTION = expect.stringMatching(/^its simulation fails, .*: InstructionFallbackNotFound: /)
/** What an honest API answers, by the command. */
const CANNOT_BE_GUARDED: Readonly<Record<string, unknown>> = {
  'pools create': NOT_SIMULATED,
  'pools migrate':
    'they need 43 bytes more than the transaction has room for: send --tx-version 1, or do less in one transaction',
  'raises create':
    'they need 9 bytes more than the transaction has room for: send --tx-version 1, or do less in one transaction',
  // The program cached here is older than delegates.
  'fees delegate grant': LACKS_INSTRUCTION,
  'fees delegate revoke': LACKS_INSTRUCTION,
}
/** Commands that have no flag for the version, or whose lists are another's. */
const VERSION_0_ALONE: readonly string[] = ['airdrops launch']

describe('Every command that signs', () => {
  it('has lies in this file', async () => {
    const known = [...Object.keys(CASES), ...SHOWN_BEFORE_SIGNING, ...PROPOSES].sort()
    expect(await signingCommands()).toEqual(known)
    expect(known.length).toBeGreaterThan(20)
  })

  it('signs through the one function that takes only checked transactions', () => {
    const folder = join(import.meta.dirname, '../../commands')
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    expect(sources.length).toBeGreaterThan(200)
    const signing = sources.filter((name) => /wallet\.sign\(/.test(readFileSync(join(folder, name), 'utf8')))
    expect(signing.sort()).toEqual(['signing/signatures.ts', 'transactions/sign.ts'])
  })
})

describe.skipIf(lacks)('A transaction that the API built otherwise than asked', () => {
  const commands = Object.entries(CASES)
  const rows = commands.flatMap(([command, { args, lies }]) =>
    Object.entries(lies).map(([name, lie]) => [command, name, args, lie] as const),
  )
  it.each(oneOfEach(rows, ([command]) => command))(
    'is refused by svc %s: %s',
    { tags: 'sampled' },
    async (_, __, args, lie) => {
      await expectRefused(args(), lie)
    },
  )

  // A demand with a field that no decoder gives would refuse the truth too, and so pass for careful.
  const requests = commands.map(([command, { args }]) => [command, args] as const)
  it.each(requests)('is not suspected by svc %s if the API is honest', async (command, args) => {
    const { stdout, stderr } = await run([...args(), '--dry-run'])
    expect(`${stdout}${stderr}`).not.toMatch(/another transaction than requested/)
    if (!CHECKED_BEFORE_EACH_BATCH.includes(command)) expect(stdout).toMatch(/checked +here: /)
  })

  it.each(oneIn(5, requests))(
    'is not suspected by svc %s --guard required if the API is honest',
    { tags: 'sampled' },
    async (command, args) => {
      const { stdout, stderr } = await run([...args(), '--guard', 'required', '--dry-run'])
      expect(`${stdout}${stderr}`).not.toMatch(/another transaction than requested/)
      const refused = /not everything can be guarded, because (.*)/.exec(stderr)?.[1]
      expect([command, refused]).toEqual([command, CANNOT_BE_GUARDED[command]])
    },
  )

  const isPassing = ([command]: (typeof requests)[number]) => !PASSES_NO_PROGRAM.includes(command)
  it.each(oneIn(3, requests.filter(isPassing)))(
    "is refused by svc %s if a call passes a stranger's program",
    { tags: 'sampled' },
    async (_, args) => {
      const { lie, count } = strangersProgram()
      await expectUnsigned(args(), lie, liar.answer, passesStranger())
      expect(count()).toBeGreaterThan(0)
    },
  )

  itInSoak('passes no program in the commands that are listed so', async () => {
    const { lie, count } = strangersProgram()
    liar.lie = lie
    const passing: string[] = []
    for (const [command, args] of requests.filter((each) => !isPassing(each))) {
      const before = count()
      await run([...args(), '--dry-run'])
      if (count() > before) passing.push(command)
    }
    liar.lie = null
    expect(passing).toEqual([])
  })

  /** A migration has room for a small call alone. */
  const addedTo = (command: string, i: number) => ADDED[command === 'pools migrate' ? 0 : i % ADDED.length]!
  const withAdded = commands.map(([command, { args }], i) => [command, args, addedTo(command, i)] as const)
  it.each(oneIn(5, withAdded))(
    'is refused by svc %s with an added call, in both versions',
    { tags: 'sampled' },
    async (command, args, added) => {
      await expectRefused(args(), (all) => all.push(added()))
      if (!VERSION_0_ALONE.includes(command))
        await expectRefused(args(), (all) => all.push(ADDED[0]!()), { version: '1' })
    },
  )

  const half = (bytes: Buffer, offset: number, length: number) => {
    const value =
      BigInt(
        `0x${Buffer.from(bytes.subarray(offset, offset + length))
          .reverse()
          .toString('hex')}`,
      ) / 2n
    const hex = value.toString(16).padStart(2 * length, '0')
    return written(Buffer.from(hex, 'hex').reverse(), offset)(bytes)
  }
  it.each<[string, Lie]>([
    ['another fee', data(DAMM_V2, written(amountOf(500_000_000n), 8))],
    ['a fee that changes', data(DAMM_V2, written(Uint8Array.of(1), 20))],
    ['a narrower range', data(DAMM_V2, (bytes) => half(bytes, 55, 16))],
    ['less liquidity', data(DAMM_V2, (bytes) => half(bytes, 72, 16))],
    ['another price', data(DAMM_V2, (bytes) => half(bytes, 88, 16))],
    ['fees in both tokens', data(DAMM_V2, written(Uint8Array.of(0), 105))],
    ['a smaller lock', data(DAMM_V2, (bytes) => half(bytes, 8, 16), -1)],
    ['another pool that is locked', account(DAMM_V2, 0, -1)],
    [
      'no lock',
      (all) =>
        all.splice(
          all.findLastIndex(({ programId }) => programId.toBase58() === DAMM_V2),
          1,
        ),
    ],
    ['another account that pays', account(DAMM_V2, 12)],
  ])('is refused by svc raises settle with another pool than planned: %s', async (_, lie) => {
    const pool = [...POOL_TYPED, '--then-pool', 'standard']
    await expectRefused(['raises', 'settle', world.planned, ...pool, '-k', files.seller], lie, { version: '1' })
  })
  it('is refused by svc raises settle if the API leaves the lock out, or adds the pool to a settlement without it', async () => {
    const pool = [...POOL_TYPED, '--then-pool', 'standard']
    const args = ['raises', 'settle', world.planned, '-k', files.seller]
    const unlocked = (answer: Record<string, unknown>) =>
      Array.isArray(answer.acts) ? { ...answer, acts: answer.acts.filter((act) => act !== 'lock_liquidity') } : answer
    await expectRefused([...args, ...pool], null, {}, unlocked)
    liar.asks = (sent) => sent.replace('"skip_pool":true', '"skip_pool":false')
    await expectRefused([...args, '--skip-pool'], null)
    liar.asks = (sent) => sent
  })

  it.each<[string, Lie]>([
    ['a larger transfer fee', data(TOKEN_2022_PROGRAM, written(Uint8Array.of(200), 68))],
    ['another receiver of the fees', data(TOKEN_2022_PROGRAM, written(thief.publicKey.toBytes(), 36))],
    ['another permanent delegate', data(TOKEN_2022_PROGRAM, written(thief.publicKey.toBytes(), 1), 1)],
    ['a power that was not requested', data(TOKEN_2022_PROGRAM, () => Buffer.of(44, 0, ...own.publicKey.toBytes()), 1)],
  ])('is refused by svc tokens create with extensions: %s', async (_, lie) => {
    const extensions = ['--transfer-fee', '1%', '--permanent-delegate', addressOf(friend)]
    await expectRefused([...CASES['tokens create'].args(), ...extensions], lie)
  })

  it.each<[string, Lie]>([
    ['another holder', data(TOKEN_2022_PROGRAM, () => Buffer.of(6, 4, 1, ...thief.publicKey.toBytes()))],
    ['another authority', data(TOKEN_2022_PROGRAM, written(Uint8Array.of(5), 1))],
    ['another token', (all) => account(TOKEN_2022_PROGRAM, 0, 0, new PublicKey(world.gold))(all)],
  ])('is refused by svc tokens set-authority that gives one up: %s', async (_, lie) => {
    await expectRefused(['tokens', 'set-authority', world.fees, 'transfer_fee_config', 'none', '-k', files.own], lie)
  })

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
    ...[true, false].map((isSaid): [string, string, () => string[], (data: Answer) => void] => [
      'pools create --mint-keypair',
      isSaid ? 'mint, which the answer names' : 'mint, which the answer hides',
      () => [...CASES['pools create'].args(), '--mint-keypair', files.mint],
      (data) => {
        const { pool, transactions, required_signers } = data as unknown as PoolCreated
        const [mint, key] = [new PublicKey(pool.base_mint), Keypair.generate()]
        const replace: Lie = (all) => {
          for (const meta of all.flatMap(({ keys }) => keys)) if (meta.pubkey.equals(mint)) meta.pubkey = key.publicKey
        }
        if (isSaid) Object.assign(pool, { base_mint: addressOf(key) })
        Object.assign(required_signers, { base_mint_secret_key: [...key.secretKey] })
        Object.assign(data, { transactions: transactions.map((one) => changed(one, replace)) })
      },
    ]),
  ])('is refused by svc %s with another %s', async (_, __, args, change) => {
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
    ['the same payment twice', CASES['wallet send'].args, (all) => all.push(all.at(-1)!)],
    ['the same tokens twice', () => sendsToken(), (all) => all.push(all.at(-1)!)],
    ['the same mint twice', CASES['tokens mint'].args, (all) => all.push(all.at(-1)!)],
    ['the transfers of a list in another order', () => sendsToTwo(), reversed],
    ['a nonce that nobody asked for', CASES['wallet send'].args, (all) => all.unshift(advancesNonce())],
    ['the claim of a sponsor, paid to another', () => sponsored(), account(DISTRIBUTOR, 3)],
    ['the claim of a sponsor, and a transfer', () => sponsored(), (all) => all.push(ADDED[0]!())],
    ['a list of NFTs', () => listOfNfts(), account(CORE, 4)],
    ['a list of locks', () => listOfLocks(), account(LOCK, 6)],
    ['a list of launches', () => listOfLaunches(), account(DBC, 4, -1)],
    ['a list of mints to pause', () => listOfMints(), account(TOKEN_2022_PROGRAM, 0)],
    ['a list of mints to pause, and a transfer', () => listOfMints(), (all) => all.push(ADDED[0]!())],
  ])('is refused with %s', async (_, args, lie) => {
    await expectRefused(args(), lie)
  })

  it('is refused if a lookup table hides the recipient', async () => {
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

  it('is refused with another payer', async () => {
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

  it('is refused by a launch whose journal an earlier run left', async () => {
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

  it('is signed if the API is honest, and the command says what was checked', async () => {
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

describe.skipIf(lacks)('A false transaction with an answer that agrees with it', () => {
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

  it('is refused by svc gold unlock if its claim passes another account', async () => {
    const added: Lie = (all) => at(all, LOCK).keys.push({ pubkey: thief.publicKey, isSigner: false, isWritable: true })
    await expectRefused(CASES['gold unlock'].args(), added)
  })

  it('is refused by svc locks with another lock than the one that was typed', async () => {
    for (const [verb, address] of Object.entries({ cancel: world.ownLock, claim: world.lock, close: world.lock })) {
      const lie = account(LOCK, 0, 0, new PublicKey(address))
      await expectRefused(CASES[`locks ${verb as 'claim'}`].args(), lie, {}, saying({ address }))
    }
  })

  it('is refused by svc raises create with other results than those that are computed here', async () => {
    const more = (answer: Record<string, unknown>) => {
      const preview = answer.preview as Record<string, object> | undefined
      if (preview === undefined) return answer
      return { ...answer, preview: { ...preview, best: { ...preview.best, creator_gets: '1' } } }
    }
    const refused = /the API says creator_gets 1 for the best case, and \d+ was computed here/
    await expectUnsigned(CASES['raises create'].args(), null, more, refused)
    const cut = (answer: Record<string, unknown>) => ('preview' in answer ? { ...answer, transaction: 'AAAA' } : answer)
    await expectUnsigned(
      CASES['raises create'].args(),
      null,
      cut,
      /^error: transaction is not a base64 versioned transaction/,
    )
  })

  it('is refused by svc raises with other tokens than those of the raise', async () => {
    const said = { decimals: 0, quote_decimals: 9 }
    for (const lie of [{ mint: world.gold }, { quote_mint: world.gold }, { base: addressOf(thief) }]) {
      const other = (answer: Record<string, unknown>) => ('base' in answer ? { ...answer, ...lie, ...said } : answer)
      const pool = [...POOL_TYPED, '--then-pool', 'standard']
      for (const args of [['raises', 'settle', world.planned, ...pool, '-k', files.seller], DEPOSIT()])
        await expectUnsigned(args, null, other, /the API says that the raise .* sells .*, which is not so/)
    }
  })

  it('is refused by svc raises settle if it says another plan or other decimals, which nobody reads', async () => {
    const whole = ['--pool-quote', '0.5', '--pool-tokens', '500000', '--then-pool', 'standard']
    const thousandfold = (answer: Record<string, unknown>) => ('base' in answer ? { ...answer, decimals: 6 } : answer)
    const settle = ['raises', 'settle', world.planned, ...whole, '-k', files.seller]
    await expectUnsigned(settle, null, thousandfold, /only the API says this.* has 6 decimals/)
    const args = ['raises', 'settle', world.planned, ...POOL_TYPED, '-k', files.seller]
    const free = (answer: Record<string, unknown>) =>
      'base' in answer ? { ...answer, pool: { ...(answer.pool as object), fee_bps: 9_900 } } : answer
    await expectUnsigned(args, null, free, /the plan of the pool: a trading fee of 99 %, 100 % of the liquidity locked/)
    await expectRefused(
      [...args, '--then-pool', 'standard'],
      data(DAMM_V2, written(amountOf(990_000_000n), 8)),
      {},
      free,
    )
  })

  it('is refused by svc raises open with another list or another URL than was given', async () => {
    const args = CASES['raises open'].args()
    const root = 'ab'.repeat(32)
    await expectUnsigned(args, null, (answer) => ({ ...answer, root }), /the server stored the list with root abab/)
    const withoutUrl = args.filter((each, i) => each !== '--url' && args[i - 1] !== '--url')
    const url = 'https://exemple.com/raise'
    liar.asks = (sent) => (sent.includes('"payer"') ? sent.replace('"payer"', `"url":"${url}","payer"`) : sent)
    await expectUnsigned(
      withoutUrl,
      null,
      (answer) => answer,
      /only the API says this, and nobody checks it: proofs at/,
    )
    liar.asks = (sent) => sent
  })

  it('is refused by svc airdrops init with another list, a larger total, or a later start', async () => {
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

  it('is refused by svc airdrops init without a tree, with a deposit that was not given', async () => {
    const bare = ['airdrops', 'init', '--mint', world.mint, '--airdrop-count', '2', '-k', files.own]
    const { root } = await ok(['airdrops', 'get', world.unlaunched])
    await expectUnsigned([...bare, '--root', root], null, liar.answer, /a deposit of 16 raw units/)
  })

  it('is refused by svc airdrops claim without a lower bound for the sale', async () => {
    const args = ['airdrops', 'claim', world.tree, '--swap-to-sol', '-k', files.own]
    await expectUnsigned(args, null, liar.answer, /needs --min-sol/)
  })

  it('is refused by svc pools create if it locks less liquidity than the pool has', async () => {
    const args = [...launchArgs().filter((one) => !['--preset', 'tiny'].includes(one)), '--type', 'damm_v2']
    liar.everyOne = true
    await expectRefused(args, (all) => {
      const lock = all.find(({ programId, data }) => programId.toBase58() === PROGRAMS.dammV2.id && data.length === 24)
      if (lock !== undefined) lock.data = written(amountOf(1n), 8)(Buffer.from(lock.data))
    })
    liar.everyOne = false
  })

  it('is refused by svc fees claim if the shares could be paid from SOL that was wrapped before', async () => {
    await expectRefused(CASES['fees claim'].args(), (all) => {
      const closes = ({ programId, data }: TransactionInstruction) =>
        programId.equals(spl.TOKEN_PROGRAM_ID) && data[0] === 9
      all.splice(all.findIndex(closes), 1)
    })
  })

  it('is refused by svc fees claim if the owner of positions would sign as the delegate of a thief', async () => {
    await ok(['pools', 'swap', world.direct, '--buy', '0.1', '-k', files.own])
    const claim = ['fees', 'claim', world.direct, '--kind', 'damm_v2', '-k', files.own]
    const toThief: Lie = (all) => {
      for (const { programId, keys } of all) {
        if (programId.equals(spl.ASSOCIATED_TOKEN_PROGRAM_ID)) {
          const [mint, program] = [keys[3]!.pubkey, keys[5]!.pubkey]
          keys[1]!.pubkey = spl.getAssociatedTokenAddressSync(mint, thief.publicKey, true, program)
          Object.assign(keys[2]!, { pubkey: thief.publicKey, isSigner: false })
        }
      }
      const opened = all.filter(({ programId }) => programId.equals(spl.ASSOCIATED_TOKEN_PROGRAM_ID))
      const taken = all.find(({ programId }) => programId.toBase58() === PROGRAMS.dammV2.id)!
      for (const [i, { keys }] of opened.slice(0, 2).entries()) taken.keys[3 + i]!.pubkey = keys[1]!.pubkey
      const isLeftOut = ({ programId, data }: TransactionInstruction) =>
        programId.equals(ComputeBudgetProgram.programId) || (programId.equals(spl.TOKEN_PROGRAM_ID) && data[0] === 9)
      all.splice(0, all.length, ...all.filter((each) => !isLeftOut(each)))
    }
    const answer = (answered: Record<string, unknown>) =>
      'claimer' in answered ? { ...answered, claimer: addressOf(thief), delegate: addressOf(own) } : answered
    await expectRefused([...claim, '--owner', addressOf(own)], toThief, {}, answer)
    await expectUnsigned([...claim, '--as', 'creator'], toThief, answer, /whose delegate signs; nothing was signed/)
  })

  it('ends no --build-only with a last block height at which no clock arrives', async () => {
    const last_valid_block_height = Number.MAX_SAFE_INTEGER
    liar.answer = (answered) => ('transaction' in answered ? { ...answered, last_valid_block_height } : answered)
    const { exitCode, stderr } = await run([...CASES['wallet send'].args(), '--build-only'])
    liar.answer = (answered) => answered
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('signed by')])
  })

  it('is refused by svc wallet reclaim with a higher fee than was shown', async () => {
    await expectRefused(CASES['wallet reclaim'].args(), (all) => {
      const rest = all.filter(({ programId }) => !programId.equals(ComputeBudgetProgram.programId))
      const units = ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 })
      all.splice(0, all.length, units, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 40_000_000 }), ...rest)
    })
  })

  it('is refused by svc stakes create if only another wallet could release it', async () => {
    const thawedByThief = data(CORE, () => Buffer.from([2, 1, 1, 1, 3, ...thief.publicKey.toBytes()]))
    await expectUnsigned(CASES['stakes create'].args(), thawedByThief, liar.answer, /only \w+ can release it/)
  })

  describe('about positions of a pool', () => {
    const asSaid = liar.answer
    afterEach(() => {
      liar.asks = (sent) => sent
    })

    it('is refused by svc pools positions open with another pool, also by a vault', async () => {
      await ok(['pools', 'swap', world.direct, '--buy', '0.1', '-k', files.own])
      const open = CASES['pools positions open'].args()
      liar.asks = (sent) => sent.replace(world.mine, world.direct)
      const message = new RegExp(`${world.mine} became the pool ${world.direct}; nothing was signed`)
      await expectUnsigned(open, null, asSaid, message)
      await expectUnsigned([...open, '--squads', world.group], null, asSaid, message)
    })

    it('is refused by svc pools positions open and add with other decimals of SOL', async () => {
      const hundredth = (verb: 'open' | 'add') => CASES[`pools positions ${verb}`].args().with(-3, '0.01')
      const later = (data: Record<string, unknown>) => ('maximum_b' in data ? saying({ decimals_b: 11 })(data) : data)
      for (const args of [hundredth('open'), hundredth('add')]) {
        await expectUnsigned(args, null, saying({ decimals_b: 11 }), /SOL has 9 decimals, not 11/)
        await expectUnsigned(args, null, later, /its decimals_b is 11, and was 9 before/)
      }
    })

    it('does not change the decimals of SOL in what svc pools positions remove shows', async () => {
      const remove = ['pools', 'positions', 'remove', world.mine, world.position, '--percent', '50']
      const dry = [...remove, '-k', files.own, '--dry-run']
      const shownSol = async () => (await run(dry)).stdout.match(/[\d.,]*[1-9] SOL$/gm)
      const before = await shownSol()
      liar.answer = saying({ decimals_b: 11 })
      expect(await shownSol()).toEqual(before)
      liar.answer = asSaid
      expect(before).toHaveLength(3)
    })

    it('is refused by svc pools positions transfer with another position than was asked for', async () => {
      const send = ['pools', 'positions', 'transfer', world.mine, '--to', addressOf(friend), '-k', files.own]
      const one = [...send, '--position', world.position]
      liar.asks = (sent) => sent.replace(world.position, world.empty)
      await expectRefused(one, null)
      await expectRefused(one, null, {}, saying({ position: world.position }))
      await expectRefused(send, null, {}, saying({ position: addressOf(thief) }))
    })

    it('shows in svc pools positions lock and vest --all how much all is', async () => {
      const all = (verb: string) => ['pools', 'positions', verb, world.mine, world.position, '--all', '-k', files.own]
      const units = Buffer.concat([amountOf(BigInt(SOL)), amountOf(0n)])
      liar.lie = data(PROGRAMS.dammV2.id, written(units, 8), -1)
      liar.answer = saying({ newly_locked_liquidity: String(SOL) })
      const locks = await run([...all('lock'), '--dry-run'])
      Object.assign(liar, { lie: null, answer: asSaid })
      expect(locks.stdout).toContain(`all that can be withdrawn are ${SOL} units of liquidity, as the API reads it`)
      const vests = await run([...all('vest'), '--cliff', '2d', '--dry-run'])
      expect(vests.stdout).toMatch(/all that can be withdrawn are \d+ units of liquidity, as the API reads it/)
    })
  })

  it('is not suspected by svc pools swap and gold lock if the API is honest', async () => {
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

describe.skipIf(lacks)('Guards that the API wrote otherwise than required', () => {
  const GUARD_LIES = Object.entries({ ...LIES_ABOUT_GUARDS, ...FOREIGN_GUARDS })

  it.each(oneIn(3, GUARD_LIES))(
    'are refused by svc wallet send --guard required: %s',
    { tags: 'sampled' },
    async (_, lie) => {
      await expectRefused([...sendsToken(), '--guard', 'required'], lie)
    },
  )

  // What a pool's program takes is known only from the simulation that is shown, and from the act's own limit.
  it.each([
    ['wallet', ['--buy', '0.1']],
    ['token', ['--sell', '1']],
  ] as const)('are refused by svc pools swap with a lower bound of the %s', async (kind, trade) => {
    const swap = ['pools', 'swap', world.pool, ...trade, '-k', files.own]
    await expectRefused([...swap, '--guard', 'required'], weaker(kind, 1n))
    liar.lie = weaker(kind, 1n)
    const { stdout } = await run([...swap, '--dry-run'])
    liar.lie = null
    expect(stdout).toContain(
      kind === 'wallet' ? 'at most 0.100000001 SOL can leave your wallet' : 'at most 1.000001 can leave',
    )
  })

  it('are refused by svc wallet send of SOL, but what empties a wallet has none', async () => {
    const pays = (amount: string) => [
      'wallet',
      'send',
      addressOf(friend),
      amount,
      '-k',
      files.own,
      '--guard',
      'required',
    ]
    await expectRefused(
      pays('0.5'),
      guarding(() => []),
    )
    const { exitCode, stdout } = await run([...pays('all'), '--dry-run'])
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/guard +not needed/)])
  })

  it('are refused by a list before each batch', async () => {
    await expectRefused([...sendsToTwo(), '--guard', 'required'], weaker('token', 1n))
    await expectRefused([...sendsToTwo(), '--guard', 'required'], weaker('wallet', 20_000_000n))
  })

  // The first build is for the preview of the list, and the second is signed.
  const rows = [
    ['a list of locks', 'token', () => listOfLocks()],
    ['a list of locks', 'wallet', () => listOfLocks()],
    ['a list of NFTs', 'wallet', () => listOfNfts()],
  ] as const
  it.each([0, 1].flatMap((honest) => rows.map((row) => [...row, honest] as const)))(
    'are refused by %s with a lower bound of the %s',
    async (_, kind, args, honest) => {
      let built = 0
      const lie: Lie = (all) => (built++ < honest ? undefined : weaker(kind, 20_000_000n)(all))
      await expectRefused([...args(), '--guard', 'required'], lie)
    },
  )

  it.each(['wallet', 'token'] as const)(
    'are refused by svc airdrops launch with a lower bound of the %s',
    async (kind) => {
      await expectRefused([...CASES['airdrops launch']!.args(), '--guard', 'required'], weaker(kind, 20_000_000n))
    },
  )

  it('are refused by the claim of a sponsor with a lower bound of the claimer', async () => {
    const lowered = (guards: readonly Guard[]) =>
      guards.map((guard): Guard => (guard.address === addressOf(friend) ? { ...guard, change: -20_000_000n } : guard))
    await expectRefused([...sponsored(), '--guard', 'required'], guarding(lowered, platform))
  })

  it('may be missing if they are not required, and the preview says so', async () => {
    liar.lie = guarding(() => [])
    const { stdout } = await run([...sendsToken(), '--dry-run'])
    expect(stdout).toMatch(/guard +not guarded, although the API says that it is/)
    liar.answer = ({ guard: _, ...older }) => older
    const older = await run([...sendsToken(), '--dry-run'])
    Object.assign(liar, { lie: null, answer: (data: Record<string, unknown>) => data })
    expect(older.stdout).toMatch(/guard +not guarded: the API is older/)
  })

  it.each(oneIn(3, Object.entries(FOREIGN_GUARDS)))(
    'are refused by svc wallet send: %s',
    { tags: 'sampled' },
    async (_, lie) => {
      await expectRefused(sendsToken(), lie)
    },
  )
})

describe.skipIf(lacks)('A false answer about a proposal of a multisig', () => {
  const isProposal = ({ message_sha256 }: Record<string, unknown>) => typeof message_sha256 === 'string'
  const record = (change: (data: Record<string, unknown>) => object) => (data: Record<string, unknown>) =>
    isProposal(data) ? { ...data, ...change(data) } : data
  const inApprover = (fields: object) =>
    record(({ approver }) => ({ approver: { ...(approver as object), ...fields } }))
  /** The plan of a payment to the thief. */
  const otherPlan = (data: Record<string, unknown>) => changed(String(data.transaction), account(SYSTEM_PROGRAM, 1))

  it.each<[string, typeof liar.answer, RegExp]>([
    [
      'another plan',
      record((data) => ({ transaction: otherPlan(data) })),
      /its transaction has [0-9a-f]{64}: nothing was signed/,
    ],
    ['another hash', record(() => ({ message_sha256: '0'.repeat(64) })), /names the hash 0{64}/],
    ['another vault', inApprover({ vault: addressOf(thief) }), /not those of its multisig and its number/],
    ['another multisig', inApprover({ multisig: addressOf(thief) }), /not those of its multisig and its number/],
    ['another number', inApprover({ transaction_index: '7' }), /not those of its multisig and its number/],
    ['no number', inApprover({ transaction_index: 'x' }), /not those of its multisig and its number/],
    ['another id', record(() => ({ id: 'prp_other' })), /instead of prp_/],
    [
      'another plan at the approval alone',
      (data) => {
        const proposal = data.proposal as Record<string, unknown> | undefined
        if (proposal === undefined || !isProposal(proposal)) return data
        const transaction = otherPlan(proposal)
        return { ...data, proposal: { ...proposal, transaction, message_sha256: timeless(transaction) } }
      },
      /its plan has the hash/,
    ],
  ])('is refused: %s', async (_, answer, message) => {
    await expectUnsigned(CASES['proposals approve'].args(), null, answer, message)
  })
})

/** SHA-256 of the message with a zero blockhash. */
function timeless(transaction: string): string {
  const { messageBytes, message } = decodeWireTransaction(Buffer.from(transaction, 'base64'))
  const bytes = Uint8Array.from(messageBytes).fill(0, message.blockhashOffset, message.blockhashOffset + 32)
  return hash('sha256', bytes, 'hex')
}

const sendsToken = () => ['wallet', 'send', addressOf(friend), '1.5', '--mint', world.mint, '-k', files.own]
const sendsToTwo = () => {
  const rows = [7, 9].map((amount) => `${addressOf(Keypair.generate())},${amount}\n`)
  const two = cli.file('two.csv', rows.join(''))
  return ['airdrops', 'send', two, '--mint', world.mint, '--raw', '--again', '-k', files.own]
}
const sponsored = () => ['airdrops', 'claim', world.tree, '--sponsor', '-k', files.friend]
const listOfLocks = () => [
  ...['locks', 'create', world.mint, '--from', files.locks, '--cliff', '1d', '--all-at-once', '-k', files.own],
]
/** The clock of the chain, ten years ahead. */
function laterClock(answer: Record<string, unknown>) {
  if (answer.owner !== 'Sysvar1111111111111111111111111111111111111') return answer
  const bytes = Buffer.from(String(answer.data), 'base64')
  bytes.writeBigInt64LE(bytes.readBigInt64LE(32) + 315_360_000n, 32)
  return { ...answer, data: bytes.toString('base64') }
}
const listOfNfts = () => ['nfts', 'mint', '--collection', world.collection, '--from', files.nfts, '-k', files.own]
const listOfMints = () => ['tokens', 'pause', '--from', cli.file('mints.csv', `${world.pausable}\n`), '-k', files.own]
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

  it('shows what it signs, and needs a yes if a mistake costs money', async () => {
    const keypair = cli.file('signer.json', JSON.stringify([...own.secretKey]), 0o600)
    const args = ['tx', 'sign', Buffer.from(payment()).toString('base64'), '-k', keypair]
    const shown = await cli.svc(args)
    expect([shown.exitCode, shown.stderr]).toEqual([0, expect.stringContaining(addressOf(thief))])
    expect(shown.stderr).toContain('lamports  1 SOL')
    const mainnet = { env: { SVC_URL: 'mainnet-beta', SVC_DATA_DIR: join(cli.home, 'elsewhere') } }
    await cli.refused(args, '--yes', 2, mainnet)
    expect((await cli.svc([...args, '--yes'], mainnet)).exitCode).toBe(0)
  })
})

describe('An API without encryption', () => {
  it('is warned of once if it is on another machine', async () => {
    const { stderr } = await cli.svc(['health', '--api', 'http://svc.invalid'], {
      env: { SVC_API_KEY: 'svc_test_key' },
    })
    expect(stderr.match(/http:\/\/svc\.invalid is not encrypted/g)).toHaveLength(1)
  })
})

/** The proposal of an answer, of which a lie changes the transactions that put it on chain. */
const creation = (change: (creation: Record<string, unknown>) => unknown) => (data: Record<string, unknown>) => {
  if (typeof data.proposal === 'object' && data.proposal !== null) change(data.proposal as Record<string, unknown>)
  return data
}
const proposing = (lie: Lie) =>
  creation((found) => {
    found.transactions = (found.transactions as string[]).map((one) => changed(one, lie))
  })
const proposed = (of: string) => ['wallet', 'send', addressOf(friend), '0.5', '--squads', of, '-k', files.own]
/** Places in the data of the two instructions: the vault or the number, and the message. */
const [INDEX_AT, MESSAGE_AT] = [8, 14]

describe.skipIf(lacks)('A proposal that the API built otherwise than asked', () => {
  it.each(
    oneIn<[string, (data: Record<string, unknown>) => Record<string, unknown>]>(3, [
      [
        'another amount in the stored act',
        proposing(data(SQUADS, (bytes) => written(amountOf(9n), bytes.length - 10)(bytes))),
      ],
      ['another vault', proposing(data(SQUADS, written(Uint8Array.of(1), INDEX_AT)))],
      ['another recipient in the stored act', proposing(data(SQUADS, (bytes) => swapped(bytes)))],
      ['another multisig', proposing(account(SQUADS, 0))],
      ['another payer of the rent', proposing(account(SQUADS, 3))],
      ['another number of the proposal', proposing(data(SQUADS, written(amountOf(9n), INDEX_AT), 1))],
      ['another number', creation((found) => Object.assign(found, { transaction_index: '99' }))],
      ['an approval too', proposing((all) => all.push(approves(all)))],
      ['a transfer too', proposing((all) => all.push(ADDED[0]!()))],
      [
        'a transaction too many',
        creation((found) => (found.transactions as string[]).push((found.transactions as string[])[0]!)),
      ],
      ['no transaction', creation((found) => Object.assign(found, { transactions: [] }))],
      ['no proposal', (all) => ({ ...all, proposal: undefined })],
    ]),
  )('is refused with %s', { tags: 'sampled' }, async (_, answer) => {
    await expectRefused(proposed(world.multisig), null, {}, answer)
  })

  it('is refused with another act, whatever its proposal stores', async () => {
    await expectRefused(proposed(world.multisig), account(SYSTEM_PROGRAM, 1))
  })

  it('is refused for the rows of a list, with another recipient or another clock of the chain', async () => {
    const give = ['wallet', 'send', world.vault, '2', '--mint', world.mint, '--allow-programs', '-k', files.own]
    await ok(give)
    const own = listOfLocks()
    const vaults = [...own, '--squads', world.multisig]
    const isSaid = /the chain's clock[\s\S]*--start/
    await expectUnsigned([...own, '--journal', `${files.locks}.later.json`], null, laterClock, isSaid)
    await expectUnsigned(vaults, null, laterClock, isSaid)
    await expectRefused(vaults, account(LOCK, 6))
  })

  it('is not made with guards required, which it has only when it is executed', async () => {
    const args = [...proposed(world.multisig), '--guard', 'required']
    await expectUnsigned(args, null, liar.answer, /a proposal has no guards[\s\S]*svc proposals execute/)
  })

  it('is signed if the API is honest, and nothing is done yet', async () => {
    const { exitCode, stdout, stderr } = await run([...proposed(`${world.multisig}:0`), '--json'])
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(stdout)).toMatchObject({ vault: world.vault, proposal_status: 'active', approvals_needed: 2 })
  })

  it('is not made with the setting squads if none is asked for', async () => {
    const env = { SVC_API_KEY: daemon.operator, SVC_SQUADS: world.multisig }
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const send = ['wallet', 'send', addressOf(friend), '0.1', '-k', files.own, '--yes', '--json', '--api', api]
    const asked = JSON.parse((await cli.svc(send, { env })).stdout)
    expect(asked).toMatchObject({ vault: world.vault, proposal_status: 'active' })
    const own = JSON.parse((await cli.svc([...send, '--squads', 'none'], { env })).stdout)
    expect(own).not.toHaveProperty('vault')
  })
})

describe.skipIf(lacks)("A proposal of the caller's own transaction", () => {
  const created = () => {
    const fromPubkey = new PublicKey(world.vault)
    const message = new TransactionMessage({
      payerKey: fromPubkey,
      recentBlockhash: addressOf(friend),
      instructions: [SystemProgram.transfer({ fromPubkey, toPubkey: friend.publicKey, lamports: SOL / 2 })],
    })
    const transaction = new VersionedTransaction(message.compileToV0Message()).serialize()
    return [
      ...['proposals', 'create', Buffer.from(transaction).toString('base64')],
      ...['--squads', world.multisig, '-k', files.own],
    ]
  }

  it.each<[string, (data: Record<string, unknown>) => Record<string, unknown>]>([
    ['another recipient in the stored act', proposing(data(SQUADS, (bytes) => swapped(bytes)))],
    ['another multisig', proposing(account(SQUADS, 0))],
    ['an approval too', proposing((all) => all.push(approves(all)))],
    ['no transaction', creation((found) => Object.assign(found, { transactions: [] }))],
    ['no proposal', (all) => ({ ...all, proposal: undefined })],
  ])('is refused with %s', async (_, answer) => {
    await expectRefused(created(), null, {}, answer)
  })
})

describe.skipIf(lacks)('A proposal that the API built anew otherwise than its plan', () => {
  it.each(
    oneIn<[string, typeof liar.answer]>(3, [
      ['another recipient in the stored act', proposing(data(SQUADS, (bytes) => swapped(bytes)))],
      ['another multisig', proposing(account(SQUADS, 0))],
      ['an approval too', proposing((all) => all.push(approves(all)))],
    ]),
  )('is refused with %s', { tags: 'sampled' }, async (_, answer) => {
    const by = ['-k', files.own]
    const id = (await ok(['wallet', 'send', addressOf(friend), '1', '--squads', world.group, ...by])).proposal
    await ok(['proposals', 'reject', id, ...by])
    await expectRefused(['proposals', 'renew', id, ...by], null, {}, answer)
  })
})

/** The thief in the place of the recipient among the keys of the stored message. */
function swapped(bytes: Buffer): Buffer {
  const at = bytes.indexOf(friend.publicKey.toBytes())
  return at < MESSAGE_AT ? bytes : written(thief.publicKey.toBytes(), at)(bytes)
}

function approves(all: readonly TransactionInstruction[]): TransactionInstruction {
  const made = all.filter(({ programId }) => programId.toBase58() === SQUADS)
  const [multisig, proposal, member] = made.at(-1)!.keys
  return new TransactionInstruction({
    programId: new PublicKey(SQUADS),
    keys: [multisig!, { ...member!, isWritable: true }, proposal!],
    data: Buffer.from('9025a488bcd82af800', 'hex'),
  })
}
