/** What a command uses of the process that runs it: its streams, its environment and its working folder. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'

/** An output stream, with the terminal's properties where it is one. */
export type Output = Writable & { isTTY?: boolean; columns?: number }

/** The parts of `process` that commands use; a run inside another program supplies its own. */
export interface Terminal {
  readonly env: Record<string, string | undefined>
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  cwd(): string
}

const terminals = new AsyncLocalStorage<Terminal>()

/** The terminal of the running command: the process itself, unless `withTerminal` set another. */
export const terminal = (): Terminal => terminals.getStore() ?? process

/** Calls `run` so that everything it starts uses this terminal. */
export const withTerminal = <T>(own: Terminal, run: () => T): T => (own === process ? run() : terminals.run(own, run))
