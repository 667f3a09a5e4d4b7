/** `svc pools create`, killed at any moment and run again: one config, one pool, one payment. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { png } from '../../storage/images.ts'
import { startDaemon } from '../../support/daemon.ts'
import { lacksDbc } from '../../support/dbc.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { quickProgramsDir } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from '../trapping-proxy.ts'
import { goneOf, killTest, momentsOf, seedOr } from './harness.ts'

/** Half of them anywhere in the run, half once it has signed: between its two transactions, and as they are seen. */
const KILLS = 20
/** Some are through before they are killed. */
const MOST_LAUNCHES = 40
/** A signed launch takes about this long until its pool is seen on chain, in milliseconds. */
const SEEN_MS = 1_200

interface Launched {
  address: string
  base_mint: string
  config: string
  status: string
  signatures: string[]
}

async function startWorld() {
  const { next: random } = randomOf(seedOr(9))
  const home = makeFolder()
  const dataDir = join(home, 'data')
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SVC_DATA_DIR: dataDir,
    SVC_PROGRAMS_DIR: quickProgramsDir(),
    SVC_PRIORITY_FEE: 'none',
  }
  const options = { cwd: home, env, extendEnv: false }
  const [payer, platform] = [Keypair.generate(), Keypair.generate()]
  const file = keypairFile(home, payer, 'payer.json')
  writeFileSync(join(home, 'logo.png'), png())
  const svc = async (...args: string[]) =>
    JSON.parse((await execa(process.execPath, [PROGRAM, ...args, '--json'], options)).stdout)
  await svc('localnet', 'airdrop', payer.publicKey.toBase58(), '100')
  const daemon = await startDaemon({
    dataDir,
    flags: ['--rpc-port', '0'],
    env: { ...env, SVC_PLATFORM_WALLET: platform.publicKey.toBase58() },
  })
  const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
  const chain = new Connection(rpc_url, 'confirmed')
  // Two of four have a mint of the user's, killed in each way.
  const mintOf = (n: number) => (n % 4 < 2 ? ['--mint-keypair', join(home, `mint-${n}.json`)] : [])
  const argsOf = (n: number, buy = '0.1') => [
    ...['pools', 'create', '--name', 'Killed', '--symbol', `KILL${10 + n}`, '--image', 'logo.png'],
    ...['--buy', buy, '-k', file, '--yes', ...mintOf(n)],
  ]
  const mints = Array.from({ length: MOST_LAUNCHES + 1 }, (_, n) => {
    const mint = Keypair.generate()
    if (mintOf(n).length > 0) keypairFile(home, mint, `mint-${n}.json`)
    return mint
  })
  const journals = join(home, '.local/state/svc/pool-launches')
  const world = {
    home,
    daemon,
    svc,
    chain,
    argsOf,
    mintAt: (n: number) => (mintOf(n).length > 0 ? mints[n]?.publicKey.toBase58() : undefined),
    launches: 0,
    interrupted: 0,
    signed: 0,
    continued: 0,
    cost: 0,
    took: 0,
    configSize: 0,
    balance: () => chain.getBalance(payer.publicKey),
    start: (n: number) =>
      spawn(process.execPath, [PROGRAM, ...argsOf(n)], { ...options, stdio: ['ignore', 'ignore', 'pipe'] }),
    /** The command through the proxy: killed where its trap strikes, or to its end. */
    async runAt(proxy: TrappingProxy, args: string[], trap?: Trap) {
      const through = { ...env, SVC_API: proxy.url, SVC_API_KEY: daemon.operator }
      const running = execa(process.execPath, [PROGRAM, ...args, '--json'], { ...options, env: through, reject: false })
      if (trap !== undefined) proxy.arm(trap, () => void running.kill('SIGKILL'))
      const { signal, exitCode, stdout, stderr } = await running
      proxy.disarm()
      return { signal, exitCode, stdout, stderr }
    },
    /** The launch in the only journal; null without one. */
    kept(): { pool: string; signed: unknown[] | null; landed: string[] } | null {
      const [name] = existsSync(journals) ? readdirSync(journals).filter((each) => each.endsWith('.json')) : []
      if (name === undefined) return null
      expect(statSync(join(journals, name)).mode & 0o777).toBe(0o600)
      const text = readFileSync(join(journals, name), 'utf8')
      for (const { secretKey } of mints) expect(text.includes(secretKey.subarray(0, 32).join(','))).toBe(false)
      const last = text.split('\n').slice(1, -1).at(-1)
      const entry = last === undefined ? null : JSON.parse(last)
      // A launch that is only requested has no pool yet.
      return entry?.pool === undefined ? null : entry
    },
    async untilSigned(child: { exitCode: number | null }): Promise<void> {
      while (child.exitCode === null && !this.kept()?.signed) await pause(1)
    },
    goOn: (n: number): Promise<Launched> => svc(...argsOf(n)),
    end: async () => {
      await daemon.stop('SIGKILL')
      removeFolder(home)
    },
  }
  const [before, began] = [await world.balance(), performance.now()]
  const { config } = await world.goOn(0)
  world.took = performance.now() - began
  world.cost = before - (await world.balance())
  world.configSize = (await chain.getAccountInfo(new PublicKey(config)))!.data.length
  const moments = momentsOf(KILLS / 2, random)
  return Object.assign(world, { moment: (n: number) => moments[(n >> 1) % moments.length]! })
}
type World = Awaited<ReturnType<typeof startWorld>>

