/** What a command can reach: the API's client, the terminal, settings, the embedded chain, the local keypair and time. */
import type { Client } from '../src/client.ts'
import type { Wallet } from './signing/wallet.ts'
import type { Ui } from './ui/ui.ts'

/** Nothing of it opens before it is used. */
export interface Session {
  readonly client: Client
  readonly ui: Ui
  readonly settings: Settings
  readonly localnet: Localnet
  readonly wallet: Wallet
  readonly clock: SessionClock
  /** Shown when Ctrl-C ends the command from now on; null shows nothing. */
  setInterruptNote(text: string | null): void
  /** The cluster that commands work on: a moniker or a host; null where only the API knows. */
  cluster(): Promise<string | null>
  /** Runs the daemon until it is told to stop. */
  serve(flags: ServeFlags, onReady: (at: ServingDaemon) => void): Promise<void>
  /** Checks this installation, line by line. */
  diagnose(): Promise<DoctorCheck[]>
}
/** A session with some of it replaced. Its getters open what they answer on first use, and a spread would open all. */
export const sessionWith = (session: Session, own: Partial<Pick<Session, 'ui' | 'setInterruptNote'>>): Session =>
  Object.create(session, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value }])))

/** Time as commands wait for it, in milliseconds. */
export interface SessionClock {
  now(): number
  sleep(ms: number): Promise<void>
}
export interface ServeFlags {
  host?: string | undefined
  port?: number | undefined
  rpc_host?: string | undefined
  rpc_port?: number | undefined
}
export interface ServingDaemon {
  pid: number
  url: string
  cluster: string
  /** URLs of the embedded chain, where this daemon serves it. */
  rpc_url: string | null
  ws_url: string | null
  /** Settings that could not be followed, as a sentence each. */
  notes: readonly string[]
}
export interface DoctorCheck {
  check: string
  status: 'ok' | 'warn' | 'fail'
  detail: string
  fix: string | null
}
/** The embedded chain of the data folder: through the process that serves it, else in this one. */
export interface Localnet {
  /** Serves the chain alone until it is told to stop. */
  start(
    flags: { rpc_host?: string | undefined; rpc_port?: number | undefined },
    onReady: (at: LocalnetServing) => void,
  ): Promise<void>
  status(): Promise<LocalnetReport>
  airdrop(address: string, lamports: bigint): Promise<{ signature: string; lamports: string; balance: string }>
  /** Moves the chain's clock ahead. */
  advance(seconds: number): Promise<{ slot: number; unix_timestamp: number }>
  /** Throws a conflict while a process has the chain. */
  refuseWhileInUse(): Promise<void>
  /** Deletes the chain's journal; answers the files that are gone. */
  reset(): Promise<{ files: string[] }>
  pull(
    request: { from?: string | undefined; programs?: readonly string[] | undefined },
    progress: (done: number, total: number) => void,
  ): Promise<PullReport>
}
export interface LocalnetServing {
  pid: number
  rpc_url: string
  ws_url: string
  notes: readonly string[]
}
export interface LocalnetReport {
  /** What other commands work on; may be another cluster. */
  cluster: string
  slot: number
  unix_timestamp: number
  transactions: number
  accounts: number
  programs: { name: string; id: string; loaded: boolean }[]
  /** The process that serves it; null when it was opened for this answer. */
  pid: number | null
  rpc_url: string | null
  ws_url: string | null
  data_dir: string
  programs_dir: string
  /** Files of the program cache and accounts that could not be used. */
  warnings: string[]
}
export interface PullReport {
  source: string
  programs_dir: string
  items: {
    kind: 'program' | 'account'
    name: string
    address: string
    status: 'written' | 'unchanged' | 'missing' | 'failed'
    sha256: string | null
    size: number | null
    error: string | null
  }[]
}
export interface SettingRow {
  name: string
  value: unknown
  origin: string
  about: string
}
export interface SettingsFile {
  kind: string
  path: string
  exists: boolean
}
/** A running daemon, which reads what was changed when it starts again; null where none is concerned. */
export type OldDaemon = { pid: number; url: string } | null
/** Reads settings of every layer and writes those of the profile. */
export interface Settings {
  list(): Promise<SettingRow[]>
  set(
    name: string,
    value: string,
  ): Promise<{ name: string; value: unknown; profile: string; file: string; daemon: OldDaemon }>
  unset(name: string): Promise<{ name: string; removed: boolean; profile: string; file: string; daemon: OldDaemon }>
  files(): Promise<SettingsFile[]>
  profiles(): Promise<{ name: string; current: boolean; settings: Record<string, unknown> }[]>
  use(profile: string): Promise<{ profile: string; file: string; daemon: OldDaemon }>
}
