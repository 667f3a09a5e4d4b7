/** `svc airdrops launch`, killed in each part of its run and run again: one distributor each, funded once. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { expect, vi } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { startDaemon } from '../../support/daemon.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { hasProgram, quickProgramsDir } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { wallet } from '../../support/trees.ts'
import { goneOf, killTest, momentsOf, seedOr } from './harness.ts'

const ROWS = 10_000
/** Half of them anywhere in the run, each in a part of its own; half once it has signed: as it is sent, and as it is seen. */
const KILLS = soakRuns(4, 8)
/** Some are through before they are killed. */
const MOST_LAUNCHES = 20
const ALONE_KILLS = 3
/** A signed launch takes about this long until it is seen on chain, in milliseconds. */
const SEEN_MS = 300

interface Row {
  id: string
  distributor: string
  total: string
  funded: boolean
}

/** A home with a payer that has tokens and SOL on an embedded chain; with a daemon, or with the chain in each command. */
async function launchesUnderWay(isServed: boolean) {
  const { next: random } = randomOf(seedOr(5))
  const home = makeFolder()
  const dataDir = join(home, 'data')
  const env = { PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: dataDir, SVC_PROGRAMS_DIR: quickProgramsDir() }
  const options = { cwd: home, env, extendEnv: false }
  const payer = Keypair.generate()
  const file = keypairFile(home, payer, 'payer.json')
  const svc = async (...args: string[]) =>
    JSON.parse((await execa(process.execPath, [PROGRAM, ...args, '--json'], options)).stdout)
  const list = join(home, 'list.csv')
  const amounts = Array.from({ length: ROWS }, (_, i) => (i % 1000) + 1)
  writeFileSync(list, amounts.map((amount, i) => `${wallet(i)},${amount}\n`).join(''))
  const total = String(amounts.reduce((sum, amount) => sum + amount, 0))
  await svc('localnet', 'airdrop', payer.publicKey.toBase58(), '100')
  const daemon = isServed
    ? await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env: { SVC_PROGRAMS_DIR: quickProgramsDir() } })
    : undefined
  const texts = ['--name', 'Soak', '--symbol', 'SOAK', '--uri', 'https://example.com/s.json', '--supply', '1000000000']
  const mint: string = (await svc('tokens', 'create', ...texts, '-k', file, '--yes')).mint
  const argsOf = (count: number) => [
    ...[
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--raw',
      '--airdrop-count',
      String(count),
      '-k',
      file,
      '--again',
      '--yes',
    ],
  ]
  const fundedRow = (rows: Row[]): Row => {
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ funded: true, total })
    return rows[0]!
  }

  const began = performance.now()
  fundedRow(await svc(...argsOf(0)))
  const took = { ms: performance.now() - began }

  const moments = momentsOf(KILLS / 2, random)
  const world = { launches: 0, interrupted: 0, kept: 0 }
  return Object.assign(world, {
    home,
    dataDir,
    daemon,
    svc,
    mint,
    payer,
    total,
    took,
    goOn: async (n: number): Promise<Row> => fundedRow(await svc(...argsOf(n))),
    *points(kills: number, most: number): Iterable<number> {
      while (world.interrupted < kills && world.launches < most) yield ++world.launches
    },
    /** Kills the n-th: half of them anywhere, half once it has signed, as it is sent and seen. */
    async kill(n: number): Promise<void> {
      const child = spawn(process.execPath, [PROGRAM, ...argsOf(n)], { ...options, stdio: 'ignore' })
      const gone = goneOf(child)
      const isAnywhere = n % 2 === 0
      while (!isAnywhere && child.exitCode === null && this.keptSignature() === null) await pause(1)
      const moment = moments[(n >> 1) % moments.length]!
      await Promise.race([pause(moment * (isAnywhere ? took.ms : SEEN_MS)), gone])
      const wasRunning = child.exitCode === null
      child.kill('SIGKILL')
      await gone
      if (wasRunning) world.interrupted++
      // It was faster than the first.
      else if (isAnywhere) took.ms *= 0.8
    },
    /** What the killed run had signed, where it came so far. */
    keptSignature(): string | null {
      const folder = join(home, '.local/state/svc/launches')
      const [name] = existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith('.json')) : []
      if (name === undefined) return null
      const last = readFileSync(join(folder, name), 'utf8').split('\n').slice(1, -1).at(-1)
      return last === undefined ? null : (JSON.parse(last).sending?.signature ?? null)
    },
    async end() {
      await daemon?.stop('SIGKILL')
      removeFolder(home)
    },
  })
}

