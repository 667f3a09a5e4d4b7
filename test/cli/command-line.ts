/** Runs `svc` in a home that nothing else has touched: inside the test's process, or as a process of its own as it ships. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, expect } from 'vitest'
import type { LedgerDevices } from '../../commands/wallet/ledger-devices.ts'
import { commandEnvironment, databaseEnvironment } from '../support/database.ts'
import { consensusEnvironment } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { runInProcess } from './in-process.ts'

export const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
export const MINT = 'So11111111111111111111111111111111111111112'
/** How far a transaction is that was waited for; a slow machine sees it finalized. */
export const CONFIRMED = expect.stringMatching(/^(confirmed|finalized)$/)

/** A line of a stack trace; a text that is broken before the word "at" is none. */
export const STACK_FRAME = /^\s+at .*:\d+:\d+\)?$/m

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
  /** The hardware wallets that are connected, inside the test's process. */
  ledgers?: LedgerDevices
}
export interface CommandLine {
  home: string
  dataDir: string
  env: Record<string, string>
  /** Runs the command inside the test's process: the same code, without the seconds that a process takes to start. */
  svc(args: string[], options?: Omit<RunOptions, 'timeout'>): Promise<Ran>
  /** Runs the built command as a process of its own, where the process is what a test is about. */
  spawned(args: string[], options?: RunOptions): Promise<Ran>
  /** What the command answers with --json; the test fails if the command does. */
  // biome-ignore lint/suspicious/noExplicitAny: tests state the shape of what they read.
  json(args: string[], options?: Omit<RunOptions, 'timeout'>): Promise<any>
  /** Expects that the command refuses with this message and no stack trace, and answers nothing; returns its stderr. */
  refused(args: string[], message: string | RegExp, exitCode?: number, options?: RunOptions): Promise<string>
  /** Writes a file below the home and gives its path. */
  file(name: string, text: string | Uint8Array, mode?: number): string
  /** A keypair in a file of the home that only its owner can read. */
  keypair(name: string, keypair?: Keypair): KeypairFile
}

export interface KeypairFile {
  keypair: Keypair
  address: string
  file: string
}

/** A command line with its own home, data folder and settings; removed after the file's tests. */
export function commandLine(): CommandLine {
  const home = makeSharedFolder('svc-cli-')
  const dataDir = join(home, 'data')
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SVC_DATA_DIR: dataDir,
    ...consensusEnvironment,
  }
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
  const cli: CommandLine = {
    home,
    dataDir,
    env,
    async svc(args, { env: more = {}, cwd = home, input = '', ledgers } = {}) {
      return runInProcess(args, {
        env: await commandEnvironment(args, { env, dataDir }, more, cwd),
        cwd,
        input,
        ledgers,
      })
    },
    async json(args, options) {
      const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'], options)
      expect(exitCode, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
      return JSON.parse(stdout)
    },
    async refused(args, message, exitCode = 2, options = {}) {
      const ran = await cli.svc(args, options)
      expect({ exitCode: ran.exitCode, stdout: ran.stdout }, ran.stderr).toEqual({ exitCode, stdout: '' })
      if (typeof message === 'string') expect(ran.stderr).toContain(message)
      else expect(ran.stderr).toMatch(message)
      expect(ran.stderr).not.toMatch(STACK_FRAME)
      return ran.stderr
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
    keypair(name, keypair = Keypair.generate()) {
      const file = cli.file(name, JSON.stringify([...keypair.secretKey]), 0o600)
      return { keypair, address: keypair.publicKey.toBase58(), file }
    },
  }
  return cli
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
