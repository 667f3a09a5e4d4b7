/** Every instruction that a run executes, the message's own and inner ones, in jsonParsed form. */

import type { DecodedMessage } from '../localnet/messages.ts'
import { parseInstruction } from '../localnet/rpc/instructions/index.ts'

export interface Instruction {
  program: string
  depth: number
  where: string
  /** Addresses that it names. */
  accounts: string[]
  /** As a validator names it; null where it was not parsed. */
  type: string | null
  info: Readonly<Record<string, unknown>>
}

interface Shown {
  programId?: unknown
  parsed?: unknown
  accounts?: unknown
  stackHeight?: unknown
}

/** `keys` are the message's own and the loaded addresses. */
export function ownInstructions({ instructions }: DecodedMessage, keys: readonly string[]): Instruction[] {
  return instructions.map((instruction, i) => {
    const shown = instructionOf(parseInstruction(instruction, keys), `instruction ${i}`, 1)
    return { ...shown, accounts: Array.from(instruction.accounts, (index) => keys[index]!) }
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
      found.push(instructionOf(inner, `instruction ${index}, inner ${i}`, inner.stackHeight ?? 2))
    }
  }
  return found
}

function instructionOf(shown: Shown, where: string, depth: number): Instruction {
  const { programId, parsed, accounts } = shown
  const { type, info } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>
  const named = typeof info === 'object' && info !== null ? (info as Record<string, unknown>) : {}
  return {
    program: String(programId),
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
