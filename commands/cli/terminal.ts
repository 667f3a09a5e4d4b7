/** Gives a command the parts of its process: streams, environment and working folder. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import type { LedgerDevices } from '../wallet/ledger-devices.ts'
import { type Output, standardOutput } from './standard-output.ts'

/** The parts of a process that commands use; a run inside another program supplies its own. */
export interface Terminal {
  readonly env: Record<string, string | undefined>
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  cwd(): string
  /** The connected hardware wallets; those at the USB ports of this machine if left out. */
  readonly ledgers?: LedgerDevices
}

/** The terminal of this process; each part is set up on first use. */
export const processTerminal: Terminal = {
  env: process.env,
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return standardOutput(1)
  },
  get stderr() {
    return standardOutput(2)
  },
  cwd: () => process.cwd(),
}

const terminals = new AsyncLocalStorage<Terminal>()

/** The terminal of the running command: that of this process, unless `withTerminal` has set another. */
export const terminal = (): Terminal => terminals.getStore() ?? processTerminal

/** Calls `run` so that everything it starts uses this terminal. */
export const withTerminal = <T>(own: Terminal, run: () => T): T =>
  own === processTerminal ? run() : terminals.run(own, run)
