/** Commands that go through a list, killed at any moment and run again: each row is done exactly once. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { expect } from 'vitest'
import { decodeEscrow } from '../../../src/chain/programs/jupiter-lock/index.ts'
import { decodeAsset } from '../../../src/chain/programs/metaplex-core/state.ts'
import { EmbeddedChain } from '../../../src/localnet/local-chain.ts'
import { openParts } from '../../../src/localnet/opening.ts'
import { totalOf } from '../../../src/solana/lock-schedule.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { IMAGES } from '../../storage/images.ts'
import { lacksCore } from '../../support/assets.ts'
import { type Daemon, startDaemon } from '../../support/daemon.ts'
import { lacksDbc } from '../../support/dbc.ts'
import { lacksLock } from '../../support/gold.ts'
import { killAmongWrites } from '../../support/killed-command.ts'
import { EXCESS, oldAccounts } from '../../support/old-accounts.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { hasProgram, quickProgramsDir } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { soakRuns } from '../../support/runs.ts'
import { removeFolder } from '../../support/service.ts'
import { makeSharedFolder } from '../../support/shared-folder.ts'
import { killTest, seedOr } from './harness.ts'

interface Home {
  home: string
  payer: Keypair
  keypair: string
  env: Record<string, string>
  json(args: string[]): Promise<unknown>
  /** The chain as the daemon serves it. */
  chain(): Connection
}

/** A home with a payer that has SOL on an embedded chain. */
async function openHome(): Promise<Home> {
  const home = makeSharedFolder('svc-list-kill-')
  const dataDir = join(home, 'data')
  mkdirSync(dataDir)
  const payer = Keypair.generate()
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SVC_DATA_DIR: dataDir,
    SVC_PROGRAMS_DIR: quickProgramsDir(),
  }
  const json = async (args: string[]) => {
    const { stdout } = await execa(process.execPath, [PROGRAM, ...args, '--json'], { cwd: home, env, extendEnv: false })
    return JSON.parse(stdout)
  }
  await json(['localnet', 'airdrop', payer.publicKey.toBase58(), '1000'])
  return {
    home,
    payer,
    keypair: keypairFile(home, payer, 'payer.json'),
    env,
    json,
    chain: () => new Connection(JSON.parse(readFileSync(join(dataDir, 'localnet.json'), 'utf8')).rpc_url, 'confirmed'),
  }
}

interface ListOfRows {
  /** The command, without --json. */
  args: string[]
  /** The file in which a killed run leaves how far it came. */
  journal: string
  /** How many rows, or batches, are done; asked after each kill. */
  done(): number | Promise<number>
  /** What must hold after each kill, beside the last look. */
  afterKill?(): void
  /** What must hold when the command has come to its end; it may be run once more. */
  holds(): Promise<void>
}

interface ListKill {
  title: string
  skip?: boolean
  seed: number
  rows: number
  /** Kills of commands that have the chain in their own process, then of clients of a daemon. */
  alone: number
  served: number
  /** What of the journal's file differs after each write. */
  differs: 'size' | 'mtimeMs'
  /** The most writes to wait for, and the most milliseconds after the last of them. */
  mostChanges: number
  mostDelayMs: number
  /** How many of the kills must find the command running; others may come as it ends. */
  leastKilled: number
  /** Time passes after half of the kills: what was signed before can land no more then. */
  letsExpire?: boolean
  /** Of `done`, at some kill: the list was under way. */
  isAmid(done: number): boolean
  prepare(home: Home, rows: number): Promise<ListOfRows>
}

async function openList({ seed, rows, prepare }: ListKill) {
  const home = await openHome()
  return {
    home,
    list: await prepare(home, rows),
    random: randomOf(seedOr(seed)),
    daemon: undefined as Daemon | undefined,
    killed: 0,
    progress: [] as number[],
  }
}

