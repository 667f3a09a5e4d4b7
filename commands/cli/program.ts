/** Builds a commander program from the declared commands, and parses argv into one command with its raw inputs. */
import { Argument, Command, CommanderError, type Help, Option } from 'commander'
import { VERSION } from '../../src/platform/version.ts'
import { usage } from '../ui/problem.ts'
import type { CommandInput, Noun, Verb } from './command.ts'
import { type HelpModel, helpText, type NounHelp } from './help.ts'
import {
  firstSpelling,
  GLOBAL_OPTIONS,
  NOUNS,
  type NounEntry,
  nounEntry,
  nounOf,
  optionsHelp,
  rootHelp,
} from './nouns.ts'
import { flagName, flagNames, type Globals, type ParsedCommand } from './parsed-command.ts'
import { terminal } from './terminal.ts'

/** What `svc help` explains besides commands, by name, for a number of columns. */
const TOPICS: Readonly<Record<string, (columns: number | undefined) => string | Promise<string>>> = {
  options: (columns) => optionsHelp(columns),
  signing: signingHelp,
}

async function signingHelp(columns: number | undefined): Promise<string> {
  const { IDEMPOTENCY_KEY, SIGNING } = await import('../signing/flags.ts')
  const command = new Command('signing').helpOption(false)
  for (const [key, input] of Object.entries({ ...SIGNING, idempotency_key: IDEMPOTENCY_KEY })) {
    command.addOption(optionOf(key, input).helpGroup(''))
  }
  return helpText(
    {
      ...helpModel(command, command.createHelp()),
      usage: 'svc <noun> <verb> [options]',
      about: 'These options say who signs and pays, and how far a command goes. A command lists those that it takes.',
    },
    columns,
  )
}

/** Parses argv; help and version are returned as text for stdout. Throws usage problems. */
export async function readCommand(typed: readonly string[]): Promise<ParsedCommand | { text: string }> {
  const topic = typed.length === 2 && typed[0] === 'help' ? TOPICS[typed[1] ?? ''] : undefined
  if (topic !== undefined) return { text: await topic(terminal().stdout.columns) }
  const words = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed
  const noun = nounEntry(nounOf(words))
  const loaded = await noun?.load()
  const spelled = firstSpelling(words, loaded)
  const asksHelp = spelled.includes('--help') || spelled.includes('-h')
  const unknown = noun === undefined ? nounOf(spelled) : undefined
  if (asksHelp && unknown !== undefined) throw await unknownNoun(spelled, unknown)
  const argv = spelled.map(guarded)
  let output = ''
  let errorOutput = ''
  let invocation: ParsedCommand | undefined
  const program = createProgram(loaded === undefined ? [] : ownFlags(loaded, argv)).configureOutput({
    writeOut: (text) => {
      output += text
    },
    writeErr: (text) => {
      errorOutput += text
    },
  })
  for (const entry of NOUNS) {
    const command = program.command(entry.name).description(nounSummary(entry))
    if (entry !== noun || loaded === undefined) continue
    addNoun(command, loaded, (verb, name, raw) => {
      const { u, ...globals } = program.opts()
      invocation = {
        verb,
        command: name,
        raw,
        globals: { ...globals, ...(u === undefined ? {} : { url: u }) } as Globals,
      }
    })
  }
  // With an action, commander would treat an unknown noun as an argument; without one it suggests the nearest noun.
  if (nounOf(spelled) === undefined) {
    program.action(() => {
      if (program.opts().version) output = `${VERSION}\n`
      else throw usage('a command is missing', { next: '`svc --help` shows them' })
    })
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { text: output }
    throw await describeUsageProblem(error, errorOutput, spelled)
  }
  return invocation ?? { text: output }
}

/** The program with the options of every command that `own` does not replace, and with no command yet. */
function createProgram(own: readonly string[]): Command {
  const program = new Command('svc')
  for (const { flags, about, list } of GLOBAL_OPTIONS) {
    // A verb's answer is one record if it has a filter of its own.
    if (own.includes('filter') && flags.startsWith('--filter ')) continue
    const option = new Option(own.includes('url') ? flags.replace('-u, --url', '-u') : flags, about)
    program.addOption(list ? option.argParser(appended) : option)
  }
  program
    .option('-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .configureHelp({
      subcommandTerm: (command) => `${command.name()}${command.usage().replace('[options]', '')}`,
      formatHelp: (command, helper) => helpText(helpModel(command, helper), terminal().stdout.columns),
    })
    .helpCommand(false)
    .exitOverride()
  program.helpInformation = () => rootHelp(terminal().stdout.columns)
  return program
}

