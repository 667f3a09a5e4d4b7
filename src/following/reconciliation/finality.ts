/** Follows transactions that were found on the chain until they are final, or gone with their fork. */
import { askNode } from '../../chain/rpc-faults.ts'
import { readStatuses, STATUSES_PER_CALL } from '../../chain/statuses.ts'
import {
  type ChainTransaction,
  deleteChainTransactions,
  deleteFinal,
  deleteHalves,
  moveChainTransaction,
  unfinalTransactions,
} from '../../store/chain-transactions.ts'
import { isAnyUnfinal, storeFinalizedSlot } from '../../store/webhook-unfinal.ts'
import { HOUR_MS, SECOND_MS } from '../../timing.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'

/** Slots after which a transaction that no node knows is gone: more than until finality, as nodes may lag. */
const GONE_SLOTS = 150
const NEXT_LOOK_MS = 5 * SECOND_MS
/** The slower of two histories is listed more often than this, unless it has a gap. */
const HALVES_KEPT_MS = HOUR_MS

/** About a month at the shortest slots of today. */
const FINAL_KEPT_SLOTS = 10_000_000

interface FinalityOptions {
  genesis: string
  budget: Budget
}

/**
 * Takes one call for up to 256 transactions. What a dropped one has reported at `confirmed` stays, as with any
 * transaction; those who ask for `finalized` were never told. Throws internal_error when the node fails.
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
  const next_check_at = now + NEXT_LOOK_MS
  await store.write(async (tx) => {
    const ended: number[] = []
    for (const [i, row] of rows.entries()) {
      const status = statuses[i] ?? null
      const isFinal = status?.confirmationStatus === 'finalized'
      const isGone = status === null && reached > row.slot + GONE_SLOTS
      if (isFinal && row.state === 'empty') ended.push(row.seq)
      else if (isFinal) await moveChainTransaction(tx, row, { state: 'finalized', next_check_at: null })
      else if (isGone) await moveChainTransaction(tx, row, { state: 'dropped', next_check_at: null })
      else await moveChainTransaction(tx, row, { state: row.state as ChainTransaction['state'], next_check_at })
      if (isGone) log.warn({ signature: row.signature, slot: row.slot }, 'a fork dropped a transaction')
    }
    await deleteChainTransactions(tx, ended)
    await deleteHalves(tx, genesis, now - HALVES_KEPT_MS)
    await deleteFinal(tx, genesis, reached - FINAL_KEPT_SLOTS)
  })
}
