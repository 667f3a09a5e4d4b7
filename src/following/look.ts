/** Looks for transactions on chain: reads their states and the changes of the confirmed ones, and writes both. */
import { finalityTime, readSlotTime } from '../chain/reads/slot-time.ts'
import {
  readFirstBlock,
  readStatuses,
  type SignatureStatus,
  STATUSES_PER_CALL,
  type Statuses,
} from '../chain/reads/statuses.ts'
import { type FollowedTransaction, noteChecked, rawTransactions } from '../store/transactions/transactions.ts'
import { FAULTY_ROW_WAIT_MS, type RowFault } from '../store/writing/write-each.ts'
import type { Budget } from './budget.ts'
import { type AddressCounts, readChainStates, reserveStateCalls } from './chain-states.ts'
import { readTransactionChanges } from './effects.ts'
import { historyEvidence } from './history-evidence.ts'
import { groupByWait, lookWaitOf, YOUNG_TRANSACTION_MS } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { isOverdue, transitionOf } from './transition.ts'
import { loggedFault, type PlannedTransition, writeTransitions } from './write-transitions.ts'

/** A transaction that the node does not know. */
export interface MissingTransaction {
  row: FollowedTransaction
  /** Slot that the node had reached when it was asked. */
  slot: number
}

interface LookResult {
  missing: MissingTransaction[]
  /** The error of the first transaction that could not be followed. */
  fault: unknown
}

export interface LookOptions {
  /** Ends the look between two writes while it isolates rows that cannot be written. */
  signal?: AbortSignal | undefined
  leastWaitMs?: number
}

/**
 * Takes one call for up to 256 transactions, and further calls for the accounts that projections read. No transaction
 * is looked for again before `leastWaitMs`. Throws internal_error when the node fails, after writing what it had
 * returned. A transaction that cannot be read or written is deferred and does not stop the others.
 */
export async function look(
  services: FollowingServices,
  rows: readonly FollowedTransaction[],
  budget: Budget,
  { signal, leastWaitMs = 0 }: LookOptions = {},
): Promise<LookResult> {
  const { store, chain, clock } = services
  const batch = rows.slice(0, STATUSES_PER_CALL)
  const now = clock.now()
  const genesis = await chain.genesisHash()
  // The wait for finality follows from them; nothing waits for their answers.
  void chain.consensus.read()
  void readSlotTime(chain)
  const { slot, statuses, planned } = await readTransitions(services, batch, budget)
  const { readable, faults, fault } = await writePlanned(services, planned, budget, signal)
  const faulty = new Set(faults.map(({ row }) => row.signature))
  const moved = new Set(readable.map(({ row }) => row.signature).filter((signature) => !faulty.has(signature)))
  const unmoved = batch.filter(({ signature }) => !moved.has(signature))
  const finalityMs = finalityTime(chain)
  const waits = groupByWait(unmoved, (row) =>
    faulty.has(row.signature) ? FAULTY_ROW_WAIT_MS : Math.max(lookWaitOf(row, { now, finalityMs }), leastWaitMs),
  )
  await store.write(async (tx) => {
    for (const [wait, group] of waits) {
      const signatures = group.map(({ signature }) => signature)
      await noteChecked(tx, signatures, { now, next: now + wait, slot, genesis })
    }
  })
  if (fault !== undefined) throw fault
  const missing = batch.flatMap((row, i) => (statuses[i] ? [] : [{ row, slot }]))
  return { missing: missing.filter(({ row }) => isUnseen(row)), fault: faults[0]?.error }
}

/**
 * Writes statuses that were read elsewhere, with the effects of those that are confirmed. Returns the transactions that
 * could not be written. Throws internal_error when the node fails.
 */
export async function writeStatuses(
  services: FollowingServices,
  found: readonly { row: FollowedTransaction; status: SignatureStatus }[],
  { slot, budget, signal }: { slot: number; budget: Budget; signal?: AbortSignal | undefined },
): Promise<RowFault<FollowedTransaction>[]> {
  const planned = found.flatMap(({ row, status }) => {
    const transition = transitionOf(row, { status, slot, since: null })
    return transition === null ? [] : [{ row, transition }]
  })
  const { faults, fault } = await writePlanned(services, planned, budget, signal)
  if (fault !== undefined) throw fault
  return faults
}

/** Reads what the confirmed transactions changed, and writes all. `fault` is the error of reading accounts. */
async function writePlanned(
  services: FollowingServices,
  planned: readonly PlannedTransition[],
  budget: Budget,
  signal: AbortSignal | undefined,
) {
  const read = await withChanges(services, planned, budget)
  const { readable, states, fault } = await readChainStates(services.chain, read.planned)
  const faults = [...read.faults, ...(await writeTransitions(services, readable, { states, signal }))]
  return { readable, faults, fault }
}

