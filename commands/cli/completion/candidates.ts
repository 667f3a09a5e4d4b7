/** Finds what can follow the words of a command line, from the declared commands and from existing values. */
import { SETTINGS } from '../../../src/settings/config.ts'
import { FORMATS, type Format } from '../../ui/render.ts'
import type { GlobalOptionTree, InputTree, NounTree, Suggestion, VerbTree } from '../command-tree.ts'

/** A word that can be typed, with its meaning. */
export interface Candidate {
  value: string
  about: string
}
/** What a shell should offer: these words, or its own list of files or folders. */
export interface Completion {
  candidates: readonly Candidate[]
  paths: 'none' | 'files' | 'folders'
}

/** The sources of declared commands and existing values; `values` resolves with nothing if it cannot know them. */
interface CompletionSource {
  nouns: readonly { name: string; aliases?: readonly string[]; summary: string }[]
  globals: readonly GlobalOptionTree[]
  /** The noun with that name or other spelling. */
  noun(word: string): NounTree | undefined
  values(suggestion: Suggestion): Promise<readonly Candidate[]>
}

const FORMAT_MEANINGS: Readonly<Record<Format, string>> = {
  table: 'for people',
  json: 'one document on stdout',
  plain: 'tab-separated',
}

/** What an option of every command takes. */
const GLOBAL_VALUES: Readonly<Record<string, readonly Candidate[] | Suggestion>> = {
  '--output': FORMATS.map((value) => ({ value, about: FORMAT_MEANINGS[value] })),
  // The letters for a cluster are too short to need completion.
  '--url': SETTINGS.url.urlOr.filter((name) => name.length > 1).map((value) => ({ value, about: 'cluster' })),
  '--api-key-file': 'file',
  '--data-dir': 'folder',
  '--profile': 'profile',
}
const NOTHING: Completion = { candidates: [], paths: 'none' }

/** The option of a word, and its possible values. */
interface KnownOption {
  names: readonly string[]
  about: string
  takesValue: boolean
  isList: boolean
  values: readonly Candidate[] | Suggestion
}

const optionOfInput = (input: InputTree): KnownOption => ({
  names: [input.flag ?? '', ...(input.short === null ? [] : [input.short])],
  about: input.about,
  takesValue: input.kind !== 'boolean',
  isList: input.kind === 'list',
  values: valuesOf(input),
})

const optionOfGlobal = ({ flag, short, placeholder, list, about }: GlobalOptionTree): KnownOption => ({
  names: [flag, ...(short === null ? [] : [short])],
  about,
  takesValue: placeholder !== null,
  isList: list,
  values: GLOBAL_VALUES[flag] ?? [],
})

const valuesOf = ({ choices, suggests }: InputTree): readonly Candidate[] | Suggestion =>
  choices.length > 0 ? choices.map(({ value, meaning }) => ({ value, about: meaning ?? '' })) : (suggests ?? [])

/** The words before the one to complete. */
interface TypedLine {
  asksHelp: boolean
  noun: NounTree | undefined
  /** The first word of a verb of two words. */
  group: string | undefined
  verb: VerbTree | undefined
  operands: number
  used: Set<string>
  /** The option whose value comes next. */
  waiting: KnownOption | undefined
  optionsEnded: boolean
}

/** `words` are those between `svc` and `current`, the word to complete, which may be empty. */
export async function complete(
  words: readonly string[],
  current: string,
  source: CompletionSource,
): Promise<Completion> {
  const globals = source.globals.map(optionOfGlobal)
  const line = readLine(words, source, globals)
  if (line === undefined) return NOTHING
  if (line.waiting !== undefined) return valuesFor(line.waiting, '', current, source)
  if (!line.optionsEnded && current.startsWith('-')) {
    const options = optionsOf(line, globals)
    const [, name, value] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? []
    if (name === undefined || value === undefined) return optionNames(options, line.used, current)
    const option = options.find(({ names, takesValue }) => takesValue && names.includes(name))
    return option === undefined ? NOTHING : valuesFor(option, `${name}=`, value, source)
  }
  if (line.noun === undefined) return nounNames(source, line, current)
  if (line.verb === undefined) return verbNames(line.noun, line.group, current)
  if (line.asksHelp) return NOTHING
  const argument = argumentAt(line.verb, line.operands)
  if (argument === undefined) return NOTHING
  return valuesFor({ ...optionOfInput(argument), isList: false }, '', current, source)
}

function readLine(
  words: readonly string[],
  source: CompletionSource,
  globals: readonly KnownOption[],
): TypedLine | undefined {
  const line: TypedLine = {
    asksHelp: false,
    noun: undefined,
    group: undefined,
    verb: undefined,
    operands: 0,
    used: new Set(),
    waiting: undefined,
    optionsEnded: false,
  }
  for (const word of words) {
    if (line.waiting !== undefined) line.waiting = undefined
    else if (line.optionsEnded || !word.startsWith('-') || word === '-') {
      if (!takeWord(line, word, source)) return undefined
    } else if (word === '--') line.optionsEnded = true
    else {
      const option = optionsOf(line, globals).find(({ names }) => names.includes(word.replace(/=.*$/s, '')))
      for (const name of option?.names ?? []) if (!option?.isList) line.used.add(name)
      if (option?.takesValue && !word.includes('=')) line.waiting = option
    }
  }
  return line
}

