/** `dist/svc.js serve` as a process of its own, as it ships. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { databaseEnvironment } from './database.ts'
import { consensusEnvironment } from './programs.ts'
import { type Requester, requester } from './request.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
const START_MS = 60_000

export interface Daemon {
  url: string
  process: ChildProcess
  operator: string
  request: Requester
  /** Sends the signal and waits until the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface DaemonOptions {
  dataDir: string
  flags?: string[]
  env?: Record<string, string>
  /** Starts it in a session of its own, which has no terminal wherever the tests run. */
  detached?: boolean
  /** Receives each piece of its log. */
  onLog?: (text: string) => void
  /** The descriptor that its log goes to; a pipe of its own without one. */
  stderr?: number
}

/** Starts it on any free port; rejects with its stderr when it does not come up. */
export async function startDaemon({
  dataDir,
  flags = [],
  env = {},
  detached = false,
  onLog = () => {},
  stderr: logTo,
}: DaemonOptions): Promise<Daemon> {
  const database = await databaseEnvironment(dataDir, env)
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--data-dir', dataDir, '--json', ...flags], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: dataDir,
      SVC_LOG_LEVEL: 'warn',
      ...consensusEnvironment,
      ...database,
      ...env,
    },
    stdio: ['ignore', 'pipe', logTo ?? 'pipe'],
    detached,
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-20_000)
    onLog(text)
  })
  const gone = new Promise<void>((settle) => child.once('exit', () => settle()))
  const url = await new Promise<string>((settle, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the daemon did not come up in ${START_MS} ms: ${stderr}`))
    }, START_MS)
    void gone.then(() => {
      clearTimeout(timer)
      reject(new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}: ${stderr}`))
    })
    let stdout = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const found = /"url":\s*"([^"]+)"/.exec(stdout)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      settle(found)
    })
  })
  const operator = readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()
  return {
    url,
    process: child,
    operator,
    request: requester(url, fetch, operator),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await gone
    },
  }
}
