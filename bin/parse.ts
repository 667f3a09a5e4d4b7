/** Parses argv into one command with its raw inputs: at once where it is well formed, else with commander. */
import type { CommandInput, Verb } from '../commands/command.ts'
import { firstSpelling, nounEntry, nounOf } from './nouns.ts'
import { quickParse } from './quick-parse.ts'

export interface Globals {
  output?: string
  json?: boolean
  url?: string
  rpcUrls?: string
  api?: string
  apiKeyFile?: string
  dataDir?: string
  profile?: string
  trustProject?: boolean
  yes?: boolean
  input: boolean
  debug?: boolean
  color: boolean
  pager: boolean
  columns?: string
  sort?: string
  filter?: string[]
  jq?: string
  template?: string
}

/** A command from argv; `raw` holds the unparsed values by their declared names. */
export interface ParsedCommand {
  verb: Verb
  command: string
  raw: Record<string, string | string[] | boolean | undefined>
  globals: Globals
}

export const flagName = (key: string) => `--${key.replaceAll('_', '-')}`
/** The names of a flag as help and the reference show them, such as `-k, --keypair`. */
export const flagNames = (key: string, { short }: CommandInput) => `${short ? `-${short}, ` : ''}${flagName(key)}`

/** Parses argv; help and version are returned as text for stdout. Throws usage problems. */
export async function readCommand(argv: readonly string[]): Promise<ParsedCommand | { text: string }> {
  const asksHelp = argv[0] === 'help'
  const typed = asksHelp ? argv.slice(1) : argv
  const entry = nounEntry(nounOf(typed))
  const noun = await entry?.load()
  const spelled = firstSpelling(typed, noun)
  const quick =
    asksHelp || noun === undefined || entry === undefined ? undefined : quickParse(spelled, entry.name, noun)
  return quick ?? (await import('./program.ts')).parseCommand(asksHelp ? ['help', ...spelled] : spelled)
}
