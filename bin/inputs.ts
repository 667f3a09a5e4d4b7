/** Converts the raw inputs of a command to their types, and prompts on a terminal for those that are missing. */
import type { CommandInput, Verb } from '../commands/command.ts'
import { usage } from '../commands/ui/problem.ts'
import type { Ui } from '../commands/ui/ui.ts'
import { flagName, type ParsedCommand } from './parse.ts'

/** Returns the typed inputs by name; throws a usage problem that names the flag or argument. */
export async function readInputs({ verb, raw, command }: ParsedCommand, ui: Ui): Promise<Record<string, unknown>> {
  const inputs: Record<string, unknown> = {}
  for (const [key, input] of declared(verb)) inputs[key] = readInput(key, input, raw[key], shownName(verb, key))
  const missing = declared(verb).filter(
    ([key, { required, unless }]) =>
      required && inputs[key] === undefined && (unless === undefined || inputs[unless] === undefined),
  )
  for (const [key, input] of missing) {
    const shown = shownName(verb, key)
    if (!ui.interactive) {
      const all = missing.map(([name]) => shownName(verb, name)).join(', ')
      throw usage(`missing ${all}`, { param: shown, next: `\`svc ${command} --help\` shows what it takes` })
    }
    const check = (answer: string) => {
      try {
        return readInput(key, input, answer === '' ? undefined : answer, shown) === undefined
          ? 'This is required'
          : undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    const { about: message, choices } = input
    inputs[key] = readInput(key, input, await ui.ask({ message, check, ...(choices ? { choices } : {}) }), shown)
  }
  return inputs
}

const declared = ({ args, flags }: Verb): [string, CommandInput][] => [
  ...Object.entries(args),
  ...Object.entries(flags),
]
const shownName = ({ args }: Verb, key: string) => (Object.hasOwn(args, key) ? `<${key}>` : flagName(key))

function readInput(key: string, input: CommandInput, raw: ParsedCommand['raw'][string], shown: string): unknown {
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
