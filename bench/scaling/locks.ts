/** How long a write keeps the counter of events locked, which all daemons of a database wait for. */
import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { percentile } from './percentile.ts'

/** The fastest tenth is the time of the step itself; anything above is other work of the machine. */
const UNDISTURBED = 0.1
const SAMPLES = 200

/** Notes the moment at which each transaction takes the lock; its commit is known to the server. */
const NOTE_LOCKS = `
  create table if not exists bench_locks (xid xid8 primary key, at timestamptz not null);
  create or replace function bench_note_lock() returns trigger language plpgsql as $$
    begin
      insert into bench_locks values (pg_current_xact_id(), clock_timestamp()) on conflict do nothing;
      return null;
    end $$;
  create or replace trigger bench_note_lock after update on counters for each row
    when (old.name = 'events') execute function bench_note_lock();`

export async function noteLocks(database: pg.Client): Promise<void> {
  await database.query(NOTE_LOCKS)
}

export async function stopNotingLocks(database: pg.Client): Promise<void> {
  await database.query('drop trigger if exists bench_note_lock on counters')
}

/** Milliseconds from the lock to the commit, without the commit's own write to disk, of each since the last call. */
export async function takeLockTimes(database: pg.Client): Promise<number[]> {
  const { rows } = await database.query(`
    select extract(epoch from pg_xact_commit_timestamp(xid::xid) - at) * 1000 as ms from bench_locks
      where pg_xact_status(xid) = 'committed'`)
  await database.query('truncate bench_locks')
  return rows.map(({ ms }) => Number(ms))
}

export const undisturbed = (times: readonly number[]): number =>
  percentile(
    times.toSorted((a, b) => a - b),
    UNDISTURBED,
  )

/** Milliseconds of a round trip to the database, and of the write to disk that a commit waits for. */
export async function databaseTimes(database: pg.Client): Promise<{ roundTripMs: number; flushMs: number }> {
  await database.query('create table if not exists bench_commits (n bigint)')
  const [trips, commits]: [number[], number[]] = [[], []]
  const timed = async (statement: string, into: number[]) => {
    const from = performance.now()
    await database.query(statement)
    into.push(performance.now() - from)
  }
  for (let n = 0; n < SAMPLES; n++) {
    await timed('select 1', trips)
    await database.query('begin')
    await database.query('insert into bench_commits values (1)')
    await timed('commit', commits)
  }
  const roundTripMs = undisturbed(trips)
  return { roundTripMs, flushMs: Math.max(0, undisturbed(commits) - roundTripMs) }
}
