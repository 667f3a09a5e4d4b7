/** Suggests the probably intended value if a flag or a setting does not accept the typed one. */

import { MOST_LISTED, meantNames } from '../../src/platform/nearest.ts'
import { isSetting, SETTINGS, type Setting } from '../../src/settings/config.ts'
import { type Problem, usage } from '../ui/problem.ts'
import { GLOBAL_OPTIONS, namesOfFlags } from './nouns.ts'
import { flagNames, type ParsedCommand } from './parsed-command.ts'
import { didYouMean, pasteable } from './suggestions.ts'
import { VALUE_SYNONYMS } from './synonyms.ts'

/** The problem with the probably meant command as its next step; unchanged if no value is near. */
export function withMeantValue(
  problem: Problem,
  argv: readonly string[],
  parsed: ParsedCommand | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Problem {
  const next =
    meantFlag(problem, argv, parsed) ?? meantSetting(problem.message, argv, env) ?? meantName(problem.message, argv)
  if (next === undefined) return problem
  const { param, details } = problem
  return usage(problem.message, { next, cause: problem, ...(param && { param }), ...(details && { details }) })
}

function meantFlag({ param = '' }: Problem, argv: readonly string[], parsed: ParsedCommand | undefined) {
  const declared = Object.entries({ ...parsed?.verb.args, ...parsed?.verb.flags })
  const found = declared.find(([key]) => param === `<${key}>` || param === `--${key.replaceAll('_', '-')}`)
  if (parsed === undefined || found === undefined) return undefined
  const [key, input] = found
  const { choices } = input
  const value = parsed.raw[key]
  if (choices === undefined || typeof value !== 'string') return undefined
  const names = param.startsWith('<') ? [] : namesOfFlags(flagNames(key, input))
  const all = choices.length > MOST_LISTED ? `\`svc ${parsed.command} --help\` lists the values` : undefined
  return meantIn(argv, names, value, choices) ?? all
}

function meantSetting(message: string, argv: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const [, name = '', origin = ''] = /^([a-z0-9.-]+) \((--[a-z-]+|SVC_[A-Z0-9_]+)\) must be /.exec(message) ?? []
  if (!isSetting(name)) return undefined
  const { choices, urlOr }: Setting = SETTINGS[name]
  const taken = choices ?? urlOr
  if (taken === undefined) return undefined
  if (!origin.startsWith('--')) {
    const meant = meantNames(env[origin] ?? '', taken, VALUE_SYNONYMS)
    return didYouMean(meant.map((value) => `${origin}=${value}`))
  }
  const names = GLOBAL_OPTIONS.map(({ flags }) => namesOfFlags(flags)).find((all) => all.includes(origin)) ?? []
  const at = argv.findIndex((word) => names.some((flag) => word === flag || word.startsWith(`${flag}=`)))
  const value = at < 0 ? undefined : (/=(.*)$/s.exec(argv[at] ?? '')?.[1] ?? argv[at + 1])
  return value === undefined ? undefined : meantIn(argv, names, value, taken)
}

/** The setting that was probably meant by an unknown one, in a command or in a folder's svc.json. */
function meantName(message: string, argv: readonly string[]) {
  const [, typed] = /^there is no setting ([^;]+);/s.exec(message) ?? []
  if (typed !== undefined) return meantIn(argv, [], typed, Object.keys(SETTINGS))
  const [, held] = / has an unknown setting: ([^;]+);/s.exec(message) ?? []
  return didYouMean(held === undefined ? [] : meantNames(held, Object.keys(SETTINGS), {}))
}

/** The command with the meant value in place of the value of one of the flags. */
function meantIn(argv: readonly string[], names: readonly string[], value: string, taken: readonly string[]) {
  const isTyped = (word: string, at: number) =>
    names.some((flag) => word === `${flag}=${value}`) ||
    (word === value && (names.length === 0 || names.includes(argv[at - 1] ?? '')))
  const at = argv.findIndex(isTyped)
  const meant = at < 0 ? [] : meantNames(value, taken, VALUE_SYNONYMS)
  const word = argv[at] ?? ''
  return didYouMean(
    meant.map((choice) => pasteable(argv.with(at, `${word.slice(0, word.length - value.length)}${choice}`))),
  )
}