killTest<World, number>({
  title: `svc pools create, killed ${KILLS} times (SOAK_SEED=${seedOr(9)}):`,
  skip: lacksDbc,
  start: startWorld,
  *points(world) {
    while (world.interrupted < KILLS && world.launches < MOST_LAUNCHES) yield ++world.launches
  },
  async kill(world, n) {
    const before = await world.balance()
    const child = world.start(n)
    child.stderr.resume()
    const gone = goneOf(child)
    const isAnywhere = n % 2 === 0
    if (!isAnywhere) await world.untilSigned(child)
    await Promise.race([pause(world.moment(n) * (isAnywhere ? world.took : SEEN_MS)), gone])
    const wasRunning = child.exitCode === null
    child.kill('SIGKILL')
    await gone
    if (wasRunning) world.interrupted++
    else if (isAnywhere) world.took *= 0.8
    const kept = world.kept()
    if (kept?.signed) world.signed++
    // A launch that is through has nothing to continue, and the same command would be a second one.
    if (!wasRunning && kept === null) return
    const isDone = kept === null && (await world.balance()) !== before
    if (isDone) return
    const { address, status, base_mint } = await world.goOn(n)
    expect(base_mint).toBe(world.mintAt(n) ?? base_mint)
    if (kept !== null) {
      world.continued++
      expect(address, `launch ${n}`).toBe(kept.pool)
    }
    expect([status, world.kept()]).toEqual(['live', null])
    expect(before - (await world.balance()), `launch ${n}`).toBe(world.cost)
  },
  end: (world) => world.end(),
  holds: {
    async 'each launch has one config and one live pool'({ chain, svc, launches, configSize, ...world }) {
      const accounts = await chain.getProgramAccounts(new PublicKey(PROGRAMS.dbc.id))
      const configs = accounts.filter(({ account }) => account.data.length === configSize)
      const live = await svc('pools', 'list', '--status', 'live', '--all')
      process.stdout.write(
        `  ${launches} launches, ${world.interrupted} killed, ${world.signed} of them with something signed, ${world.continued} continued\n`,
      )
      expect([configs.length, live.length]).toEqual([launches + 1, launches + 1])
      expect(new Set(live.map(({ symbol }: { symbol: string }) => symbol)).size).toBe(launches + 1)
      expect(world.interrupted).toBe(KILLS)
      expect(world.signed).toBeGreaterThan(KILLS / 4)
    },
  },
})

describe.skipIf(lacksDbc)('svc pools create, interrupted,', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  }, 120_000)
  afterAll(() => world?.end())

  it('says at Ctrl-C how it continues, and the same command then finishes the same pool', async () => {
    const before = await world.balance()
    const child = world.start(1)
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
    })
    await world.untilSigned(child)
    child.kill('SIGINT')
    await goneOf(child)
    expect([child.exitCode, said]).toEqual([130, expect.stringContaining('it continues this launch')])
    const kept = world.kept()
    expect(kept?.signed).toHaveLength(2)

    // Other values for the same symbol would be a second token of that name.
    const other = await world.svc(...world.argsOf(1, '0.2')).catch((error) => error)
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('with other values')])
    const { command, journal } = JSON.parse(other.stderr).error.details
    expect(command).toMatch(/^svc pools create --name Killed --symbol KILL11 .*--buy 0\.1 /)
    expect(existsSync(journal)).toBe(true)

    const { address, status } = await world.goOn(1)
    expect([address, status, world.kept()]).toEqual([kept?.pool, 'live', null])
    expect(before - (await world.balance())).toBe(world.cost)
  })

  it('has one record of a launch that is killed once it is built, before its journal has the build', async () => {
    const proxy = await startTrappingProxy(world.daemon.url)
    const list = join(world.home, 'killed.csv')
    writeFileSync(list, 'name,symbol,image,buy\nKilled,LISTED,logo.png,0.1\n')
    const single = world.argsOf(6)
    const signing = single.slice(single.indexOf('-k'))
    const launches: [symbol: string, args: string[], builds: number][] = [
      ['KILL16', single, 1],
      // Its preview builds it as a dry run.
      ['LISTED', ['pools', 'create', '--from', list, ...signing], 2],
    ]
    const recordsOf = async (symbol: string) => {
      const all: Launched[] = await world.svc('pools', 'list', '--all')
      return all.filter((pool) => (pool as { symbol?: string }).symbol === symbol)
    }
    for (const [symbol, args, nth] of launches) {
      const before = await world.balance()
      const killed = await world.runAt(proxy, args, { method: 'POST /v2/pools', when: 'answered', nth })
      expect(killed.signal, killed.stderr).toBe('SIGKILL')
      const [first] = await recordsOf(symbol)
      expect(first?.status).toBe('pending')
      const { exitCode, stderr } = await world.runAt(proxy, args)
      expect(exitCode, stderr).toBe(0)
      expect(await recordsOf(symbol)).toMatchObject([{ address: first?.address, status: 'live' }])
      expect([before - (await world.balance()), world.kept()]).toEqual([world.cost, null])
    }
    await proxy.close()
  })

  it('launches one token if it is started twice at once, and pays for one', async () => {
    const before = await world.balance()
    const runs = [world.start(2), world.start(2)]
    const said = runs.map(() => '')
    for (const [i, { stderr }] of runs.entries()) {
      stderr.on('data', (text) => {
        said[i] += text
      })
    }
    await Promise.all(runs.map(goneOf))
    const codes = runs.map(({ exitCode }) => exitCode)
    expect(codes, said.join('\n')).toContain(0)
    // The other run is too early, or so late that the ticker is taken or its transaction equals the one that is final.
    const [other = 0] = codes.filter((code) => code !== 0)
    expect([2, 5], said.join('\n')).toContain(other)
    const refusals = /another run is launching this token|The ticker KILL12 is taken|differs only in its blockhash from/
    expect(said[codes.indexOf(other)]).toMatch(refusals)
    expect([before - (await world.balance()), world.kept()]).toEqual([world.cost, null])
  })
})
