/** Runs `svc` in a home that nothing else has touched: inside the test's process, or as a process of its own as it ships. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect } from 'vitest'
import { commandEnvironment, databaseEnvironment } from '../support/database.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { runInProcess } from './in-process.ts'

export const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
export const MINT = 'So11111111111111111111111111111111111111112'
/** How far a transaction is that was waited for; a slow machine sees it finalized. */
export const CONFIRMED = expect.stringMatching(/^(confirmed|finalized)$/)

export interface Ran {
  exitCode: number | undefined
  stdout: string
  stderr: string
}
export interface RunOptions {
  env?: Record<string, string>
  /** Where settings are looked for. Inside the test's process, files that a command names are below the home all the same. */
  cwd?: string
  input?: string | Uint8Array
  /** In milliseconds; none unless given. */
  timeout?: number
}
export interface CommandLine {
  home: string
  dataDir: string
  env: Record<string, string>
  /** Runs the command inside the test's process: the same code, without the seconds that a process takes to start. */
  svc(args: string[], options?: Omit<RunOptions, 'timeout'>): Promise<Ran>
  /** Runs the built command as a process of its own, where the process is what a test is about. */
  spawned(args: string[], options?: RunOptions): Promise<Ran>
  /** Writes a file below the home and gives its path. */
  file(name: string, text: string | Uint8Array, mode?: number): string
}

/** A command line with its own home, data folder and settings; removed after the file's tests. */
export function commandLine(): CommandLine {
  const home = makeSharedFolder('svc-cli-')
  const dataDir = join(home, 'data')
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: dataDir }
  let before = ''
  beforeAll(async () => void Object.assign(env, await databaseEnvironment(dataDir)))
  // Commands name files from where they are called; one worker runs one file at a time, so that the folder can be its.
  beforeAll(() => {
    before = process.cwd()
    process.chdir(home)
  })
  afterAll(() => {
    process.chdir(before)
    rmSync(home, { recursive: true, force: true })
  })
  return {
    home,
    dataDir,
    env,
    async svc(args, { env: more = {}, cwd = home, input = '' } = {}) {
      return runInProcess(args, { env: await commandEnvironment(args, { env, dataDir }, more, cwd), cwd, input })
    },
    async spawned(args, { env: more = {}, cwd = home, input = '', timeout = 0 } = {}) {
      const { exitCode, stdout, stderr } = await execa(process.execPath, [PROGRAM, ...args], {
        cwd,
        env: await commandEnvironment(args, { env, dataDir }, more, cwd),
        extendEnv: false,
        reject: false,
        stripFinalNewline: false,
        input,
        timeout,
      })
      return { exitCode, stdout, stderr }
    },
    file(name, text, mode = 0o644) {
      const path = join(home, name)
      writeFileSync(path, text)
      chmodSync(path, mode)
      return path
    },
  }
}

/** A run on a terminal; answers are typed when the question before them has appeared. */
export async function onTerminal(
  { env, home }: CommandLine,
  args: string[],
  answers: [question: string, keys: string][],
  columns = 100,
): Promise<{ exitCode: number | undefined; screen: string }> {
  const typed = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ')
  const child = execa('script', ['-qec', `stty cols ${columns} rows 30; exec ${typed}`, '/dev/null'], {
    cwd: home,
    // No test waits for a key in a pager unless it asks for one.
    env: { SVC_PAGER: 'cat', ...env, TERM: 'xterm' },
    extendEnv: false,
    reject: false,
    stdin: 'pipe',
    all: true,
  })
  const waiting = [...answers]
  let screen = ''
  child.all.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    if (waiting[0] !== undefined && screen.includes(waiting[0][0])) child.stdin.write(waiting.shift()![1])
  })
  const { exitCode } = await child
  return { exitCode, screen }
}
