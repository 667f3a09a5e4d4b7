/** Runs a command in a process of its own and kills it among the writes of a file that it keeps. */
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'

export interface Killing {
  /** The program and its arguments, for Node. */
  argv: readonly string[]
  options: { cwd: string; env: Record<string, string> }
  /** What differs after each write, as a file's size. */
  state(): unknown
  /** How many differences are awaited, and how many milliseconds after the last of them. */
  changes: number
  delayMs(): number
  /** How long a difference may take, in milliseconds. */
  patienceMs?: number
}

/**
 * Returns whether the command was killed; it was not where it was done before, as a busy machine shows two writes as one.
 * Fails with what the command said where it ended in any other way.
 */
export async function killAmongWrites(killing: Killing): Promise<boolean> {
  const { argv, options, state, changes, delayMs, patienceMs = 60_000 } = killing
  const child = spawn(process.execPath, argv, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise<number | null>((settle) => child.once('exit', settle))
  for (let seen = 0, last = state(); seen < changes && child.exitCode === null; seen++) {
    const isOver = () => child.exitCode !== null || state() !== last
    await vi.waitUntil(isOver, { timeout: patienceMs, interval: 1 })
    last = state()
  }
  if (child.exitCode === null) {
    await delay(delayMs())
    child.kill('SIGKILL')
  }
  const code = await ended
  expect([null, 0], said).toContain(code)
  return code === null
}
