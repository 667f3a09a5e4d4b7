/** `svc airdrops launch` of 50,000 rows, killed at random points and run again: one distributor each, funded once. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'
import { wallet } from '../support/trees.ts'

/** SOAK_SEED=n kills at other moments. */
const { next: random } = randomOf(Number(process.env.SOAK_SEED || 5))
const ROWS = 50_000
const KILLS = 20
/** Some are through before they are killed. */
const MOST_LAUNCHES = 45
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))

interface Row {
  id: string
  airdrop_count: number
  distributor: string
  total: string
  funded: boolean
}

/** A home with a payer that has tokens and SOL on an embedded chain. */
async function prepare() {
  const home = mkdtempSync(join(tmpdir(), 'svc-launch-'))
  const dataDir = join(home, 'data')
  const env = { PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: dataDir, SVC_PROGRAMS_DIR: PROGRAMS_DIR }
  const options = { cwd: home, env, extendEnv: false }
  const payer = Keypair.generate()
  const file = join(home, 'payer.json')
  writeFileSync(file, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
  const svc = async (...args: string[]) => {
    const { stdout } = await execa(process.execPath, [PROGRAM, ...args, '--json'], options)
    return JSON.parse(stdout)
  }
  const list = join(home, 'list.csv')
  const rows = Array.from({ length: ROWS }, (_, i) => ({ wallet: wallet(i) }))
  writeFileSync(list, rows.map(({ wallet }, i) => `${wallet},${(i % 1000) + 1}\n`).join(''))
  const total = rows.reduce((sum, _, i) => sum + BigInt((i % 1000) + 1), 0n)
  await svc('localnet', 'airdrop', payer.publicKey.toBase58(), '100')
  return { home, dataDir, options, payer, file, svc, list, total }
}

type Setting = Awaited<ReturnType<typeof prepare>>

async function makeToken({ svc, file }: Setting): Promise<string> {
  const texts = ['--name', 'Soak', '--symbol', 'SOAK', '--uri', 'https://example.com/s.json', '--supply', '1000000000']
  return (await svc('tokens', 'create', ...texts, '-k', file, '--yes')).mint
}

const launchArgs = ({ list, file }: Setting, mint: string, count: number) => [
  'airdrops',
  'launch',
  list,
  '--mint',
  mint,
  '--airdrop-count',
  String(count),
  '-k',
  file,
  '--again',
  '--yes',
]

/** Runs it until it has said `after` on stderr, and so long more, and kills it; true where it came so far. */
async function kill({ options }: Setting, args: string[], after: string | null, ms: number): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = new Promise<void>((done) => child.once('exit', () => done()))
  const begun =
    after === null
      ? Promise.resolve()
      : new Promise<void>((done) => {
          let said = ''
          child.stderr.setEncoding('utf8').on('data', (text: string) => {
            said += text
            if (said.includes(after)) done()
          })
        })
  await Promise.race([begun, gone])
  await Promise.race([new Promise((done) => setTimeout(done, ms)), gone])
  const wasRunning = child.exitCode === null
  child.kill('SIGKILL')
  await gone
  return wasRunning
}

const STORED = ': stored, '

/** Runs it once; answers how long it took, and how long after the list was stored. */
async function timed({ options, total }: Setting, args: string[]): Promise<{ whole: number; afterStored: number }> {
  const began = performance.now()
  let stored = began
  const child = execa(process.execPath, [PROGRAM, ...args, '--json'], options)
  child.stderr.on('data', (text: Buffer) => {
    if (text.includes(STORED)) stored = performance.now()
  })
  expectFunded(JSON.parse((await child).stdout), total)
  return { whole: performance.now() - began, afterStored: performance.now() - stored }
}

/** Half of them anywhere, half about where it is signed, sent and seen. */
const pointOf = (n: number, { whole, afterStored }: { whole: number; afterStored: number }) =>
  n % 2 === 0 ? { after: null, ms: random() * whole } : { after: STORED, ms: random() * afterStored }

/** What the killed run had signed, where it came so far. */
function keptSignature({ home }: Setting): string | null {
  const folder = join(home, '.local/state/svc/launches')
  const [file] = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  const last = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').split('\n').slice(1, -1).at(-1)
  return last === undefined ? null : (JSON.parse(last).sending?.signature ?? null)
}

