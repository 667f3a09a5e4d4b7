/** The calls of programs that a transaction may make, and the failure of one that makes others. */
import { Problem } from '../ui/problem.ts'

/** A value, one of several, or any for which the function is true; null is none. */
export type Wanted = string | bigint | number | null | readonly string[] | ((value: string) => boolean)

/** A call of a program. The fields and accounts that are left out are those that the program itself enforces. */
export interface Call {
  program: string | readonly string[]
  /** The instruction's name, as `svc tx decode` shows it. */
  call: string
  fields: Readonly<Record<string, Wanted>>
  /** The instruction's data in hex, where the fields do not cover all of it. */
  data?: Wanted
  /** How often it is made; once if left out. */
  least?: number
  most?: number
  /** Calls of one group stand for each other: `least` counts them together. */
  group?: string
  /** How often calls of the group are made together; as `most` if left out. */
  mostOfGroup?: number
  /** Another of these calls that is made before this one. */
  after?: Call
}

export interface Demand {
  /** What the transaction does, after `checked here: `. */
  says: string
  payer: string
  calls: readonly Call[]
  /** Whether the calls come in this order. */
  inOrder: boolean
}

/** An API that builds something else once is not asked again. */
export class UnexpectedBuild extends Problem {}

export const unexpectedBuild = (difference: string) =>
  new UnexpectedBuild(
    'internal_error',
    `the API built another transaction than was agreed to: ${difference}; nothing was signed`,
    { next: 'check which API answers: `svc config list`' },
  )
