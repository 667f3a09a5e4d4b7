/** Asks on a terminal for what a command needs, and shows the same as one command line. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AnyRoute } from '../../src/api/route.ts'
import { Cancelled } from '../ui/problem.ts'
import type { Choice, Ui } from '../ui/ui.ts'
import { LAMPORT_DECIMALS, rawUnits } from './amounts.ts'
import type { CommandInput, Verb } from './command.ts'
import { suggestionOf } from './command-tree.ts'
import { declaredInputs, isMissing, readInput, shownName } from './input-values.ts'
import { flagName, type ParsedCommand } from './parsed-command.ts'
import { commandLineOf } from './shell-words.ts'
import { terminal } from './terminal.ts'

// Checks a value by the schema of its API field, so that a question can say at once what is wrong.

/** Names of values that the command converts before it sends them. */
const CONVERTED = new Set(['FILE', 'DIR', 'SOL', 'TOKENS', 'AMOUNT', 'WHEN'])
/** Those that are amounts, with the most fractional digits: whole tokens have those of a mint that is not known yet. */
const AMOUNTS: Readonly<Record<string, number>> = { SOL: LAMPORT_DECIMALS, TOKENS: 255, AMOUNT: 255 }

/** Returns what the API would object to; undefined if it accepts the value, or if no field has it unchanged. */
type FieldCheck = (key: string, input: CommandInput, value: unknown) => string | undefined

/** Whether the value is read from another place: `@` with a file's name, or standard input. */
const isFromFile = (value: unknown) => typeof value === 'string' && (value === '-' || value.startsWith('@'))

/** Loads the schemas of the API; only commands that ask questions load them. */
export async function openFieldChecks({ calls }: Verb): Promise<FieldCheck> {
  const [{ z }, { api }, { validateInput }] = await Promise.all([
    import('@hono/zod-openapi'),
    import('../../src/api/index.ts'),
    import('../../src/api/input-validation.ts'),
  ])
  const routes: AnyRoute[] = Object.values(api)
    .flatMap((resource): AnyRoute[] => Object.values(resource))
    .filter((route) => calls.some(([method, path]) => method === route.method && path === route.path))
  return (key, input, value) => {
    const name = input.field ?? key
    if (input.kind === 'text' && AMOUNTS[input.placeholder] !== undefined) return amountFault(input, String(value))
    if (value === 'none' && input.about.includes('none')) return undefined
    if (input.kind === 'list' || CONVERTED.has(input.placeholder) || isFromFile(value)) return undefined
    const shape = routes
      .flatMap(({ params, body, query }) => [params, body, query])
      .find((fields) => fields !== undefined && Object.hasOwn(fields.shape, name))
    if (shape === undefined) return undefined
    try {
      validateInput(z.object({ [name]: shape.shape[name] }), { [name]: value })
      return undefined
    } catch (error) {
      return (error as Error).message.slice(`${name}: `.length)
    }
  }
}

