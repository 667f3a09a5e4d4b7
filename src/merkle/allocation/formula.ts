/** Formulas for the amounts of holders: a small language of exact numbers, without loops, texts or side effects. */
import { AllocationFault } from './fault.ts'
import {
  type CompiledPart,
  FORMULA_VARIABLES,
  type FormulaScope,
  type FormulaValue,
  type FormulaVariables,
  FUNCTIONS,
  OPERATORS,
} from './formula-operators.ts'
import { type FormulaToken, formulaTokens, type Place } from './formula-tokens.ts'
import { negated, type Rational } from './rational.ts'

/** Computes an amount. Throws AllocationFault for a division by zero or a number that grows too large. */
export type Formula = (variables: FormulaVariables) => Rational

/** Most names that a file may define, and most nested parentheses. */
const MOST_NAMES = 200
const MOST_DEPTH = 64
const RESULT = 'amount'
/** Operators by how strongly they bind, the weakest first; `not` stands between `and` and comparisons. */
const LEVELS: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['<', '<=', '>', '>=', '==', '!='],
  ['+', '-'],
  ['*', '/'],
]
const COMPARISONS = 2

/**
 * Compiles a file: lines `name = expression`, of which the last names `amount` or is only an expression. Throws
 * AllocationFault with the place of the first mistake.
 */
export function parseFormula(text: string): Formula {
  const steps = new FormulaParser(formulaTokens(text)).steps()
  return (variables) => {
    const scope: FormulaScope = { variables, values: [] }
    for (const step of steps) scope.values.push(step(scope))
    return scope.values.at(-1) as Rational
  }
}

class FormulaParser {
  readonly #tokens: readonly FormulaToken[]
  readonly #names = new Map<string, { index: number; type: CompiledPart['type'] }>()
  #next = 0
  #depth = 0

  constructor(tokens: readonly FormulaToken[]) {
    this.#tokens = tokens
  }

