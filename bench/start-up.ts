/** How long commands take as whole processes, against `node -e 0` measured in the same run. */
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SVC_PROGRAM as SVC, withServers } from './http/server.ts'
import { type Cost, type Measurement, medianOf, ratiosOf } from './measurement.ts'
import { MINT, recipientCsv } from './merkle/recipients.ts'

const ROUNDS = 15

/** Half a minute. Needs a built dist/. */
export function startUp(): Promise<Measurement[]> {
  return withServers(async ({ folder, daemon }) => {
    const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const csv = join(folder, 'recipients.csv')
    writeFileSync(csv, recipientCsv(50_000))
    const served = join(folder, 'served')
    await daemon(served)
    // The data folder is made once, outside the figures.
    execFileSync(process.execPath, [SVC, 'keys', 'list'], { env, stdio: 'ignore' })
    const commands: Record<string, string[]> = {
      'node -e 0': ['-e', '0'],
      'svc --version': [SVC, '--version'],
      'svc --help': [SVC, '--help'],
      'svc merkle --help': [SVC, 'merkle', '--help'],
      'svc config get output': [SVC, 'config', 'get', 'output'],
      'svc keys list, through a daemon': [SVC, 'keys', 'list', '--data-dir', served],
      'svc keys list, in process': [SVC, 'keys', 'list'],
      'svc merkle build, 50,000 rows': [SVC, 'merkle', 'build', csv, '--mint', MINT],
    }
    const names = Object.keys(commands)
    const costs = names.map((): Cost[] => [])
    // In rounds over all commands, so that a slow moment of the machine affects all of them.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, args] of Object.values(commands).entries()) costs[i]?.push(await processCost(args, env))
    }
    const [floor = []] = costs
    return costs.map((each, i) => ({
      name: names[i] ?? '',
      value: medianOf(each, 'wall'),
      unit: 'ms',
      ...ratiosOf(each, floor),
      floor: 'node -e 0',
    }))
  })
}

/** The shell's `time` reads what the system counted for its children; Node reports its own process alone. */
const TIMED = 'TIMEFORMAT="%3R %3U %3S"; time "$@" > /dev/null 2> /dev/null'

function processCost(args: string[], env: NodeJS.ProcessEnv): Promise<Cost> {
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
