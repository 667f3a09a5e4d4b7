/** Operators and functions of formulas, over values that are exact numbers or conditions. */

import type { Place } from './formula-tokens.ts'
import {
  addRational,
  compareRational,
  dividedBy,
  floorOf,
  fraction,
  negated,
  type Rational,
  rootOf,
  timesRational,
  wholeNumber,
} from './rational.ts'

/** What a formula knows about a holder and about all holders. */
export const FORMULA_VARIABLES = ['balance', 'supply', 'held', 'holders'] as const
export type FormulaVariables = Readonly<Record<(typeof FORMULA_VARIABLES)[number], Rational>>

export type FormulaValue = Rational | boolean

/** What a running formula can read: the holder's variables, and the values of the lines above. */
export interface FormulaScope {
  variables: FormulaVariables
  values: FormulaValue[]
}

type Run = (scope: FormulaScope) => FormulaValue

/** A part of a formula that is ready to run. */
export interface CompiledPart {
  type: 'number' | 'condition'
  at: Place
  run: Run
}

interface Operator {
  takes: CompiledPart['type']
  gives: CompiledPart['type']
  run(a: Run, b: Run, scope: FormulaScope): FormulaValue
}

const number = (run: Run, scope: FormulaScope) => run(scope) as Rational

const arithmetic = (apply: (a: Rational, b: Rational) => Rational): Operator => ({
  takes: 'number',
  gives: 'number',
  run: (a, b, scope) => apply(number(a, scope), number(b, scope)),
})

const comparison = (holds: (order: number) => boolean): Operator => ({
  takes: 'number',
  gives: 'condition',
  run: (a, b, scope) => holds(compareRational(number(a, scope), number(b, scope))),
})

const condition = (run: Operator['run']): Operator => ({ takes: 'condition', gives: 'condition', run })

export const OPERATORS: Readonly<Record<string, Operator>> = {
  '+': arithmetic(addRational),
  '-': arithmetic((a, b) => addRational(a, negated(b))),
  '*': arithmetic(timesRational),
  '/': arithmetic(dividedBy),
  '<': comparison((order) => order < 0),
  '<=': comparison((order) => order <= 0),
  '>': comparison((order) => order > 0),
  '>=': comparison((order) => order >= 0),
  '==': comparison((order) => order === 0),
  '!=': comparison((order) => order !== 0),
  and: condition((a, b, scope) => a(scope) === true && b(scope) === true),
  or: condition((a, b, scope) => a(scope) === true || b(scope) === true),
}

interface FormulaFunction {
  least: number
  most: number
  run(given: readonly Run[], scope: FormulaScope): Rational
}

const HALF = fraction(1n, 2n)

const ofOne = (apply: (value: Rational) => Rational): FormulaFunction => ({
  least: 1,
  most: 1,
  run: ([value], scope) => apply(number(value as Run, scope)),
})

const best = (isBetter: (order: number) => boolean): FormulaFunction => ({
  least: 2,
  most: 100,
  run: (given, scope) =>
    given
      .map((run) => number(run, scope))
      .reduce((one, other) => (isBetter(compareRational(other, one)) ? other : one)),
})

export const FUNCTIONS: Readonly<Record<string, FormulaFunction>> = {
  min: best((order) => order < 0),
  max: best((order) => order > 0),
  floor: ofOne((value) => wholeNumber(floorOf(value))),
  ceil: ofOne((value) => wholeNumber(-floorOf(negated(value)))),
  round: ofOne((value) => wholeNumber(floorOf(addRational(value, HALF)))),
  sqrt: ofOne(rootOf),
  // Only the chosen branch runs, so that a condition can guard a division.
  if: {
    least: 3,
    most: 3,
    run: ([test, then, otherwise], scope) =>
      number((test as Run)(scope) === true ? (then as Run) : (otherwise as Run), scope),
  },
}
