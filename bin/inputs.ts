/** Converts the raw inputs of a command to their types, and prompts on a terminal for those that are missing. */
import type { CommandInput, Verb } from '../commands/command.ts'
import { usage } from '../commands/ui/problem.ts'
import type { Ui } from '../commands/ui/ui.ts'
import { flagName, type ParsedCommand } from './parse.ts'

/**
 * Returns the typed inputs by name; on a terminal those that are missing are asked for. Throws a usage problem that
 * names the flag or argument.
 */
export async function readInputs(
  parsed: ParsedCommand,
  { argv, ui }: { argv: readonly string[]; ui: Ui },
): Promise<Record<string, unknown>> {
  const { verb, raw, command } = parsed
  const inputs: Record<string, unknown> = {}
  const declared = declaredInputs(verb)
  for (const [key, input] of declared) inputs[key] = readInput(key, input, raw[key], shownName(verb, key))
  const missing = declared.filter(([key, input]) => input.required && isMissing(input, inputs, key))
  const [first] = missing
  if (first === undefined) return inputs
  if (!ui.interactive) {
    const all = missing.map(([name]) => shownName(verb, name))
    const instead = [...new Set(missing.flatMap(([, { unless }]) => unless ?? []))].map(flagName).join(', ')
    throw usage(`missing ${all.join(', ')}`, {
      param: shownName(verb, first[0]),
      next: `${instead === '' ? '' : `or give ${instead}; `}\`svc ${command} --help\` shows what it takes`,
    })
  }
  const { askForInputs } = await import('./questions.ts')
  await askForInputs(parsed, inputs, { argv, ui })
  return inputs
}

/** Whether a value is lacking that nothing else makes up for. */
export const isMissing = ({ unless }: CommandInput, inputs: Readonly<Record<string, unknown>>, key: string): boolean =>
  inputs[key] === undefined && (unless === undefined || inputs[unless] === undefined)

export const declaredInputs = ({ args, flags }: Verb): [string, CommandInput][] => [
  ...Object.entries(args),
  ...Object.entries(flags),
]
/** An input as it is typed, such as `--per-minute` or `<address>`. */
export const shownName = ({ args }: Verb, key: string) => (Object.hasOwn(args, key) ? `<${key}>` : flagName(key))

/** The value of what was typed for an input; undefined for none. Throws a usage problem that names it as `shown`. */
export function readInput(key: string, input: CommandInput, raw: ParsedCommand['raw'][string], shown: string): unknown {
  const { kind, choices, min, max } = input
  if (kind === 'boolean') return raw === true
  if (raw === undefined || raw === true || raw === false) return undefined
  if (kind === 'list') {
    const items = [raw]
      .flat()
      .flatMap((word) => word.split(','))
      .map((word) => word.trim())
    return items.filter(Boolean).length > 0 ? items.filter(Boolean) : undefined
  }
  const text = String(raw)
  const fail = (expected: string) => usage(`${shown} must be ${expected}, not "${text}"`, { param: shown })
  if (kind === 'integer') {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < (min ?? value) || value > (max ?? value)) {
      throw fail(`a whole number${min === undefined ? '' : ` from ${min}`}${max === undefined ? '' : ` to ${max}`}`)
    }
    return value
  }
  if (choices && !choices.includes(text)) throw fail(choices.join(' or '))
  // An empty text is more often a mistake in the shell than a value; `key` names the input.
  if (text === '') throw usage(`${shown} is empty`, { param: key })
  return text
}
