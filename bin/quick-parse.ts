/** Parses a well-formed command line without loading commander, which parses every other one and says what is wrong. */
import type { CommandInput, CommandInputs, Noun, Verb } from '../commands/command.ts'
import { GLOBAL_OPTIONS, namesOfFlags } from './nouns.ts'
import type { Globals, ParsedCommand } from './parse.ts'

/** How a flag is written on the command line, and what becomes of its value. */
interface KnownFlag {
  target: Record<string, unknown>
  key: string
  /** What a flag without a value sets; undefined where a value follows. */
  constant?: boolean
  list?: boolean
}

const camelCased = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function globalFlags(target: Record<string, unknown>): Map<string, KnownFlag> {
  const known = new Map<string, KnownFlag>()
  for (const { flags, list } of GLOBAL_OPTIONS) {
    const names = namesOfFlags(flags.replace(/ <.*/, ''))
    const long = names.at(-1) ?? ''
    const negated = long.startsWith('--no-')
    const key = camelCased(long.replace(negated ? '--no-' : '--', ''))
    const flag: KnownFlag = {
      target,
      key,
      ...(flags.includes('<') ? {} : { constant: !negated }),
      ...(list && { list }),
    }
    for (const name of names) known.set(name, flag)
  }
  return known
}

/** Adds the flags of a verb; returns false where one of them has a name that commander reads in another way. */
function addFlags(known: Map<string, KnownFlag>, flags: CommandInputs, target: Record<string, unknown>): boolean {
  for (const [key, { kind, short }] of Object.entries(flags)) {
    const long = `--${key.replaceAll('_', '-')}`
    const flag: KnownFlag = { target, key, ...(kind === 'boolean' ? { constant: true } : {}), list: kind === 'list' }
    for (const name of short === undefined ? [long] : [long, `-${short}`]) {
      if (known.has(name) || name.startsWith('--no-')) return false
      known.set(name, flag)
    }
  }
  return true
}

/** The command that argv names; undefined where commander has to parse it. `argv` begins with no `help`. */
export function quickParse(argv: readonly string[], nounName: string, noun: Noun): ParsedCommand | undefined {
  const globals: Globals = { input: true, color: true, pager: true }
  const raw: ParsedCommand['raw'] = {}
  const known = globalFlags(globals as unknown as Record<string, unknown>)
  const operands: string[] = []
  let verb: Verb | undefined
  let command = nounName
  const choose = (chosen: Verb | undefined) => {
    verb = chosen
    return chosen !== undefined && addFlags(known, chosen.flags, raw)
  }
  const takeWord = (word: string, index: number): boolean => {
    if (index === 0) return word === nounName && ('verbs' in noun || choose(noun.verb))
    if ('verb' in noun || verb !== undefined) return operands.push(word) > 0
    if (word.includes(' ')) return false
    command = `${command} ${word}`
    const name = command.slice(nounName.length + 1)
    if (noun.groups !== undefined && Object.hasOwn(noun.groups, name)) return true
    return Object.hasOwn(noun.verbs, name) && choose(noun.verbs[name])
  }
  let words = 0
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (word === '-' || !word.startsWith('-')) {
      if (!takeWord(word, words++)) return undefined
      continue
    }
    const [, name = word, inline] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
    const flag = known.get(name)
    if (flag === undefined) return undefined
    if (flag.constant !== undefined) {
      if (inline !== undefined) return undefined
      flag.target[flag.key] = flag.constant
      continue
    }
    const value = inline ?? argv[++i]
    if (value === undefined || (inline === undefined && value.length > 1 && value.startsWith('-'))) return undefined
    flag.target[flag.key] = flag.list ? [...((flag.target[flag.key] as string[] | undefined) ?? []), value] : value
  }
  return verb !== undefined && takeOperands(verb.args, operands, raw) ? { verb, command, raw, globals } : undefined
}

/** Names the operands; returns false where there are more of them than arguments. */
function takeOperands(args: CommandInputs, operands: string[], raw: ParsedCommand['raw']): boolean {
  const entries: [string, CommandInput][] = Object.entries(args)
  entries.forEach(([key, { kind }], at) => {
    const value = kind === 'list' ? operands.slice(at) : operands[at]
    if (value !== undefined) raw[key] = value
  })
  return operands.length <= entries.length || entries.at(-1)?.[1].kind === 'list'
}
