/** Requires that a text of instructions leaves nothing out. */
import { expect } from 'vitest'
import type { DescribedInstruction } from '../../src/solana/described-instructions.ts'

/** Without the breaks of lines, so that a value that takes several is found whole. */
export const flat = (lines: readonly string[]) => lines.join('').replaceAll(' ', '')

/** Each program, account, role, argument and unexplained byte is in the text, which `flat` made. */
export function requireWhole(instructions: readonly DescribedInstruction[], text: string): void {
  for (const { program, accounts, args, rest, inner } of instructions) {
    for (const address of [program, ...accounts.map((account) => account.address)]) expect(text).toContain(address)
    for (const { role } of accounts) expect(text).toContain(role ?? 'furtheraccount')
    for (const { name, value, unit } of args) {
      expect(text).toContain(name)
      // Amounts have separators, and a message that is decoded below is not repeated.
      const isElsewhere = unit !== null || (inner !== undefined && name === 'transaction_message')
      if (!isElsewhere) expect(text).toContain(value.replaceAll(' ', ''))
    }
    expect(text).toContain(rest)
    if (inner !== undefined) requireWhole(inner, text)
  }
}
