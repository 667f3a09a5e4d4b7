/** What a command is: inputs declared as data and one function; parsing, prompts, help and the reference come from the declaration. */
import type { At } from '../src/api/paths.ts'
import type { Client } from '../src/client.ts'
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
  /** Carries the type only. */
  type?: T
}
export type Inputs = Record<string, Input>
export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

type Options = Partial<Pick<Input, 'placeholder' | 'min' | 'max'>>

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
  /** Shown instead of the rows in `table`. */
  text?: string
  /** Said on stderr after the answer. */
  notes?: readonly string[]
  exitCode?: number
}

export interface Verb {
  about: string
  details?: string
  /** API routes that this command calls. */
  calls: readonly At[]
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
  calls?: readonly At[]
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
  /** Runs the daemon until it is told to stop. */
  serve(flags: { host?: string | undefined; port?: number | undefined }, onReady: (at: Serving) => void): Promise<void>
  /** Checks this installation, line by line. */
  diagnose(): Promise<Check[]>
}
export interface Serving {
  pid: number
  url: string
}
export interface Check {
  check: string
  status: 'ok' | 'warn' | 'fail'
  detail: string
  fix: string | null
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
/** Reads settings of every layer and writes those of the profile. */
export interface Settings {
  list(): Promise<SettingRow[]>
  set(name: string, value: string): Promise<{ name: string; value: unknown; profile: string; file: string }>
  unset(name: string): Promise<{ name: string; removed: boolean; profile: string; file: string }>
  files(): Promise<SettingsFile[]>
  profiles(): Promise<{ name: string; current: boolean; settings: Record<string, unknown> }[]>
  use(profile: string): Promise<{ profile: string; file: string }>
}
