/** Formulas for recipients: exact values, clear mistakes, and nothing that runs away. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AllocationFault } from '../../src/merkle/allocation/fault.ts'
import { parseFormula } from '../../src/merkle/allocation/formula.ts'
import { fraction, rootOf, wholeNumber } from '../../src/merkle/allocation/rational.ts'

const run = (text: string, balance: bigint | [bigint, bigint] = 10n) => {
  const [n, d] = typeof balance === 'bigint' ? [balance, 1n] : balance
  const variables = { supply: wholeNumber(1_000n), held: wholeNumber(600n), holders: wholeNumber(3n) }
  const value = parseFormula(text)({ ...variables, balance: fraction(n, d) })
  return value.d === 1n ? String(value.n) : `${value.n}/${value.d}`
}
const faultOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (!(error instanceof AllocationFault)) throw error
    return error.at === undefined ? error.message : `${error.at.line}:${error.at.column}: ${error.message}`
  }
  throw new Error('it was taken')
}

describe('a formula', () => {
  it.each([
    ['min(balance * 2, 1000)', '20'],
    ['1 + 2 * 3 - 4 / 8', '13/2'],
    ['(1 + 2) * 3', '9'],
    ['-balance + 12', '2'],
    ['2 - 1 - 1', '0'],
    ['8 / 2 / 2', '2'],
    ['0.1 + 0.2', '3/10'],
    ['1_000 * 2', '2000'],
    ['if(balance >= 10 and not holders == 4, 5, 1 / 0)', '5'],
    ['if(balance < 10 or supply != 1000, 1, max(1, 2, 3))', '3'],
    ['floor(7 / 2) + ceil(7 / 2) + round(5 / 2)', '10'],
    ['floor(-7 / 2) + ceil(-7 / 2)', '-7'],
    ['sqrt(balance * 10)', '10'],
    [
      'sqrt(2)',
      '1414213562373095048/1000000000000000000'.replace(
        '1414213562373095048/1000000000000000000',
        '176776695296636881/125000000000000000',
      ),
    ],
    ['share = balance / held # of what counts\namount = share * 300', '5'],
    ['base = 2\n\nbonus = if(balance > 5, 3, 0)\nbase + bonus', '5'],
    ['min(\n  balance,\n  7\n)', '7'],
    ['\ufeffbalance\r\n', '10'],
    ['big = balance > 3\nif(big, 1, 2)', '1'],
  ])('%j gives %s', (text, value) => {
    expect(run(text)).toBe(value)
  })

  it.each([
    ['', '1:1: the formula is empty'],
    ['# only a comment', '1:1: the formula is empty'],
    ['balance *', '1:10: the end of the line is not expected here: a number or a name is'],
    ['balans * 2', '1:1: balans is unknown: a formula has balance, supply, held, holders and the names of lines above'],
    ['balance ** 2', '1:10: "*" is not expected here: a number or a name is'],
    ['log(balance)', '1:1: log is not a function: there are min, max, floor, ceil, round, sqrt, if'],
    ['min(balance)', '1:1: min takes at least 2 values, not 1'],
    ['if(balance, 1, 2)', '1:4: a condition is expected here'],
    ['balance > 3', '1:1: the last line must be a number, and this is a condition'],
    ['1 + (2 > 1)', '1:6: a number is expected here, not a condition'],
    ['x = 1', '1:5: the last line must be an expression, or amount = …'],
    ['balance = 1\n2', '1:1: balance already has a meaning: choose another name'],
    ['x = 1\nx = 2\nx', '2:1: x already has a meaning: choose another name'],
    ['1\n2', '1:1: only the last line may be this'],
    ['(1', '1:2: the end of the formula is not expected here: ")" is'],
    ['1 2', '1:3: a number is not expected here'],
    ['process.exit(1)', '1:8: "." has no meaning in a formula'],
    ["balance['x']", '1:8: "[" has no meaning in a formula'],
    ['\u001b[31m', '1:1: "\\u001b" has no meaning in a formula'],
    ['constructor', '1:1: constructor is unknown'],
    ['toString(1, 2)', '1:1: toString is not a function'],
    ['1 < 2 < 3', '1:7: "<" is not expected here'],
    [`${'('.repeat(100)}1${')'.repeat(100)}`, '1:66: there are more than 64 levels'],
    [`1${'0'.repeat(200)}`, '1:1: a number has at most 100 digits'],
  ])('%j is refused with the position', (text, message) => {
    expect(faultOf(() => parseFormula(text))).toContain(message)
  })

  it('names what fails at run time: division by zero, the root of a negative number, numbers without bound', () => {
    expect(faultOf(() => run('1 / (balance - 10)'))).toBe('1:3: division by zero')
    expect(faultOf(() => run('sqrt(0 - balance)'))).toBe('1:1: the square root of a negative number')
    const lines = Array.from({ length: 30 }, (_, i) => `x${i + 1} = x${i} * x${i}`)
    expect(faultOf(() => run(['x0 = balance', ...lines, 'x30'].join('\n')))).toMatch(/a number has more than 4096 bits/)
  })

  it('computes the exact value of fractions of integers', () => {
    const small = fc.bigInt({ min: 0n, max: 10n ** 20n })
    fc.assert(
      fc.property(small, small, fc.bigInt({ min: 1n, max: 10n ** 9n }), (a, b, c) => {
        const exact = fraction(a * c + b, c)
        expect(run(`${a} + ${b} / ${c}`)).toBe(exact.d === 1n ? String(exact.n) : `${exact.n}/${exact.d}`)
      }),
    )
  })

  it('computes roots that are never too large, and less than 10^-18 too small', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 12n }), (n, d) => {
        const root = rootOf({ n, d })
        expect(root.n * root.n * d <= n * root.d * root.d).toBe(true)
        const above = fraction(root.n * 10n ** 18n + root.d, root.d * 10n ** 18n)
        expect(above.n * above.n * d > n * above.d * above.d).toBe(true)
      }),
    )
  })

  it('fails only with a fault of the formula, whatever the text', () => {
    const words = [
      'balance',
      '1',
      '2.5',
      '+',
      '-',
      '*',
      '/',
      '(',
      ')',
      ',',
      '=',
      '<',
      'and',
      'not',
      'min',
      'if',
      '\n',
      'x',
      '#',
      ' ',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 30 }), (parts) => {
        try {
          run(parts.join(' '))
        } catch (error) {
          expect(error).toBeInstanceOf(AllocationFault)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