  steps(): ((scope: FormulaScope) => FormulaValue)[] {
    const steps: ((scope: FormulaScope) => FormulaValue)[] = []
    while (this.#peek().kind !== 'end') {
      const name = this.#definedName()
      const part = this.#expression(0)
      const end = this.#peek()
      if (end.kind !== 'line' && end.kind !== 'end') throw fault(`${shown(end)} is not expected here`, end.at)
      while (this.#peek().kind === 'line') this.#next++
      const isLast = this.#peek().kind === 'end'
      if (isLast !== (name === undefined || name.text === RESULT)) {
        throw fault(
          isLast ? `the last line must be an expression, or ${RESULT} = …` : 'only the last line may be this',
          part.at,
        )
      }
      if (isLast && part.type !== 'number')
        throw fault('the last line must be a number, and this is a condition', part.at)
      if (name !== undefined) this.#names.set(name.text, { index: steps.length, type: part.type })
      if (steps.push(part.run) > MOST_NAMES) throw fault(`a formula has at most ${MOST_NAMES} lines`, part.at)
    }
    if (steps.length === 0) throw fault('the formula is empty', { line: 1, column: 1 })
    return steps
  }

  /** The name that a line defines; undefined for a line that is only an expression. */
  #definedName(): { text: string } | undefined {
    const [name, sign] = [this.#peek(), this.#tokens[this.#next + 1]]
    if (name.kind !== 'name' || sign?.kind !== 'sign' || sign.text !== '=') return undefined
    const isTaken = this.#names.has(name.text) || isKnown(name.text)
    if (isTaken) throw fault(`${name.text} already has a meaning: choose another name`, name.at)
    this.#next += 2
    return name
  }

  #expression(level: number): CompiledPart {
    const operators = LEVELS[level]
    if (operators === undefined) return this.#unary()
    if (level === COMPARISONS && this.#takes('name', 'not')) {
      const { at } = this.#tokens[this.#next - 1] as FormulaToken
      const part = typed(
        this.#nested(() => this.#expression(level)),
        'condition',
      )
      return { type: 'condition', at, run: (scope) => part.run(scope) !== true }
    }
    let left = this.#expression(level + 1)
    for (let sign = this.#operator(operators); sign !== undefined; sign = this.#operator(operators)) {
      const operator = OPERATORS[sign.text]
      if (operator === undefined) throw fault(`${sign.text} has no meaning`, sign.at)
      const [a, b] = [typed(left, operator.takes), typed(this.#expression(level + 1), operator.takes)]
      left = { type: operator.gives, at: a.at, run: guarded(sign.at, (scope) => operator.run(a.run, b.run, scope)) }
      if (level === COMPARISONS) break
    }
    return left
  }

  #operator(operators: readonly string[]): { text: string; at: Place } | undefined {
    const token = this.#peek()
    if ((token.kind !== 'sign' && token.kind !== 'name') || !operators.includes(token.text)) return undefined
    this.#next++
    return token
  }

  #unary(): CompiledPart {
    const { at } = this.#peek()
    if (!this.#takes('sign', '-')) return this.#atom()
    const part = typed(
      this.#nested(() => this.#unary()),
      'number',
    )
    return { type: 'number', at, run: (scope) => negated(part.run(scope) as Rational) }
  }

  #atom(): CompiledPart {
    const token = this.#peek()
    this.#next++
    const { at } = token
    if (token.kind === 'number') return { type: 'number', at, run: () => token.value }
    if (token.kind === 'sign' && token.text === '(') {
      const part = this.#nested(() => this.#expression(0))
      this.#require(')')
      return part
    }
    if (token.kind !== 'name') throw fault(`${shown(token)} is not expected here: a number or a name is`, at)
    if (this.#takes('sign', '(')) return this.#call(token.text, at)
    const own = this.#names.get(token.text)
    if (own !== undefined) return { type: own.type, at, run: ({ values }) => values[own.index] as FormulaValue }
    const name = FORMULA_VARIABLES.find((each) => each === token.text)
    if (name === undefined) {
      throw fault(
        `${token.text} is unknown: a formula has ${FORMULA_VARIABLES.join(', ')} and the names of lines above`,
        at,
      )
    }
    return { type: 'number', at, run: ({ variables }) => variables[name] }
  }

  #call(name: string, at: Place): CompiledPart {
    const own = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (own === undefined) throw fault(`${name} is not a function: there are ${Object.keys(FUNCTIONS).join(', ')}`, at)
    const given: CompiledPart[] = []
    do given.push(this.#nested(() => this.#expression(0)))
    while (this.#takes('sign', ','))
    this.#require(')')
    if (given.length < own.least || given.length > own.most) {
      throw fault(
        `${name} takes ${own.least === own.most ? own.least : `at least ${own.least}`} values, not ${given.length}`,
        at,
      )
    }
    const parts = given.map((part, i) => typed(part, name === 'if' && i === 0 ? 'condition' : 'number'))
    return {
      type: 'number',
      at,
      run: guarded(at, (scope) =>
        own.run(
          parts.map(({ run }) => run),
          scope,
        ),
      ),
    }
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > MOST_DEPTH) throw fault(`there are more than ${MOST_DEPTH} levels`, this.#peek().at)
    const result = parse()
    this.#depth--
    return result
  }

  #peek(): FormulaToken {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] as FormulaToken
  }

  #takes(kind: 'name' | 'sign', text: string): boolean {
    const token = this.#peek()
    const isIt = token.kind === kind && token.text === text
    if (isIt) this.#next++
    return isIt
  }

  #require(text: string): void {
    const token = this.#peek()
    if (!this.#takes('sign', text)) throw fault(`${shown(token)} is not expected here: "${text}" is`, token.at)
  }
}

const KEYWORDS = ['and', 'or', 'not']
const isKnown = (name: string) =>
  Object.hasOwn(FUNCTIONS, name) || [...KEYWORDS, ...FORMULA_VARIABLES].includes(name as never)

function typed(part: CompiledPart, type: CompiledPart['type']): CompiledPart {
  if (part.type === type) return part
  throw fault(
    type === 'number' ? 'a number is expected here, not a condition' : 'a condition is expected here',
    part.at,
  )
}

/** Adds the operator's place to faults while a formula runs. */
function guarded(at: Place, run: CompiledPart['run']): CompiledPart['run'] {
  return (scope) => {
    try {
      return run(scope)
    } catch (error) {
      if (error instanceof RangeError) throw fault(error.message, at)
      if (error instanceof AllocationFault && error.at === undefined) throw fault(error.message, at)
      throw error
    }
  }
}

const fault = (message: string, at: Place) => new AllocationFault(message, at)

const shown = (token: FormulaToken): string =>
  token.kind === 'end'
    ? 'the end of the formula'
    : token.kind === 'line'
      ? 'the end of the line'
      : token.kind === 'number'
        ? 'a number'
        : `"${token.text}"`
