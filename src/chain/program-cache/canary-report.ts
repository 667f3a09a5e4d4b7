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
  'launch without a curve',
  'create a token',
  'airdrop',
  'claim an airdrop',
  'clawback of an airdrop',
  'create a collection',
  'mint',
  'stake',
  'release a stake',
  'burn',
  'lock',
  'unlock',
  'create a multisig',
  'propose to a vault',
  'execute a proposal',
  'close a proposal',
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
  /** The instruction that failed; null if no transaction got so far. */
  instruction: InstructionName | null
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

/** An instruction that failed in an act, and passed in none. */
export interface FailingInstruction extends InstructionName {
  act: Act
  error: string
}

const keyOf = ({ program, name }: InstructionName) => `${program} ${name}`

/** What must not be signed: an instruction that also passed may fail for another reason, so it is left out. */
export function failingInstructions(acts: readonly CanaryAct[]): FailingInstruction[] {
  const passed = new Set(acts.flatMap(({ status, used }) => (status === 'passed' ? used.map(keyOf) : [])))
  return acts.flatMap(({ act, status, instruction, error }) => {
    if (status !== 'failed' || instruction === null || passed.has(keyOf(instruction))) return []
    return [{ act, ...instruction, error: error ?? 'it failed' }]
  })
}

const MAX_ERROR = 300
const isName = (value: unknown): value is string => typeof value === 'string' && /^\w{1,64}$/.test(value)

/** Parses one line of a canary's process, which ran hostile bytes; null if it is no act. */
export function parseAct(line: string): CanaryAct | null {
  try {
    const { act, status, error, instruction, used } = JSON.parse(line) as Record<string, unknown>
    const name = ACTS.find((known) => known === act)
    if (name === undefined || (status !== 'passed' && status !== 'failed' && status !== 'untried')) return null
    return {
      act: name,
      status,
      error: typeof error === 'string' ? error.slice(0, MAX_ERROR) : null,
      instruction: parseInstruction(instruction),
      used: (Array.isArray(used) ? used.slice(0, ACTS.length) : []).flatMap((each) => parseInstruction(each) ?? []),
    }
  } catch {
    return null
  }
}

function parseInstruction(value: unknown): InstructionName | null {
  const { program, name } = (value ?? {}) as Record<string, unknown>
  return typeof program === 'string' && WATCHED.has(program) && isName(name) ? { program, name } : null
}
