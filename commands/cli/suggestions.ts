/** Suggests what a refused command line probably meant, as whole commands for pasting. */

import { meantNames, nearestNames } from '../../src/platform/nearest.ts'
import type { Noun, Verb } from './command.ts'
import { GLOBAL_OPTIONS, NOUNS, namesOfFlags, nounEntry, wordPlaces } from './nouns.ts'
import { flagName } from './parsed-command.ts'
import { commandLineOf } from './shell-words.ts'
import { COMMAND_SYNONYMS, FLAG_SYNONYMS, VERB_SYNONYMS } from './synonyms.ts'

/** In a longer line the suggestion would be hard to find. */
const LONGEST_LINE = 400
const MOST_COMMANDS = 3

/** The command with those words; undefined if it is too long to read. */
export function pasteable(argv: readonly string[]): string | undefined {
  const line = commandLineOf(argv)
  return line.length > LONGEST_LINE ? undefined : line
}

/** The question that names the commands; undefined for none. */
export function didYouMean(commands: readonly (string | undefined)[]): string | undefined {
  const shown = commands.filter((command) => command !== undefined).slice(0, MOST_COMMANDS)
  return shown.length === 0 ? undefined : `did you mean ${shown.map((command) => `\`${command}\``).join(' or ')}?`
}

const replaced = (argv: readonly string[], at: number, words: readonly string[], removed = 1) =>
  pasteable([...argv.slice(0, at), ...words, ...argv.slice(at + removed)])

const verbsOf = (noun: Noun | undefined): string[] =>
  noun !== undefined && 'verbs' in noun ? Object.keys(noun.verbs) : []

/** The probable intention of argv, whose first unknown word is `unknown`. */
export async function meantByCommand(argv: readonly string[], unknown: string): Promise<string | undefined> {
  const places = wordPlaces(argv)
  const [nounAt = -1, verbAt = -1] = places
  const entry = nounEntry(argv[nounAt])
  if (entry === undefined) return nounAt < 0 ? undefined : meantByNoun(argv, nounAt, verbAt)
  const noun = await entry.load()
  const at = places.slice(1).find((place) => argv[place] === unknown) ?? verbAt
  const group = at === verbAt ? '' : `${argv[verbAt]} `
  const names = verbsOf(noun)
    .filter((name) => name.startsWith(group))
    .map((name) => name.slice(group.length).split(' ')[0] ?? '')
  const meant = meantNames(unknown, names, VERB_SYNONYMS)
  if (meant.length > 0) return didYouMean(meant.map((name) => replaced(argv, at, [name])))
  const elsewhere = await commandsWithVerb(unknown)
  return didYouMean(elsewhere.map((command) => replaced(argv, nounAt, command.split(' '), at - nounAt + 1)))
}

async function meantByNoun(argv: readonly string[], nounAt: number, verbAt: number): Promise<string | undefined> {
  const word = argv[nounAt] ?? ''
  // As in `svc create token`: the verb comes first.
  const swapped = verbAt < 0 ? undefined : nounEntry(argv[verbAt])
  if (swapped !== undefined) {
    const [verb] = meantNames(word, verbsOf(await swapped.load()), VERB_SYNONYMS)
    const others = argv.filter((_, at) => at !== nounAt && at !== verbAt)
    if (verb !== undefined) return didYouMean([pasteable([swapped.name, ...verb.split(' '), ...others])])
  }
  const key = word.toLowerCase()
  const known = Object.hasOwn(COMMAND_SYNONYMS, key) ? (COMMAND_SYNONYMS[key] ?? []) : []
  const there: string[] = []
  for (const command of known) if (await isCommand(command)) there.push(command)
  if (there.length > 0) return didYouMean(there.map((command) => replaced(argv, nounAt, command.split(' '))))
  const near = nearestNames(
    word,
    NOUNS.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  )
  const nouns = [...new Set(near.map((name) => nounEntry(name)?.name ?? name))]
  if (nouns.length > 0) return didYouMean(nouns.map((name) => replaced(argv, nounAt, [name])))
  const commands = await commandsWithVerb(word)
  return didYouMean(commands.map((command) => replaced(argv, nounAt, command.split(' '))))
}

/** Whether a command of the table exists; it may include its first arguments. */
async function isCommand(command: string): Promise<boolean> {
  if (command.startsWith('-')) return true
  const [name, ...words] = command.split(' ')
  const noun = await NOUNS.find((entry) => entry.name === name)?.load()
  if (noun === undefined) return false
  return 'verb' in noun || verbsOf(noun).some((verb) => `${words.join(' ')} `.startsWith(`${verb} `))
}

async function commandsWithVerb(verb: string): Promise<string[]> {
  const loaded = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
  return loaded.flatMap(({ name, noun }) => (verbsOf(noun).includes(verb) ? [`${name} ${verb}`] : []))
}

/** The probable intention of argv with the option `unknown`, which neither the verb has nor all commands have. */
export async function meantByFlag(argv: readonly string[], unknown: string): Promise<string | undefined> {
  const [typed = unknown] = unknown.split('=')
  const own = Object.entries((await verbIn(argv))?.flags ?? {}).flatMap(([key, { short }]) => [
    flagName(key),
    ...(short === undefined ? [] : [`-${short}`]),
  ])
  const all = [...own, ...GLOBAL_OPTIONS.flatMap(({ flags }) => namesOfFlags(flags)), '--help']
  // Any two letters are one edit apart, so for them only the table counts.
  const isLetter = typed.length <= 2
  const meant = isLetter && !Object.hasOwn(FLAG_SYNONYMS, typed) ? [] : meantNames(typed, all, FLAG_SYNONYMS)
  const at = argv.findIndex((word) => word === typed || word.startsWith(`${typed}=`))
  const value = at < 0 ? '' : (argv[at] ?? '').slice(typed.length)
  return didYouMean(meant.slice(0, 1).map((name) => (at < 0 ? name : replaced(argv, at, spelledFlag(name, value)))))
}

/** The value of a short flag is the next word. */
const spelledFlag = (name: string, value: string): string[] =>
  name.startsWith('--') || value === '' ? [`${name}${value}`] : [name, value.slice(1)]

/** The help that is closest to the typed words. */
export async function helpHint(argv: readonly string[]): Promise<string> {
  const [nounAt = -1, ...places] = wordPlaces(argv)
  const entry = nounEntry(argv[nounAt])
  const noun = await entry?.load()
  if (entry === undefined || noun === undefined) return '`svc --help` and `svc <noun> --help` list the commands'
  const [first = '', second = ''] = places.map((place) => argv[place] ?? '')
  const verb = verbsOf(noun).find((name) => name === first || name === `${first} ${second}`)
  const command = verb === undefined ? entry.name : `${entry.name} ${verb}`
  return `\`svc ${command} --help\` shows ${verb === undefined && 'verbs' in noun ? 'its verbs' : 'what it takes'}`
}

async function verbIn(argv: readonly string[]): Promise<Verb | undefined> {
  const [nounAt = -1, ...places] = wordPlaces(argv)
  const noun = await nounEntry(argv[nounAt])?.load()
  if (noun === undefined || 'verb' in noun) return noun?.verb
  const [first = '', second = ''] = places.map((place) => argv[place] ?? '')
  return [first, `${first} ${second}`].flatMap((name) => (Object.hasOwn(noun.verbs, name) ? [noun.verbs[name]] : []))[0]
}
