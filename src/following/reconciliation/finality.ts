/** Follows transactions that were found on chain until they are final or lost with their fork. */
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { readStatuses, STATUSES_PER_CALL } from '../../chain/reads/statuses.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import {
  deleteChainTransactions,
  deleteFinal,
  deleteHalves,
  moveChainTransaction,
  unfinalTransactions,
} from '../../store/following/chain-transactions.ts'
import { isAnyUnfinal, storeFinalizedSlot } from '../../store/webhooks/unfinal.ts'
import { type Budget, takeCalls } from '../budget.ts'
import type { FollowingServices } from '../services.ts'
import { GONE_SLOTS, goneAmong, PROOF_CALLS } from './lost.ts'

const NEXT_LOOK_MS = 5 * SECOND_MS
/** Wait if the nodes together cannot prove that a transaction is lost. */
const UNPROVEN_WAIT_MS = MINUTE_MS
/** Each history is listed at least this often, unless it has a gap. */
const HALVES_KEPT_MS = HOUR_MS

/** About a month at today's shortest slots. */
const FINAL_KEPT_SLOTS = 10_000_000

interface FinalityOptions {
  genesis: string
  budget: Budget
}

/**
 * Takes one call for up to 256 transactions. Events that a dropped transaction reported at `confirmed` stay, as for
 * any transaction. Receivers that ask for `finalized` never got them. Throws internal_error when the node fails.
 */
export async function lookAtFinality(
  { store, chain, clock, log }: FollowingServices,
  { genesis, budget }: FinalityOptions,
): Promise<void> {
  const now = clock.now()
  if ((await isAnyUnfinal(store.db)) && budget.take()) {
    const slot = await askNode('Reading the slot', () => chain.call<unknown>('getSlot', [{ commitment: 'finalized' }]))
    if (Number.isSafeInteger(slot)) await store.write((tx) => storeFinalizedSlot(tx, slot as number))
  }
  const rows = await unfinalTransactions(store.db, { genesis, now, limit: STATUSES_PER_CALL })
  if (rows.length === 0 || !budget.take()) return
  const signatures = rows.map(({ signature }) => signature)
  const { slot: reached, statuses } = await readStatuses(chain, signatures, true)
  const lost = rows.filter(({ slot }, i) => (statuses[i] ?? null) === null && reached > slot + GONE_SLOTS)
  const gone = lost.length > 0 && takeCalls(budget, PROOF_CALLS) ? await goneAmong(chain, lost) : new Set<number>()
  await store.write(async (tx) => {
    const ended: number[] = []
    for (const [i, row] of rows.entries()) {
      const status = statuses[i] ?? null
      const isFinal = status?.confirmationStatus === 'finalized'
      // It succeeded on one fork and failed on the final one, so its reported changes did not take place.
      const isUndone = isFinal && status.err !== null && row.state === 'read'
      const isGone = gone.has(row.seq) || isUndone
      const wait = lost.includes(row) ? UNPROVEN_WAIT_MS : NEXT_LOOK_MS
      if (isFinal && row.state === 'empty') ended.push(row.seq)
      else if (isGone) await moveChainTransaction(tx, row, { state: 'dropped', next_check_at: null })
      else if (isFinal) await moveChainTransaction(tx, row, { state: 'finalized', next_check_at: null })
      else await moveChainTransaction(tx, row, { state: row.state, next_check_at: now + wait })
      const what = isUndone ? 'a final transaction has failed' : 'a fork dropped a transaction'
      if (isGone) log.warn({ signature: row.signature, slot: row.slot }, what)
    }
    await deleteChainTransactions(tx, ended)
    await deleteHalves(tx, genesis, now - HALVES_KEPT_MS)
    await deleteFinal(tx, genesis, reached - FINAL_KEPT_SLOTS)
  })
}
