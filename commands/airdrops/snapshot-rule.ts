/** The flags that say who gets what, and the files that they name, as the rule of an allocation. */
import type { AllocationRule } from '../../src/merkle/allocation/allocate.ts'
import { AllocationFault } from '../../src/merkle/allocation/fault.ts'
import { type Formula, parseFormula } from '../../src/merkle/allocation/formula.ts'
import { MOST_LIST_BYTES, parseAddressList, parseTiers, parseUnits } from '../../src/merkle/allocation/input-lines.ts'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import { integer, text, toggle } from '../cli/command.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'

export const ruleFlags = {
  total: text('Divide this sum in proportion to balances, or to what the formula gives', { placeholder: 'AMOUNT' }),
  equal: text('The same for everybody', { placeholder: 'AMOUNT', conflicts: ['total', 'tiers', 'formula'] }),
  tiers: text('CSV of from,to,amount: what a balance from FROM to below TO gets', {
    placeholder: 'FILE',
    conflicts: ['total', 'formula'],
  }),
  formula: text('File with a formula: what a balance gets, such as min(balance * 2, 1000)', { placeholder: 'FILE' }),
  decimals: integer('Decimals of the token to be given: amounts and balances are whole tokens', {
    min: 0,
    max: MAX_DECIMALS,
  }),
  raw: toggle('Amounts and balances are raw units; either this or --decimals is needed', {
    conflicts: ['decimals'],
  }),
  min: text('Least balance that counts', { placeholder: 'BALANCE' }),
  exclude: text('File of addresses that get nothing, one a line', { placeholder: 'FILE' }),
  include: text('File of addresses that count although they are not wallets, such as vaults of multisigs', {
    placeholder: 'FILE',
  }),
}

export interface RuleValues {
  total: string | undefined
  equal: string | undefined
  tiers: string | undefined
  formula: string | undefined
  decimals: number | undefined
  raw: boolean
  min: string | undefined
  exclude: string | undefined
  include: string | undefined
}

export interface ReadRule {
  rule: AllocationRule
  min: bigint
  /** Addresses by their bytes, with the line of each. */
  excluded: Map<string, number>
  included: Map<string, number>
  /** Fractional digits of balances and of amounts in flags and files. */
  units: { balance: number; amount: number }
}

/**
 * The rule with its units, asked on a terminal. The token to be given may be another one than the held one, so nothing
 * on chain says how amounts are meant.
 */
export async function ruleWithUnits(values: RuleValues, ui: Ui): Promise<RuleValues> {
  const { decimals, raw } = values
  if (raw || decimals !== undefined) return values
  if (!ui.interactive) {
    throw usage('say whether amounts and balances are whole tokens or raw units', {
      param: '--decimals',
      next: 'add --decimals N, those of the token to be given, or --raw',
    })
  }
  const check = (answer: string) =>
    answer === 'raw' || (/^\d{1,2}$/.test(answer) && Number(answer) <= MAX_DECIMALS)
      ? undefined
      : `Type a number from 0 to ${MAX_DECIMALS}, or raw`
  const message = 'Decimals of the token to be given, so that amounts are whole tokens (or raw, for raw units)'
  const answer = await ui.ask({ message, check })
  ui.note(`Without this question: ${answer === 'raw' ? '--raw' : `--decimals ${answer}`}`)
  return answer === 'raw' ? { ...values, raw: true } : { ...values, decimals: Number(answer) }
}

/** The flags that make a rule; only a total can be combined with a formula. */
export const RULES = ['total', 'equal', 'tiers', 'formula']

/** What the files say, except tiers: these need the decimals of the held token. */
export interface RuleSources extends Pick<ReadRule, 'excluded' | 'included'> {
  formula: Formula | null
  /** Text and name of the file with tiers. */
  tiers: { content: string; name: string } | null
}

/** Reads every file. Throws usage problems `FILE:LINE:COLUMN: what`. */
export async function readRuleSources({ tiers, formula, exclude, include }: RuleValues): Promise<RuleSources> {
  const addresses = async (file: string | undefined) =>
    file === undefined ? new Map<string, number>() : parsedFile(await readSource(file), parseAddressList)
  return {
    formula: formula === undefined ? null : parsedFile(await readSource(formula), parseFormula),
    tiers: tiers === undefined ? null : await readSource(tiers),
    excluded: await addresses(exclude),
    included: await addresses(include),
  }
}

/** `decimals` are those of what is held. Throws usage problems that name the flag, or the place in a file. */
export function ruleFrom(values: RuleValues, { formula, tiers, ...lists }: RuleSources, decimals: number): ReadRule {
  const { total, equal, min } = values
  const units =
    values.decimals === undefined ? { balance: 0, amount: 0 } : { balance: decimals, amount: values.decimals }
  const ruleOf = (): AllocationRule => {
    if (total !== undefined)
      return { kind: 'total', total: amountFlag('--total', total, units.amount), weights: formula }
    if (equal !== undefined) return { kind: 'equal', amount: amountFlag('--equal', equal, units.amount) }
    if (tiers !== null) return { kind: 'tiers', tiers: parsedFile(tiers, (content) => parseTiers(content, units)) }
    if (formula !== null) return { kind: 'formula', formula }
    throw new Error('a rule was required before')
  }
  return { rule: ruleOf(), min: min === undefined ? 0n : parsedFlag('--min', min, units.balance), units, ...lists }
}

function amountFlag(flag: string, value: string, decimals: number): bigint {
  const amount = parsedFlag(flag, value, decimals)
  if (amount === 0n) throw usage(`${flag} must be above 0`, { param: flag })
  return amount
}

function parsedFlag(flag: string, value: string, decimals: number): bigint {
  try {
    return parseUnits(value, decimals)
  } catch (error) {
    if (!(error instanceof AllocationFault)) throw error
    const next = decimals === 0 ? { next: 'with --decimals amounts are whole tokens' } : {}
    throw usage(`${flag}: ${error.message}`, { param: flag, ...next })
  }
}

async function readSource(file: string): Promise<{ content: string; name: string }> {
  const name = file === '-' ? 'stdin' : file
  const bytes = await readBytes(file)
  if (bytes.length > MOST_LIST_BYTES)
    throw usage(`${name} is larger than ${MOST_LIST_BYTES} bytes: is it the right file?`)
  try {
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(bytes), name }
  } catch {
    throw usage(`${name} is not a text in UTF-8`)
  }
}

function parsedFile<T>({ content, name }: { content: string; name: string }, parse: (content: string) => T): T {
  try {
    return parse(content)
  } catch (error) {
    if (error instanceof AllocationFault) throw ruleProblem(error, name)
    throw error
  }
}

/** The usage problem of a rule, with its place in the file. */
export function ruleProblem({ message, at }: AllocationFault, file: string | undefined) {
  return usage(file === undefined || at === undefined ? message : `${file}:${at.line}:${at.column}: ${message}`)
}
