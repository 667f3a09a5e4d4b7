/** Commands that run until they are stopped, a daemon that starts again on its port, and events to follow. */
import { execa } from 'execa'
import { expect, onTestFinished } from 'vitest'
import type { Daemon } from '../support/daemon.ts'
import { entries } from '../support/trees.ts'
import { type CommandLine, MINT, PROGRAM } from './command-line.ts'

/** Stores trees with these numbers; each is one event, airdrop.tree_built. */
export async function makeEvents({ request }: Pick<Daemon, 'request'>, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n++) {
    const body = { mint: MINT, airdrop_count: n, entries: entries(1), persist: true }
    expect((await request('POST', '/v2/merkle-trees', { body })).status).toBe(201)
  }
}

export interface Running {
  /** Whole lines of stdout. */
  lines(): string[]
  stderr(): string
  hasLines(count: number): Promise<void>
  says(text: string): Promise<void>
  /** Resolves with the exit code. */
  ended(): Promise<number | undefined>
  /** Sends the signal; resolves with the exit code. */
  stopped(signal: NodeJS.Signals): Promise<number | undefined>
}

/** A command that runs for a while; it is gone when the test is over. */
export function started(cli: CommandLine, args: string[], env: Record<string, string> = {}): Running {
  const child = execa(process.execPath, [PROGRAM, ...args], {
    cwd: cli.home,
    env: { ...cli.env, ...env },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  const looks = new Set<() => void>()
  const seen = () => {
    for (const look of looks) look()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    seen()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    seen()
  })
  const until = (is: () => boolean) =>
    new Promise<void>((settle, reject) => {
      const look = () => {
        if (!is()) return
        looks.delete(look)
        settle()
      }
      looks.add(look)
      look()
      void child.then(({ exitCode }) => reject(new Error(`it ended with ${exitCode}: ${stderr}`)))
    })
  const ended = async () => (await child).exitCode
  const lines = () => stdout.split('\n').slice(0, -1)
  return {
    lines,
    stderr: () => stderr,
    hasLines: (count) => until(() => lines().length >= count),
    says: (text) => until(() => stderr.includes(text)),
    ended,
    stopped(signal) {
      child.kill(signal)
      return ended()
    },
  }
}

export const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
