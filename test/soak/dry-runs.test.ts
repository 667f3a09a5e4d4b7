/** The dry run of every command that has one leaves the database and the data folder as they were, with a daemon and without. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { STATE_NAME } from '../../src/operations/programs/program-state.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandLine } from '../cli/command-line.ts'
import { png } from '../storage/images.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { CURVE } from '../support/launches.ts'
import { hasInstruction, hasProgram, quickProgramsDir } from '../support/programs.ts'
import { addressOf } from '../support/wallets.ts'

const cli = commandLine()
const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const [user, platform, other] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
const env: Record<string, string> = {
  SVC_PROGRAMS_DIR: quickProgramsDir(),
  SVC_PRIORITY_FEE: 'none',
  SVC_SIGNER: 'keypair',
  // A daemon's own rounds write when they looked at what.
  SVC_RECONCILIATION_CALLS_PER_MINUTE: '0',
}
const world: Record<string, string> = {}
const SHARED = {
  ...CURVE,
  shared_config: true,
}

const loaded = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const dryVerbs = loaded
  .flatMap(({ name, noun }) =>
    'verb' in noun
      ? [[name, noun.verb] as [string, Verb]]
      : Object.entries(noun.verbs).map(([verb, each]) => [`${name} ${verb}`, each] as [string, Verb]),
  )
  // That of `svc db migrate` builds no transaction; test/cli/database.test.ts looks at it.
  .filter(([name, { flags }]) => 'dry_run' in flags && !name.startsWith('db '))
  .map(([name]) => name)

const SALE = [
  '--sale-mode',
  'fixed_price',
  '--price',
  '0.001',
  '--min',
  '1',
  '--max',
  '4',
  '--ends',
  '2d',
  '--withdrawable',
]
/** Every way to dry-run each command: its arguments, and the exit code, where that is not 0. */
const RUNS: Record<string, () => string[][]> = {
  'tokens create': () => [['--name', 'Dry', '--symbol', 'DRY', '--uri', 'https://example.com/d.json', '--supply', '1']],
  'tokens revoke': () => [[world.mint!, 'mint']],
  'multisig create': () => [['--member', `${addressOf(other)}`, '--threshold', '1']],
  'tokens withdraw-withheld': () => [[world.fees!]],
  'tokens harvest': () => [[world.fees!]],
  'tokens set-extensions': () => [[world.fees!, '--transfer-fee', '2%']],
  'tokens mint': () => [
    [world.mint!, '1'],
    [world.mint!, '1', '--to', addressOf(other), '--tx-version', '1'],
    [world.mint!, '--from', world.list!],
  ],
  'tokens burn': () => [[world.mint!, '1']],
  'tokens freeze': () => [[world.freezable!, addressOf(user)]],
  'tokens thaw': () => [[world.frozen!, addressOf(user)]],
  'tokens transfer': () => [
    [world.mint!, addressOf(other), '1'],
    [world.mint!, '--from', world.list!],
  ],
  'tokens pause': () => [[world.pausable!]],
  'tokens resume': () => [[world.paused!]],
  'tokens close': () => [[world.pausable!]],
  'tokens update': () => [[world.fees!, '--field', 'website=example.com']],
  'tokens set-authority': () => [[world.mint!, 'mint', addressOf(other)]],
  'collections create': () => [['--name', 'Dry', '--uri', 'https://example.com/c.json']],
  'nfts mint': () => [
    ['--collection', world.collection!, '--name', 'Dry', '--uri', 'https://example.com/n.json'],
    ['--collection', world.shared!, '--name', 'Dry', '--uri', 'https://example.com/n.json'],
    ['--collection', world.shared!, '--from', world.rows!],
  ],
  'nfts burn': () => [[world.asset!]],
  'stakes create': () => [[world.asset!]],
  'stakes release': () => [[world.staked!]],
  'gold lock': () => [['--amount', '1', '--days', '1', '-k', world.other!]],
  'gold unlock': () => [[]],
  'locks create': () => [
    [world.mint!, addressOf(other), '2', '--cliff', '30d', '--periods', '2', '--frequency', '1d', '--title', 'Dry'],
    [world.mint!, '--from', world.locks!, '--cliff', '30d'],
  ],
  'locks claim': () => [
    [world.lock!, '-k', world.other!],
    ['--all', '-k', world.other!],
  ],
  'locks cancel': () => [[world.lock!]],
  'locks transfer': () => [[world.lock!, addressOf(user)]],
  'locks update': () => [[world.lock!, '--title', 'Dry']],
  'locks close': () => [[world.spentLock!]],
  'pools create': () => [
    ['--name', 'Dry', '--symbol', 'DRYA', '--image', world.logo!, '--buy', '0.1'],
    ['--name', 'Dry', '--symbol', 'DRYA', '--image', world.logo!, '--type', 'damm_v2'],
    ['--name', 'Dry', '--symbol', 'DRYA', '--image', world.logo!, '--buy', '0.1', '--tx-version', '1'],
    ['--from', world.launches!],
    // A ticker of their own that was built and not submitted.
    ['--name', 'Dry', '--symbol', 'BUILT', '--image', world.logo!],
  ],
  'wallet send': () => [
    [addressOf(other), '1.5'],
    [addressOf(other), 'all', '--tx-version', '1'],
    [addressOf(other), '1', '--mint', world.mint!],
  ],
  'wallet reclaim': () => [['--close-empty'], ['--tx-version', '1'], ['--signed']],
  'pools share': () => [['shared'], ['shared', '--tx-version', '1']],
  'pools migrate': () => [[world.pool!]],
  'pools positions remove': () => [
    [world.mine!, world.position!, '--all'],
    [world.mine!, world.position!, '--percent', '25', '--tx-version', '1'],
  ],
  'pools positions open': () => [[world.mine!, '--amount-a', '1000']],
  'pools positions add': () => [
    [world.mine!, world.position!, '--amount-a', '1000'],
    [world.mine!, world.position!, '--amount-a', '1000', '--amount-b', '0.1', '--tx-version', '1'],
  ],
  'pools positions vest': () => [[world.mine!, world.position!, '--all', '--cliff', '2d']],
  'pools positions lock': () => [[world.mine!, world.position!, '--all']],
  'pools positions close': () => [[world.mine!, world.empty!]],
  'pools positions claim': () => [[world.mine!, world.position!]],
  'pools positions transfer': () => [[world.direct!, '--to', addressOf(other)]],
  'collections transfer-authority': () => [[world.collection!, addressOf(other)]],
  'pools transfer-creator': () => [[world.pool!, '--to', addressOf(other)]],
  'pools swap': () => [[world.pool!, '--buy', '0.1']],
  'fees claim': () => [
    [world.pool!, '-k', world.platform!],
    [world.pool!, '--signed'],
    ['--all', '--signed'],
    ['--all', '--as', 'creator'],
  ],
  'fees delegate grant': () => [[world.direct!, '--to', addressOf(other)]],
  'fees delegate revoke': () => [[world.direct!]],
  'proposals create': () => [
    [world.paid!, '--squads', world.multisig!],
    [world.paid!, '--squads', `${world.multisig}:0`, '--tx-version', '1'],
  ],
  'proposals approve': () => [[world.active!]],
  'proposals reject': () => [[world.active!]],
  'proposals cancel': () => [[world.approved!]],
  'proposals execute': () => [[world.approved!]],
  'proposals reclaim': () => [[world.executed!]],
  'airdrops init': () => [[world.stored!], [world.stored!, '--signed']],
  'airdrops launch': () => [[world.list!, '--mint', world.mint!, '--decimals', '6', '--airdrop-count', '9', '--again']],
  'airdrops send': () => [
    [world.list!, '--mint', world.mint!, '--decimals', '6'],
    [world.list!, '--mint', world.mint!, '--decimals', '6', '--tx-version', '1'],
    [world.list!, '--mint', world.mint!, '--decimals', '6', '--signed'],
  ],
  'airdrops push': () => [[world.stored!]],
  'raises create': () => [[world.sold!, ...SALE]],
  'raises open': () => [[world.sale!, '--root', 'ab'.repeat(32)]],
  'raises deposit': () => [[world.sale!, '0.5']],
  'raises withdraw': () => [[world.sale!, '0.1', '--raw']],
  'raises claim': () => [[world.sale!]],
  'raises refund': () => [[world.sale!]],
  'raises settle': () => [[world.sale!]],
  'airdrops claim': () => [[world.airdrop!], [world.airdrop!, '--sponsor'], [world.airdrop!, '--swap-to-sol']],
}
/** Dry runs that fail as they should: a failure may leave nothing either. */
const FAILING = [
  // There is no delegate, and a program before 0.2.5 can have none.
  'fees delegate revoke',
  ...(hasInstruction(PROGRAMS.dammV2.id, 'UpdateDelegatePermission') ? [] : ['fees delegate grant --to']),
  'airdrops init --signed',
  'airdrops claim --swap-to-sol',
  'airdrops send --mint --decimals --signed',
  'pools migrate',
  // The raise has no allowlist, and does not end.
  'raises open --root',
  'raises withdraw --raw',
  'raises claim',
  'raises refund',
]

