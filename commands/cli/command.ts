/**
 * Declares commands: their inputs and one function, from which parsing, prompts, help and the reference are derived.
 */
import { paths } from '../../src/api/paths.ts'
import type { RoutePath } from '../../src/api/route.ts'
import type { CommandOutcome } from '../outcome.ts'
import type { Session } from './session.ts'

export type { CommandOutcome, Rows } from '../outcome.ts'

/** One flag or positional argument. Keys are written like API fields (`per_minute`) and shown as `--per-minute`. */
export interface CommandInput<T = unknown> {
  kind: 'text' | 'integer' | 'boolean' | 'list'
  about: string
  /** The name of the value in help. */
  placeholder: string
  required: boolean
  /** Keys of the flags that replace this required input. */
  unless?: readonly string[]
  /** Inputs that exclude this one: keys, or `key=value` for one value. What a command does not declare is left out. */
  conflicts?: readonly string[]
  /** Inputs without which this one means nothing, written like `conflicts`; each of them must be given. */
  needs?: readonly string[]
  /** The field of the API's body that it fills, if the name differs. */
  field?: string
  choices?: readonly string[]
  /** Meanings of choices whose names do not explain themselves; shown in help and prompts. */
  meanings?: Readonly<Record<string, string>>
  min?: number
  max?: number
  /** If svc must ask for a required input, it then asks for this one too. An empty answer leaves it out. */
  asked?: true
  /** Whether it names a file that is read, or `-`; a question says at once if there is none. */
  existing?: boolean
  /** What it is the address of, if the symbol of a token that was launched here can be typed instead. */
  symbolOf?: 'pool' | 'mint'
  /** The default as questions show it. */
  fallback?: string
  /** Whether the flag may stand without its value, which is then the empty text. */
  bare?: true
  /** Key of a flag without a value that this one sets too. */
  implies?: string
  /** The letter of a short flag, such as `-k` for `--keypair`. */
  short?: string
  /** The topic of `svc help` that explains this flag; the help of a command then only names it. */
  topic?: 'signing'
  /** Never set; it only carries the type of the value. */
  type?: T
}
export type CommandInputs = Record<string, CommandInput>
export type InputValues<I extends CommandInputs> = { [K in keyof I]: I[K] extends CommandInput<infer T> ? T : never }

type InputOptions = Partial<
  Pick<
    CommandInput,
    | 'placeholder'
    | 'field'
    | 'min'
    | 'max'
    | 'short'
    | 'fallback'
    | 'existing'
    | 'symbolOf'
    | 'bare'
    | 'implies'
    | 'conflicts'
    | 'needs'
    | 'topic'
  >
>

export const text = (about: string, options: InputOptions = {}): CommandInput<string | undefined> => ({
  kind: 'text',
  placeholder: 'TEXT',
  required: false,
  about,
  ...options,
})
/** The address of a pool, or the symbol of a token that was launched here. */
export const poolAddress = (about = 'Address of the pool, or its symbol', options: InputOptions = {}) =>
  text(about, { ...options, symbolOf: 'pool' })
/** The mint of a token, or the symbol of one that was launched here. */
export const mintAddress = (about: string, options: InputOptions = {}) =>
  text(about, { placeholder: 'MINT', symbolOf: 'mint', ...options })
export const integer = (about: string, options: InputOptions = {}): CommandInput<number | undefined> => ({
  kind: 'integer',
  placeholder: 'N',
  required: false,
  about,
  ...options,
})
/** A flag without a value, off by default. */
export const toggle = (about: string, options: InputOptions = {}): CommandInput<boolean> => ({
  kind: 'boolean',
  placeholder: '',
  required: false,
  about,
  ...options,
})
/** A list, comma-separated or repeated; as the last positional argument, it takes the rest of the line. */
export const listOf = <T extends string = string>(
  about: string,
  options: InputOptions = {},
): CommandInput<T[] | undefined> => ({
  kind: 'list',
  placeholder: 'A,B',
  required: false,
  about,
  ...options,
})
export const choiceOf = <const C extends readonly string[]>(
  choices: C,
  about: string,
  meanings?: { readonly [K in C[number]]?: string },
): CommandInput<C[number] | undefined> => ({
  kind: 'text',
  placeholder: '',
  required: false,
  about,
  choices,
  ...(meanings ? { meanings: meanings as Record<string, string> } : {}),
})
/** Marks an input as required: svc asks for it on a terminal; elsewhere its absence is a usage problem. */
export const required = <T>(input: CommandInput<T>): CommandInput<NonNullable<T>> =>
  ({ ...input, required: true }) as CommandInput<NonNullable<T>>

/** Marks an input that most people set: svc asks for it if a required input is missing. */
export const asked = <T>(input: CommandInput<T>): CommandInput<T> => ({ ...input, asked: true })

/** Marks an input as required unless a flag of these keys is given. */
export const requiredUnless = <T>(unless: string | readonly string[], input: CommandInput<T>): CommandInput<T> => ({
  ...input,
  required: true,
  unless: typeof unless === 'string' ? [unless] : unless,
})

export interface Verb {
  about: string
  details?: string
  /** The API routes that this command calls. */
  calls: readonly RoutePath[]
  args: CommandInputs
  flags: CommandInputs
  /** Groups of keys, at least one of each of which must be given. */
  needs: readonly (readonly string[])[]
  examples: readonly string[]
  run(input: never, session: Session): Promise<CommandOutcome>
}

/**
 * A noun with verbs, or a command of one word. A verb of two words, such as `schedule create`, belongs to the group of
 * its first word; `groups` describes each group. `aliases` has other spellings of verbs, including old ones.
 */
export type Noun =
  | { verbs: Record<string, Verb>; groups?: Record<string, string>; aliases?: Record<string, string> }
  | { verb: Verb }

/** Declares a command; `run` receives arguments and flags in one typed object. */
export function verb<
  A extends CommandInputs = Record<never, never>,
  F extends CommandInputs = Record<never, never>,
>(definition: {
  about: string
  details?: string
  calls?: readonly RoutePath[]
  args?: A
  flags?: F
  needs?: readonly (readonly string[])[]
  examples?: readonly string[]
  run(input: InputValues<A> & InputValues<F>, session: Session): Promise<CommandOutcome>
}): Verb {
  const { calls = [], flags = {} } = definition
  // A vault's address is looked up before the command runs.
  const ofVault = 'squads' in flags ? [paths.multisigs.get] : []
  return { args: {}, needs: [], examples: [], ...definition, flags, calls: [...calls, ...ofVault] }
}
