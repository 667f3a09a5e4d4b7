/** Reads from executed instructions who paid lamports to whom, which accounts were opened, and who received the lamports of closed ones. */

import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeInstruction } from '../../solana/instructions.ts'

interface LamportTransfer {
  source: string
  destination: string
  lamports: bigint
}

export interface SystemFlows {
  transfers: LamportTransfer[]
  /** The payer of each opened account, if known. */
  opened: ReadonlyMap<string, string | null>
  /** Receivers of the lamports of closed token accounts. */
  closed: ReadonlyMap<string, string>
  /** Receivers of what token accounts and mints held beyond their rent minimum. */
  withdrawn: ReadonlyMap<string, string>
  /** Mints whose tokens were burned. */
  burned: ReadonlySet<string>
}

/**
 * The instructions of `message` include the calls between programs. All were executed, because the transaction did not
 * fail.
 */
export function systemFlowsIn({ keys, instructions }: DecodedMessage): SystemFlows {
  const transfers: LamportTransfer[] = []
  const opened = new Map<string, string | null>()
  const closed = new Map<string, string>()
  const withdrawn = new Map<string, string>()
  const burned = new Set<string>()
  for (const { programIdIndex, accounts, data } of instructions) {
    const named = Array.from(accounts, (index) => keys[index] ?? '')
    const decoded = decodeInstruction(keys[programIdIndex] ?? '', named, data)
    if (decoded?.program === 'system') {
      const { instruction } = decoded
      if (instruction.type === 'transfer' || instruction.type === 'transferWithSeed') transfers.push(instruction)
      if (instruction.type === 'createAccount' || instruction.type === 'createAccountWithSeed') {
        opened.set(instruction.newAccount, instruction.source)
      }
      if (instruction.type === 'allocate' || instruction.type === 'assign') {
        opened.set(instruction.account, opened.get(instruction.account) ?? payerFor(transfers, instruction.account))
      }
    }
    if (decoded?.program === 'token') {
      const { instruction } = decoded
      if (instruction.type === 'closeAccount') closed.set(instruction.account, instruction.destination)
      if (instruction.type === 'withdrawExcessLamports') withdrawn.set(instruction.source, instruction.destination)
      if (instruction.type === 'burn' || instruction.type === 'burnChecked') burned.add(instruction.mint)
    }
  }
  return { transfers, opened, closed, withdrawn, burned }
}

/** For an account that may already hold lamports, rent is paid by a transfer before the allocation. */
const payerFor = (transfers: readonly LamportTransfer[], account: string): string | null =>
  transfers.findLast(({ destination }) => destination === account)?.source ?? null
