/** Shapes of the tables of program errors and of what is told about one failure. */

/** Name and message of each custom code of a program. Codes are facts of deployed programs: rows are only ever added. */
export type ErrorTable = Readonly<Record<number, readonly [name: string, message: string]>>

export interface ErrorContext {
  /** The transaction's log, as a validator returns it; null where it kept none. */
  logs?: readonly string[] | null
  /** Program of each outer instruction, base58, in order. */
  programIds?: readonly string[]
  /** The message's accounts, base58, static then loaded: with them the account that an error counts to is named. */
  accountKeys?: readonly string[]
}

export interface ExplainedError {
  /** Name of the program that failed, its address when svc does not know it; null when no program ran. */
  program: string | null
  /** As the program or the runtime calls it: `InsufficientLiquidity`, `BlockhashNotFound`. */
  name: string
  /** The program's own number; null for errors of the runtime. */
  code: number | null
  /** Index of the outer instruction, from 0. */
  instruction: number | null
  /** One line: what went wrong. */
  message: string
  /** One line: what to do about it. */
  hint: string | null
}
