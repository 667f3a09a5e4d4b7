/** Puts claims into as few transactions as possible, and computes their costs. */
import { compileTransaction } from '../../solana/compiling.ts'
import { MAX_TRANSACTION_BYTES, SIGNATURE_BYTES } from '../../solana/constants.ts'
import { legacyOf } from '../../solana/legacy-messages.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { CLAIM_STATUS_BYTES } from '../../solana/programs/merkle-distributor.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { percentileOf } from '../../solana/recent-fees.ts'
import {
  budgetInstructions,
  firstClaimInstruction,
  openingInstruction,
  vestedClaimInstruction,
} from './claim-instructions.ts'
import type { RowState, WalletState } from './claim-state.ts'
import { PageFault } from './page-fault.ts'
import { requireKey } from './program-addresses.ts'
import { RpcRefusal, type SolanaNode } from './solana-node.ts'

export type MessageVersion = 0 | 'legacy'

/** What one transaction does. */
export interface PlannedTransaction {
  instructions: readonly PlainInstruction[]
  units: number
  /** Lamports that become rent of accounts. */
  rent: bigint
  /** Accounts that it changes, which determine the priority fee. */
  writable: readonly string[]
}

export interface PlannedClaim extends PlannedTransaction {
  /** Raw units by row. */
  pays: readonly { state: RowState; amount: bigint }[]
}

/** What a wallet has for costs, and what accounts cost. */
export type Purse = Pick<WalletState, 'lamports' | 'rentOf'>

/** Compute units of each step, half more than the largest run used. */
const OPENING_UNITS = 45_000
const FIRST_UNITS = 90_000
const VESTED_UNITS = 45_000
const OVERHEAD_UNITS = 1_000
/** Lamports of a signature. */
export const SIGNATURE_FEE = 5_000n
/** Most lamports that the page pays for priority. */
export const MOST_PRIORITY_FEE = 100_000n
/** Any 32 bytes, for measuring. */
const ANY_BLOCKHASH = SYSTEM_PROGRAM
const ANY_PRICE = 1n

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

const sizeOf = (wallet: string, instructions: readonly PlainInstruction[]) =>
  unsignedTransaction(wallet, [...budgetInstructions(OVERHEAD_UNITS, ANY_PRICE), ...instructions], ANY_BLOCKHASH).length

/** Encodes a transaction of version 0 without signatures. */
export const unsignedTransaction = (
  payer: string,
  instructions: readonly PlainInstruction[],
  recentBlockhash: string,
): Uint8Array => {
  const uncompiled = instructions.map(({ program, accounts, data }) => ({
    programId: program,
    keys: accounts.map(({ address, ...role }) => ({ pubkey: address, ...role })),
    data,
  }))
  return compileTransaction({ payer, recentBlockhash, instructions: uncompiled, bytesOf: requireKey }).transaction
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
    return isMissing ? [openingInstruction(state.accounts), instruction] : [instruction]
  }
  const close = () => {
    if (batch.length === 0) return
    const openings = instructions.length - batch.length
    planned.push({
      instructions,
      units: OVERHEAD_UNITS + openings * OPENING_UNITS + batch.reduce((sum, { units }) => sum + units, 0),
      pays: batch.map(({ state, amount }) => ({ state, amount })),
      rent: batch.reduce((sum, { rent }) => sum + rent, 0n) + BigInt(openings) * wallet.rentOf(TOKEN.sizeOf('account')),
      writable: [...new Set(batch.flatMap(({ state: { accounts } }) => [accounts.distributor, accounts.vault]))],
    })
    batch = []
    instructions = []
  }
  for (const step of steps) {
    let added = withOpening(step, opened)
    if (sizeOf(wallet.wallet, [...instructions, ...added]) > MAX_TRANSACTION_BYTES) {
      close()
      added = withOpening(step, opened)
      if (sizeOf(wallet.wallet, added) > MAX_TRANSACTION_BYTES) throw new PageFault('tooLarge')
    }
    opened.add(step.state.accounts.tokenAccount)
    batch.push(step)
    instructions = [...instructions, ...added]
  }
  close()
  return planned
}

/** Whether rent and fee take all that the wallet has, so that nothing is left for a priority fee. */
export const leavesNothing = (
  { lamports }: Pick<Purse, 'lamports'>,
  { rent }: Pick<PlannedTransaction, 'rent'>,
): boolean => lamports === rent + SIGNATURE_FEE

/**
 * Lamports that the wallet lacks for a transaction at the highest fee, or 0n. The remaining balance must be 0 or at
 * least the rent minimum.
 */
export function lamportsMissing({ lamports, rentOf }: Purse, { rent }: PlannedTransaction): bigint {
  const cost = rent + SIGNATURE_FEE + MOST_PRIORITY_FEE
  if (leavesNothing({ lamports }, { rent })) return 0n
  const needed = cost + rentOf(0)
  return lamports >= needed ? 0n : needed - lamports
}

/**
 * Price of a compute unit in millionths of a lamport: the 75th percentile of recent prices, within the limit.
 */
export async function unitPrice(node: SolanaNode, { writable, units }: PlannedTransaction): Promise<bigint> {
  try {
    const fees = await node.call('getRecentPrioritizationFees', [writable.slice(0, 128)])
    const paid = (Array.isArray(fees) ? fees : [])
      .map(({ prioritizationFee }) => prioritizationFee)
      .filter((fee): fee is number => Number.isSafeInteger(fee) && fee >= 0)
    const price = percentileOf(paid.map(BigInt))
    const most = (MOST_PRIORITY_FEE * 1_000_000n) / BigInt(units)
    return price < most ? price : most
  } catch (error) {
    if (error instanceof RpcRefusal) return 0n
    throw error
  }
}

/** The whole unsigned transaction, which the wallet alone signs. */
export function transactionOf(
  wallet: string,
  { instructions, units }: PlannedTransaction,
  price: bigint,
  blockhash: string,
  version: MessageVersion,
): Uint8Array {
  const transaction = unsignedTransaction(wallet, [...budgetInstructions(units, price), ...instructions], blockhash)
  const message = { version: 0 as const, lookups: [], signers: 1 }
  return version === 0 ? transaction : legacyOf({ message, messageBytes: transaction.subarray(1 + SIGNATURE_BYTES) })
}