/** The help of a noun and its verbs, for the build to write. */
export function nounHelp(name: string, noun: Noun): NounHelp {
  const models: Record<string, HelpModel> = {}
  const aliases = 'verbs' in noun ? (noun.aliases ?? {}) : {}
  const verbs = 'verbs' in noun ? [...Object.keys(noun.groups ?? {}), ...Object.keys(noun.verbs)] : []
  for (const verb of ['', ...verbs]) {
    const program = createProgram(ownFlags(noun, [verb]))
    const command = program.command(name).description(nounSummary(nounEntry(name)))
    addNoun(command, noun, () => undefined)
    let shown: Command | undefined = command
    for (const word of verb === '' ? [] : verb.split(' ')) shown = shown?.commands.find((own) => own.name() === word)
    if (shown !== undefined) models[verb] = helpModel(shown, shown.createHelp())
  }
  for (const [alias, verb] of Object.entries(aliases)) if (models[verb] !== undefined) models[alias] = models[verb]
  return models
}

/** Other spellings in parentheses, as help and the reference show them. */
export const alsoSpelled = (aliases: readonly string[] = []) =>
  aliases.length === 0 ? '' : ` (also: ${aliases.join(', ')})`
const nounSummary = (entry: NounEntry | undefined) => `${entry?.summary ?? ''}${alsoSpelled(entry?.aliases)}`

/** The help of a command as data. */
export function helpModel(command: Command, helper: Help): HelpModel {
  const isNoun = command.commands.length > 0
  const options = isNoun ? [] : helper.visibleOptions(command)
  const ofSigning = options.filter(({ helpGroupHeading }) => helpGroupHeading === 'signing')
  const sections = [
    { title: 'Arguments:', items: helper.visibleArguments(command).map(argumentItem(helper)) },
    // A noun's only option is --help.
    { title: 'Options:', items: options.filter((option) => !ofSigning.includes(option)).map(optionItem(helper)) },
    {
      title: 'Commands:',
      items: helper
        .visibleCommands(command)
        .filter((own) => own.name() !== 'help')
        .map((own) => [helper.subcommandTerm(own), helper.subcommandDescription(own)] as const),
    },
  ]
  return {
    usage: helper.commandUsage(command),
    about: helper.commandDescription(command),
    examples: examplesOf.get(command) ?? [],
    sections: sections.filter(({ items }) => items.length > 0),
    after: [...signingLine(ofSigning), 'Options of every command: `svc help options`'].join('\n'),
  }
}

const signingLine = (options: readonly Option[]): string[] =>
  options.length === 0 ? [] : [`Signing (\`svc help signing\`): ${options.map(({ long }) => long).join(' ')}`]

const argumentItem = (helper: Help) => (argument: Argument) =>
  [helper.argumentTerm(argument), helper.argumentDescription(argument)] as const
const optionItem = (helper: Help) => (option: Option) =>
  [helper.optionTerm(option), helper.optionDescription(option)] as const

/** Examples of a verb, and of a noun the first ones of its verbs. */
const examplesOf = new WeakMap<Command, readonly string[]>()
const EXAMPLES_OF_NOUN = 3

/** Flags of the verb. With its own `--url` the cluster has only `-u`, and its own `--filter` shows no selection. */
const ownFlags = (noun: Noun, argv: readonly string[]): string[] =>
  'verbs' in noun
    ? Object.entries(noun.verbs).flatMap(([name, { flags }]) => (argv.includes(name) ? Object.keys(flags) : []))
    : []

/** Asked for help about an unknown command, commander answers with the help of the whole program. */
async function unknownNoun(argv: readonly string[], name: string) {
  const { helpHint, meantByCommand } = await import('./suggestions.ts')
  return usage(`unknown command '${name}'`, { next: (await meantByCommand(argv, name)) ?? (await helpHint(argv)) })
}

/** A usage problem with commander's message, and the probably meant command as the next step. */
async function describeUsageProblem(error: CommanderError, written: string, argv: readonly string[]) {
  if (error.code === 'commander.help') return usage('a verb is missing', { lines: [written.trimEnd()] })
  const message = error.message.replace(/^error: /, '').replace(/\n\(Did you mean [^\n]*\)$/, '')
  const [, unknown = ''] = /^unknown (?:command|option) '(.*)'$/s.exec(message) ?? []
  const { helpHint, meantByCommand, meantByFlag } = await import('./suggestions.ts')
  const meant =
    error.code === 'commander.unknownCommand'
      ? await meantByCommand(argv, unknown)
      : error.code === 'commander.unknownOption'
        ? await meantByFlag(argv, unknown)
        : undefined
  return usage(message, { next: meant ?? (await helpHint(argv)) })
}

