/** Describes the calls of programs that a transaction may make, and the failure if it makes others. */
import { Problem } from '../ui/problem.ts'

/** A value, one of several, or any for which the function returns true; null is no value. */
export type Wanted = string | bigint | number | null | readonly string[] | ((value: string) => boolean)

/** A call of a program. Fields and accounts that the program itself enforces are left out. */
export interface Call {
  program: string | readonly string[]
  /** The instruction's name, as `svc tx decode` shows it. */
  call: string
  fields: Readonly<Record<string, Wanted>>
  /** The instruction's data in hex, if the fields do not cover all of it. */
  data?: Wanted
  /** The accounts after the named ones, in their order, if it takes any; `TABLE[place]` for one of a lookup table, or a list of those that may stand there. */
  others?: readonly (string | readonly string[])[]
  /** How often it is made; once by default. */
  least?: number
  most?: number
  /** Calls of one group can replace each other: `least` counts them together. */
  group?: string
  /** How often calls of the group are made in total; `most` by default. */
  mostOfGroup?: number
  /** Another of these calls that must come before this one. */
  after?: Call
}

export interface Demand {
  /** What the transaction does, as text after `checked here: `. */
  says: string
  payer: string
  calls: readonly Call[]
  /** Whether the calls come in this order. */
  inOrder: boolean
  /** The wallet that each transaction must guard; null if guards may be missing. */
  guarded: string | null
}

/** After an API has built something else, it is not asked again. */
export class UnexpectedBuild extends Problem {}

export const unexpectedBuild = (difference: string) =>
  new UnexpectedBuild(
    'internal_error',
    `the API built another transaction than requested: ${difference}; nothing was signed`,
    { next: 'check which API answers: `svc config list`' },
  )