function killList(row: ListKill): void {
  const { alone, served } = row
  killTest({
    title: `${row.title}, killed ${alone + served} times (SOAK_SEED=${seedOr(row.seed)}):`,
    skip: row.skip ?? false,
    start: () => openList(row),
    points: () => Array.from({ length: alone + served }, (_, n) => n),
    async kill(world, n) {
      const { home, list, random } = world
      if (n === alone) world.daemon = await startDaemon({ dataDir: home.env.SVC_DATA_DIR!, env: home.env })
      const wasKilled = await killAmongWrites({
        argv: [PROGRAM, ...list.args, '--json'],
        options: { cwd: home.home, env: home.env },
        state: () => statSync(list.journal, { throwIfNoEntry: false })?.[row.differs],
        changes: 1 + random.below(row.mostChanges),
        delayMs: () => random.next() * row.mostDelayMs,
        // What a killed run had signed may have to expire first, which takes a minute of the chain's clock.
        patienceMs: 180_000,
      })
      if (wasKilled) world.killed += 1
      list.afterKill?.()
      if (row.letsExpire && random.next() < 0.5) await home.json(['localnet', 'advance', '200'])
      world.progress.push(await list.done())
    },
    async end({ home, daemon }) {
      await daemon?.stop()
      removeFolder(home.home)
    },
    holds: {
      'the kills come while the list is under way'({ progress, killed }) {
        process.stdout.write(`  done after each kill: ${progress}\n`)
        expect(progress.some(row.isAmid)).toBe(true)
        expect(killed).toBeGreaterThanOrEqual(row.leastKilled)
      },
      'each row is done exactly once': ({ list }) => list.holds(),
    },
  })
}

const linesOf = (journal: string): string[] => readFileSync(journal, 'utf8').split('\n').slice(1, -1)

/** Every wallet is paid its amount, by batches that may have expired and been signed again. */
const sentBy =
  (signer: 'keypair' | 'platform'): ListKill['prepare'] =>
  async ({ home, payer, keypair, env, json, chain }, rows) => {
    Object.assign(env, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: keypair })
    const texts = ['--name', 'Sent', '--symbol', 'SNT', '--uri', 'https://example.com/s.json', '--decimals', '6']
    const create = ['tokens', 'create', ...texts, '--supply', '1000000', '--token-program', 'token2022', '-k', keypair]
    const { mint } = (await json(create)) as { mint: string }
    const file = join(home, 'list.csv')
    const journal = `${file}.send.jsonl`
    const amounts = new Map(
      Array.from({ length: rows }, (_, i) => [Keypair.generate().publicKey.toBase58(), BigInt(i + 1)]),
    )
    writeFileSync(file, `wallet,amount\n${[...amounts].map(([wallet, amount]) => `${wallet},${amount}`).join('\n')}\n`)
    const isPlatform = signer === 'platform'
    const args = ['airdrops', 'send', file, '--mint', mint, '--raw', ...(isPlatform ? ['--signed'] : ['-k', keypair])]
    const limits = ['--per-transaction', '10', '--per-day', '100', '--token', `${mint}:1000000000:1000000000`]
    await json(['signer', 'policy', ...limits, '--yes'])
    const ends = (end: string) => linesOf(journal).filter((line) => line.includes(`"end":"${end}"`)).length
    return {
      args,
      journal,
      done: () => ends('confirmed'),
      async holds() {
        const last = (await json(args)) as { sent: number; sent_already: number }
        expect(last).toMatchObject({ total: rows, failed: 0, to_send: 0, left_out: 0 })
        expect(last.sent + last.sent_already).toBe(rows)
        expect(await json(args)).toMatchObject({ sent: 0, sent_already: rows })
        const [confirmed, expired, failed] = ['confirmed', 'expired', 'failed'].map(ends)
        process.stdout.write(`  batches: ${confirmed} confirmed, ${expired} expired, ${failed} failed\n`)
        const accounts = await chain().getProgramAccounts(spl.TOKEN_2022_PROGRAM_ID, {
          filters: [{ memcmp: { offset: 0, bytes: mint } }],
        })
        const held = new Map(
          accounts.map(({ account }) => [
            new PublicKey(account.data.subarray(32, 64)).toBase58(),
            account.data.readBigUInt64LE(64),
          ]),
        )
        const left = held.get(payer.publicKey.toBase58())
        held.delete(payer.publicKey.toBase58())
        expect(held.size).toBe(rows)
        expect([...amounts].filter(([wallet, amount]) => held.get(wallet) !== amount)).toEqual([])
        const sum = [...amounts.values()].reduce((total, amount) => total + amount, 0n)
        expect(left).toBe(1_000_000_000_000n - sum)
      },
    }
  }

