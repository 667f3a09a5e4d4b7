/** Commands that go through a list, killed at any moment and run again: each row is done exactly once. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { expect } from 'vitest'
import { decodeAsset } from '../../../src/chain/programs/metaplex-core/state.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { IMAGES } from '../../storage/images.ts'
import { lacksCore } from '../../support/assets.ts'
import { type Daemon, startDaemon } from '../../support/daemon.ts'
import { lacksDbc } from '../../support/dbc.ts'
import { killAmongWrites } from '../../support/killed-command.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { PROGRAMS_DIR } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
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
    SVC_PROGRAMS_DIR: PROGRAMS_DIR,
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
    title: `${row.title}, through ${alone + served} kills, with SOAK_SEED=${seedOr(row.seed)}`,
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
    const args = ['airdrops', 'send', file, '--mint', mint, ...(isPlatform ? ['--signed'] : ['-k', keypair])]
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
        // Some were signed again, once those before them could land no more. What the platform wallet has signed is
        // sent by the daemon also after its command was killed, so that none of that need have expired.
        if (!isPlatform) expect(expired).toBeGreaterThan(0)
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

const launched: ListKill['prepare'] = async ({ home, keypair, env, json, chain }, rows) => {
  Object.assign(env, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: keypairFile(home) })
  const file = join(home, 'launches.csv')
  writeFileSync(join(home, 'logo.png'), IMAGES.png)
  // Every third has a first buy, and so two transactions.
  const lines = Array.from({ length: rows }, (_, i) => `Token ${i},T${i},logo.png,${i % 3 === 0 ? '0.01' : ''}`)
  writeFileSync(file, `name,symbol,image,buy\n${lines.join('\n')}\n`)
  const journal = `${file}.launch.json`
  const args = ['pools', 'create', '--from', file, '-k', keypair]
  const begun: Record<string, string> = {}
  return {
    args,
    journal,
    afterKill() {
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
      type Listed = { address: string; symbol: string; status: string }
      const listed = (await json(['pools', 'list', '--all'])) as Listed[]
      const live = listed.filter(({ status }) => status === 'live')
      expect(live.map(({ symbol }) => symbol).toSorted()).toEqual(lines.map((_, i) => `T${i}`).toSorted())
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

killList({
  title: 'svc airdrops send of 2,000 wallets from a keypair',
  seed: 5,
  rows: 2_000,
  ...{ alone: 10, served: 10, leastKilled: 10 },
  ...{ differs: 'size', mostChanges: 16, mostDelayMs: 100, letsExpire: true },
  isAmid: (batches) => batches > 0 && batches < 2_000 / 9,
  prepare: sentBy('keypair'),
})
killList({
  title: 'svc airdrops send of 500 wallets from the platform wallet',
  seed: 5,
  rows: 500,
  ...{ alone: 4, served: 6, leastKilled: 5 },
  ...{ differs: 'size', mostChanges: 16, mostDelayMs: 100, letsExpire: true },
  isAmid: (batches) => batches > 0 && batches < 500 / 9,
  prepare: sentBy('platform'),
})
killList({
  title: 'svc pools create --from with 24 launches',
  skip: lacksDbc,
  seed: 7,
  rows: 24,
  ...{ alone: 6, served: 6, leastKilled: 6 },
  ...{ differs: 'mtimeMs', mostChanges: 6, mostDelayMs: 120, letsExpire: true },
  isAmid: (launches) => launches > 0 && launches < 24,
  prepare: launched,
})
killList({
  title: 'svc nfts mint --from with 200 rows',
  skip: lacksCore,
  seed: 11,
  // More than the kills can see minted, so that each finds the command running.
  rows: 200,
  ...{ alone: 5, served: 5, leastKilled: 10 },
  ...{ differs: 'mtimeMs', mostChanges: 5, mostDelayMs: 50 },
  isAmid: (assets) => assets > 0 && assets < 200,
  prepare: minted,
})
