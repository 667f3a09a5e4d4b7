/** Finds accounts that are opened within a transaction. One that is also closed in it appears neither before nor after. */
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { ExecutedInstruction } from './executed-instructions.ts'

export interface AccountOpening {
  /** The program that the account is assigned to. */
  program: string
  /** Owner and mint of a token account, or null for any other account. */
  owner: string | null
  mint: string | null
}

/** The openings of each address, in the order of execution. */
export type AccountOpenings = ReadonlyMap<string, readonly AccountOpening[]>

const CREATED = new Set(['createAccount', 'createAccountWithSeed'])
const ASSIGNED = new Set(['assign', 'assignWithSeed', 'allocateWithSeed'])
const TOKEN_ACCOUNT = new Set(['initializeAccount', 'initializeAccount2', 'initializeAccount3'])

export function accountOpenings(instructions: readonly ExecutedInstruction[]): AccountOpenings {
  const openings = new Map<string, AccountOpening[]>()
  for (const instruction of instructions) {
    const opened = openingBy(instruction)
    if (opened === null) continue
    const { address, ...opening } = opened
    openings.set(address, [...(openings.get(address) ?? []), opening])
  }
  return openings
}

function openingBy({ program, type, info }: ExecutedInstruction): (AccountOpening & { address: string }) | null {
  if (type === null) return null
  if (program === SYSTEM_PROGRAM) {
    const address = CREATED.has(type) ? info.newAccount : ASSIGNED.has(type) ? info.account : undefined
    if (address === undefined) return null
    return { address: String(address), program: String(info.owner), owner: null, mint: null }
  }
  if (!isTokenProgram(program) || !TOKEN_ACCOUNT.has(type)) return null
  return { address: String(info.account), program, owner: String(info.owner), mint: String(info.mint) }
}
