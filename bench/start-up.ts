/** How long commands take to start, against `node -e 0` measured in the same run. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { keyToBase58 } from '../src/merkle/base58.ts'

const ROUNDS = 15
const SVC = join(import.meta.dirname, '..', 'dist', 'svc.js')
const FLOOR = 'node -e 0'
const MINT = 'So11111111111111111111111111111111111111112'

/** Medians in milliseconds, and their ratio to the floor. Needs a built dist/. */
export async function startUp(): Promise<{ name: string; ms: number; ratio: number; floor: string }[]> {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home }
  try {
    const csv = join(home, 'recipients.csv')
    writeFileSync(csv, Array.from({ length: 50_000 }, (_, i) => `${keyToBase58(randomBytes(32))},${i + 1}\n`).join(''))
    // The data folder is made once, outside the figures.
    execFileSync(process.execPath, [SVC, 'keys', 'list'], { env, stdio: 'ignore' })
    const daemon = spawn(
      process.execPath,
      [SVC, 'serve', '--port', '0', '--json', '--data-dir', join(home, 'served')],
      {
        env: { ...env, SVC_LOG_LEVEL: 'silent' },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    await new Promise((resolve, reject) => {
      daemon.stdout.once('data', resolve)
      daemon.once('exit', () => reject(new Error('svc serve ended before it listened')))
    })
    try {
      const commands: [string, string[]][] = [
        [FLOOR, ['-e', '0']],
        ['svc --version', [SVC, '--version']],
        ['svc --help', [SVC, '--help']],
        ['svc pools list --help', [SVC, 'pools', 'list', '--help']],
        ['svc merkle build, 50,000 rows', [SVC, 'merkle', 'build', csv, '--mint', MINT]],
        ['svc keys list, through the daemon', [SVC, 'keys', 'list', '--json', '--data-dir', join(home, 'served')]],
        ['svc keys list, in process', [SVC, 'keys', 'list', '--json']],
      ]
      const times = new Map<string, number[]>(commands.map(([name]) => [name, []]))
      // Rounds over all of them, so that a slow moment of the machine falls on each.
      for (let round = 0; round < ROUNDS; round++) {
        for (const [name, args] of commands) times.get(name)!.push(await timed(args, env))
      }
      const floor = median(times.get(FLOOR)!)
      return commands.map(([name]) => {
        const ms = median(times.get(name)!)
        return { name, ms, ratio: ms / floor, floor: FLOOR }
      })
    } finally {
      daemon.kill('SIGTERM')
      await new Promise((resolve) => daemon.once('exit', resolve))
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function timed(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    execFile(process.execPath, args, { env }, (error) => (error ? reject(error) : resolve(performance.now() - start)))
  })
}

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1]!
