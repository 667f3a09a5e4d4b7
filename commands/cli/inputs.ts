/** Converts the raw inputs of a command to their types, checks them together, and asks on a terminal for missing ones. */
import { NO_VAULT } from '../signing/acting-vault.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import type { Verb } from './command.ts'
import { declaredInputs, isGiven, isMissing, readInput, shownName } from './input-values.ts'
import { flagName, type ParsedCommand } from './parsed-command.ts'

interface InputSources {
  argv: readonly string[]
  ui: Ui
  /** The setting that stands for a missing --squads. */
  squads?(): Promise<string | undefined>
}

/**
 * Returns the typed inputs by name; on a terminal it asks for missing ones. Throws a usage problem that names the flag
 * or argument.
 */
export async function readInputs(
  parsed: ParsedCommand,
  { argv, ui, squads }: InputSources,
): Promise<Record<string, unknown>> {
  const { verb, raw, command } = parsed
  const inputs: Record<string, unknown> = {}
  const declared = declaredInputs(verb)
  for (const [key, input] of declared) inputs[key] = readInput(key, input, raw[key], shownName(verb, key))
  requireTogether(verb, inputs, 'squads' in verb.flags ? await squads?.() : undefined)
  const missing = declared.filter(([key, input]) => input.required && isMissing(input, inputs, key))
  const groups = verb.needs.filter((keys) => keys.every((key) => !isGiven(inputs, key)))
  if (missing.length + groups.length === 0) return inputs
  if (ui.interactive && groups.length === 0) {
    const { askForInputs } = await import('./questions.ts')
    await askForInputs(parsed, inputs, { argv, ui })
    return inputs
  }
  const choices = groups.map((keys) => keys.map((key) => shownName(verb, key)).join(' or '))
  const all = [...missing.map(([key]) => shownName(verb, key)), ...choices]
  const instead = [...new Set(missing.flatMap(([, { unless }]) => unless ?? []))].map(flagName).join(', ')
  const first = missing[0]?.[0] ?? groups[0]?.[0] ?? ''
  throw usage(`missing ${all.join(', ')}`, {
    param: shownName(verb, first),
    next: `${instead === '' ? '' : `or give ${instead}; `}\`svc ${command} --help\` shows what it takes`,
  })
}

/**
 * Throws a usage problem for an input beside one that excludes it, or without one that it needs. A vault that the
 * setting names counts like that of --squads.
 */
function requireTogether(verb: Verb, typed: Readonly<Record<string, unknown>>, setting: string | undefined): void {
  const vault = typed.squads ?? setting
  const inputs = { ...typed, squads: vault === NO_VAULT ? undefined : vault }
  const shown = (rule: string) => {
    const [key = '', value] = rule.split('=')
    if (key === 'squads' && typed.squads === undefined && vault !== undefined) return 'the setting squads'
    return value === undefined ? shownName(verb, key) : `${shownName(verb, key)} ${value}`
  }
  for (const [key, { conflicts = [], needs = [] }] of declaredInputs(verb)) {
    if (!isGiven(inputs, key)) continue
    const other = conflicts.find((rule) => isGiven(inputs, rule))
    if (other !== undefined) {
      throw usage(`${shown(other)} cannot be used with ${shown(key)}`, {
        param: shownName(verb, other.split('=')[0] ?? ''),
        next: other === 'squads' ? 'give --squads none to act without a vault' : 'leave one of the two out',
      })
    }
    const needed = needs.find((rule) => isDeclared(verb, rule) && !isGiven(inputs, rule))
    if (needed !== undefined) {
      throw usage(`${shown(key)} needs ${shown(needed)}`, {
        param: shownName(verb, key),
        next: `add ${shown(needed)}, or leave ${shown(key)} out`,
      })
    }
  }
}

const isDeclared = ({ args, flags }: Verb, rule: string): boolean => {
  const [key = ''] = rule.split('=')
  return key in args || key in flags
}
