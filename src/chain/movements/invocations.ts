/** Every instruction that a run executes: the message's own, read from its bytes, and inner ones, as a node shows them. */

import { decodeInstruction } from '../../solana/instructions/index.ts'
import type { DecodedMessage } from '../../solana/messages.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'

export interface Instruction {
  program: string
  /** Of the message's own instruction that it is, or belongs to. */
  index: number
  depth: number
  where: string
  /** Addresses that it names. */
  accounts: string[]
  /** As a validator names it; null where it is not known. */
  type: string | null
  /** Its accounts and fields: an own one's as decoded here, amounts as bigint; an inner one's as the node shows them. */
  info: Readonly<Record<string, unknown>>
}

/** Tag of the token program's instruction that holds others, which a node shows neither parsed nor as inner ones. */
const BATCH = 255

interface Shown {
  programId?: unknown
  parsed?: unknown
  accounts?: unknown
  stackHeight?: unknown
}

/** `keys` are the message's own and the loaded addresses. */
export function ownInstructions({ instructions }: DecodedMessage, keys: readonly string[]): Instruction[] {
  return instructions.map(({ programIdIndex, accounts: places, data }, i) => {
    const program = keys[programIdIndex] ?? ''
    const accounts = Array.from(places, (place) => keys[place] ?? '')
    const { type, ...info } = decodeInstruction(program, accounts, data)?.instruction ?? { type: null }
    const isBatch = isTokenProgram(program) && data[0] === BATCH
    return { program, index: i, depth: 1, where: `instruction ${i}`, accounts, type: isBatch ? 'batch' : type, info }
  })
}

/** As a simulation shows them; null where it does not, for nothing can be told about the transaction then. */
export function innerInstructions(shown: unknown): Instruction[] | null {
  if (!Array.isArray(shown)) return null
  const found: Instruction[] = []
  for (const { index, instructions } of shown as { index?: unknown; instructions?: unknown }[]) {
    if (!Number.isSafeInteger(index) || !Array.isArray(instructions)) return null
    for (const [i, inner] of instructions.entries()) {
      if (inner?.programId === undefined) return null
      found.push(instructionOf(inner, index as number, `instruction ${index}, inner ${i}`, inner.stackHeight ?? 2))
    }
  }
  return found
}

/** As they are executed: each of the message's own is followed by what it calls. */
export const inOrder = (own: readonly Instruction[], inner: readonly Instruction[]): Instruction[] =>
  own.flatMap((instruction) => [instruction, ...inner.filter(({ index }) => index === instruction.index)])

function instructionOf(shown: Shown, index: number, where: string, depth: number): Instruction {
  const { programId, parsed, accounts } = shown
  const { type, info } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>
  const named = typeof info === 'object' && info !== null ? (info as Record<string, unknown>) : {}
  return {
    program: String(programId),
    index,
    depth,
    where,
    accounts: Array.isArray(accounts) ? accounts.map(String) : textsIn(named),
    type: typeof type === 'string' ? type : null,
    info: named,
  }
}

const textsIn = (info: Record<string, unknown>): string[] =>
  Object.values(info)
    .flat()
    .filter((value): value is string => typeof value === 'string')