/** Every wallet gets its amount minted once, whatever has expired and was signed again. */
const mintedTo: ListKill['prepare'] = async ({ home, keypair, json, chain }, rows) => {
  const texts = ['--name', 'Granted', '--symbol', 'GRT', '--uri', 'https://example.com/g.json', '--decimals', '6']
  const create = ['tokens', 'create', ...texts, '--supply', '0', '--token-program', 'token2022', '-k', keypair]
  const { mint } = (await json(create)) as { mint: string }
  const file = join(home, 'grants.csv')
  const journal = `${file}.mint.jsonl`
  const amounts = new Map(
    Array.from({ length: rows }, (_, i) => [Keypair.generate().publicKey.toBase58(), BigInt(i + 1)]),
  )
  writeFileSync(file, `wallet,amount\n${[...amounts].map(([wallet, amount]) => `${wallet},${amount}`).join('\n')}\n`)
  const args = ['tokens', 'mint', mint, '--from', file, '--raw', '-k', keypair]
  return {
    args,
    journal,
    done: () => linesOf(journal).filter((line) => line.includes('"end":"confirmed"')).length,
    async holds() {
      const last = (await json(args)) as { minted: number; minted_already: number }
      expect(last).toMatchObject({ total: rows, failed: 0, to_do: 0, left_out: 0 })
      expect(last.minted + last.minted_already).toBe(rows)
      expect(await json(args)).toMatchObject({ minted: 0, minted_already: rows })
      const accounts = await chain().getProgramAccounts(spl.TOKEN_2022_PROGRAM_ID, {
        filters: [{ memcmp: { offset: 0, bytes: mint } }],
      })
      const held = accounts.map(({ account }) => {
        const { data } = account
        return [new PublicKey(data.subarray(32, 64)).toBase58(), data.readBigUInt64LE(64)] as const
      })
      expect(new Map(held)).toEqual(amounts)
      const { value } = await chain().getTokenSupply(new PublicKey(mint))
      expect(BigInt(value.amount)).toBe([...amounts.values()].reduce((total, amount) => total + amount, 0n))
    },
  }
}

interface Launch {
  pool: string
  isLive: boolean
}
/** The last entry of each row; a line that the kill has cut off is not there. */
function launchesIn(journal: string): Record<string, Launch> {
  if (!statSync(journal, { throwIfNoEntry: false })) return {}
  return Object.fromEntries(
    linesOf(journal).map((line) => {
      const { row, ...launch } = JSON.parse(line)
      return [row, launch]
    }),
  )
}

/** The seed of a key as a keypair file has it. */
const secretOf = ({ secretKey }: Keypair) => secretKey.subarray(0, 32).join(',')

