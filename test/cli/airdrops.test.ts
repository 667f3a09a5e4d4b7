/** `svc airdrops` by the built command: a list launched, claimed, exported and withdrawn, and every mistake named. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prefixLength } from '../../commands/airdrops/export.ts'
import { demandsInit } from '../../commands/airdrops/init.ts'
import { isOwnOnChain } from '../../commands/airdrops/ownership.ts'
import { chainStateOf, isFunded, type LaunchPart } from '../../commands/airdrops/parts.ts'
import { decimalOf, solOf } from '../../commands/cli/amounts.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { requireCalls } from '../../commands/signing/built-calls.ts'
import { signingFor } from '../../commands/signing/demand.ts'
import type { DescribedContent } from '../../commands/signing/wallet.ts'
import type { Airdrop } from '../../src/api/airdrops.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { hashFromHex, verifyProof } from '../../src/merkle/tree.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { recipientsOf } from '../merkle/reference.ts'
import { knowsAll, startDas } from '../support/das-server.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram } from '../support/programs.ts'
import { itInSoak, runs } from '../support/runs.ts'
import { CONFIRMED, commandLine, MINT } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const HEX = 'ab'.repeat(32)
const ID = 'A'.repeat(46)
const SYSTEM = '11111111111111111111111111111111'

const csvOf = (rows: readonly { wallet: string; amount: bigint }[]) =>
  rows.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')
const ok = (args: string[], env: Record<string, string> = {}) => cli.json(args, { env })

describe('svc airdrops', () => {
  const list = cli.file('two.csv', csvOf(recipientsOf(2)))
  const notProof = cli.file('no-proof.json', '{"data":{"amount":"1.5","proof":[]}}')
  it.each([
    [['init'], 'missing <id> or --mint'],
    [['init', ID, '--mint', MINT], '<id> cannot be used with --mint'],
    [['init', '--mint', MINT, '--root', HEX, '--list', list], '--root cannot be used with --list'],
    [['init', ID, '--airdrop-count', '1'], '--airdrop-count needs --mint'],
    [['init', '--mint', MINT], '--mint needs --root'],
    [['init', ID, '--unfunded', '--fund-amount', '1'], '--fund-amount cannot be used with --unfunded'],
    [['init', ID, '--idempotency-key', 'x'], '--idempotency-key needs --signed'],
    [['init', ID, '--signed', '-k', 'id.json'], '--keypair cannot be used with --signed'],
    [['init', ID, '--signed', '--build-only'], '--build-only cannot be used with --signed'],
    [['init', ID, '--clawback-after-days', '0'], '--clawback-after-days must be a whole number from 1 to 3650'],
    [['claim', ID, '--swap-to-sol', '--build-only'], '--build-only cannot be used with --swap-to-sol'],
    [['claim', ID, '--swap-to-sol', '--wait', 'none'], '--wait none cannot be used with --swap-to-sol'],
    [['claim', ID, '--platform-fee', '1.5'], '--platform-fee must be a whole number'],
    [['claim', ID, '--proof', 'nowhere.json'], 'nowhere.json cannot be read: there is no such file'],
    [['claim', ID, '--proof', list], 'it is not JSON'],
    [['claim', ID, '--proof', notProof], 'it has no amount in raw units'],
    [['withdraw', ID, '--amount', '1.5'], '--amount must be raw units, not "1.5"'],
    [['withdraw', ID, '--idempotency-key', 'x'], '--idempotency-key needs --amount'],
    [['launch', list, '--mint', MINT, '--platform-id', 'x'.repeat(65)], '--platform-id must have 1 to 64 characters'],
    [
      ['launch', list, '--mint', MINT, '--raw', '--counts', '1,2'],
      '--counts must have 1 number, one for each tree, not 2',
    ],
    [
      ['launch', list, '--mint', MINT, '--raw', '--counts', '65536'],
      'must be whole numbers from 0 to 65535, not "65536"',
    ],
    [
      ['launch', list, '--mint', MINT, '--raw', '--counts', '1', '--airdrop-count', '1'],
      '--airdrop-count cannot be used with --counts',
    ],
    [['launch', list, '--mint', 'x'], '--mint must be an address, and no pool here has the symbol x'],
    [['launch', list, '--mint', MINT, '--signed', '-k', 'id.json'], '--keypair cannot be used with --signed'],
    [['export', ID, '--out', list], 'two.csv cannot be written'],
  ])('refuses %j', async (args, message) => {
    await cli.refused(['airdrops', ...args], message)
  })
})

describe('An airdrop on chain', () => {
  const airdrop = {
    id: ID,
    airdrop_count: 3,
    status: 'initialized',
    on_chain_root: HEX,
    admin: 'payer',
    clawback_receiver: 'account',
    distributor: 'there',
  } as Airdrop
  const payer = { address: 'payer', tokenAccount: 'account' }
  it('is own if the payer made it with the same root and gets back what is left', () => {
    expect(isOwnOnChain(airdrop, HEX, payer)).toBe(true)
    const absent = { on_chain_root: null, admin: null, clawback_receiver: null }
    expect(isOwnOnChain({ ...airdrop, ...absent, status: 'tree_built' }, HEX, payer)).toBe(false)
    expect(() => isOwnOnChain({ ...airdrop, ...absent }, HEX, payer)).toThrow('cannot be read from the chain now')
    const other = { address: 'other', tokenAccount: 'others' }
    expect(() => isOwnOnChain(airdrop, HEX, other)).toThrow(
      'another wallet made it, and what is left in it goes to account',
    )
    expect(() => isOwnOnChain(airdrop, 'cd'.repeat(32), payer)).toThrow(`with the root ${HEX}, and this list has cd`)
    // The program lets a maker name another admin: only the receiver tells whose the rest is.
    const copy = { ...airdrop, clawback_receiver: 'theirs' }
    expect(() => isOwnOnChain(copy, HEX, payer)).toThrow(
      'another wallet made it, and what is left in it goes to theirs',
    )
  })

  it('is funded if its vault holds what can still be claimed, and takes a deposit only if that comes back to the payer', () => {
    const held = { vault: 'vault', vault_balance: '3', vault_lacks: '2', claimed_amount: '5', note: 'lacks' }
    const state = (more: object = {}, total = '10') =>
      chainStateOf(
        { clock: { now: () => 0, sleep: async () => undefined } },
        { ...airdrop, ...held, ...more } as Airdrop,
        payer,
        { total },
      )
    const funded = (...args: Parameters<typeof state>) => isFunded(state(...args) as LaunchPart)
    expect(state()).toMatchObject({ missing: 2n, isFundable: true, note: 'lacks' })
    expect(state({ vault_lacks: null })).toMatchObject({ missing: 2n, isFundable: false })
    expect(state({ admin: 'another' })).toMatchObject({ missing: 2n, isFundable: false })
    expect([funded(), funded({}, '8'), funded({ vault_balance: '9' })]).toEqual([false, true, true])
    // Of one without a stored tree the API has no total: what the list comes to counts.
    expect(funded({ total: null, vault_balance: '0', claimed_amount: '0' })).toBe(false)
    // Of one whose stored tree is another the status tells nothing, and a node may be behind the status.
    for (const withdrawn of [{ status: 'vault_drained' }, { status: 'tree_built', clawed_back: true }]) {
      expect(state({ ...withdrawn, vault_balance: '0' })).toMatchObject({ missing: 0n, isWithdrawn: true })
      expect(funded({ ...withdrawn, vault_balance: '0' })).toBe(false)
    }
  })
})

describe('svc airdrops export', () => {
  const rows = recipientsOf(runs(300, 3_000))
  let id = ''
  beforeAll(async () => {
    const file = cli.file('many.csv', csvOf(rows))
    id = (await ok(['merkle', 'build', file, '--mint', MINT, '--raw', '--persist'])).id
  })

  it('writes every proof once, in files named by the first letters of the wallets', { tags: 'sampled' }, async () => {
    const out = join(cli.home, 'public', 'claims')
    const told = await ok(['airdrops', 'export', id, '--out', out])
    const about = JSON.parse(readFileSync(join(out, 'airdrop.json'), 'utf8'))
    expect(about).toMatchObject({
      format: 'svc-airdrop-proofs/1',
      id,
      mint: MINT,
      leaf_count: rows.length,
      root: told.root,
    })
    expect(readdirSync(out).sort()).toEqual(['airdrop.json', 'proofs'])
    expect(readdirSync(join(out, 'proofs'))).toHaveLength(about.files)
    const root = hashFromHex(told.root)!
    for (const { wallet, amount } of rows) {
      const name = wallet.slice(0, about.prefix_length).toLowerCase()
      const found = JSON.parse(readFileSync(join(out, 'proofs', `${name}.json`), 'utf8'))[wallet]
      expect(found.amount).toBe(String(amount))
      expect(verifyProof(keyFromBase58(wallet)!, amount, found.proof.map(hashFromHex), root)).toBe(true)
    }
    expect(readdirSync(join(cli.home, 'public'))).toEqual(['claims'])
  })

  it('replaces a folder only with --replace, and then as a whole', async () => {
    const out = join(cli.home, 'taken')
    await ok(['airdrops', 'export', id, '--out', out])
    await cli.refused(['airdrops', 'export', id, '--out', out], 'is there already')
    writeFileSync(join(out, 'old.txt'), 'x')
    await ok(['airdrops', 'export', id, '--out', out, '--replace'])
    expect(readdirSync(out).sort()).toEqual(['airdrop.json', 'proofs'])
    const site = join(cli.home, 'site')
    mkdirSync(site)
    writeFileSync(join(site, 'index.html'), 'mine')
    await cli.refused(['airdrops', 'export', id, '--out', site, '--replace'], 'contains no export')
    expect(existsSync(join(site, 'index.html'))).toBe(true)
  })

  it('writes files of at most about 64 wallets', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (count) => {
        const length = prefixLength(count)
        expect(length).toBeGreaterThanOrEqual(1)
        expect(length).toBeLessThanOrEqual(4)
        expect(count / 35 ** length).toBeLessThanOrEqual(64)
        if (length > 1) expect(count / 35 ** (length - 1)).toBeGreaterThan(64)
      }),
    )
  })
})

describe('svc merkle verify', () => {
  it('says with which decimals the list has the root, or how it differs from the stored list', async () => {
    const rows = recipientsOf(40).map((row, i) => ({ ...row, amount: BigInt(i) * 1_001n + 7n }))
    const forty = cli.file('forty.csv', csvOf(rows))
    const stored = await ok(['merkle', 'build', forty, '--mint', MINT, '--airdrop-count', '9', '--raw', '--persist'])
    const whole = cli.file(
      'whole.csv',
      rows.map(({ wallet, amount }) => `${wallet},${decimalOf(amount, 3)}\n`).join(''),
    )
    const yes = await cli.svc(['merkle', 'verify', whole, '--decimals', '3', '--root', stored.root])
    expect([yes.exitCode, yes.stdout]).toEqual([0, expect.stringContaining(`SHA-256 ${stored.list_sha256}`)])
    const meant = await cli.svc(['merkle', 'verify', whole, '--decimals', '6', '--root', stored.root])
    const hint = expect.stringContaining('When read with --decimals 3, it has that root')
    expect([meant.exitCode, meant.stderr]).toEqual([1, hint])
    const changed = rows.slice(1).map((row, i) => (i === 4 ? { ...row, amount: row.amount + 1n } : row))
    const other = cli.file('other.csv', csvOf([...changed, { wallet: someone().toBase58(), amount: 5n }]))
    const no = await cli.svc(['merkle', 'verify', other, '--id', stored.id])
    expect(no.exitCode).toBe(1)
    expect(no.stdout).toContain('1 more, 1 missing, 1 with another amount')
    expect(no.stdout).toContain(rows[0]!.wallet)
    expect(no.stdout).toContain(`has ${changed[4]!.amount}, in the stored list ${changed[4]!.amount - 1n}`)
    expect(await ok(['merkle', 'verify', cli.file('same.csv', csvOf(rows)), '--id', stored.id])).toMatchObject({
      valid: true,
      list_sha256: stored.list_sha256,
    })
  })
})

describe.skipIf(lacksPrograms)('svc airdrops, on the chain through a daemon,', () => {
  const [payer, platform, ...claimers] = Array.from({ length: 6 }, () => Keypair.generate()) as [
    Keypair,
    Keypair,
    ...Keypair[],
  ]
  const files = { payer: '', platform: '', list: '' }
  let daemon: Served
  let provider: Awaited<ReturnType<typeof startDas>>
  let mint = ''
  let id = ''
  const keyFile = (name: string, { secretKey }: Keypair) => cli.file(name, JSON.stringify([...secretKey]), 0o600)
  const tokensOf = async (owner: string) => {
    const { address } = await ok(['pdas', 'derive', 'ata', `owner=${owner}`, `mint=${mint}`])
    const { exitCode, stdout } = await cli.svc(['accounts', 'get', address, '--json'])
    return exitCode === 3 ? 0n : Buffer.from(JSON.parse(stdout).data, 'base64').readBigUInt64LE(64)
  }

  beforeAll(async () => {
    files.payer = keyFile('payer.json', payer)
    files.platform = keyFile('platform.json', platform)
    await cli.svc(['localnet', 'status'])
    provider = await startDas(knowsAll)
    daemon = await serveHere(cli.dataDir, {
      SVC_METADATA_URL: provider.url,
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: files.platform,
    })
    for (const wallet of [payer, platform, ...claimers]) {
      await ok(['localnet', 'airdrop', wallet.publicKey.toBase58(), '10'])
    }
    await ok(['signer', 'policy', '--per-transaction', '0.1', '--per-day', '1', '--yes'])
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    mint = (await ok(['tokens', 'create', ...token, '-k', files.payer, '--yes'])).mint
    const rows = claimers.map(({ publicKey }, i) => `${publicKey.toBase58()},${i + 1}.5`)
    const others = Array.from({ length: 200 }, () => `${someone().toBase58()},1`)
    files.list = cli.file('drop.csv', ['wallet,amount', ...rows, ...others, ''].join('\n'))
  })
  afterAll(async () => {
    provider?.close()
    await daemon?.stop()
  })

  const launch = (...more: string[]) => ['airdrops', 'launch', files.list, '--mint', mint, ...more, '-k', files.payer]

  it('launch --dry-run shows what there is to do, and does nothing', async () => {
    const [row] = await ok([...launch('--decimals', '6'), '--dry-run'])
    expect(row).toMatchObject({ airdrop_count: 0, leaf_count: 204, total: '212000000', funded: false })
    expect(await ok(['airdrops', 'list', '--mint', mint])).toEqual([])
  })

  it.each([
    [['--decimals', '9'], /has 6 decimals, not 9: every amount would be wrong.*\n.*--decimals 6/],
    [['--raw'], /drop\.csv:2:4[456]: .*1\.5/],
    [['--raw', '--decimals', '6'], /--decimals cannot be used with --raw/],
    [
      [],
      /drop\.csv: say whether its amounts are whole \w+ or raw units; the mint has 6 decimals .*\n.*--decimals 6 if 1 means 1 \w+, or --raw if 1 means 0\.000001/,
    ],
    [['--decimals', '6', '--airdrop-count', '65536'], /--airdrop-count must be a whole number from 0 to 65535/],
  ])('launch refuses %j before anything is stored', async (more, message) => {
    const { exitCode, stderr } = await cli.svc([...launch(...more), '--yes'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
    expect(await ok(['airdrops', 'list', '--mint', mint])).toEqual([])
  })

  it('launch refuses a list for which the payer lacks tokens, and says how many are missing', async () => {
    const much = cli.file('much.csv', `${someone().toBase58()},1000001\n`)
    const args = ['airdrops', 'launch', much, '--mint', mint, '--decimals', '6', '-k', files.payer, '--yes']
    await cli.refused(args, 'has 1,000,000 of the 1,000,001 tokens that this takes: 1 are missing')
  })

  it('launch refuses token accounts and mints before anything is stored, in its dry run too', async () => {
    const launchOf = async (name: string, wallets: string[], ...more: string[]) => {
      const list = cli.file(name, wallets.map((wallet) => `${wallet},1\n`).join(''))
      const args = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', '-k', files.payer, '--yes', ...more]
      return cli.svc(args)
    }
    const atas = [payer, platform].map(({ publicKey }) =>
      spl.getAssociatedTokenAddressSync(new PublicKey(mint), publicKey).toBase58(),
    )
    const early = await launchOf('atas.csv', [...atas, someone().toBase58()])
    expect([early.exitCode, early.stderr]).toEqual([2, expect.stringMatching(/2 of 3 addresses are not wallets/)])
    expect(await ok(['airdrops', 'list', '--mint', mint])).toEqual([])
    const count = ['--airdrop-count', '77']
    for (const dry of [[], ['--dry-run']]) {
      const refused = await launchOf('mint.csv', [someone().toBase58(), mint], ...count, ...dry)
      expect([refused.exitCode, refused.stderr]).toEqual([
        2,
        expect.stringContaining(`entries.1.wallet: ${mint} is a mint or a token account`),
      ])
    }
    expect(await ok(['airdrops', 'list', '--mint', mint])).toEqual([])
    const meant = await launchOf('mint.csv', [someone().toBase58(), mint], ...count, '--allow-programs')
    expect([meant.exitCode, meant.stderr]).toEqual([0, expect.stringContaining('on chain and funded')])
  })

  it('launch stores a list, puts it on chain and funds it; the same command again does nothing', async () => {
    const before = await tokensOf(payer.publicKey.toBase58())
    const [row] = await ok([...launch('--decimals', '6', '--clawback-after-days', '2'), '--yes'])
    expect(row).toMatchObject({ airdrop_count: 0, leaf_count: 204, total: '212000000', funded: true })
    id = row.id
    expect(before - (await tokensOf(payer.publicKey.toBase58()))).toBe(212_000_000n)
    const again = await cli.svc([...launch('--decimals', '6', '--clawback-after-days', '2'), '--yes'])
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('Everything is on chain already')])
    expect(again.stdout).toMatch(/NO +ID +WALLETS +TOKENS +ROOT +DISTRIBUTOR +FUNDED\n +0 +\S+ +204 +212 +/)
    expect(before - (await tokensOf(payer.publicKey.toBase58()))).toBe(212_000_000n)
  })

  it('launch says what a vault lacks, and not that it is funded', async () => {
    const list = cli.file('lacking.csv', `${someone().toBase58()},7\n`)
    const tree = await ok(['merkle', 'build', list, '--mint', mint, '--airdrop-count', '4', '--raw', '--persist'])
    await ok(['airdrops', 'init', tree.id, '--unfunded', '-k', files.payer, '--yes'])
    const args = [
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--airdrop-count',
      '4',
      '--raw',
      '-k',
      files.payer,
      '--yes',
    ]
    const { exitCode, stdout, stderr } = await cli.svc(args)
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `Airdrop 4: The vault (\\S+) lacks 7 of what can still be claimed\nFund it: \`svc wallet send \\S+ 0\\.000007 --mint ${mint} --allow-programs\`\n`,
        ),
      ),
    ])
    expect(stdout).toMatch(/ no$/m)
  })

  itInSoak(
    'launch stores the tree of an airdrop that is on chain without one, and reports its vault as empty until it is funded',
    async () => {
      const wallet = someone().toBase58()
      const list = cli.file('bare.csv', `${wallet},7\n`)
      const { root } = await ok(['merkle', 'build', list, '--mint', mint])
      const bare = ['airdrops', 'init', '--mint', mint, '--airdrop-count', '9', '--root', root, '--unfunded']
      await ok([...bare, '-k', files.payer, '--yes'])
      const args = ['airdrops', 'launch', list, '--mint', mint, '--airdrop-count', '9', '--raw', '-k', files.payer]
      const plan = await cli.svc([...args, '--dry-run'])
      expect([plan.exitCode, plan.stderr]).toEqual([
        0,
        expect.stringContaining('1 wallet, 0.000007 DRP: store; on chain already; its vault lacks 0.000007'),
      ])
      expect(plan.stderr).not.toContain('Fund it')

      // A list that is not the one on chain stands in the way, until it is replaced.
      const other = cli.file('bare-other.csv', `${wallet},8\n`)
      await ok(['merkle', 'build', other, '--mint', mint, '--airdrop-count', '9', '--raw', '--persist'])
      await cli.refused([...args, '--yes'], '--replace the stored list')

      const launched = await cli.svc([...args, '--replace', '--yes', '--json'])
      expect(launched.exitCode).toBe(1)
      const [{ id, ...row }] = JSON.parse(launched.stdout)
      expect(row).toMatchObject({ funded: false, missing: '7', signature: null })
      const [, funding = ''] = /Fund it: `svc (.+)`/.exec(launched.stderr) ?? []
      const read = await cli.svc(['airdrops', 'get', id])
      expect(read.stderr).toContain(funding)
      expect(await ok(['merkle', 'get', id])).toMatchObject({ root })
      expect((await ok(['airdrops', 'eligibility', wallet]))[0]).toMatchObject({ id, amount: '7', reason: 'unfunded' })

      expect(funding).toMatch(/^wallet send \S+ 0\.000007 --mint \S+ --allow-programs$/)
      await ok([...funding.split(' '), '-k', files.payer, '--yes'])
      const back = `returns to the token account \\S+ by \`svc airdrops withdraw ${id}\` from \\d{4}-.*nothing returns before`
      expect((await cli.svc(['airdrops', 'get', id])).stderr).toMatch(new RegExp(back))
      expect(await ok([...args, '--yes'])).toMatchObject([{ id, funded: true, missing: '0' }])
    },
  )

  itInSoak('launch stores the tree of an airdrop that was launched with another database', async () => {
    const wallet = someone().toBase58()
    const list = cli.file('moved.csv', `${wallet},7\n`)
    const args = [
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--airdrop-count',
      '12',
      '--raw',
      '-k',
      files.payer,
      '--yes',
    ]
    const [{ id }] = await ok(args)
    const before = await tokensOf(payer.publicKey.toBase58())
    const { rpcUrl } = daemon
    const dataDir = join(cli.home, 'fresh')
    mkdirSync(dataDir)
    const fresh = await serveHere(dataDir, { SVC_URL: rpcUrl })
    try {
      const env = { SVC_DATA_DIR: dataDir, SVC_URL: rpcUrl }
      expect(await ok(['merkle', 'list'], env)).toEqual([])
      expect(await ok(args, env)).toMatchObject([{ id, funded: true, signature: null }])
      expect((await ok(['airdrops', 'eligibility', wallet], env))[0]).toMatchObject({ id, claimable: true })
    } finally {
      await fresh.stop()
    }
    expect(await tokensOf(payer.publicKey.toBase58())).toBe(before)
  })

  it('init signs only what was agreed to', async () => {
    const list = cli.file('agreed.csv', `${someone().toBase58()},9\n`)
    const record = await ok(['merkle', 'build', list, '--mint', mint, '--airdrop-count', '30', '--raw', '--persist'])
    const { transaction } = await ok([
      'airdrops',
      'init',
      record.id,
      '--build-only',
      '--guard',
      'off',
      '-k',
      files.payer,
    ])
    const content: DescribedContent = await ok(['tx', 'decode', transaction])
    const own = payer.publicKey.toBase58()
    const wallet = createWallet()
    const body = { mint, airdrop_count: 30, merkle_root: record.root, payer: own, platform_id: 'default' }
    const clock = { now: () => Date.now(), sleep: async () => undefined }
    const check = async (
      change: (content: DescribedContent) => void,
      { body: sent, ...more }: { body?: object; total?: string | null; leaf_count?: null; known?: string | null } = {},
      who = own,
      of = content,
    ) => {
      const other = structuredClone(of)
      change(other)
      const asked = { ...record, known: record.total, ...more, body: { ...body, ...sent } }
      const demand = await demandsInit(signingFor({ wallet, clock }, who, { guard: undefined }), asked)
      return () => requireCalls([other], demand, { isPart: false })
    }
    const at = (name: string) => content.instructions.findIndex(({ name: of }) => of?.includes(name))
    const [creation, transfer, budget] = [at('distributor'), at('SPL Token'), at('Compute Budget')]
    const address = someone().toBase58()
    const same = () => undefined
    expect(await check(same)).not.toThrow()
    expect(await check(same, { body: { merkle_root: HEX } })).toThrow('its new_distributor has another root')
    expect(await check(same, { body: { airdrop_count: 31 } })).toThrow('its new_distributor has another distributor')
    expect(await check(same, { total: '8' })).toThrow('its new_distributor has another max total claim')
    expect(await check(same, { body: { clawback_after_days: 31 } })).toThrow(
      'its new_distributor has another clawback start ts',
    )
    expect(await check(same, { body: { fund_amount: '8' } })).toThrow('its transferChecked has another amount, 9')
    expect(await check(same, { body: { fund: false } })).toThrow('it calls transferChecked of SPL Token')
    expect(await check(same, { total: null, leaf_count: null, known: null })).toThrow('a deposit of 9 raw units')
    expect(await check(same, {}, address)).toThrow(`${own} would pay its fee, not ${address}`)
    const moved = (instruction: number, account: number) => (it: DescribedContent) => {
      it.instructions[instruction]!.accounts[account]!.address = address
    }
    expect(await check(moved(transfer, 2))).toThrow('its transferChecked has another destination')
    expect(await check(moved(transfer, 3))).toThrow('its transferChecked has another authority')
    expect(await check(moved(creation, 1))).toThrow('its new_distributor has another clawback receiver')
    expect(await check(moved(creation, 2))).toThrow('its new_distributor has another mint')
    const written = (instruction: number, data: (before: string) => string) => (it: DescribedContent) => {
      it.instructions[instruction]!.data = data(it.instructions[instruction]!.data)
    }
    expect(await check(written(transfer, (data) => data.replace(/^0c09/, '0c0a')))).toThrow('another amount, 10')
    const added = (more: Partial<DescribedContent['instructions'][number]>) => (it: DescribedContent) => {
      it.instructions.push({ ...it.instructions[transfer]!, ...more })
    }
    expect(await check(added({}))).toThrow('it makes more than one transferChecked')
    const strange = { program: SYSTEM, name: null, instruction: null, accounts: [], args: [], data: '' }
    expect(await check(added(strange))).toThrow(`it calls something that svc does not know of ${SYSTEM}`)
    const beyond = 'its priority fee is more than 0.01 SOL'
    expect(
      await check((it) => {
        it.instructions[budget]!.data = '02c05c1500'
        it.instructions.push({ ...it.instructions[budget]!, data: '03ffffffffffffff00' })
      }),
    ).toThrow(beyond)
    expect(await check(written(budget, () => '03ffffffffffffff00'))).toThrow(beyond)
    // In a message of version 1 the fee stands beside the instructions, which are no-ops there.
    const config = { compute_unit_limit: 1, loaded_accounts_data_size_limit: 1, heap_size: null }
    for (const [priority_fee, decoy] of [
      ['10000000', '03ffffffffffffff00'],
      ['10000001', '030100000000000000'],
    ] as const) {
      const stated = await check((it) => {
        it.config = { ...config, priority_fee }
        it.instructions[budget]!.data = decoy
      })
      if (priority_fee === '10000000') expect(stated).not.toThrow()
      else expect(stated).toThrow(beyond)
    }
    const inV1 = await ok(['airdrops', 'init', record.id, '--build-only', '--tx-version', '1', '-k', files.payer])
    const stated = await ok(['tx', 'decode', inV1.transaction])
    expect(stated).toMatchObject({ version: 1, config: { compute_unit_limit: expect.any(Number) } })
    expect(await check(same, {}, own, stated)).not.toThrow()
    stated.config.priority_fee = '100000001'
    expect(await check(same, {}, own, stated)).toThrow(beyond)
    for (const cutShort of ['02c05c', '03ffff']) {
      expect(await check(written(budget, () => cutShort))).toThrow('its priority fee cannot be read')
    }
  })

  it('launch refuses a token of Token-2022', async () => {
    const texts = ['--name', 'New', '--symbol', 'NEW', '--uri', 'https://example.com/n.json', '--supply', '5']
    const made = await ok(['tokens', 'create', ...texts, '--token-program', 'token2022', '-k', files.payer, '--yes'])
    const list = cli.file('new.csv', `${someone().toBase58()},1\n`)
    const args = ['airdrops', 'launch', list, '--mint', made.mint, '--raw', '-k', files.payer, '--yes']
    await cli.refused(args, 'takes only tokens of the original program')
  })

  it('launch refuses another list under the same count, and an airdrop of another payer', async () => {
    const other = cli.file('other-drop.csv', `${someone().toBase58()},1\n`)
    const args = ['airdrops', 'launch', other, '--mint', mint, '--decimals', '6', '-k', files.payer, '--yes']
    const { exitCode, stderr } = await cli.svc(args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is on chain already')])
    expect(stderr).toContain('take a free --airdrop-count')
    const foreign = ['airdrops', 'launch', files.list, '--mint', mint, '--decimals', '6', '-k', files.platform, '--yes']
    await cli.refused(foreign, 'another wallet made it')
  })

  it('claim pays a keypair once', async () => {
    const [first] = claimers
    const file = keyFile('first.json', first!)
    const wallet = first!.publicKey.toBase58()
    const [entitled] = await ok(['airdrops', 'eligibility', wallet])
    expect(entitled).toMatchObject({ id, amount: '1500000', claimed: false, claimable: true })
    const claimed = await ok(['airdrops', 'claim', id, '-k', file, '--platform-fee', '10000000', '--yes'])
    expect(claimed).toMatchObject({ airdrop: id, lifecycle: CONFIRMED })
    expect(await tokensOf(wallet)).toBe(1_500_000n)
    await cli.refused(['airdrops', 'claim', id, '-k', file, '--yes'], /claimed/)
    expect((await ok(['airdrops', 'eligibility', wallet, '--mint', mint]))[0]).toMatchObject({
      claimed: true,
      claimable: false,
      reason: 'already_claimed',
    })
  })

  it('claim takes a proof made from the list, and only for its wallet', async () => {
    const second = claimers[1]!
    const wallet = second.publicKey.toBase58()
    const args = ['merkle', 'proof', files.list, '--mint', mint, '--decimals', '6', '--wallet', wallet]
    const proof = cli.file('proof.json', JSON.stringify(await ok(args)))
    await cli.refused(['airdrops', 'claim', id, '--proof', proof, '-k', files.payer, '--yes'], /proof/)
    await ok(['airdrops', 'claim', id, '--proof', proof, '-k', keyFile('second.json', second), '--yes'])
    expect(await tokensOf(wallet)).toBe(2_500_000n)
  })

  itInSoak('claim takes a proof with a locked amount', async () => {
    const wallet = claimers[3]!
    const address = wallet.publicKey.toBase58()
    const list = cli.file('vesting.csv', `wallet,amount,locked\n${address},1,2\n`)
    const terms = ['--mint', mint, '--decimals', '6', '--airdrop-count', '40', '--ends-at', '2099-01-01T00:00:00Z']
    const [launched] = await ok(['airdrops', 'launch', list, ...terms, '-k', files.payer, '--yes'])
    const made = await ok(['merkle', 'proof', list, '--mint', mint, '--decimals', '6', '--wallet', address])
    const file = cli.file('locked-proof.json', JSON.stringify(made))
    const before = await tokensOf(address)
    const own = keyFile('vesting.json', wallet)
    const without = cli.file('no-locked.json', JSON.stringify({ ...made, amount_locked: undefined }))
    await cli.refused(['airdrops', 'claim', launched.id, '--proof', without, '-k', own, '--yes'], /proof/)
    await ok(['airdrops', 'claim', launched.id, '--proof', file, '-k', own, '--yes'])
    expect(((await tokensOf(address)) ?? 0n) - (before ?? 0n)).toBeGreaterThanOrEqual(1_000_000n)
  })

  it('status shows the progress, and withdraw returns the remainder after the clawback time', async () => {
    const shown = await cli.svc(['airdrops', 'status', id])
    expect(shown.stdout).toMatch(/STATUS +claiming/)
    expect(shown.stdout).toMatch(/\n\nClaims an hour, the last \d+ hours\n/)
    expect(shown.stdout).toMatch(/CLAIMED BY +2 wallets \(0\.9 %\)/)
    expect(shown.stdout).toMatch(/CLAIMED +4 \(1\.8 %\)/)
    expect(shown.stdout).toMatch(/IN THE VAULT +208/)
    expect(shown.stdout).toMatch(/LEFT +208 for \d+ wallets/)
    expect(shown.stdout).toMatch(/RECORDED +2 claims\n/)
    expect(shown.stdout).toMatch(/MEDIAN CLAIM +2\n/)
    const owner = payer.publicKey.toBase58()
    await cli.refused(['airdrops', 'withdraw', id, '--admin', owner, '--yes'], /clawback|withdrawn/i)
    await ok(['localnet', 'advance', '260000'])
    await cli.refused(['airdrops', 'withdraw', id, '--admin', owner, '--amount', '1', '--yes'], '208000000')
    const before = await tokensOf(owner)
    const done = await ok(['airdrops', 'withdraw', id, '--admin', owner, '--yes'])
    expect(done).toMatchObject({ airdrop: id, mint, amount: '208000000', lifecycle: CONFIRMED })
    expect((await tokensOf(owner)) - before).toBe(208_000_000n)
    expect(await ok(['airdrops', 'status', id])).toMatchObject({ status: 'vault_drained', vault_balance: '0' })
    const late = await cli.svc(['airdrops', 'claim', id, '-k', keyFile('third.json', claimers[2]!), '--yes'])
    expect(late.exitCode).toBe(2)
  })

  it('claims lists the claims and writes them as CSV, and watch ends with the airdrop', async () => {
    const wallets = [claimers[1]!, claimers[0]!].map(({ publicKey }) => publicKey.toBase58())
    const claims = await ok(['airdrops', 'claims', id])
    expect(claims.map(({ wallet, amount }: { wallet: string; amount: string }) => [wallet, amount])).toEqual([
      [wallets[0], '2500000'],
      [wallets[1], '1500000'],
    ])
    expect((await cli.svc(['airdrops', 'claims', id])).stdout).toMatch(new RegExp(`${wallets[0]} +2\\.5 +\\w{80,}`))
    const file = join(cli.home, 'claims.csv')
    expect(await ok(['airdrops', 'claims', id, '--csv', file])).toEqual({ file, claims: 2 })
    const lines = readFileSync(file, 'utf8').split('\r\n')
    expect(lines[0]).toBe('claimed_at,wallet,amount,amount_locked,amount_raw,amount_locked_raw,signature,slot')
    const { claimed_at, signature, slot } = claims[0]
    expect(lines[1]).toBe(`${claimed_at},${wallets[0]},2.5,0,2500000,0,${signature},${slot}`)
    expect(lines).toHaveLength(4)
    expect((await cli.svc(['airdrops', 'claims', id, '--csv', '-'])).stdout).toBe(readFileSync(file, 'utf8'))
    await cli.refused(['airdrops', 'claims', id, '--csv', file, '--limit', '1'], '--limit cannot be used with --csv')

    const rest = [claimers[3]!, claimers[2]!].map(({ publicKey }) => publicKey.toBase58())
    expect(await ok(['airdrops', 'unclaimed', id, '--limit', '2'])).toMatchObject({
      ...{ id, mint, recorded: { claims: 2, wallets: 2, first_claim_at: claims[1].claimed_at } },
      wallets: [
        { wallet: rest[0], amount: '4500000', amount_locked: '0', index: 3 },
        { wallet: rest[1], amount: '3500000', amount_locked: '0', index: 2 },
      ],
    })
    const drawn = await cli.svc(['airdrops', 'unclaimed', id, '--limit', '2'])
    expect(drawn.stdout).toMatch(new RegExp(`${rest[0]} +4\\.5 +3\n${rest[1]} +3\\.5 +2\n$`))
    expect(drawn.stderr).toMatch(/Claims of 2 of \d+ wallets are recorded here, the first of /)

    const watched = await cli.svc(['airdrops', 'watch', id])
    expect(watched.stdout).toMatch(/^\S+Z {2}vault_drained {2}2 of \d+ wallets {2}4 claimed \(1\.8 %\) {2}208 left\n$/)
    const json = await cli.svc(['airdrops', 'watch', id, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ id, status: 'vault_drained', recorded: { claims: 2 } })
    const unknown = await cli.svc(['airdrops', 'watch', ID])
    expect(unknown.exitCode).not.toBe(0)
  })

  it('init takes a stored tree, by the own keypair or the platform wallet', async () => {
    const rows = [1n, 2n, 3n].map((amount) => ({ wallet: someone().toBase58(), amount }))
    const list = cli.file('few.csv', csvOf(rows))
    const tree = await ok(['merkle', 'build', list, '--mint', mint, '--airdrop-count', '20', '--raw', '--persist'])
    for (const more of [[], ['--list', list]]) {
      const { stdout } = await cli.svc(['airdrops', 'init', tree.id, ...more, '-k', files.payer, '--dry-run'])
      expect(stdout).toMatch(
        /^ {2}amounts +3 wallets, 0\.000001–0\.000003 \S+ \(median 0\.000002\), 0\.000006 \S+ in all$/m,
      )
    }
    const made = await ok(['airdrops', 'init', tree.id, '-k', files.payer, '--yes'])
    expect(made).toMatchObject({ mint, airdrop_count: 20, root: tree.root, lifecycle: CONFIRMED })
    expect(await ok(['airdrops', 'get', tree.id])).toMatchObject({ vault_balance: '6' })
    const again = [
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--airdrop-count',
      '21',
      '--raw',
      '--again',
      '--signed',
      '--yes',
    ]
    await cli.refused(again, 'are missing')
    const empty = ['airdrops', 'init', '--mint', mint, '--airdrop-count', '22', '--root', HEX, '--signed', '--yes']
    expect(await ok(empty)).toMatchObject({ airdrop_count: 22, root: HEX, lifecycle: CONFIRMED })
  })

  itInSoak(
    'launch refuses a payer that cannot pay rent and fees of all its airdrops, and costs what it said',
    async () => {
      const poor = Keypair.generate()
      const address = poor.publicKey.toBase58()
      await ok(['wallet', 'send', address, '5', '--mint', mint, '-k', files.payer, '--yes'])
      await ok(['localnet', 'airdrop', address, '0.001'])
      const list = cli.file('poor.csv', `${someone().toBase58()},5\n`)
      const count = ['--airdrop-count', '99']
      const args = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', ...count]
      const own = ['-k', keyFile('poor.json', poor), '--yes']
      await cli.refused([...args, ...own], / has 0\.001 SOL, and 0\.\d+ SOL is needed: nothing was signed or sent/, 1)
      const lamports = async () => BigInt((await ok(['accounts', 'get', address])).lamports)
      const stored = await ok(['airdrops', 'list', '--mint', mint])
      expect(stored.map(({ airdrop_count }: { airdrop_count: number }) => airdrop_count)).not.toContain(99)
      expect(await lamports()).toBe(1_000_000n)

      await ok(['localnet', 'airdrop', address, '1'])
      const { stderr } = await cli.svc([...args, ...own])
      const said = / total {5}(0\.\d+) SOL \(you have 1\.001\)/.exec(stderr)?.[1] ?? ''
      expect(solOf(1_001_000_000n - (await lamports())), stderr).toBe(said)
    },
  )

  it('launch pays the same list twice only with --again', async () => {
    const args = [...launch('--decimals', '6', '--airdrop-count', '33'), '--yes']
    await cli.refused(args, 'is already airdrop 0 of this mint (vault_drained)')
    const [row] = await ok([...args, '--again'])
    expect(row).toMatchObject({ airdrop_count: 33, funded: true })
  })
})
