/** Gives all commands as data, for completion, manual pages and other programs. */
import { VERSION } from '../../src/platform/version.ts'
import type { CommandInput, Noun, Verb } from './command.ts'
import { EXIT_CODES, GLOBAL_OPTIONS, NOUNS, type NounEntry } from './nouns.ts'
import { flagName } from './parsed-command.ts'

/** The kind of thing that an input names, if a shell can offer values for it. */
export type Suggestion =
  | 'file'
  | 'folder'
  | 'setting'
  | 'profile'
  | 'wallet'
  | 'signing-key'
  | 'airdrop'
  | 'pool'
  | 'token'
  | 'api-key'
  | 'webhook'
  | 'preset'
  | 'fee-schedule'
  | 'event-type'

/** An argument or an option of a command. */
export interface InputTree {
  name: string
  /** The long option with its dashes; null for an argument. */
  flag: string | null
  /** The field of the request that it fills. */
  field: string
  /** The short option, such as `-k`. */
  short: string | null
  kind: CommandInput['kind']
  about: string
  /** The name of its value in help; null if it takes none. */
  placeholder: string | null
  required: boolean
  /** The options that make it optional, as in `--all or --from`. */
  unless: string | null
  choices: readonly { value: string; meaning: string | null }[]
  min: number | null
  max: number | null
  suggests: Suggestion | null
}
export interface VerbTree {
  /** One word, or two as in `schedule create`; empty for a command of one word. */
  name: string
  aliases: readonly string[]
  /** The words to type, without its inputs. */
  command: string
  about: string
  details: string | null
  arguments: readonly InputTree[]
  options: readonly InputTree[]
  examples: readonly string[]
  /** The API routes that it calls, such as `POST /v2/tokens`. */
  calls: readonly string[]
}
export interface NounTree {
  name: string
  aliases: readonly string[]
  about: string
  groups: readonly { name: string; about: string }[]
  verbs: readonly VerbTree[]
}
export interface GlobalOptionTree {
  flag: string
  short: string | null
  placeholder: string | null
  /** Whether it may be given several times. */
  list: boolean
  about: string
}
/** All commands of this version, as `svc help --json` prints them. */
export interface CommandTree {
  name: 'svc'
  version: string
  exit_codes: readonly { code: number; meaning: string }[]
  global_options: readonly GlobalOptionTree[]
  commands: readonly NounTree[]
}

/** Keys are a command or noun with the name of the input, or the name only, for all commands. */
const NAMED: Readonly<Record<string, Suggestion>> = {
  'airdrops.id': 'airdrop',
  'airdrops.ids': 'airdrop',
  'merkle.id': 'airdrop',
  'pools.address': 'pool',
  'fees.address': 'pool',
  pool: 'pool',
  pools: 'pool',
  'pools share.name': 'preset',
  preset: 'preset',
  mint: 'token',
  'wallet use.name': 'wallet',
  'wallet export.name': 'wallet',
  'wallet delete.name': 'wallet',
  'wallet.wallet': 'signing-key',
  keypair: 'signing-key',
  'keys.id': 'api-key',
  'webhooks.id': 'webhook',
  'fees.id': 'fee-schedule',
  'config.name': 'setting',
  'config.profile': 'profile',
  'events.type': 'event-type',
  'webhooks.events': 'event-type',
}
/** Keys are names of values. */
const PLACED: Readonly<Record<string, Suggestion>> = { FILE: 'file', DIR: 'folder' }
/** Arguments that are files, although their declarations do not name the value so. */
const FILE_ARGUMENTS = new Set(['file', 'a', 'b', 'transaction'])
/** Ids of snapshots have no suggestions; their noun would suggest airdrops. */
const WITHOUT_SUGGESTION = /^airdrops snapshots /