const launched: ListKill['prepare'] = async ({ home, keypair, env, json, chain }, rows) => {
  Object.assign(env, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: keypairFile(home) })
  const file = join(home, 'launches.csv')
  writeFileSync(join(home, 'logo.png'), IMAGES.png)
  // Every second has a mint of the user's, whose key signs again after an expiry.
  const mints = Array.from({ length: rows }, (_, i) => (i % 2 === 0 ? Keypair.generate() : null))
  // Every third has a first buy, and so two transactions.
  const lines = mints.map((mint, i) => {
    if (mint !== null) keypairFile(home, mint, `mint-${i}.json`)
    return `Token ${i},T${i},logo.png,${i % 3 === 0 ? '0.01' : ''},${mint === null ? '' : `mint-${i}.json`}`
  })
  writeFileSync(file, `name,symbol,image,buy,mint_keypair\n${lines.join('\n')}\n`)
  const journal = `${file}.launch.json`
  const args = ['pools', 'create', '--from', file, '-k', keypair]
  const begun: Record<string, string> = {}
  return {
    args,
    journal,
    afterKill() {
      const text = existsSync(journal) ? readFileSync(journal, 'utf8') : ''
      for (const mint of mints) expect(mint !== null && text.includes(secretOf(mint))).toBe(false)
      // What was begun keeps its pool, so that there is one at most.
      for (const [symbol, { pool }] of Object.entries(launchesIn(journal))) {
        expect(begun[symbol] ?? pool).toBe(pool)
        begun[symbol] = pool
      }
    },
    done: () => Object.values(launchesIn(journal)).filter(({ isLive }) => isLive).length,
    async holds() {
      expect(await json(args)).toMatchObject({ total: rows, failed: 0, to_launch: 0 })
      expect(await json(args)).toMatchObject({ launched: 0, launched_already: rows })
      type Listed = { address: string; base_mint: string; symbol: string; status: string }
      const listed = (await json(['pools', 'list', '--all'])) as Listed[]
      const live = listed.filter(({ status }) => status === 'live')
      expect(live.map(({ symbol }) => symbol).toSorted()).toEqual(lines.map((_, i) => `T${i}`).toSorted())
      const own = mints.flatMap((mint) => (mint === null ? [] : [mint.publicKey.toBase58()]))
      expect(live.map(({ base_mint }) => base_mint)).toEqual(expect.arrayContaining(own))
      const pools = Object.values(launchesIn(journal)).map(({ pool }) => pool)
      expect(live.map(({ address }) => address).toSorted()).toEqual(pools.toSorted())
      // No other pool of the list has landed.
      for (const { address, symbol, status } of listed) {
        if (status === 'live') continue
        expect([symbol, await chain().getAccountInfo(new PublicKey(address))]).toEqual([symbol, null])
      }
    },
  }
}