function expectFunded(rows: Row[], total: bigint): Row {
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ funded: true, total: String(total) })
  return rows[0]!
}

const goOn = async ({ svc, total }: Setting, args: string[]): Promise<Row> => expectFunded(await svc(...args), total)

describe.skipIf(lacksPrograms)('a launch that is killed', () => {
  let setting: Setting
  beforeAll(async () => {
    setting = await prepare()
  }, 60_000)
  afterAll(() => setting && rmSync(setting.home, { recursive: true, force: true }))

  it(`goes on after each of ${KILLS} kills: one distributor each, funded once`, async () => {
    const daemon: Daemon = await startDaemon({
      dataDir: setting.dataDir,
      flags: ['--rpc-port', '0'],
      env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR },
    })
    try {
      const mint = await makeToken(setting)
      const { rpc_url } = JSON.parse(readFileSync(join(setting.dataDir, 'daemon.json'), 'utf8'))
      const chain = new Connection(rpc_url, 'confirmed')
      const [account] = (await chain.getTokenAccountsByOwner(setting.payer.publicKey, { mint: new PublicKey(mint) }))
        .value
      const balance = async () => (await chain.getAccountInfo(account!.pubkey))!.data.readBigUInt64LE(64)
      let times = await timed(setting, launchArgs(setting, mint, 0))
      let interrupted = 0
      let [launches, kept] = [0, 0]
      for (let n = 1; interrupted < KILLS && n <= MOST_LAUNCHES; n++) {
        const args = launchArgs(setting, mint, n)
        const before = await balance()
        launches++
        const { after, ms } = pointOf(n, times)
        if (await kill(setting, args, after, ms)) interrupted++
        // It was faster than the first.
        else times = { whole: times.whole * 0.8, afterStored: times.afterStored * 0.8 }
        const signed = keptSignature(setting)
        if (signed !== null) kept++
        const { id, distributor } = await goOn(setting, args)
        expect(before - (await balance()), `launch ${n}`).toBe(setting.total)
        const landed = async () => {
          const made = await chain.getSignaturesForAddress(new PublicKey(distributor))
          return made.filter(({ err }) => err === null).map(({ signature }) => signature)
        }
        // History lists a transaction once it is confirmed, a slot or two after its accounts show it.
        await expect.poll(landed, { message: `launch ${n}` }).toHaveLength(1)
        // Nothing else is signed while that may land.
        if (signed !== null) expect(await landed(), `launch ${n}`).toEqual([signed])
        expect(keptSignature(setting)).toBeNull()
        expect(await setting.svc('airdrops', 'get', id)).toMatchObject({
          status: 'initialized',
          vault_balance: String(setting.total),
        })
      }
      const told = async () => {
        const all: { data: { object: { resource_id: string } } }[] = await setting.svc(
          ...['events', 'list', '--type', 'airdrop.initialized', '--all'],
        )
        return all.map(({ data }) => data.object.resource_id)
      }
      // The last may be seen on chain before the watcher has told of it.
      await expect.poll(async () => new Set(await told()).size, { timeout: 20_000 }).toBe(launches + 1)
      expect(await told()).toHaveLength(launches + 1)
      process.stdout.write(
        `  ${launches} launches of ${ROWS} rows, ${interrupted} killed, ${kept} of them with something signed, a whole one takes ${Math.round(times.whole)} ms, ${Math.round(times.afterStored)} of them once it is stored\n`,
      )
      expect(interrupted).toBe(KILLS)
      expect(kept).toBeGreaterThan(0)
    } finally {
      await daemon.stop('SIGKILL')
    }
  }, 600_000)

  it('goes on in a process of its own, with chain and database in it, after each of four kills', async () => {
    const alone = await prepare()
    try {
      const mint = await makeToken(alone)
      const times = await timed(alone, launchArgs(alone, mint, 0))
      for (let n = 1; n <= 4; n++) {
        const args = launchArgs(alone, mint, n)
        const { after, ms } = pointOf(n, times)
        await kill(alone, args, after, ms)
        const { id } = await goOn(alone, args)
        expect(await alone.svc('airdrops', 'get', id)).toMatchObject({
          status: 'initialized',
          vault_balance: String(alone.total),
        })
      }
    } finally {
      rmSync(alone.home, { recursive: true, force: true })
    }
  }, 300_000)
})