/** What a shell or a question can offer for an input of a command such as `keys delete`; null for nothing. */
export function suggestionOf(noun: string, verb: Verb, command: string, key: string): Suggestion | null {
  if (WITHOUT_SUGGESTION.test(command) && key === 'id') return null
  const argument = verb.args[key]
  const input = argument ?? verb.flags[key]
  // These are ids of events, and there are too many events to offer.
  if (command === 'webhooks replay' && key === 'events') return null
  const placed = PLACED[input?.placeholder ?? '']
  if (placed !== undefined) return placed
  if (argument !== undefined && FILE_ARGUMENTS.has(key)) return 'file'
  return NAMED[`${command}.${key}`] ?? NAMED[`${noun}.${key}`] ?? NAMED[key] ?? null
}

function inputTree(noun: string, command: string, verb: Verb, key: string): InputTree {
  const isArgument = Object.hasOwn(verb.args, key)
  const input = (isArgument ? verb.args[key] : verb.flags[key]) as CommandInput
  const { kind, about, placeholder, required, unless, choices = [], meanings, min, max, short, field = key } = input
  return {
    name: isArgument ? key : flagName(key).slice(2),
    flag: isArgument ? null : flagName(key),
    field,
    short: short === undefined ? null : `-${short}`,
    kind,
    about,
    placeholder: kind === 'boolean' ? null : placeholder || key,
    required,
    unless: unless === undefined ? null : unless.map(flagName).join(' or '),
    choices: choices.map((value) => ({ value, meaning: meanings?.[value] ?? null })),
    min: min ?? null,
    max: max ?? null,
    suggests: suggestionOf(noun, verb, command, key),
  }
}

function verbTree(noun: string, name: string, verb: Verb, aliases: readonly string[]): VerbTree {
  const command = name === '' ? noun : `${noun} ${name}`
  return {
    name,
    aliases,
    command: `svc ${command}`,
    about: verb.about,
    details: verb.details ?? null,
    arguments: Object.keys(verb.args).map((key) => inputTree(noun, command, verb, key)),
    options: Object.keys(verb.flags).map((key) => inputTree(noun, command, verb, key)),
    examples: verb.examples,
    calls: verb.calls.map(([method, path]) => `${method.toUpperCase()} ${path}`),
  }
}

/** The verbs of one noun. */
function nounTree({ name, aliases = [], summary }: Omit<NounEntry, 'load'>, noun: Noun): NounTree {
  if ('verb' in noun) return { name, aliases, about: summary, groups: [], verbs: [verbTree(name, '', noun.verb, [])] }
  const spellings = Object.entries(noun.aliases ?? {})
  return {
    name,
    aliases,
    about: summary,
    groups: Object.entries(noun.groups ?? {}).map(([group, about]) => ({ name: group, about })),
    verbs: Object.entries(noun.verbs).map(([verb, declared]) => {
      const others = spellings.flatMap(([alias, first]) => (first === verb ? [alias] : []))
      return verbTree(name, verb, declared, others)
    }),
  }
}

/** The options of every command. */
export const globalOptionTrees = (): GlobalOptionTree[] =>
  GLOBAL_OPTIONS.map(({ flags, about, list = false }) => {
    const [, short, flag = '', placeholder] = /^(?:(-\w), )?(--[\w-]+)(?: <(\w+)>)?$/.exec(flags) ?? []
    return { flag, short: short ?? null, placeholder: placeholder ?? null, list, about }
  })

/** The exit codes with their meanings. */
export const exitCodes = (): CommandTree['exit_codes'] =>
  EXIT_CODES.flatMap((line) => line.split(' · ')).map((text) => {
    const [code = '', ...meaning] = text.split(' ')
    return { code: Number(code), meaning: meaning.join(' ') }
  })

/** All commands; loads every noun. */
export async function commandTree(): Promise<CommandTree> {
  return {
    name: 'svc',
    version: VERSION,
    exit_codes: exitCodes(),
    global_options: globalOptionTrees(),
    commands: await Promise.all(NOUNS.map(async (entry) => nounTree(entry, await entry.load()))),
  }
}
