/** Describes a command as it was typed, and how its flags are written. */
import type { CommandInput, Verb } from './command.ts'

/** The options of every command. */
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
  quiet?: boolean
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
