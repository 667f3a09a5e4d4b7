/** Repairs planned times that a fast clock has written, because nothing would happen until they come. */
import type { Services } from '../context.ts'
import { LONGEST_LOOK_WAIT_MS } from '../following/schedule.ts'
import { NONCE_SEND_WAIT_MS } from '../following/send.ts'
import { DAY_MS } from '../platform/timing.ts'
import { CLOCK_SLACK_MS, type FutureMoments, pullBack } from '../store/writing/future-moments.ts'
import { withPauses } from '../store/writing/in-steps.ts'
import { FAULTY_ROW_WAIT_MS } from '../store/writing/write-each.ts'
import { LONGEST_AIRDROP_WAIT_MS } from './airdrops/follow-airdrops.ts'
import { LONGEST_STEP_WAIT_MS } from './fee-schedules/step-run.ts'
import { LONGEST_GOLD_LOCK_WAIT_MS } from './gold-locks/follow-gold-locks.ts'
import { LONGEST_LEDGER_WAIT_MS } from './ledger/write-ledger.ts'
import { LONGEST_PAY_WAIT_MS } from './pay-requests/follow-pay-requests.ts'
import { LONGEST_PAUSE_MS as POOL_MS } from './pools/crank.ts'
import { LONGEST_PROPOSAL_WAIT_MS } from './proposals/squads/proposal-state.ts'
import { LONGEST_RAISE_WAIT_MS } from './raises/record.ts'

/**
 * The longest valid plan of each column. Times of past events are never rewritten, because this clock may be the wrong
 * one. A plan that is due too early only causes one more look.
 */
const MOMENTS: readonly FutureMoments[] = [
  {
    table: 'transactions',
    key: 'signature',
    column: 'next_check_at',
    reachMs: Math.max(LONGEST_LOOK_WAIT_MS, FAULTY_ROW_WAIT_MS),
  },
  { table: 'transactions', key: 'signature', column: 'next_send_at', reachMs: NONCE_SEND_WAIT_MS },
  {
    table: 'merkle_trees',
    key: 'id',
    column: 'next_check_at',
    reachMs: Math.max(LONGEST_AIRDROP_WAIT_MS, FAULTY_ROW_WAIT_MS),
  },
  { table: 'pools', key: 'address', column: 'next_check_at', reachMs: Math.max(POOL_MS, FAULTY_ROW_WAIT_MS) },
  {
    table: 'gold_locks',
    key: 'seq',
    column: 'next_check_at',
    reachMs: Math.max(LONGEST_GOLD_LOCK_WAIT_MS, FAULTY_ROW_WAIT_MS),
  },
  {
    table: 'raises',
    key: 'id',
    column: 'next_check_at',
    reachMs: Math.max(LONGEST_RAISE_WAIT_MS, FAULTY_ROW_WAIT_MS),
  },
  { table: 'proposals', key: 'id', column: 'next_look_at', reachMs: LONGEST_PROPOSAL_WAIT_MS },
  { table: 'followed_accounts', key: 'seq', column: 'next_look_at', reachMs: DAY_MS },
  { table: 'pay_requests', key: 'id', column: 'next_look_at', reachMs: LONGEST_PAY_WAIT_MS },
  { table: 'chain_transactions', key: 'seq', column: 'next_check_at', reachMs: FAULTY_ROW_WAIT_MS },
  { table: 'ledger_transactions', key: 'seq', column: 'next_try_at', reachMs: LONGEST_LEDGER_WAIT_MS },
  { table: 'fee_schedule_runs', key: 'seq', column: 'next_step_at', reachMs: LONGEST_STEP_WAIT_MS },
]

type RepairServices = Pick<Services, 'store' | 'clock' | 'log'>

/** Makes every plan due that no correct clock can have written. Returns their number by table and column. */
export async function repairMoments(
  { store, clock, log }: RepairServices,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const repaired = new Map<string, number>()
  for (const moments of MOMENTS) {
    const now = clock.now()
    const after = now + moments.reachMs + CLOCK_SLACK_MS
    await withPauses(async () => {
      signal?.throwIfAborted()
      const count = await pullBack(store, moments, { after, to: now })
      if (count === 0) return false
      const what = `${moments.table}.${moments.column}`
      repaired.set(what, (repaired.get(what) ?? 0) + count)
      return true
    })
  }
  for (const [what, count] of repaired) {
    log.warn({ what, count }, 'rescheduled: the planned times were implausibly far in the future (a clock was wrong)')
  }
  return repaired
}
