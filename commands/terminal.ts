/** What a command has of the process that runs it: its streams, its environment and its working folder. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'

/** A stream to write to, and the terminal behind it where there is one. */
export type Output = Writable & { isTTY?: boolean; columns?: number }

/** The parts of `process` that commands read and write; a run inside another program brings its own. */
export interface Terminal {
  readonly env: Record<string, string | undefined>
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  cwd(): string
}

const terminals = new AsyncLocalStorage<Terminal>()

/** The terminal of the command that is running: the process itself, unless `withTerminal` gave another. */
export const terminal = (): Terminal => terminals.getStore() ?? process

/** Calls `run` so that everything it starts works on this terminal. */
export const withTerminal = <T>(given: Terminal, run: () => T): T => terminals.run(given, run)
