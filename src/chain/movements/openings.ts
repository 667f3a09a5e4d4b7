/** Accounts that are opened within a transaction: one that ends in it too is seen neither before nor after. */
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { Instruction } from './invocations.ts'

export interface Opening {
  /** That the account is handed to. */
  program: string
  /** Of a token account; null for any other. */
  owner: string | null
  mint: string | null
}

/** By address; none for what is not opened. */
export type Openings = ReadonlyMap<string, readonly Opening[]>

const CREATED = new Set(['createAccount', 'createAccountWithSeed'])
const ASSIGNED = new Set(['assign', 'assignWithSeed', 'allocateWithSeed'])
const TOKEN_ACCOUNT = new Set(['initializeAccount', 'initializeAccount2', 'initializeAccount3'])

export function openingsIn(instructions: readonly Instruction[]): Openings {
  const found = new Map<string, Opening[]>()
  for (const { program, type, info } of instructions) {
    const opened = openingOf(program, type ?? '', info)
    if (opened === null) continue
    const { address, ...opening } = opened
    found.set(address, [...(found.get(address) ?? []), opening])
  }
  return found
}

function openingOf(program: string, type: string, info: Instruction['info']): (Opening & { address: string }) | null {
  if (program === SYSTEM_PROGRAM) {
    const address = CREATED.has(type) ? info.newAccount : ASSIGNED.has(type) ? info.account : undefined
    return address === undefined
      ? null
      : { address: String(address), program: String(info.owner), owner: null, mint: null }
  }
  if (!isTokenProgram(program) || !TOKEN_ACCOUNT.has(type)) return null
  return { address: String(info.account), program, owner: String(info.owner), mint: String(info.mint) }
}