async function servedLaunches() {
  const world = await launchesUnderWay(true)
  const { rpc_url } = JSON.parse(readFileSync(join(world.dataDir, 'daemon.json'), 'utf8'))
  const chain = new Connection(rpc_url, 'confirmed')
  const mint = new PublicKey(world.mint)
  const [account] = (await chain.getTokenAccountsByOwner(world.payer.publicKey, { mint })).value
  return Object.assign(world, {
    balance: async () => (await chain.getAccountInfo(account!.pubkey))!.data.readBigUInt64LE(64),
    async landed(distributor: string) {
      const made = await chain.getSignaturesForAddress(new PublicKey(distributor))
      return made.filter(({ err }) => err === null).map(({ signature }) => signature)
    },
  })
}

const skip = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const initialized = (total: string) => ({ status: 'initialized', vault_balance: total })

killTest({
  title: `svc airdrops launch with a daemon, killed ${KILLS} times (SOAK_SEED=${seedOr(5)}):`,
  skip,
  start: servedLaunches,
  points: (world) => world.points(KILLS, MOST_LAUNCHES),
  async kill(world, n) {
    const before = await world.balance()
    await world.kill(n)
    const signed = world.keptSignature()
    if (signed !== null) world.kept++
    const { id, distributor } = await world.goOn(n)
    expect(before - (await world.balance()), `launch ${n}`).toBe(BigInt(world.total))
    // History lists a transaction once it is confirmed, a slot or two after its accounts show it.
    const hasLanded = async () => expect(await world.landed(distributor), `launch ${n}`).toHaveLength(1)
    await vi.waitFor(hasLanded, 20_000)
    // Nothing else is signed while that may land.
    if (signed !== null) expect(await world.landed(distributor), `launch ${n}`).toEqual([signed])
    expect(world.keptSignature()).toBeNull()
    expect(await world.svc('airdrops', 'get', id)).toMatchObject(initialized(world.total))
  },
  end: (world) => world.end(),
  holds: {
    async 'each launch has one distributor, one payment and one event'({ svc, launches, interrupted, kept, took }) {
      const reported = async (): Promise<string[]> => {
        const events = await svc('events', 'list', '--type', 'airdrop.initialized', '--all')
        return events.map(({ data }: { data: { object: { resource_id: string } } }) => data.object.resource_id)
      }
      // The last may be seen on chain before the watcher has reported it.
      await expect.poll(async () => new Set(await reported()).size, { timeout: 20_000 }).toBe(launches + 1)
      expect(await reported()).toHaveLength(launches + 1)
      process.stdout.write(
        `  ${launches} launches of ${ROWS} rows, ${interrupted} killed, ${kept} of them with something signed, a whole one takes ${Math.round(took.ms)} ms\n`,
      )
      expect(interrupted).toBe(KILLS)
      expect(kept).toBeGreaterThan(0)
    },
  },
})

killTest({
  title: `svc airdrops launch with chain and database in its own process, killed ${ALONE_KILLS} times:`,
  skip,
  start: () => launchesUnderWay(false),
  points: (world) => world.points(ALONE_KILLS, ALONE_KILLS),
  async kill(world, n) {
    await world.kill(n)
    const { id } = await world.goOn(n)
    expect(await world.svc('airdrops', 'get', id)).toMatchObject(initialized(world.total))
  },
  end: (world) => world.end(),
  holds: {
    'each launch ends as one funded distributor'({ launches }) {
      expect(launches).toBe(ALONE_KILLS)
    },
  },
})
