/** Looks for transactions on the chain: asks for their states, reads what the confirmed ones did, and has both written. */
import { readFirstBlock, readStatuses, STATUSES_PER_CALL } from '../chain/statuses.ts'
import { type FollowedTransaction, noteChecked, rawTransactions } from '../store/transactions.ts'
import { FAULTY_ROW_WAIT_MS, type RowFault } from '../store/write-each.ts'
import type { Budget } from './budget.ts'
import { type AddressCounts, readChainStates, reserveStateCalls } from './chain-states.ts'
import { readEffects } from './effects.ts'
import { groupByWait, lookWaitOf, YOUNG_TRANSACTION_MS } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { isOverdue, transitionOf } from './transition.ts'
import { loggedFault, type PlannedTransition, writeTransitions } from './write-transitions.ts'

/** A transaction that the node does not know. */
export interface MissingTransaction {
  row: FollowedTransaction
  /** Slot that the node had reached. */
  slot: number
}

export interface LookResult {
  missing: MissingTransaction[]
  /** Why the first of the transactions that could not be followed could not be. */
  fault: unknown
}

export interface LookOptions {
  /** Ends it between two writes, where rows that cannot be written are found out. */
  signal?: AbortSignal | undefined
  leastWaitMs?: number
}

/**
 * One call for up to 256 transactions, and those for what the projections must read of the confirmed ones; none is looked
 * for again before `leastWaitMs`. Throws internal_error where the node fails; what it had answered until then is written.
 * A transaction that cannot be read or written is left for later, and never stops the others.
 */
export async function look(
  services: FollowingServices,
  rows: readonly FollowedTransaction[],
  budget: Budget,
  { signal, leastWaitMs = 0 }: LookOptions = {},
): Promise<LookResult> {
  const { store, chain, clock } = services
  const asked = rows.slice(0, STATUSES_PER_CALL)
  const now = clock.now()
  const genesis = await chain.genesisHash()
  const { slot, statuses, planned } = await readTransitions(services, asked, budget)
  const read = await withEffects(services, planned, budget)
  const { readable, states, fault } = await readChainStates(chain, read.planned)
  const faults = [...read.faults, ...(await writeTransitions(services, readable, { states, signal }))]
  const faulty = new Set(faults.map(({ row }) => row.signature))
  const moved = new Set(readable.map(({ row }) => row.signature).filter((signature) => !faulty.has(signature)))
  const unmoved = asked.filter(({ signature }) => !moved.has(signature))
  const waits = groupByWait(unmoved, (row) =>
    faulty.has(row.signature) ? FAULTY_ROW_WAIT_MS : Math.max(lookWaitOf(row, now), leastWaitMs),
  )
  await store.write(async (tx) => {
    for (const [wait, group] of waits) {
      const signatures = group.map(({ signature }) => signature)
      await noteChecked(tx, signatures, { now, next: now + wait, slot, genesis })
    }
  })
  if (fault !== undefined) throw fault
  const missing = asked.flatMap((row, i) => (statuses[i] ? [] : [{ row, slot }]))
  return { missing: missing.filter(({ row }) => isUnseen(row)), fault: faults[0]?.error }
}

/** Asks the node for the states, and says to which transitions they lead. */
async function readTransitions(
  { chain, clock }: FollowingServices,
  asked: readonly FollowedTransaction[],
  budget: Budget,
) {
  const now = clock.now()
  const isOld = ({ created_at }: FollowedTransaction) => now - created_at > YOUNG_TRANSACTION_MS
  const history = asked.some((row) => row.since_slot === null || wasSeen(row) || isOld(row))
  const signatures = asked.map(({ signature }) => signature)
  const { slot, statuses } = await readStatuses(chain, signatures, history)
  const isAnyLost = history && asked.some((row, i) => statuses[i] === null && isOverdue(row, slot))
  const since = isAnyLost && budget.take() ? await readFirstBlock(chain) : null
  const planned = asked.flatMap((row, i) => {
    const transition = transitionOf(row, { status: statuses[i] ?? null, slot, since })
    return transition === null ? [] : [{ row, transition }]
  })
  return { slot, statuses, planned }
}

/** Reads what the confirmed transactions did; those whose states the budget does not cover stay as they are until the next look. */
async function withEffects(services: FollowingServices, transitions: readonly PlannedTransition[], budget: Budget) {
  const { store, chain } = services
  const genesis = await chain.genesisHash()
  const confirmed = transitions.filter(({ transition }) => transition.landed)
  const raws = await rawTransactions(
    store.db,
    confirmed.map(({ row }) => row.signature),
  )
  const planned: PlannedTransition[] = []
  const faults: RowFault<FollowedTransaction>[] = []
  const counts: AddressCounts = new Map()
  for (const { row, transition } of transitions) {
    const raw = transition.landed ? raws.get(row.signature) : undefined
    if (raw === undefined) {
      planned.push({ row, transition })
      continue
    }
    try {
      const effects = await readEffects(services, row, raw)
      // What was confirmed here is of this chain, whether or not that was known when it was submitted.
      const each = { row: { ...row, genesis }, transition, effects }
      if (reserveStateCalls(budget, counts, each)) planned.push(each)
    } catch (error) {
      faults.push(loggedFault(services, row, error))
    }
  }
  return { planned, faults }
}

/** No node has shown the transaction yet; one of a bundle that the relay has given up counts as well. */
const isUnseen = (row: FollowedTransaction) =>
  row.lifecycle === 'submitted' || (row.lifecycle === 'failed' && !wasSeen(row))
const wasSeen = ({ confirmation_status }: FollowedTransaction) => confirmation_status !== null