const minted: ListKill['prepare'] = async ({ home, keypair, json, chain }, rows) => {
  const make = ['collections', 'create', '--name', 'Genesis', '--uri', 'https://example.com/g.json', '-k', keypair]
  const { collection } = (await json(make)) as { collection: string }
  const file = join(home, 'nfts.csv')
  const uris = Array.from({ length: rows }, (_, i) => `https://example.com/${i}.json`)
  // Every fifth row says the same as the one before it, but for nothing.
  const lines = uris.map((uri, i) => `#${i % 5 === 4 ? i - 1 : i},${i % 5 === 4 ? uris[i - 1] : uri}`)
  writeFileSync(file, `name,uri\n${lines.join('\n')}\n`)
  const args = ['nfts', 'mint', '--collection', collection, '--from', file, '-k', keypair]
  const done = async () => ((await json(['collections', 'get', collection])) as { num_minted: number }).num_minted
  return {
    args,
    journal: `${file}.mint.json`,
    done,
    async holds() {
      const last = (await json(args)) as { nfts: { asset: string }[] }
      expect(last).toMatchObject({ total: rows, failed: 0, to_mint: 0 })
      expect(await json(args)).toMatchObject({ minted: 0, there_already: rows })
      const accounts = await chain().getProgramAccounts(new PublicKey(PROGRAMS.core.id), {
        filters: [{ memcmp: { offset: 34, bytes: collection } }],
      })
      const found = await Promise.all(
        accounts.map(async ({ pubkey, account }) => {
          const decoded = await decodeAsset(pubkey.toBase58(), { data: account.data, owner: account.owner.toBase58() })
          return decoded.kind === 'asset' ? `${decoded.asset.name},${decoded.asset.uri}` : decoded.kind
        }),
      )
      expect(found.toSorted()).toEqual(lines.toSorted())
      expect(await done()).toBe(rows)
      const assets = accounts.map(({ pubkey }) => pubkey.toBase58()).toSorted()
      expect(last.nfts.map(({ asset }) => asset).toSorted()).toEqual(assets)
      // Those that were killed before they had seen their transaction confirmed are followed by the daemon.
      const reported = async () => {
        const events = await json(['events', 'list', '--type', 'nft.created', '--all'])
        return (events as { data: { object: { asset: string } } }[]).map(({ data }) => data.object.asset)
      }
      await expect.poll(async () => (await reported()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(rows)
      expect((await reported()).toSorted()).toEqual(assets)
      expect(await json(['nfts', 'list', '--all'])).toHaveLength(rows)
    },
  }
}

/** Every third row says the same as the one before it, but for nothing. */
const locked: ListKill['prepare'] = async ({ home, payer, keypair, json, chain }, rows) => {
  const texts = ['--name', 'Locked', '--symbol', 'LCK', '--uri', 'https://example.com/l.json', '--decimals', '6']
  const { mint } = (await json(['tokens', 'create', ...texts, '--supply', '1000000', '-k', keypair])) as {
    mint: string
  }
  const file = join(home, 'locks.csv')
  const lines: string[] = []
  for (let i = 0; i < rows; i++) {
    const wallet = Keypair.generate().publicKey.toBase58()
    const schedule = i % 2 === 0 ? `2027-01-01,${i + 1}d,12,30d` : ',,,'
    lines.push(i % 3 === 2 ? (lines[i - 1] ?? '') : `${wallet},${i + 20},${schedule}`)
  }
  writeFileSync(file, `wallet,amount,start,cliff,periods,frequency\n${lines.join('\n')}\n`)
  const args = ['locks', 'create', mint, '--from', file, '--raw', '--all-at-once', '--allow-repeats', '-k', keypair]
  const program = new PublicKey(PROGRAMS.lock.id)
  const found = () => chain().getProgramAccounts(program, { filters: [{ memcmp: { offset: 40, bytes: mint } }] })
  const journal = `${file}.locks.json`
  return {
    args,
    journal,
    done: () =>
      statSync(journal, { throwIfNoEntry: false })
        ? new Set(
            linesOf(journal)
              .filter((line) => line.includes('"isMade":true'))
              .map((line) => JSON.parse(line).row),
          ).size
        : 0,
    async holds() {
      const last = (await json(args)) as { locks: { lock: string }[] }
      expect(last).toMatchObject({ total: rows, failed: 0, to_lock: 0 })
      expect(await json(args)).toMatchObject({ locked: 0, there_already: rows })
      const accounts = await found()
      expect(accounts.map(({ pubkey }) => pubkey.toBase58()).toSorted()).toEqual(
        last.locks.map(({ lock }) => lock).toSorted(),
      )
      const made = accounts.map(({ pubkey, account: { data, lamports, executable, owner } }) => {
        const account = { data, executable, lamports: BigInt(lamports), owner: owner.toBase58() }
        const escrow = decodeEscrow(pubkey.toBase58(), account)
        return escrow === null ? 'no lock' : `${escrow.recipient},${totalOf(escrow)}`
      })
      expect(made.toSorted()).toEqual(lines.map((line) => line.split(',').slice(0, 2).join(',')).toSorted())
      const sum = lines.reduce((total, line) => total + BigInt(line.split(',')[1] ?? 0), 0n)
      const own = spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey)
      expect((await spl.getAccount(chain(), own)).amount).toBe(1_000_000_000_000n - sum)
    },
  }
}

/** Each key pays its amount into a raise once, whatever has expired and was signed again. */
const deposited: ListKill['prepare'] = async ({ home, keypair, env, json }, rows) => {
  const texts = ['--name', 'Sold', '--symbol', 'SLD', '--uri', 'https://example.com/s.json', '--supply', '1000000']
  const { mint } = (await json(['tokens', 'create', ...texts, '-k', keypair])) as { mint: string }
  await json(['tokens', 'revoke', mint, 'mint', '-k', keypair])
  const terms = ['--sale-mode', 'fixed_price', '--price', '0.001', '--min', '1', '--max', '100', '--ends', '7d']
  const { id } = (await json(['raises', 'create', mint, ...terms, '-k', keypair])) as { id: string }
  const keys = Array.from({ length: rows }, () => Keypair.generate())
  const local = new EmbeddedChain(
    await openParts({ dataDir: env.SVC_DATA_DIR!, programsDir: quickProgramsDir(), now: () => Date.now() }),
  )
  await local.together(() => {
    for (const key of keys) local.airdrop(key.publicKey.toBase58(), 10_000_000_000n)
  })
  local.close()
  const file = join(home, 'keys.csv')
  for (const [i, key] of keys.entries()) keypairFile(home, key, `key-${i}.json`)
  writeFileSync(file, `keypair,amount\n${keys.map((_, i) => `key-${i}.json,${1_000_000 * (i + 1)}`).join('\n')}\n`)
  const args = ['raises', 'deposit', id, '--from', file, '--raw']
  const journal = `${file}.deposit.json`
  return {
    args,
    journal,
    done: () =>
      existsSync(journal) ? linesOf(journal).filter((line) => line.includes('"end":"confirmed"')).length : 0,
    async holds() {
      expect(await json(args)).toMatchObject({ total: rows, failed: 0, unknown: 0, to_deposit: 0 })
      expect(await json(args)).toMatchObject({ deposited: 0, done_already: rows })
      const raise = (await json(['raises', 'get', id])) as { deposited: string; buyers: string }
      expect(raise).toMatchObject({ deposited: String((1_000_000 * rows * (rows + 1)) / 2), buyers: String(rows) })
    },
  }
}

/** Accounts from a time with a higher rent: each returns its excess once. */
const reclaimedBy =
  (signer: 'keypair' | 'platform'): ListKill['prepare'] =>
  async ({ payer, keypair, env, json, chain }, rows) => {
    const dataDir = env.SVC_DATA_DIR!
    Object.assign(env, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: keypair, SVC_PRIORITY_FEE: 'none' })
    const wallet = payer.publicKey.toBase58()
    const local = new EmbeddedChain(
      await openParts({ dataDir, programsDir: quickProgramsDir(), now: () => Date.now() }),
    )
    const excesses = new Map<string, bigint>()
    await local.together(() => {
      const old = oldAccounts(local, wallet)
      for (let n = 0; n < rows; n++) {
        const excess = EXCESS + BigInt(n)
        const program = n % 2 === 0 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
        excesses.set(old.token({ program, excess, amount: 1n, isAssociated: false }), excess)
      }
    })
    const minimum = Number(local.minimumBalance(165))
    local.close()
    const before = BigInt(((await json(['wallet', 'balance', wallet])) as { lamports: string }).lamports)
    await json(['signer', 'policy', '--per-transaction', '0.000005', '--per-day', '0.01', '--yes'])
    const reclaim = ['wallet', 'reclaim', ...(signer === 'platform' ? ['--signed'] : ['-k', keypair])]
    type Figures = { accounts: number; lamports: string; left_out: { reason: string; accounts: number }[] }
    /** Accounts that are left, and those whose transaction may still land. */
    const left = async () => {
      const { accounts, left_out } = (await json([...reclaim, '--dry-run'])) as Figures
      return accounts + left_out.reduce((sum, each) => sum + each.accounts, 0)
    }
    return {
      args: [...reclaim, '--yes'],
      journal: join(dataDir, 'chain.db-wal'),
      done: async () => rows - (await left()),
      async holds() {
        const finish = async () => {
          await json([...reclaim, '--yes'])
          return left()
        }
        await expect.poll(finish, { timeout: 120_000 }).toBe(0)
        const addresses = [...excesses.keys()]
        for (let at = 0; at < rows; at += 100) {
          const keys = addresses.slice(at, at + 100).map((address) => new PublicKey(address))
          const accounts = await chain().getMultipleAccountsInfo(keys)
          expect(accounts.map((account) => account?.lamports)).toEqual(keys.map(() => minimum))
        }
        type Entry = { kind: string; account: string; amount: string }
        const entries = async (kind: string) => (await json(['ledger', 'list', '--kind', kind, '--all'])) as Entry[]
        const returned = async () => (await entries('rent_returned')).filter(({ account }) => excesses.has(account))
        await expect.poll(async () => (await returned()).length, { timeout: 120_000 }).toBe(rows)
        expect(new Map((await returned()).map(({ account, amount }) => [account, -BigInt(amount)]))).toEqual(excesses)
        const fees = (await entries('network_fee')).filter(({ account }) => account === wallet)
        process.stdout.write(`  transactions: ${fees.length}\n`)
        const sum = [...excesses.values(), ...fees.map(({ amount }) => BigInt(amount))].reduce(
          (all, each) => all + each,
        )
        expect(BigInt(await chain().getBalance(payer.publicKey)) - before).toBe(sum)
        await json(['ledger', 'verify'])
      },
    }
  }