/** Reads the states from the node and returns the resulting transitions. */
async function readTransitions(services: FollowingServices, batch: readonly FollowedTransaction[], budget: Budget) {
  const { chain, clock } = services
  const now = clock.now()
  const isOld = ({ created_at }: FollowedTransaction) => now - created_at > YOUNG_TRANSACTION_MS
  const history = batch.some((row) => row.since_slot === null || wasSeen(row) || isOld(row))
  const signatures = batch.map(({ signature }) => signature)
  const first = await readStatuses(chain, signatures, history)
  const isAnyLost = history && batch.some((row, i) => first.statuses[i] === null && isOverdue(row, first.slot))
  const { slot, statuses, since, unproven } =
    isAnyLost && budget.take()
      ? await confirmedLoss(services, batch, first, budget)
      : { ...first, since: null, unproven: new Set<string>() }
  const planned = batch.flatMap((row, i) => {
    const known = unproven.has(row.signature) ? null : since
    const transition = transitionOf(row, { status: statuses[i] ?? null, slot, since: known })
    return transition === null ? [] : [{ row, transition }]
  })
  return { slot, statuses, planned }
}

/** A reading of statuses that shows what is lost with its fork. */
interface LossReading extends Statuses {
  /** First slot of the searched history, or null if no reading can prove a loss. */
  since: number | null
  /** Confirmed transactions that only one node does not know. */
  unproven: ReadonlySet<string>
}

/**
 * Reads again what seems to be lost, with the start of the searched history. With several endpoints, it is lost if two
 * do not know it, and found if one does. The only node of a cluster proves the loss of a confirmed one by its history.
 */
async function confirmedLoss(
  services: FollowingServices,
  batch: readonly FollowedTransaction[],
  first: Statuses,
  budget: Budget,
): Promise<LossReading> {
  const { chain } = services
  const signatures = batch.map(({ signature }) => signature)
  const readings = await chain.witnesses(async (node) => {
    const since = await readFirstBlock(node)
    return { since, ...(await readStatuses(node, signatures, true)) }
  })
  if (readings.length === 0) return { ...first, since: null, unproven: new Set<string>() }
  const slot = Math.min(...readings.map(({ slot }) => slot))
  const statuses = signatures.map((_, i) => readings.map(({ statuses }) => statuses[i] ?? null).find(Boolean) ?? null)
  const since = Math.max(...readings.map(({ since }) => since))
  if (chain.provesAbsence) return { slot, statuses, since, unproven: new Set<string>() }
  // One that was only processed may be dropped at any time: it is sent again without proof.
  const lost = batch.filter(
    (row, i) => statuses[i] === null && isOverdue(row, slot) && row.confirmation_status !== 'processed',
  )
  const shown = await historyEvidence(
    services,
    lost.map((row) => ({ row, sinceSlot: row.slot, lastSlot: row.slot })),
    budget,
  )
  return {
    slot,
    statuses: statuses.map((status, i) => {
      const evidence = shown.get(signatures[i] ?? '')
      return status ?? (typeof evidence === 'object' ? evidence : null)
    }),
    since,
    unproven: new Set(lost.map(({ signature }) => signature).filter((one) => shown.get(one) !== 'absent')),
  }
}

/**
 * Reads the changes of the confirmed transactions. Those whose accounts exceed the budget are left unchanged until the
 * next look.
 */
async function withChanges(services: FollowingServices, transitions: readonly PlannedTransition[], budget: Budget) {
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
    if (raw === undefined || raw.length === 0) {
      planned.push({ row, transition })
      continue
    }
    try {
      const changes = await readTransactionChanges(services, row, raw)
      // A transaction that is confirmed here belongs to this chain, even if its chain was unknown when it was
      // submitted.
      const each = { row: { ...row, genesis }, transition, changes }
      if (reserveStateCalls(budget, counts, each)) planned.push(each)
    } catch (error) {
      faults.push(loggedFault(services, row, error))
    }
  }
  return { planned, faults }
}

/** Whether no node has shown the transaction yet. This includes bundles that the relay reported as failed. */
const isUnseen = (row: FollowedTransaction) =>
  row.lifecycle === 'submitted' || (row.lifecycle === 'failed' && !wasSeen(row))
const wasSeen = ({ confirmation_status }: FollowedTransaction) => confirmation_status !== null
