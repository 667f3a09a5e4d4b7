/** What the accounts of a proposal say about its plan: its state, who has decided, and whether it is what was planned. */
import type { SquadsApprover } from '../../../api/index.ts'
import type { ProposalOnChain } from '../../../chain/programs/squads/index.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../platform/timing.ts'
import { type Multisig, type ProposalAccount, storedMessageDifference } from '../../../solana/squads/index.ts'
import { unpackMessage } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { memberRecords } from './known-vault.ts'
import { overdueFault } from './last-moment.ts'

export interface ReadAccounts extends ProposalOnChain {
  /** Unix milliseconds of the chain's clock. */
  chainNow: number
  /** Why the account is not a transaction of a vault, such as a change of the members; null if it is. */
  foreign: string | null
}

type PlanRow = Row<'proposals'>
type PlanState = Pick<PlanRow, 'status' | 'fault' | 'needed' | 'reclaimed_at' | 'next_look_at'>

/** A plan that never reached the chain is given up after this time. */
const PLAN_LIFE_MS = 7 * DAY_MS
/** What is finished is still looked at for this time, to see its rent returned. */
const RECLAIM_WATCH_MS = 7 * DAY_MS
/** The history of what was closed says within this time whether it was executed. */
const HISTORY_MS = 2 * MINUTE_MS
/** Longest time between two looks. */
export const LONGEST_PROPOSAL_WAIT_MS = HOUR_MS

const ENDED: ReadonlySet<PlanRow['status']> = new Set(['executed', 'rejected', 'cancelled', 'stale'])

/** Whether nothing but the return of its rent can follow. */
export const isEnded = (status: PlanRow['status']): boolean => ENDED.has(status)

/** Whether it was not seen on the chain. One that was given up may still have been sent. */
export const isUnsent = (status: PlanRow['status']): boolean => status === 'planned' || status === 'expired'

/** Returns the state that follows from what was read at `now`. */
export function planState(row: PlanRow, read: ReadAccounts, now: number): PlanState {
  const { multisig, proposal, transaction } = read
  const index = BigInt(row.transaction_index ?? 0)
  const base = { needed: multisig.threshold, reclaimed_at: row.reclaimed_at, fault: row.fault }
  const as = (status: PlanRow['status'], changes: Partial<PlanState> = {}): PlanState => {
    const state = { ...base, status, ...changes }
    return { ...state, next_look_at: nextLook(row, state, now) }
  }
  const isPlan = isUnsent(row.status)
  if (read.foreign !== null) {
    return isPlan
      ? as('expired', { fault: `${numberTaken('another transaction', index)} ${read.foreign}.` })
      : as(row.status, { fault: `${read.foreign}.` })
  }
  if (transaction === null && proposal === null) {
    if (!isPlan) return closed(row, now, as)
    if (row.status === 'expired') return as('expired')
    if (multisig.transactionIndex >= index) return as('expired', { fault: numberTaken('another transaction', index) })
    return now - row.created_at > PLAN_LIFE_MS
      ? as('expired', { fault: 'It was never put on the chain.' })
      : as('planned')
  }
  if (transaction !== null) {
    const difference = differenceOf(row, transaction)
    if (difference !== null && isPlan) {
      return as('expired', { fault: `${numberTaken('another transaction', index)} ${difference}` })
    }
    if (difference !== null) return as(planStatus(row, proposal, multisig), { fault: difference })
  }
  const status = planStatus(row, proposal, multisig)
  const isOpen = status === 'active' || status === 'approved'
  return as(status, { fault: isOpen ? overdueFault(row, read.chainNow) : null })
}

export const numberTaken = (what: string, index: bigint) => `Number ${index} of the multisig was taken by ${what}.`

/** Only what is finished or stale can be closed. Whether it was executed before, its history says. */
function closed(row: PlanRow, now: number, as: (status: PlanRow['status'], changes?: Partial<PlanState>) => PlanState) {
  const reclaimed_at = row.reclaimed_at ?? now
  if (isEnded(row.status) || now - reclaimed_at < HISTORY_MS) return as(row.status, { reclaimed_at })
  return as(row.status === 'approved' ? 'cancelled' : 'stale', { reclaimed_at })
}

/** Says what differs between the plan and what the chain stores, or returns null. */
export function differenceOf(
  row: Pick<PlanRow, 'stored_message' | 'vault_index' | 'ephemeral_signers'>,
  transaction: NonNullable<ReadAccounts['transaction']>,
): string | null {
  if (row.stored_message === null) return 'The plan has no message.'
  if (row.vault_index !== transaction.vaultIndex) {
    return `The stored transaction is one of the vault ${transaction.vaultIndex} instead of ${row.vault_index}.`
  }
  if ((row.ephemeral_signers ?? 0) !== transaction.ephemeralSigners) {
    return `The stored transaction has ${transaction.ephemeralSigners} ephemeral signers instead of ${row.ephemeral_signers}.`
  }
  return storedMessageDifference(unpackMessage(row.stored_message), transaction.message)
}

function planStatus(row: PlanRow, proposal: ProposalAccount | null, multisig: Multisig): PlanRow['status'] {
  // The transaction is there, and its proposal not yet.
  if (proposal === null) return row.status === 'expired' ? 'planned' : row.status
  switch (proposal.status) {
    case 'draft':
      return 'planned'
    case 'active':
      return proposal.index <= multisig.staleTransactionIndex ? 'stale' : 'active'
    case 'approved':
    case 'executing':
      return 'approved'
    default:
      return proposal.status
  }
}

/** Often while something is likely to happen, and seldom later; null once nothing can. */
function nextLook(row: PlanRow, state: Omit<PlanState, 'next_look_at'>, now: number): number | null {
  if (state.status === 'expired') return null
  const age = now - (state.status === row.status ? row.updated_at : now)
  if (ENDED.has(state.status)) {
    if (state.reclaimed_at !== null || age > RECLAIM_WATCH_MS) return null
    return now + Math.min(LONGEST_PROPOSAL_WAIT_MS, Math.max(MINUTE_MS, age))
  }
  const wait = Math.max(2 * SECOND_MS, Math.min(age / 10, 10 * MINUTE_MS))
  return Math.floor(now + wait)
}

/** The approver of a plan as of this reading. */
export function refreshedApprover(approver: SquadsApprover, { multisig, proposal }: ReadAccounts): SquadsApprover {
  const isApproved = proposal?.status === 'approved' && proposal.timestamp !== null
  return {
    ...approver,
    members: memberRecords(multisig.members),
    time_lock: multisig.timeLock,
    approved_at: isApproved ? new Date(Number(proposal.timestamp) * SECOND_MS).toISOString() : approver.approved_at,
  }
}