killList({
  title: 'svc airdrops send of 600 wallets from a keypair',
  seed: 5,
  rows: 600,
  ...{ alone: 4, served: 4, leastKilled: 4 },
  ...{ differs: 'size', mostChanges: 12, mostDelayMs: 100, letsExpire: true },
  isAmid: (batches) => batches > 0 && batches < 600 / 9,
  prepare: sentBy('keypair'),
})
killList({
  title: 'svc airdrops send of 250 wallets from the platform wallet',
  seed: 5,
  rows: 250,
  ...{ alone: soakRuns(1, 2), served: soakRuns(2, 3), leastKilled: soakRuns(2, 3) },
  ...{ differs: 'size', mostChanges: 10, mostDelayMs: 100, letsExpire: true },
  isAmid: (batches) => batches > 0 && batches < 250 / 9,
  prepare: sentBy('platform'),
})
killList({
  title: 'svc tokens mint --from with 300 wallets',
  seed: 19,
  rows: 300,
  ...{ alone: soakRuns(3, 5), served: soakRuns(3, 5), leastKilled: soakRuns(2, 3) },
  ...{ differs: 'size', mostChanges: 10, mostDelayMs: 100, letsExpire: true },
  isAmid: (batches) => batches > 0 && batches < 300 / 9,
  prepare: mintedTo,
})
killList({
  title: 'svc pools create --from with 10 launches',
  skip: lacksDbc,
  seed: 7,
  rows: 10,
  ...{ alone: soakRuns(2, 3), served: soakRuns(2, 3), leastKilled: soakRuns(2, 3) },
  ...{ differs: 'mtimeMs', mostChanges: 10, mostDelayMs: 120, letsExpire: true },
  isAmid: (launches) => launches > 0 && launches < 10,
  prepare: launched,
})
killList({
  title: 'svc nfts mint --from with 200 rows',
  skip: lacksCore,
  seed: 11,
  // More than the kills can see minted, so that each finds the command running.
  rows: 200,
  ...{ alone: soakRuns(2, 3), served: soakRuns(2, 4), leastKilled: soakRuns(4, 7) },
  ...{ differs: 'mtimeMs', mostChanges: 16, mostDelayMs: 50 },
  isAmid: (assets) => assets > 0 && assets < 200,
  prepare: minted,
})
killList({
  title: 'svc locks create --from with 500 rows',
  skip: lacksLock !== '',
  seed: 23,
  rows: 500,
  ...{ alone: soakRuns(4, 10), served: soakRuns(4, 10), leastKilled: soakRuns(6, 18) },
  ...{ differs: 'size', mostChanges: 40, mostDelayMs: 80 },
  isAmid: (locks) => locks > 0 && locks < 500,
  prepare: locked,
})
const DEPOSITS = soakRuns(20, 60)
killList({
  title: `svc raises deposit --from with ${DEPOSITS} keys`,
  skip: !hasProgram(PROGRAMS.presale.id),
  seed: 46,
  rows: DEPOSITS,
  ...{ alone: soakRuns(3, 10), served: soakRuns(3, 10), leastKilled: soakRuns(4, 14) },
  ...{ differs: 'mtimeMs', mostChanges: 10, mostDelayMs: 200, letsExpire: true },
  isAmid: (rows) => rows > 0 && rows < DEPOSITS,
  prepare: deposited,
})
killList({
  title: 'svc wallet reclaim of 1,000 accounts by a keypair',
  seed: 13,
  rows: 1_000,
  ...{ alone: soakRuns(3, 5), served: soakRuns(3, 5), leastKilled: soakRuns(4, 7) },
  ...{ differs: 'mtimeMs', mostChanges: 6, mostDelayMs: 300 },
  isAmid: (accounts) => accounts > 0 && accounts < 1_000,
  prepare: reclaimedBy('keypair'),
})
killList({
  title: 'svc wallet reclaim of 1,000 accounts by the platform wallet',
  seed: 17,
  rows: 1_000,
  ...{ alone: soakRuns(3, 5), served: soakRuns(3, 5), leastKilled: soakRuns(4, 7) },
  ...{ differs: 'mtimeMs', mostChanges: 6, mostDelayMs: 300 },
  isAmid: (accounts) => accounts > 0 && accounts < 1_000,
  prepare: reclaimedBy('platform'),
})