type OnChosen = (verb: Verb, name: string, raw: ParsedCommand['raw']) => void

function addNoun(command: Command, noun: Noun, onChosen: OnChosen): void {
  if ('verb' in noun) addVerb(command, noun.verb, command.name(), onChosen)
  else {
    const firsts = Object.values(noun.verbs).flatMap(({ examples }) => examples.slice(0, 1))
    examplesOf.set(command, firsts.slice(0, EXAMPLES_OF_NOUN))
    for (const [name, verb] of Object.entries(noun.verbs)) {
      const [first = '', second] = name.split(' ')
      const parent = second === undefined ? command : groupOf(command, first, noun.groups?.[first])
      const others = Object.entries(noun.aliases ?? {}).flatMap(([alias, verb]) => (verb === name ? [alias] : []))
      addVerb(parent.command(second ?? first), verb, `${command.name()} ${name}`, onChosen, others)
    }
  }
}

function groupOf(command: Command, name: string, about = ''): Command {
  return command.commands.find((own) => own.name() === name) ?? command.command(name).description(about)
}

/** Declares every input as optional to commander, because svc itself asks for missing ones or reports them. */
function addVerb(
  command: Command,
  verb: Verb,
  name: string,
  onChosen: OnChosen,
  aliases: readonly string[] = [],
): void {
  const { about, details, args, flags, examples } = verb
  const also = alsoSpelled(aliases)
  command.summary(`${about}${also}`).description(details ? `${about}${also}.\n${details}` : `${about}${also}`)
  for (const [key, input] of Object.entries(args)) {
    command.addArgument(new Argument(input.kind === 'list' ? `[${key}...]` : `[${key}]`, inputHelp(input)))
  }
  for (const [key, input] of Object.entries(flags)) command.addOption(optionOf(key, input))
  command.usage(`[options]${Object.entries(args).map(usageOf).join('')}`)
  examplesOf.set(command, examples)
  command.action((...values: unknown[]) => {
    const options = command.opts()
    const raw: ParsedCommand['raw'] = {}
    Object.keys(args).forEach((key, i) => {
      raw[key] = unguarded(values[i])
    })
    for (const key of Object.keys(flags)) raw[key] = unguarded(options[camelCase(key)])
    onChosen(verb, name, raw)
  })
}

const camelCase = (key: string) => key.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

/**
 * Puts a NUL before a tree id that begins with a dash, so that commander does not take it for an option. Ids are
 * base64url: one in 64 begins so. No option is as long.
 */
const guarded = (word: string) => (/^-[\w-]{45}$/.test(word) ? `\0${word}` : word)
const unguarded = (value: unknown): ParsedCommand['raw'][string] =>
  Array.isArray(value)
    ? value.map((word) => word.replace(/^\0/, ''))
    : ((typeof value === 'string' ? value.replace(/^\0/, '') : value) as string | boolean | undefined)

function optionOf(key: string, input: CommandInput): Option {
  const value = input.placeholder || key
  const taken = input.kind === 'boolean' ? '' : input.bare ? ` [${value}]` : ` <${value}>`
  const option = new Option(`${flagNames(key, input)}${taken}`, inputHelp(input))
  if (input.topic !== undefined) option.helpGroup(input.topic)
  if (input.implies !== undefined) option.implies({ [camelCase(input.implies)]: true })
  if (input.kind !== 'list') return option
  return option.argParser(appended)
}

/** The values of an option that may be given several times. */
const appended = (value: string, earlier: string[] | undefined): string[] => [...(earlier ?? []), value]

export function usageOf([key, { required, unless, kind }]: [string, CommandInput]): string {
  const name = kind === 'list' ? `${key}...` : key
  return required && unless === undefined ? ` <${name}>` : ` [${name}]`
}

/** The choices of an input with their meanings; empty if it takes anything, or if `about` names them all. */
export function choicesText(
  { about, choices = [], meanings }: CommandInput,
  shown = (choice: string) => choice,
): string {
  const words = about.split(/[^\w-]+/)
  if (meanings === undefined && choices.every((choice) => words.includes(choice))) return ''
  const meant = (choice: string) =>
    meanings?.[choice] === undefined ? shown(choice) : `${shown(choice)}: ${meanings[choice]}`
  return choices.map(meant).join(meanings === undefined ? ', ' : '; ')
}

function inputHelp(input: CommandInput): string {
  const { about, required, unless } = input
  const choices = choicesText(input)
  const listed = choices === '' ? '' : ` (${choices})`
  return `${about}${listed}${required ? ` (required${unless === undefined ? '' : ` without ${unless.map(flagName).join(' or ')}`})` : ''}`
}
