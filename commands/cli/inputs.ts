/** Converts the raw inputs of a command to their types, and prompts on a terminal for those that are missing. */
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { declaredInputs, isMissing, readInput, shownName } from './input-values.ts'
import { flagName, type ParsedCommand } from './parsed-command.ts'

/**
 * Returns the typed inputs by name; on a terminal it asks for missing ones. Throws a usage problem that names the flag
 * or argument.
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
