/** The embedded chain's table of errors against the runtime that it was written for. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS, transactionErrorJson } from '../../src/localnet/transaction-errors.ts'

const ROOT = join(import.meta.dirname, '../..')
const declarations = readFileSync(join(ROOT, 'node_modules/litesvm/dist/internal.d.ts'), 'utf8')

function namesOf(declared: string): string[] {
  const body = new RegExp(`const enum ${declared} \\{([^}]*)\\}`).exec(declarations)![1]!
  const entries = [...body.matchAll(/(\w+) = (\d+)/g)]
  expect(entries.map(([, , number]) => Number(number))).toEqual(entries.map((_, i) => i))
  return entries.map(([, name]) => name!)
}

describe('the errors of the runtime', () => {
  it('all have the names that a validator uses', () => {
    expect(TRANSACTION_ERRORS).toEqual(namesOf('TransactionErrorFieldless'))
    expect(INSTRUCTION_ERRORS).toEqual(namesOf('InstructionErrorFieldless'))
    expect(TRANSACTION_ERRORS).toHaveLength(35)
    expect(INSTRUCTION_ERRORS).toHaveLength(53)
  })

  it('with fields become the JSON that clients parse', () => {
    class TransactionErrorInsufficientFundsForRent {
      accountIndex = 3
    }
    class TransactionErrorProgramExecutionTemporarilyRestricted {
      accountIndex = 4
    }
    const at = (error: number | { code: number } | { msg: string }) => ({ index: 2, err: () => error })
    const cases: [Parameters<typeof transactionErrorJson>[0], unknown][] = [
      [7, 'BlockhashNotFound'],
      [at(36), { InstructionError: [2, 'ComputationalBudgetExceeded'] }],
      [at({ code: 6001 }), { InstructionError: [2, { Custom: 6001 }] }],
      [at({ msg: 'Unknown' }), { InstructionError: [2, { BorshIoError: 'Unknown' }] }],
      [{ index: 5 }, { DuplicateInstruction: 5 }],
      [new TransactionErrorInsufficientFundsForRent(), { InsufficientFundsForRent: { account_index: 3 } }],
      [
        new TransactionErrorProgramExecutionTemporarilyRestricted(),
        { ProgramExecutionTemporarilyRestricted: { account_index: 4 } },
      ],
    ]
    for (const [error, json] of cases) expect(transactionErrorJson(error)).toEqual(json)
  })
})
