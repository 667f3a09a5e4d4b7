/** A list of launches that is killed at any moment and run again: each token is launched exactly once. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { png } from '../storage/images.ts'
import { startDaemon } from '../support/daemon.ts'
import { lacksDbc } from '../support/dbc.ts'
import { killAmongWrites } from '../support/killed-command.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 7)
const ROWS = 24
/** Commands that have the chain in their own process, then clients of a daemon. */
const KILLS = { alone: 6, served: 6 }
const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')

let state = SEED
/** Between 0 and 1, the same row for the same seed. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

const home = makeSharedFolder('svc-pools-kill-')
afterAll(() => removeFolder(home))
const dataDir = join(home, 'data')
const env: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  SVC_DATA_DIR: dataDir,
  SVC_PROGRAMS_DIR: PROGRAMS_DIR,
  SVC_SIGNER: 'keypair',
}
const svc = (args: string[]) =>
  execa(process.execPath, [PROGRAM, ...args, '--json'], { cwd: home, env, extendEnv: false })
const json = async (args: string[]) => JSON.parse((await svc(args)).stdout)

interface Launch {
  pool: string
  signatures: string[]
  isLive: boolean
}
/** The last entry of each row; a line that the kill has cut off is not there. */
function launchesIn(journal: string): Record<string, Launch> {
  if (!statSync(journal, { throwIfNoEntry: false })) return {}
  const lines = readFileSync(journal, 'utf8').split('\n').slice(1, -1)
  return Object.fromEntries(
    lines.map((line) => {
      const { row, ...launch } = JSON.parse(line)
      return [row, launch]
    }),
  )
}

/** Kills the command once it has written its journal so often: as a row is built, signed, and seen. */
const killAmongLaunches = (args: string[], journal: string, changes: number) =>
  killAmongWrites({
    argv: [PROGRAM, ...args, '--json'],
    options: { cwd: home, env },
    state: () => statSync(journal, { throwIfNoEntry: false })?.mtimeMs,
    changes,
    delayMs: () => random() * 120,
  })

describe.skipIf(lacksDbc)(`a list that is killed ${KILLS.alone + KILLS.served} times, with SOAK_SEED=${SEED}`, () => {
  it('is launched row by row, each once', async () => {
    mkdirSync(dataDir)
    env.SVC_SIGNER_KEYPAIR = keypairFile(home)
    const payer = Keypair.generate()
    const keypair = join(home, 'payer.json')
    writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
    await svc(['localnet', 'airdrop', payer.publicKey.toBase58(), '1000'])
    const file = join(home, 'launches.csv')
    writeFileSync(join(home, 'logo.png'), png())
    // Every third has a first buy, and so two transactions.
    const rows = Array.from({ length: ROWS }, (_, i) => `Token ${i},T${i},logo.png,${i % 3 === 0 ? '0.01' : ''}`)
    writeFileSync(file, `name,symbol,image,buy\n${rows.join('\n')}\n`)
    const journal = `${file}.launch.json`
    const launch = ['pools', 'create', '--from', file, '-k', keypair]

    const begun: Record<string, string> = {}
    const progress: number[] = []
    let killed = 0
    const kill = async (times: number) => {
      for (let n = 0; n < times; n++) {
        if (await killAmongLaunches(launch, journal, 1 + Math.floor(random() * 6))) killed += 1
        const launches = launchesIn(journal)
        // What was begun keeps its pool, so that there is one at most.
        for (const [symbol, { pool }] of Object.entries(launches)) expect(begun[symbol] ?? pool).toBe(pool)
        for (const [symbol, { pool }] of Object.entries(launches)) begun[symbol] = pool
        // What was signed before can land no more then, and a launch of two transactions may have landed by half.
        if (random() < 0.5) await svc(['localnet', 'advance', '200'])
        progress.push(Object.values(launches).filter(({ isLive }) => isLive).length)
      }
    }
    await kill(KILLS.alone)
    const daemon = await startDaemon({ dataDir, env })
    try {
      await kill(KILLS.served)
      process.stdout.write(`  launched after each kill: ${progress}\n`)
      expect(progress.some((count) => count > 0 && count < ROWS)).toBe(true)
      expect(killed).toBeGreaterThanOrEqual((KILLS.alone + KILLS.served) / 2)
      const last = await json(launch)
      expect(last).toMatchObject({ total: ROWS, failed: 0, to_launch: 0 })
      expect(await json(launch)).toMatchObject({ launched: 0, launched_already: ROWS })

      const listed = (await json(['pools', 'list', '--all'])) as { address: string; symbol: string; status: string }[]
      const live = listed.filter(({ status }) => status === 'live')
      expect(live.map(({ symbol }) => symbol).toSorted()).toEqual(rows.map((_, i) => `T${i}`).toSorted())
      const launches = launchesIn(journal)
      expect(live.map(({ address }) => address).toSorted()).toEqual(
        Object.values(launches)
          .map(({ pool }) => pool)
          .toSorted(),
      )
      // Neither has any other pool of the list landed: the chain has as many mints of the payer as there are rows.
      const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'localnet.json'), 'utf8'))
      const chain = new Connection(rpc_url, 'confirmed')
      const others = listed.filter(({ status }) => status !== 'live')
      for (const { address } of others) {
        const [pool] = [listed.find((each) => each.address === address)!]
        expect([pool.symbol, await chain.getAccountInfo(new PublicKey(address))]).toEqual([pool.symbol, null])
      }
    } finally {
      await daemon.stop()
    }
  })
})
