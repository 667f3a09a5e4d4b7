/** Figures about the queues for the metrics. Each query reads a limited number of rows, however long a queue is. */
import { sql } from 'kysely'
import { lastSequence } from '../events/events.ts'
import type { Reader } from '../store.ts'

/** Rows of a queue that are examined individually. */
const MOST_EXAMINED = 5_000
/** Most deliveries that are counted; enqueuing waits for receivers long before that. */
const MOST_COUNTED = 50_000

/** Number of due items of one kind of work, and how long the oldest has been due, in milliseconds. */
interface DueWork {
  due: number
  overdueMs: number
}

interface QueueFigures {
  /** Sequence of the last event. */
  sequence: number
  /** Deliveries that are not delivered yet, up to 50,000. */
  queued: number
  /** Among those examined: deliveries that wait until their subscription is reactivated. */
  held: number
  /** Among those examined: deliveries that are due. */
  deliveries: DueWork
  /** Events not yet queued for the subscription that is farthest behind. */
  behind: number
  /** Transactions still followed, by lifecycle; the most overdue are examined. */
  transactions: { lifecycle: string; count: number; oldestMs: number }[]
  /** Work of the other workers, by name. */
  jobs: Record<JobName, DueWork>
}

export const JOB_NAMES = [
  'transaction-check',
  'pool-check',
  'airdrop-check',
  'gold-lock-check',
  'fee-schedule-run',
  'webhook-replay',
  'webhook-removal',
] as const
type JobName = (typeof JOB_NAMES)[number]

export async function readQueueFigures(reader: Reader, now: number): Promise<QueueFigures> {
  const sequence = await lastSequence(reader)
  return {
    sequence,
    queued: await queueLength(reader),
    ...(await queueStates(reader, now)),
    behind: Math.max(0, sequence - (await lowestCursor(reader, sequence))),
    transactions: await followedTransactions(reader, now),
    jobs: {
      'transaction-check': await dueChecks(reader, 'transactions', now),
      'pool-check': await dueChecks(reader, 'pools', now),
      'airdrop-check': await dueChecks(reader, 'merkle_trees', now),
      'gold-lock-check': await dueChecks(reader, 'gold_locks', now),
      'fee-schedule-run': await dueRuns(reader, now),
      'webhook-replay': await since(reader, 'webhook_replays', 'created_at', now),
      'webhook-removal': await since(reader, 'webhook_removals', 'removed_at', now),
    },
  }
}

const overdue = (now: number, at: number | null | undefined) => Math.max(0, now - (at ?? now))

async function queueLength(reader: Reader): Promise<number> {
  const counted = reader.selectFrom('webhook_queue').select('seq').orderBy('seq').limit(MOST_COUNTED)
  const { count } = await reader
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Examines the deliveries that were queued first. */
async function queueStates(reader: Reader, now: number): Promise<Pick<QueueFigures, 'held' | 'deliveries'>> {
  const examined = await reader
    .selectFrom('webhook_queue')
    .select(['state', 'next_attempt_at'])
    .orderBy('seq')
    .limit(MOST_EXAMINED)
    .execute()
  const due = examined.filter(({ state, next_attempt_at }) => state === 'waiting' && next_attempt_at <= now)
  const oldest = due.reduce((least, { next_attempt_at }) => Math.min(least, next_attempt_at), now)
  return {
    held: examined.filter(({ state }) => state === 'held').length,
    deliveries: { due: due.length, overdueMs: overdue(now, oldest) },
  }
}

async function lowestCursor(reader: Reader, sequence: number): Promise<number> {
  const { cursor } = await reader
    .selectFrom('webhook_subscriptions')
    .select(({ fn }) => fn.min<number | null>('cursor').as('cursor'))
    .where('active', '=', 1)
    .executeTakeFirstOrThrow()
  return cursor === null ? sequence : Number(cursor)
}

async function followedTransactions(reader: Reader, now: number): Promise<QueueFigures['transactions']> {
  const examined = await reader
    .selectFrom('transactions')
    .select(['lifecycle', 'created_at'])
    .where('next_check_at', '>', 0)
    .orderBy('next_check_at')
    .orderBy('seq')
    .limit(MOST_EXAMINED)
    .execute()
  const groups = new Map<string, { lifecycle: string; count: number; oldestMs: number }>()
  for (const { lifecycle, created_at } of examined) {
    const group = groups.get(lifecycle) ?? { lifecycle, count: 0, oldestMs: 0 }
    groups.set(lifecycle, group)
    group.count++
    group.oldestMs = Math.max(group.oldestMs, overdue(now, created_at))
  }
  return [...groups.values()]
}

type CheckedTable = 'transactions' | 'pools' | 'merkle_trees' | 'gold_locks'

async function dueChecks(reader: Reader, table: CheckedTable, now: number): Promise<DueWork> {
  const rows = await reader
    .selectFrom(table)
    .select('next_check_at')
    .where('next_check_at', '<=', now)
    .orderBy('next_check_at')
    .limit(MOST_EXAMINED)
    .execute()
  return { due: rows.length, overdueMs: overdue(now, rows[0]?.next_check_at) }
}

/** Periods that have begun and have no run yet, and runs whose next step is due. */
async function dueRuns(reader: Reader, now: number): Promise<DueWork> {
  const periods = await reader
    .selectFrom('fee_schedules')
    .select('next_run_at as at')
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(MOST_EXAMINED)
    .execute()
  const steps = await reader
    .selectFrom('fee_schedule_runs')
    .select('next_step_at as at')
    .where('next_step_at', '<=', now)
    .orderBy('next_step_at')
    .limit(MOST_EXAMINED)
    .execute()
  const due = [...periods, ...steps]
  return { due: due.length, overdueMs: Math.max(0, ...due.map(({ at }) => overdue(now, at))) }
}

/** A replay or a removal is due from its request until it is finished. */
async function since(
  reader: Reader,
  table: 'webhook_replays' | 'webhook_removals',
  column: 'created_at' | 'removed_at',
  now: number,
): Promise<DueWork> {
  const rows = await reader
    .selectFrom(table)
    .select(sql.ref<number>(column).as('at'))
    .orderBy('seq')
    .limit(MOST_EXAMINED)
    .execute()
  const oldest = rows.reduce((least, { at }) => Math.min(least, at), now)
  return { due: rows.length, overdueMs: overdue(now, oldest) }
}