function amountFault({ placeholder, about }: CommandInput, text: string): string | undefined {
  if (text === 'all' && about.includes('all')) return undefined
  const digits = about.includes('whole tokens') ? AMOUNTS.TOKENS : AMOUNTS[placeholder]
  try {
    rawUnits(text, digits ?? 0, 'it')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** If there are more values, the user types one instead of choosing it. */
const MOST_CHOICES = 50
/** The choice for typing a value that is not in the list. */
const ANOTHER = '\0'

/** Fills `inputs` with the answers, and notes the command line that needs no questions. */
export async function askForInputs(
  { verb, command, globals }: ParsedCommand,
  inputs: Record<string, unknown>,
  { argv, ui }: { argv: readonly string[]; ui: Ui },
): Promise<void> {
  const check = await openFieldChecks(verb)
  const answers: [key: string, answer: string][] = []
  const questions = declaredInputs(verb).filter(([key, input]) => inputs[key] === undefined && isAsked(input))
  const order = [...questions.filter(([, { required }]) => required), ...questions.filter(([, { asked }]) => asked)]
  try {
    for (const [key, input] of order) {
      if (!isMissing(input, inputs, key)) continue
      const answer = await askFor({ verb, command, globals }, key, input, { ui, check })
      if (answer === '') continue
      answers.push([key, answer])
      inputs[key] = readInput(key, input, answer, shownName(verb, key))
    }
  } catch (error) {
    if (error instanceof Cancelled && answers.length > 0) tellCommandLine(verb, argv, answers, ui)
    throw error
  }
  tellCommandLine(verb, argv, answers, ui)
}

const isAsked = ({ required, asked }: CommandInput) => required || asked === true

async function askFor(
  { verb, command, globals }: Pick<ParsedCommand, 'verb' | 'command' | 'globals'>,
  key: string,
  input: CommandInput,
  { ui, check }: { ui: Ui; check: FieldCheck },
): Promise<string> {
  const { about, required, fallback, unless, choices, meanings = {} } = input
  const notes = [
    ...(unless === undefined ? [] : [`or ${unless.map(flagName).join(' or ')}`]),
    ...(required || about.includes('default') ? [] : [fallback === undefined ? 'optional' : `Enter for ${fallback}`]),
  ]
  const message = `${about}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`
  const isWrong = (answer: string): string | undefined => {
    if (answer === '') return required ? 'This is required' : undefined
    try {
      const value = readInput(key, input, answer, shownName(verb, key))
      if (value === undefined) return 'This is required'
      return (input.existing ? fileFault(answer) : undefined) ?? check(key, input, value)
    } catch (error) {
      return (error as Error).message
    }
  }
  if (choices !== undefined && required) {
    return ui.ask({
      message,
      check: isWrong,
      choices: choices.map((value) => ({ value, about: meanings[value] ?? '' })),
    })
  }
  const known = await existingValues(verb, command, key, globals)
  if (known.length > 0) {
    const without = required ? [] : [{ value: '', label: fallback ?? 'none', about: '' }]
    const another = { value: ANOTHER, label: 'another one', about: 'typed' }
    const chosen = await ui.ask({ message, check: isWrong, choices: [...without, ...known, another] })
    if (chosen !== ANOTHER) return chosen
  }
  return ui.ask({ message, check: isWrong, ...(fallback === undefined ? {} : { placeholder: fallback }) })
}

/** Why nothing can be read from this name; `-` is standard input. */
function fileFault(name: string): string | undefined {
  if (name === '-') return undefined
  const stats = statSync(resolve(terminal().cwd(), name), { throwIfNoEntry: false })
  if (stats === undefined) return `there is no file ${name}`
  return stats.isDirectory() ? `${name} is a folder` : undefined
}

/** Values that exist in the running daemon; none if there are too many to choose from. */
async function existingValues(
  verb: Verb,
  command: string,
  key: string,
  { dataDir, profile }: ParsedCommand['globals'],
): Promise<Choice[]> {
  const suggestion = suggestionOf(command.split(' ')[0] ?? '', verb, command, key)
  if (suggestion === null || suggestion === 'file' || suggestion === 'folder') return []
  const { liveValues } = await import('./completion/live-values.ts')
  const found = await liveValues(suggestion, { dataDir, profile })
  return found.length > MOST_CHOICES ? [] : found
}

function tellCommandLine(
  verb: Verb,
  argv: readonly string[],
  answers: readonly (readonly [key: string, answer: string])[],
  ui: Ui,
): void {
  if (answers.length === 0) return
  ui.note(`The same as one command:\n  ${answeredCommandLine(verb, argv, answers)}`)
}

/** The command line with the answers in it, quoted for a POSIX shell. */
export function answeredCommandLine(
  verb: Verb,
  argv: readonly string[],
  answers: readonly (readonly [key: string, answer: string])[],
): string {
  const isArgument = ([key]: readonly [string, string]) => Object.hasOwn(verb.args, key)
  const flags = answers.filter((answer) => !isArgument(answer)).map(([key, answer]) => flagWords(key, answer))
  const operands = answers.filter(isArgument).map(([, answer]) => answer)
  const end = operands.some((answer) => answer.startsWith('-')) ? ['--'] : []
  return commandLineOf([...argv, ...flags.flat(), ...end, ...operands])
}

const flagWords = (key: string, answer: string): string[] =>
  answer.startsWith('-') ? [`${flagName(key)}=${answer}`] : [flagName(key), answer]
