/** Splits the text of a formula into numbers, names and signs, each with its place. */
import { AllocationFault } from './fault.ts'
import { fraction, type Rational } from './rational.ts'

export interface Place {
  line: number
  column: number
}

export type FormulaToken = { at: Place } & (
  | { kind: 'number'; value: Rational }
  | { kind: 'name' | 'sign'; text: string }
  | { kind: 'line' }
  | { kind: 'end' }
)

/** Most characters of a file with a formula. */
const MOST_FORMULA_CHARACTERS = 65_536
/** Most digits of one number, fractional ones included. */
const MOST_DIGITS = 100

const NUMBER = /\d[\d_]*(?:\.\d+)?/y
const NAME = /[A-Za-z][A-Za-z0-9_]{0,63}/y
const SIGN = /<=|>=|==|!=|[-+*/(),<>=]/y

/** Throws AllocationFault at the first invalid character. Inside parentheses a line may end anywhere. */
export function formulaTokens(text: string): FormulaToken[] {
  if (text.length > MOST_FORMULA_CHARACTERS) {
    throw new AllocationFault(`a formula has at most ${MOST_FORMULA_CHARACTERS} characters, not ${text.length}`)
  }
  const tokens: FormulaToken[] = []
  let depth = 0
  for (const [index, written] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const before = tokens.length
    for (let position = 0; position < written.length; ) {
      const at = { line: index + 1, column: position + 1 }
      if (written[position] === '#') break
      if (written[position] === ' ' || written[position] === '\t') {
        position++
        continue
      }
      const token = tokenAt(written, position, at)
      tokens.push(token.token)
      position += token.length
      if (token.token.kind === 'sign') depth += token.token.text === '(' ? 1 : token.token.text === ')' ? -1 : 0
    }
    if (tokens.length > before && depth <= 0)
      tokens.push({ kind: 'line', at: { line: index + 1, column: written.length + 1 } })
  }
  tokens.push({ kind: 'end', at: tokens.at(-1)?.at ?? { line: 1, column: 1 } })
  return tokens
}

function tokenAt(line: string, position: number, at: Place): { token: FormulaToken; length: number } {
  const matched = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position
    return pattern.exec(line)?.[0]
  }
  const number = matched(NUMBER)
  if (number !== undefined) return { token: { kind: 'number', value: numberOf(number, at), at }, length: number.length }
  const name = matched(NAME)
  if (name !== undefined) return { token: { kind: 'name', text: name, at }, length: name.length }
  const sign = matched(SIGN)
  if (sign !== undefined) return { token: { kind: 'sign', text: sign, at }, length: sign.length }
  const found = JSON.stringify(String.fromCodePoint(line.codePointAt(position) ?? 0)).replace(/[^\u0020-\u007e]/g, '?')
  throw new AllocationFault(`${found} has no meaning in a formula`, at)
}

function numberOf(text: string, at: Place): Rational {
  const [whole = '', decimals = ''] = text.replaceAll('_', '').split('.')
  if (whole.length + decimals.length > MOST_DIGITS) {
    throw new AllocationFault(`a number has at most ${MOST_DIGITS} digits`, at)
  }
  return fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
}
