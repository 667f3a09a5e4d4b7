/** The report of a canary: what it tried against programs, what failed, and with which instruction. */
import { decodeWireTransaction, keyAt } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { describeInstruction } from '../instructions/describe.ts'

/** What a canary tries, in this order. */
export const ACTS = [
  'launch',
  'buy',
  'sell',
  'partner claims trading fees',
  'creator claims trading fees',
  'fill',
  'migrate',
  'trade after the migration',
  'partner claims surplus',
  'creator claims surplus',
  'partner claims migration fee',
  'creator claims migration fee',
  'partner claims leftover',
  'partner claims pool creation fee',
  'partner claims fees of positions',
  'creator claims fees of positions',
  'creator claims vested tokens',
  'launch with Token-2022',
  'give away the role of creator',
  'launch without a curve',
  'launch with a part for the platform',
  'open a position',
  'add liquidity',
  'withdraw liquidity',
  'lock liquidity',
  'vest liquidity',
  'withdraw vested liquidity',
  'close a position',
  'create a token',
  'change a token',
  'airdrop',
  'claim an airdrop',
  'claim what an airdrop vests',
  'clawback of an airdrop',
  'create a collection',
  'mint',
  'stake',
  'release a stake',
  'burn',
  'give away a collection',
  'lock',
  'unlock',
  'create a lock',
  'title a lock',
  'claim a lock',
  'change the recipient of a lock',
  'cancel a lock',
  'create a multisig',
  'propose to a vault',
  'execute a proposal',
  'close a proposal',
  'reject a proposal',
  'cancel a proposal',
  'propose in parts',
  'close a buffer',
  'create a raise',
  'open a raise to an allowlist',
  'deposit into a raise',
  'withdraw from a raise',
  'create a raise that fails',
  'claim from a raise',
  'settle a raise',
  'refund of a raise',
  'guard a wallet',
  'guard a token account',
] as const
export type Act = (typeof ACTS)[number]

/** An instruction of a program; its name is the first byte or eight bytes in hex if svc does not know it. */
export interface InstructionName {
  program: string
  name: string
}

export interface CanaryAct {
  act: Act
  /** `untried`: an earlier act failed, a program is missing, or there was nothing to do. */
  status: 'passed' | 'failed' | 'untried'
  error: string | null
  /** The instruction of the transaction that failed; null if no transaction got so far. */
  instruction: InstructionName | null
  /** The innermost of the programs that failed in it. Acts of older trials do not have it. */
  failed_program?: string | null
  /** The instructions of its transactions that succeeded. */
  used: InstructionName[]
}

const ANCHOR_PREFIX = 8
const WATCHED: ReadonlySet<string> = new Set(Object.values(PROGRAMS).map(({ id }) => id))

/** The instructions of programs that svc builds on, in a transaction of any version; `only` selects one by its index. */
export function instructionNamesIn(transaction: Uint8Array, only?: number): InstructionName[] {
  const { message } = decodeWireTransaction(transaction)
  return message.instructions.flatMap(({ programIdIndex, data }, index) => {
    const program = keyAt(message, programIdIndex)
    if ((only !== undefined && index !== only) || !WATCHED.has(program)) return []
    const { instruction } = describeInstruction(program, [], data)
    return [{ program, name: instruction ?? Buffer.from(data.subarray(0, ANCHOR_PREFIX)).toString('hex') }]
  })
}

const FAILED_LINE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) failed: /

/** The innermost program that svc builds on and that failed: a call that fails ends its caller too, which logs later. */
export function failedProgramIn(logs: readonly string[]): string | null {
  const failed = logs.map((line) => FAILED_LINE.exec(line)?.[1] ?? '')
  return failed.find((program) => WATCHED.has(program)) ?? null
}

/** An instruction that failed in an act, and passed in none. */
export interface FailingInstruction extends InstructionName {
  act: Act
  error: string
  /** The program that failed: that of the instruction, or one that it calls. */
  failed_program: string
}

const keyOf = ({ program, name }: InstructionName) => `${program} ${name}`

/** What must not be signed: an instruction that also passed may fail for another reason, so it is left out. */
export function failingInstructions(acts: readonly CanaryAct[]): FailingInstruction[] {
  const passed = new Set(acts.flatMap(({ status, used }) => (status === 'passed' ? used.map(keyOf) : [])))
  return acts.flatMap(({ act, status, instruction, error, failed_program }) => {
    if (status !== 'failed' || instruction === null || passed.has(keyOf(instruction))) return []
    return [{ act, ...instruction, error: error ?? 'it failed', failed_program: failed_program ?? instruction.program }]
  })
}

const MAX_ERROR = 300
const isWatched = (value: unknown): value is string => typeof value === 'string' && WATCHED.has(value)
const isName = (value: unknown): value is string => typeof value === 'string' && /^\w{1,64}$/.test(value)

/** Parses one line of a canary's process, which ran hostile bytes; null if it is not an act. */
export function parseAct(line: string): CanaryAct | null {
  try {
    const { act, status, error, instruction, failed_program, used } = JSON.parse(line) as Record<string, unknown>
    const name = ACTS.find((known) => known === act)
    if (name === undefined || (status !== 'passed' && status !== 'failed' && status !== 'untried')) return null
    return {
      act: name,
      status,
      error: typeof error === 'string' ? error.slice(0, MAX_ERROR) : null,
      instruction: parseInstruction(instruction),
      failed_program: isWatched(failed_program) ? failed_program : null,
      used: (Array.isArray(used) ? used.slice(0, ACTS.length) : []).flatMap((each) => parseInstruction(each) ?? []),
    }
  } catch {
    return null
  }
}

function parseInstruction(value: unknown): InstructionName | null {
  const { program, name } = (value ?? {}) as Record<string, unknown>
  return isWatched(program) && isName(name) ? { program, name } : null
}
