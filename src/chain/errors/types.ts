/** Shapes of the tables of program errors and of the explanation of one failure. */
import type { ReadInstruction } from '../../solana/guards.ts'

/**
 * Name and message of each custom code of a program. Codes of deployed programs are fixed, so rows are only ever added.
 */
export type ErrorTable = Readonly<Record<number, readonly [name: string, message: string]>>

export interface ErrorContext {
  /** The transaction's log as a validator returns it, or null without one. */
  logs?: readonly string[] | null
  /** Address of the program of each outer instruction, base58, in order. */
  programIds?: readonly string[]
  /**
   * The message's accounts in base58, static ones before loaded ones. They name the account that an error refers to by
   * index.
   */
  accountKeys?: readonly string[]
  /** The outer instructions with their accounts: they say what a guard requires. */
  instructions?: readonly ReadInstruction[]
  /** Account of the durable nonce that replaces the blockhash, or null. */
  nonceAccount?: string | null
}

export interface ExplainedError {
  /** Name of the program that failed, its address when svc does not know it, or null when no program ran. */
  program: string | null
  /** Name that the program or the runtime uses, such as `InsufficientLiquidity` or `BlockhashNotFound`. */
  name: string
  /** The program's own number, or null for errors of the runtime. */
  code: number | null
  /** Index of the outer instruction, from 0, or null when no instruction failed. */
  instruction: number | null
  /** One line that describes the failure. */
  message: string
  /** One line with the remedy, or null when there is none. */
  hint: string | null
}