/** Returns false if the word is not a command. */
function takeWord(line: TypedLine, word: string, source: CompletionSource): boolean {
  if (line.noun === undefined) {
    if (word === 'help' && !line.asksHelp) {
      line.asksHelp = true
      return true
    }
    line.noun = source.noun(word)
    const [only] = line.noun?.verbs ?? []
    if (only?.name === '') line.verb = only
    return line.noun !== undefined
  }
  if (line.verb !== undefined) {
    line.operands++
    return true
  }
  const name = line.group === undefined ? word : `${line.group} ${word}`
  line.verb = line.noun.verbs.find((verb) => verb.name === name || verb.aliases.includes(name))
  if (line.verb !== undefined) return true
  if (line.group !== undefined || !line.noun.groups.some((group) => group.name === word)) return false
  line.group = word
  return true
}

/** A verb's own option comes before a global option of that name, which then has only its short form. */
function optionsOf({ verb }: TypedLine, globals: readonly KnownOption[]): KnownOption[] {
  const own = (verb?.options ?? []).map(optionOfInput)
  const taken = new Set(own.flatMap(({ names }) => names))
  const others = globals.map((option) => ({ ...option, names: option.names.filter((name) => !taken.has(name)) }))
  return [...own, ...others.filter(({ names }) => names.length > 0), HELP]
}
const HELP: KnownOption = {
  names: ['--help', '-h'],
  about: 'Help of this command',
  takesValue: false,
  isList: false,
  values: [],
}

/** The last argument takes the rest of the line if it is a list. */
function argumentAt({ arguments: declared }: VerbTree, place: number): InputTree | undefined {
  const last = declared.at(-1)
  return declared[place] ?? (last?.kind === 'list' ? last : undefined)
}

const named = (candidates: readonly Candidate[], current: string): Completion => ({
  candidates: candidates.filter(({ value }) => value.startsWith(current)),
  paths: 'none',
})

function optionNames(options: readonly KnownOption[], used: ReadonlySet<string>, current: string): Completion {
  const free = options.filter(({ names }) => !names.some((name) => used.has(name)))
  // The short option is offered if its long name means something else in this command.
  return named(
    free.flatMap(({ names, about }) => {
      const long = names.filter((name) => name.startsWith('--'))
      return (long.length > 0 ? long : names).map((value) => ({ value, about }))
    }),
    current,
  )
}

function nounNames({ nouns }: CompletionSource, { asksHelp }: TypedLine, current: string): Completion {
  const first = nouns.map(({ name, summary }) => ({ value: name, about: summary }))
  const help = asksHelp ? [] : [{ value: 'help', about: 'Help of svc or of a command' }]
  const found = named([...first, ...help], current)
  if (found.candidates.length > 0) return found
  const others = nouns.flatMap(({ aliases = [], summary }) => aliases.map((value) => ({ value, about: summary })))
  return named(others, current)
}

function verbNames({ verbs, groups }: NounTree, group: string | undefined, current: string): Completion {
  const lead = group === undefined ? '' : `${group} `
  const inGroup = verbs.filter(({ name }) => name.startsWith(lead) && !name.slice(lead.length).includes(' '))
  const first = [
    ...inGroup.map(({ name, about }) => ({ value: name.slice(lead.length), about })),
    ...(group === undefined ? groups.map(({ name, about }) => ({ value: name, about })) : []),
  ]
  const found = named(first, current)
  if (found.candidates.length > 0 || group !== undefined) return found
  const others = verbs.flatMap(({ aliases, about }) => aliases.map((value) => ({ value, about })))
  return named(others, current)
}

/** Values of an option or argument; in a list, those of the item after the last comma. */
async function valuesFor(
  { values, isList }: KnownOption,
  lead: string,
  typed: string,
  source: CompletionSource,
): Promise<Completion> {
  if (values === 'file') return { candidates: [], paths: 'files' }
  if (values === 'folder') return { candidates: [], paths: 'folders' }
  const known = typeof values === 'string' ? await source.values(values) : values
  const comma = isList ? typed.lastIndexOf(',') + 1 : 0
  const [before, current] = [typed.slice(0, comma), typed.slice(comma)]
  const had = new Set(before.split(','))
  const isWanted = ({ value, about }: Candidate) =>
    !had.has(value) &&
    (value.startsWith(current) ||
      // Typing a pool's symbol finds its address.
      (typeof values === 'string' && current.length > 0 && about.toLowerCase().startsWith(current.toLowerCase())))
  return {
    candidates: known.filter(isWanted).map(({ value, about }) => ({ value: `${lead}${before}${value}`, about })),
    // A keypair is a file, or the name of a wallet.
    paths: values === 'signing-key' ? 'files' : 'none',
  }
}
