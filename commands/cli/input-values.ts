/** Handles single inputs of a command: how each is typed, whether it is missing, and its value. */
import { MOST_LISTED } from '../../src/platform/nearest.ts'
import { usage } from '../ui/problem.ts'
import type { CommandInput, Verb } from './command.ts'
import { flagName, type ParsedCommand } from './parsed-command.ts'

type Inputs = Readonly<Record<string, unknown>>

/** Whether an input has a value, written as its key, or this value, written as `key=value`. */
export function isGiven(inputs: Inputs, rule: string): boolean {
  const [key = '', value] = rule.split('=')
  const typed = inputs[key]
  return value === undefined ? typed !== undefined && typed !== false : typed === value
}

/** Whether neither the input nor a flag that replaces it has a value. */
export const isMissing = ({ unless }: CommandInput, inputs: Inputs, key: string): boolean =>
  [key, ...(unless ?? [])].every((one) => !isGiven(inputs, one))

export const declaredInputs = ({ args, flags }: Verb): [string, CommandInput][] => [
  ...Object.entries(args),
  ...Object.entries(flags),
]
/** An input as it is typed, such as `--per-minute` or `<address>`. */
export const shownName = ({ args }: Verb, key: string) => (Object.hasOwn(args, key) ? `<${key}>` : flagName(key))

/** The value that was typed for an input; undefined for none. Throws a usage problem that names it as `shown`. */
export function readInput(key: string, input: CommandInput, raw: ParsedCommand['raw'][string], shown: string): unknown {
  const { kind, choices, min, max } = input
  if (kind === 'boolean') return raw === true
  if (input.bare && raw === true) return ''
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
  if (choices && !choices.includes(text)) {
    throw fail(choices.length > MOST_LISTED ? `one of ${choices.length} values` : choices.join(' or '))
  }
  // An empty text is usually a mistake in the shell; `key` names the input.
  if (text === '') throw usage(`${shown} is empty`, { param: key })
  return text
}
