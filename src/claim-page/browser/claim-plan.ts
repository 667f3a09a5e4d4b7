/** Puts claims into as few transactions as possible, and computes their costs. */
import { CLAIM_STATUS_BYTES } from '../../solana/programs/merkle-distributor.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { claimOpening, firstClaimInstruction, vestedClaimInstruction } from './claim-instructions.ts'
import type { RowState, WalletState } from './claim-state.ts'
import { PageFault } from './page-fault.ts'
import { isFitting, type PlannedTransaction } from './planned-transaction.ts'

export interface PlannedClaim extends PlannedTransaction {
  /** Raw units by row. */
  pays: readonly { state: RowState; amount: bigint }[]
}

/** Compute units of each step, half more than the largest run used. */
const OPENING_UNITS = 45_000
const FIRST_UNITS = 90_000
const VESTED_UNITS = 45_000
const OVERHEAD_UNITS = 1_000

interface Step {
  state: RowState
  instruction: PlainInstruction
  units: number
  amount: bigint
  rent: bigint
}

function stepsOf(state: RowState, { rentOf }: WalletState): Step[] {
  const { row, accounts, claimable } = state
  if (claimable === 0n) return []
  const steps: Step[] = []
  const first = state.takesFirst ? row.amount : 0n
  if (state.takesFirst) {
    const instruction = firstClaimInstruction(accounts, row)
    steps.push({ state, instruction, units: FIRST_UNITS, amount: first, rent: rentOf(CLAIM_STATUS_BYTES) })
  }
  if (state.takesVested) {
    const instruction = vestedClaimInstruction(accounts)
    steps.push({ state, instruction, units: VESTED_UNITS, amount: claimable - first, rent: 0n })
  }
  return steps
}

/**
 * Plans everything that the wallet can claim now. Throws PageFault for a claim that is too large for any transaction.
 */
export function planClaims(wallet: WalletState): PlannedClaim[] {
  const steps = wallet.rows.flatMap((state) => stepsOf(state, wallet))
  const opened = new Set<string>()
  const planned: PlannedClaim[] = []
  let batch: Step[] = []
  let instructions: PlainInstruction[] = []

  const withOpening = ({ state, instruction }: Step, isOpen: ReadonlySet<string>) => {
    const isMissing = !state.hasTokenAccount && !isOpen.has(state.accounts.tokenAccount)
    return isMissing ? [claimOpening(state.accounts), instruction] : [instruction]
  }
  const close = () => {
    if (batch.length === 0) return
    const openings = instructions.length - batch.length
    planned.push({
      instructions,
      units: OVERHEAD_UNITS + openings * OPENING_UNITS + batch.reduce((sum, { units }) => sum + units, 0),
      pays: batch.map(({ state, amount }) => ({ state, amount })),
      takes:
        batch.reduce((sum, { rent }) => sum + rent, 0n) + BigInt(openings) * wallet.rentOf(TOKEN.sizeOf('account')),
      writable: [...new Set(batch.flatMap(({ state: { accounts } }) => [accounts.distributor, accounts.vault]))],
    })
    batch = []
    instructions = []
  }
  for (const step of steps) {
    let added = withOpening(step, opened)
    if (!isFitting(wallet.wallet, [...instructions, ...added])) {
      close()
      added = withOpening(step, opened)
      if (!isFitting(wallet.wallet, added)) throw new PageFault('tooLarge')
    }
    opened.add(step.state.accounts.tokenAccount)
    batch.push(step)
    instructions = [...instructions, ...added]
  }
  close()
  return planned
}
