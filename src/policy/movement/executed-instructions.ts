/** Lists every instruction that a transaction executes: the message's own, decoded from its bytes, and inner ones as the node reports them. */
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'

export interface ExecutedInstruction {
  program: string
  /** Index of the message's own instruction: this one, or the one that calls it. */
  index: number
  depth: number
  where: string
  /** Addresses that the instruction names. */
  accounts: string[]
  /** First eight bytes of the data of the message's own instruction, in hex; null for an inner one. */
  call: string | null
  /** The name that validators show, or null when it is unknown. */
  type: string | null
  /**
   * Accounts and fields of the instruction. The message's own are decoded here with bigint amounts; inner ones have the
   * node's form.
   */
  info: Readonly<Record<string, unknown>>
}

/**
 * Tag of the token program's batch instruction. A node returns the instructions in it neither parsed nor as inner
 * ones.
 */
const BATCH_TAG = 255
/** Bytes that name an instruction of a program built with Anchor. */
const CALL_BYTES = 8

/** An inner instruction in a node's answer, before its fields are checked. */
interface ShownInstruction {
  programId?: unknown
  parsed?: unknown
  accounts?: unknown
  stackHeight?: unknown
}

/** `keys` are the message's own keys and the addresses loaded from lookup tables. */
export function messageInstructions({ instructions }: DecodedMessage, keys: readonly string[]): ExecutedInstruction[] {
  return instructions.map(({ programIdIndex, accounts: places, data }, i) => {
    const program = keys[programIdIndex] ?? ''
    const accounts = Array.from(places, (place) => keys[place] ?? '')
    const { type, ...info } = decodeInstruction(program, accounts, data)?.instruction ?? { type: null }
    const isBatch = isTokenProgram(program) && data[0] === BATCH_TAG
    const call = Buffer.from(data.subarray(0, CALL_BYTES)).toString('hex')
    const place = { index: i, depth: 1, where: `instruction ${i}` }
    return { program, ...place, accounts, call, type: isBatch ? 'batch' : type, info }
  })
}

/** Returns the inner instructions that a simulation shows, or null when they have no readable form. */
export function innerInstructions(shown: unknown): ExecutedInstruction[] | null {
  if (!Array.isArray(shown)) return null
  const inner: ExecutedInstruction[] = []
  for (const { index, instructions } of shown as { index?: unknown; instructions?: unknown }[]) {
    if (typeof index !== 'number' || !Number.isSafeInteger(index) || !Array.isArray(instructions)) return null
    for (const [i, instruction] of instructions.entries()) {
      if (instruction?.programId === undefined) return null
      const where = `instruction ${index}, inner ${i}`
      inner.push(innerInstruction(instruction, index, where, instruction.stackHeight ?? 2))
    }
  }
  return inner
}

/** Orders each of the message's own instructions before those that it calls. */
export const inExecutionOrder = (
  own: readonly ExecutedInstruction[],
  inner: readonly ExecutedInstruction[],
): ExecutedInstruction[] =>
  own.flatMap((instruction) => [instruction, ...inner.filter(({ index }) => index === instruction.index)])

function innerInstruction(shown: ShownInstruction, index: number, where: string, depth: number): ExecutedInstruction {
  const { programId, parsed, accounts } = shown
  const { type, info } = recordOf(parsed)
  const fields = recordOf(info)
  return {
    program: String(programId),
    index,
    depth,
    where,
    accounts: Array.isArray(accounts) ? accounts.map(String) : stringsIn(fields),
    call: null,
    type: typeof type === 'string' ? type : null,
    info: fields,
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const stringsIn = (fields: Readonly<Record<string, unknown>>): string[] =>
  Object.values(fields)
    .flat()
    .filter((value): value is string => typeof value === 'string')
