/** Layouts of instructions as text: their names, their accounts in order, and their arguments with their types. */

/**
 * Instructions by the hex of their first bytes: name, names of the accounts, and `name:type` of the arguments, whose
 * types are those of `solana/programs/field-types.ts`. Names are separated by spaces.
 */
export type InstructionTable = Readonly<Record<string, readonly [name: string, accounts: string, args: string]>>

export interface ProgramLayout {
  table: InstructionTable
  /** Number of bytes at the start of the data that identify the instruction. */
  prefixBytes: number
}
