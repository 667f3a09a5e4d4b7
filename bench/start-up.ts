/** How long commands take to start, against `node -e 0` measured in the same run. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { keyToBase58 } from '../src/merkle/base58.ts'

const ROUNDS = 15
/** Another build can be measured by its file. */
const SVC = process.env.SVC_BENCH_PROGRAM || join(import.meta.dirname, '..', 'dist', 'svc.js')
const FLOOR = 'node -e 0'
/** Companies name their own certificate authority so, often beside all others: reading them triples what Node does alone. */
const WITH_CERTIFICATES = ', with NODE_EXTRA_CA_CERTS'
const MINT = 'So11111111111111111111111111111111111111112'

/** Medians in milliseconds, and their ratio to the floor; a second row has those of the processor's time. */
export async function startUp(): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home }
  const served = join(home, 'served')
  try {
    const csv = join(home, 'recipients.csv')
    const empty = join(home, 'empty.cjs')
    const certificates = join(home, 'certificates.pem')
    writeFileSync(certificates, rootCertificates.join('\n'))
    writeFileSync(empty, '')
    writeFileSync(csv, Array.from({ length: 50_000 }, (_, i) => `${keyToBase58(randomBytes(32))},${i + 1}\n`).join(''))
    // The data folder is made once, outside the figures.
    execFileSync(process.execPath, [SVC, 'keys', 'list'], { env, stdio: 'ignore' })
    const daemon = spawn(process.execPath, [SVC, 'serve', '--port', '0', '--json', '--data-dir', served], {
      env: { ...env, SVC_LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await new Promise((resolve, reject) => {
      daemon.stdout.once('data', resolve)
      daemon.once('exit', () => reject(new Error('svc serve ended before it listened')))
    })
    try {
      const commands: [string, string[]][] = [
        [FLOOR, ['-e', '0']],
        ['node of an empty file', [empty]],
        ['svc --version', [SVC, '--version']],
        ['svc --help', [SVC, '--help']],
        ['svc merkle --help', [SVC, 'merkle', '--help']],
        ['svc config get output', [SVC, 'config', 'get', 'output']],
        ['svc health, through the daemon', [SVC, 'health', '--data-dir', served]],
        ['svc keys list, through the daemon', [SVC, 'keys', 'list', '--data-dir', served]],
        ['svc keys list, in process', [SVC, 'keys', 'list']],
        ['svc merkle build, 50,000 rows', [SVC, 'merkle', 'build', csv, '--mint', MINT]],
      ]
      return await interleaved(commands, {
        '': env,
        [WITH_CERTIFICATES]: { ...env, NODE_EXTRA_CA_CERTS: certificates },
      })
    } finally {
      daemon.kill('SIGTERM')
      await new Promise((resolve) => daemon.once('exit', resolve))
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

interface Figure {
  name: string
  ms: number
  ratio: number
  floor: string
}
/** What one process took, in milliseconds of the clock and of the processor. */
interface Run {
  wall: number
  processor: number
}

/**
 * Rounds over all commands in each environment, so that a slow moment of the machine falls on each. The first command is
 * the floor of its environment.
 */
async function interleaved(
  commands: [string, string[]][],
  environments: Record<string, NodeJS.ProcessEnv>,
): Promise<Figure[]> {
  const runs = new Map<string, Run[]>()
  const named = Object.entries(environments).flatMap(([where, env]) =>
    commands.map(([name, args]) => ({ name: name + where, floor: FLOOR + where, args, env })),
  )
  for (const { name } of named) runs.set(name, [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, args, env } of named) runs.get(name)!.push(await timed(args, env))
  }
  const medianOf = (name: string, what: keyof Run) => median(runs.get(name)!.map((run) => run[what]))
  return named.flatMap(({ name, floor }) =>
    (['wall', 'processor'] as const).map((what) => {
      const ms = medianOf(name, what)
      return { name: what === 'wall' ? name : `${name}: processor`, ms, ratio: ms / medianOf(floor, what), floor }
    }),
  )
}

/** The shell's `time` reads what the system counted for its children; Node tells that of its own process alone. */
const TIMED = 'TIMEFORMAT="%3R %3U %3S"; time "$@" > /dev/null 2> /dev/null'

function timed(args: string[], env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', TIMED, 'bash', process.execPath, ...args], { env }, (error, _, stderr) => {
      const [wall, user, system] = stderr
        .trim()
        .split(' ')
        .map((seconds) => Number(seconds) * 1_000)
      if (error || wall === undefined || user === undefined || system === undefined) reject(error ?? new Error(stderr))
      else resolve({ wall, processor: user + system })
    })
  })
}

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1]!