async function run(
  args: string[],
): Promise<{ exitCode: number | undefined; data: Record<string, string>; stderr: string }> {
  const { exitCode, stdout, stderr } = await cli.spawned([...args, '--json'], { env })
  return { exitCode, data: stdout === '' ? {} : JSON.parse(stdout), stderr }
}
async function done(args: string[]) {
  const signs = args[0] !== 'localnet' && args[1] !== 'sponsor'
  const { exitCode, data, stderr } = await run([...args, ...(signs ? ['-k', world.user!] : [])])
  expect(exitCode, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return data
}

/** A transaction of the vault, in base64: it pays another wallet. */
function payment(vault: PublicKey): string {
  const message = new TransactionMessage({
    payerKey: vault,
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [SystemProgram.transfer({ fromPubkey: vault, toPubkey: other.publicKey, lamports: 2_000_000 })],
  })
  return Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString('base64')
}

/**
 * Of every table: requests are counted against a key's limits, and the workers of a daemon renew their leases and the
 * times of their next look; nobody reads anything else from those. Whatever is signed, stored or told is compared.
 */
const COUNTED = ['rate_hits', 'leases', 'api_key_uses', 'attention_observations', 'attention_notices']
/** What a daemon writes about the programs of its cluster, and about its records, whatever is asked of it. */
const OWN_SETTINGS = [STATE_NAME, 'record-check', 'attention-consensus']
const LOOKED_AT = ['next_check_at', 'checked_at', 'next_send_at', 'next_look_at', 'last_used_at']

function snapshot(): Record<string, string> {
  const db = new Database(join(cli.dataDir, 'svc.db'), { readonly: true })
  try {
    const tables = db
      .prepare("select name from sqlite_master where type = 'table' order by name")
      .pluck()
      .all() as string[]
    const hashes = tables
      .filter((table) => !COUNTED.includes(table))
      .map((table) => {
        const rows = db.prepare(`select * from "${table}"`).all() as Record<string, unknown>[]
        const own = rows.filter(({ name }) => table !== 'settings' || !OWN_SETTINGS.includes(String(name)))
        const kept = own.map((row) =>
          JSON.stringify(Object.entries(row).filter(([column]) => !LOOKED_AT.includes(column))),
        )
        return [
          table,
          `${own.length} ${createHash('sha256').update(kept.toSorted().join('\n')).digest('hex')}`,
        ] as const
      })
    expect(hashes.length).toBeGreaterThan(20)
    const assets = join(cli.dataDir, 'assets')
    const files = existsSync(assets) ? readdirSync(assets).toSorted().join(',') : ''
    return { ...Object.fromEntries(hashes), assets: files, home: homeFiles() }
  } finally {
    db.close()
  }
}

/** A command may keep notes of what it has sent: a dry run has sent nothing. */
const homeFiles = () =>
  readdirSync(cli.home, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('data'))
    .toSorted()
    .join('\n')

/** Until nothing that was sent is under way, and no worker has anything left to tell. */
async function settled(): Promise<void> {
  for (let before = ''; ; ) {
    await run(['localnet', 'advance', '30'])
    await run(['tx', 'get', world.last!])
    const db = new Database(join(cli.dataDir, 'svc.db'), { readonly: true })
    const open = db.prepare("select signature from transactions where lifecycle not in ('finalized', 'failed')").pluck()
    const under = open.all() as string[]
    db.close()
    for (const signature of under) await run(['tx', 'get', signature])
    const now = JSON.stringify(snapshot())
    if (under.length === 0 && now === before) return
    before = now
  }
}

describe('each command with a dry run', () => {
  it('is tested here', () => {
    expect(dryVerbs.length).toBeGreaterThan(12)
    expect(Object.keys(RUNS).toSorted()).toEqual(dryVerbs.toSorted())
  })
})

describe.skipIf(lacking.length > 0)('a dry run', () => {
  let daemon: Daemon | undefined

  beforeAll(async () => {
    const keyFile = (name: string, key: Keypair) => cli.file(name, JSON.stringify([...key.secretKey]), 0o600)
    world.user = keyFile('user.json', user)
    world.platform = keyFile('platform.json', platform)
    world.other = keyFile('other.json', other)
    env.SVC_SIGNER_KEYPAIR = world.platform
    env.SVC_POOLS_PRESETS = cli.file('presets.json', JSON.stringify({ shared: SHARED }))
    world.logo = join(cli.home, 'logo.png')
    writeFileSync(world.logo, png())
    for (const key of [user, platform, other]) await done(['localnet', 'airdrop', addressOf(key), '100'])
    const texts = ['--symbol', 'TST', '--uri', 'https://example.com/t.json', '--supply', '1000000']
    world.mint = (await done(['tokens', 'create', '--name', 'Test', ...texts])).mint!
    env.SVC_GOLD_MINT = world.mint
    world.sold = (await done(['tokens', 'create', '--name', 'Sold', ...texts])).mint!
    await done(['tokens', 'revoke', world.sold, 'mint'])
    world.sale = (await done(['raises', 'create', world.sold, ...SALE])).id!
    await done(['raises', 'deposit', world.sale, '1'])
    world.fees = (await done(['tokens', 'create', '--name', 'Fee', ...texts, '--transfer-fee', '1%'])).mint!
    const paid = cli.file('paid.csv', `${addressOf(other)},1\n`)
    await done(['airdrops', 'send', paid, '--mint', world.fees, '--decimals', '6', '--accept-transfer-fee'])
    const freezable = ['tokens', 'create', '--name', 'Cold', ...texts, '--keep-freeze-authority']
    const empty = ['tokens', 'create', '--name', 'Empty', '--symbol', 'EMP', '--uri', 'https://example.com/e.json']
    const pausable = [...empty, '--supply', '0', '--token-program', 'token2022', '--pausable', '--closable']
    for (const name of ['pausable', 'paused']) world[name] = (await done(pausable)).mint!
    await done(['tokens', 'pause', world.paused!])
    for (const name of ['freezable', 'frozen']) world[name] = (await done(freezable)).mint!
    await done(['tokens', 'freeze', world.frozen!, addressOf(user)])
    await done(['gold', 'lock', '--amount', '5', '--days', '1'])
    await done(['localnet', 'advance', '90000'])
    const lock = ['locks', 'create', world.mint, addressOf(other), '2']
    const may = ['--cancellable-by', 'creator', '--recipient-changeable-by', 'creator']
    world.lock = (await done([...lock, '--periods', '1', '--frequency', '365d', '--cliff-amount', '1', ...may]))
      .address!
    world.spentLock = (await done([...lock, '--all-at-once'])).address!
    world.locks = cli.file('locks.csv', `wallet,amount\n${addressOf(other)},2\n`)
    const claimed = await run(['locks', 'claim', world.spentLock, '-k', world.other])
    expect(claimed.exitCode, claimed.stderr).toBe(0)
    const named = ['--uri', 'https://example.com/x.json']
    world.collection = (await done(['collections', 'create', '--name', 'Own', ...named])).collection!
    world.shared = (
      await done(['collections', 'create', '--name', 'Shared', ...named, '--update-authority', addressOf(platform)])
    ).collection!
    env.SVC_NFTS_COSIGN_COLLECTIONS = world.shared
    const mint = ['nfts', 'mint', '--collection', world.collection, ...named]
    world.asset = (await done([...mint, '--name', 'One'])).asset!
    world.staked = (await done([...mint, '--name', 'Two'])).asset!
    await done(['stakes', 'create', world.staked])
    world.rows = cli.file('rows.csv', 'name,uri\nA,https://example.com/a.json\nB,https://example.com/b.json\n')
    world.launches = cli.file('launches.csv', 'name,symbol,image,buy\nDry,DRYB,logo.png,0.1\nDry,DRYC,logo.png,\n')
    const list = [user, other, platform].map((key) => `${addressOf(key)},1\n`).join('')
    world.list = cli.file('list.csv', list)
    const airdrop = ['--mint', world.mint, '--decimals', '6']
    const launched = await done(['airdrops', 'launch', world.list, ...airdrop])
    world.airdrop = (launched as unknown as { id: string }[])[0]!.id
    await done(['airdrops', 'sponsor', world.airdrop, '--budget', '1'])
    // So that it has some to lock.
    const claim = await run(['airdrops', 'claim', world.airdrop, '-k', world.other])
    expect(claim.exitCode, claim.stderr).toBe(0)
    const stored = ['merkle', 'build', world.list, ...airdrop, '--airdrop-count', '1', '--persist']
    const { exitCode, data, stderr } = await run(stored)
    expect(exitCode, stderr).toBe(0)
    world.stored = (Array.isArray(data) ? data[0] : data).id
    const pool = ['pools', 'create', '--name', 'Pool', '--image', world.logo]
    const live = await done([...pool, '--symbol', 'LIVE', '--buy', '1'])
    world.pool = live.address!
    world.last = (live.signatures as unknown as string[]).at(-1)!
    world.direct = (await done([...pool, '--symbol', 'DIRECT', '--type', 'damm_v2'])).address!
    const free = ['--symbol', 'FREE', '--type', 'damm_v2', '--unlocked-liquidity', '--buy', '1']
    world.mine = (await done([...pool, ...free])).address!
    const listed = await run(['pools', 'positions', 'list', world.mine, '--owner', addressOf(user)])
    expect(listed.exitCode, listed.stderr).toBe(0)
    const { positions } = listed.data as unknown as { positions: { position: string }[] }
    world.position = positions[0]!.position
    const opened = ['--amount-a', '1000000', '--amount-b', '0.1']
    world.empty = (await done(['pools', 'positions', 'open', world.mine, ...opened])).position!
    await done(['pools', 'positions', 'remove', world.mine, world.empty, '--all'])
    await done([...pool, '--symbol', 'BUILT', '--build-only'])
    const { multisig, vault } = await done(['multisig', 'create', '--member', addressOf(user), '--threshold', '1'])
    await done(['localnet', 'airdrop', vault!, '1'])
    Object.assign(world, { multisig, paid: payment(new PublicKey(vault!)) })
    const send = ['wallet', 'send', addressOf(other), '0.002', '--squads', multisig!]
    for (const end of ['active', 'approved', 'executed']) {
      world[end] = (await done(send)).proposal!
      if (end !== 'active') await done(['proposals', 'approve', world[end]])
      if (end === 'executed') await done(['proposals', 'execute', world[end]])
      // A read stores what it sees on the chain.
      await run(['proposals', 'show', world[end]])
    }
    await settled()
  }, 600_000)
  afterAll(() => daemon?.stop())

  const cases = Object.keys(RUNS)
  const tried = async (name: string) => {
    for (const args of RUNS[name]!()) {
      const own = args.includes('-k') || args.includes('--signed') ? [] : ['-k', world.user!]
      const before = snapshot()
      const { exitCode, stderr } = await run([...name.split(' '), ...args, ...own, '--dry-run'])
      const flags = [name, ...args.filter((arg) => arg.startsWith('--'))].join(' ')
      if (!FAILING.includes(flags)) expect(exitCode, `svc ${name} ${args.join(' ')}: ${stderr}`).toBe(0)
      expect(snapshot(), `svc ${name} ${args.join(' ')}`).toEqual(before)
    }
  }

  it.each(cases)('of `svc %s` without a daemon changes nothing', tried)

  describe('with a daemon', () => {
    beforeAll(async () => {
      daemon = await startDaemon({ dataDir: cli.dataDir, flags: ['--rpc-port', '0'], env })
      await settled()
    }, 120_000)

    it.each(cases)('of `svc %s` changes nothing', tried)
  })
})
