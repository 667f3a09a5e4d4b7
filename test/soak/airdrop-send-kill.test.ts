/** A list that is sent and killed at any moment, also with expired blockhashes: every wallet is paid exactly once. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { killAmongWrites } from '../support/killed-command.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 5)
/** Wallets, and kills of commands that have the chain in their own process, then of clients of a daemon. */
const RUNS = [
  { signer: 'your keypair', rows: 2_000, alone: 10, served: 10 },
  { signer: 'the platform wallet', rows: 500, alone: 4, served: 6 },
]
const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')

let state = SEED
/** Between 0 and 1, the same row for the same seed. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

const folder = makeSharedFolder('svc-send-kill-')
afterAll(() => removeFolder(folder))
/** The command line of each run, with a home of its own. */
let home = ''
let env: Record<string, string> = {}
const svc = (args: string[]) =>
  execa(process.execPath, [PROGRAM, ...args, '--json'], { cwd: home, env, extendEnv: false })
const json = async (args: string[]) => JSON.parse((await svc(args)).stdout)

/** Kills the command once its journal has grown so often: as a batch is signed, and as it has ended. */
const killAmongBatches = (args: string[], journal: string, changes: number) =>
  killAmongWrites({
    argv: [PROGRAM, ...args, '--json'],
    options: { cwd: home, env },
    state: () => statSync(journal, { throwIfNoEntry: false })?.size,
    changes,
    delayMs: () => random() * 100,
    // What a killed run had signed may have to expire first, which takes a minute of the chain's clock.
    patienceMs: 180_000,
  })

describe.each(RUNS)('a list of $rows wallets that $signer pays', ({ signer, rows, alone, served }) => {
  it(`is paid wallet by wallet, each exactly once, with SOAK_SEED=${SEED}`, async ({ annotate }) => {
    home = join(folder, signer.replaceAll(' ', '-'))
    mkdirSync(home)
    const dataDir = join(home, 'data')
    mkdirSync(dataDir)
    const payer = Keypair.generate()
    const keypair = join(home, 'payer.json')
    writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
    env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      SVC_DATA_DIR: dataDir,
      SVC_PROGRAMS_DIR: PROGRAMS_DIR,
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: keypair,
    }
    await svc(['localnet', 'airdrop', payer.publicKey.toBase58(), '1000'])
    const texts = ['--name', 'Sent', '--symbol', 'SNT', '--uri', 'https://example.com/s.json', '--decimals', '6']
    const create = ['tokens', 'create', ...texts, '--supply', '1000000', '--token-program', 'token2022', '-k', keypair]
    const { mint } = await json(create)
    const file = join(home, 'list.csv')
    const journal = `${file}.send.jsonl`
    const amounts = new Map(
      Array.from({ length: rows }, (_, i) => [Keypair.generate().publicKey.toBase58(), BigInt(i + 1)]),
    )
    writeFileSync(file, `wallet,amount\n${[...amounts].map(([wallet, amount]) => `${wallet},${amount}`).join('\n')}\n`)
    const isPlatform = signer !== 'your keypair'
    const send = ['airdrops', 'send', file, '--mint', mint, ...(isPlatform ? ['--signed'] : ['-k', keypair])]
    const limits = ['--per-transaction', '10', '--per-day', '100', '--token', `${mint}:1000000000:1000000000`]
    await svc(['signer', 'policy', ...limits, '--yes'])

    const progress: number[] = []
    let killed = 0
    const lines = () => readFileSync(journal, 'utf8').trim().split('\n').slice(1)
    const ends = (end: string) => lines().filter((line) => line.includes(`"end":"${end}"`)).length
    const kill = async (times: number) => {
      for (let n = 0; n < times; n++) {
        if (await killAmongBatches(send, journal, 1 + Math.floor(random() * 16))) killed += 1
        // What was signed before can land no more then.
        if (random() < 0.5) await svc(['localnet', 'advance', '200'])
        progress.push(ends('confirmed'))
      }
    }
    await kill(alone)
    const daemon = await startDaemon({ dataDir, env })
    try {
      await kill(served)
      process.stdout.write(`  batches confirmed after each kill: ${progress}\n`)
      expect(progress.some((count) => count > 0 && count < rows / 9)).toBe(true)
      expect(killed).toBeGreaterThanOrEqual((alone + served) / 2)
      const before = performance.now()
      const last = await json(send)
      const seconds = (performance.now() - before) / 1000
      const rate = `${(last.sent / seconds).toFixed(0)} wallets a second, ${last.sent} of them`
      process.stdout.write(`  ${rate}\n`)
      await annotate(rate, 'rate')
      expect(last).toMatchObject({ total: rows, failed: 0, to_send: 0, left_out: 0 })
      expect(last.sent + last.sent_already).toBe(rows)
      expect(await json(send)).toMatchObject({ sent: 0, sent_already: rows })
      process.stdout.write(
        `  batches: ${ends('confirmed')} confirmed, ${ends('expired')} expired, ${ends('failed')} failed\n`,
      )

      const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'localnet.json'), 'utf8'))
      const chain = new Connection(rpc_url, 'confirmed')
      const accounts = await chain.getProgramAccounts(spl.TOKEN_2022_PROGRAM_ID, {
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
      // Some were signed again, once those before them could land no more. What the platform wallet has signed is sent
      // by the daemon also after its command was killed, so that none of that need have expired.
      if (!isPlatform) expect(ends('expired')).toBeGreaterThan(0)
    } finally {
      await daemon.stop()
    }
  })
})
