/** What a command is: inputs declared as data and one function; parsing, prompts, help and the reference come from the declaration. */
import type { RoutePath } from '../src/api/paths.ts'
import type { Client } from '../src/client.ts'
import type { Wallet } from './signing/wallet.ts'
import type { Ui } from './ui/ui.ts'

/** One flag or positional argument. Keys are written like API fields (`per_minute`) and shown as `--per-minute`. */
export interface Input<T = unknown> {
  kind: 'text' | 'integer' | 'boolean' | 'list'
  about: string
  /** What stands for the value in help. */
  placeholder: string
  required: boolean
  choices?: readonly string[]
  min?: number
  max?: number
  /** One letter, for `-k` beside `--keypair`. */
  short?: string
  /** Carries the type only. */
  type?: T
}
export type Inputs = Record<string, Input>
export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

type Options = Partial<Pick<Input, 'placeholder' | 'min' | 'max' | 'short'>>

export const text = (about: string, options: Options = {}): Input<string | undefined> => ({
  kind: 'text',
  placeholder: 'TEXT',
  required: false,
  about,
  ...options,
})
export const integer = (about: string, options: Options = {}): Input<number | undefined> => ({
  kind: 'integer',
  placeholder: 'N',
  required: false,
  about,
  ...options,
})
/** A switch, off unless given. */
export const flag = (about: string): Input<boolean> => ({ kind: 'boolean', placeholder: '', required: false, about })
/** Comma-separated or repeated; as the last positional argument, the rest of the line. */
export const list = <T extends string = string>(about: string, options: Options = {}): Input<T[] | undefined> => ({
  kind: 'list',
  placeholder: 'A,B',
  required: false,
  about,
  ...options,
})
export const choice = <const C extends readonly string[]>(choices: C, about: string): Input<C[number] | undefined> => ({
  kind: 'text',
  placeholder: '',
  required: false,
  about,
  choices,
})
/** Asked for on a terminal when missing, otherwise a usage error. */
export const required = <T>(input: Input<T>): Input<NonNullable<T>> =>
  ({ ...input, required: true }) as Input<NonNullable<T>>

export interface Rows {
  columns: readonly string[]
  rows: readonly (readonly unknown[])[]
}

/** What a command gives back; `commands/ui` renders it. */
export interface Outcome {
  /** The `data` of the answer: what `-o json` prints. */
  data: unknown
  /** How `table` and `plain` show it; without one, a record field by field. */
  rows?: Rows
  /** Shown in `table` instead of all else, below `table` where that is given too. */
  text?: string
  /** Shown in `table` field by field, instead of the data and the rows. */
  record?: Record<string, unknown>
  /** Shown in `table` instead of the rows: other columns, amounts in whole tokens. */
  table?: Rows
  /** Said on stderr after the answer. */
  notes?: readonly string[]
  exitCode?: number
}

export interface Verb {
  about: string
  details?: string
  /** API routes that this command calls. */
  calls: readonly RoutePath[]
  args: Inputs
  flags: Inputs
  examples: readonly string[]
  run(input: never, session: Session): Promise<Outcome>
}

/** A noun with verbs, or a command of one word. */
export type Noun = { verbs: Record<string, Verb> } | { verb: Verb }

/** Declares a command; `run` gets arguments and flags in one typed object. */
export function verb<A extends Inputs = Record<never, never>, F extends Inputs = Record<never, never>>(definition: {
  about: string
  details?: string
  calls?: readonly RoutePath[]
  args?: A
  flags?: F
  examples?: readonly string[]
  run(input: Values<A> & Values<F>, session: Session): Promise<Outcome>
}): Verb {
  return { calls: [], args: {}, flags: {}, examples: [], ...definition }
}

/** What a command can reach; nothing opens before it is used. */
export interface Session {
  readonly client: Client
  readonly ui: Ui
  readonly settings: Settings
  readonly localnet: Localnet
  readonly wallet: Wallet
  readonly clock: Clock
  /** Said when Ctrl-C ends the command from now on; null says nothing. */
  lastWords(text: string | null): void
  /** The cluster that commands work on: a moniker or a host; null where only the API knows. */
  cluster(): Promise<string | null>
  /** Runs the daemon until it is told to stop. */
  serve(flags: ServeFlags, onReady: (at: Serving) => void): Promise<void>
  /** Checks this installation, line by line. */
  diagnose(): Promise<Check[]>
}
/** The same session with some of it replaced. Getters of a session open what they give on first use: a spread would open all. */
export const sessionWith = (session: Session, own: Partial<Pick<Session, 'ui' | 'lastWords'>>): Session =>
  Object.create(session, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value }])))

/** Time as commands wait for it, in milliseconds. */
export interface Clock {
  now(): number
  sleep(ms: number): Promise<void>
}
export interface ServeFlags {
  host?: string | undefined
  port?: number | undefined
  rpc_host?: string | undefined
  rpc_port?: number | undefined
}
export interface Serving {
  pid: number
  url: string
  cluster: string
  /** Of the embedded chain, where this daemon serves it. */
  rpc_url: string | null
  ws_url: string | null
  /** What was not as asked for. */
  notes: readonly string[]
}
export interface Check {
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
