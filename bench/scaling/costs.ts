/** What each step of a launch costs, measured on the real thing: processor time, statements, calls and bytes. */
import type pg from 'pg'
import type { Daemon } from '../../test/support/daemon.ts'
import { daemonsMs, type Fleet } from './fleet.ts'

/** Cost of one request, transaction or delivery. */
export interface StepCost {
  /** Processor milliseconds in the daemon, and in PostgreSQL's processes. */
  daemonMs: number
  postgresMs: number
  /** Round trips to the database, those that begin and end transactions included. */
  statements: number
  /** Database transactions that wrote. */
  commits: number
  rpcCalls: number
  /** Bytes that PostgreSQL's log of changes grew by. */
  walBytes: number
}

export interface MeasuredCosts {
  build: StepCost
  submit: StepCost
  /** Of one launch, from its submission to finality: both transactions. */
  follow: StepCost
  /** The same for many transactions that are followed at once: each is written once instead of twice. */
  gathered: { launches: number; daemonMs: number; postgresMs: number }
  delivery: StepCost
  /** Round trips one after the other, of the whole request and of those under the lock of the events' counter. */
  roundTrips: { build: number; buildLock: number; submit: number; submitLock: number }
  /** Milliseconds of the machine's own connection and disk. */
  roundTripMs: number
  flushMs: number
  /** Milliseconds under the lock that are not round trips. */
  lockMs: { build: number; submit: number }
  eventsPerLaunch: number
  /** Bytes that a launch leaves in tables and indexes. */
  bytesPerLaunch: number
  bytesPerDelivery: number
  /** Of an idle daemon: processor milliseconds a second, and calls to the node. */
  idle: { workerMs: number; postgresMs: number; rpcCalls: number }
}

/** A reading of everything that a step may have used. */
export type Reading = Record<keyof StepCost, number>

export async function prepareReadings(database: pg.Client): Promise<void> {
  await database.query('create extension if not exists pg_stat_statements')
}

/** Reads the counters of these daemons and of the server. */
export async function readUse(fleet: Fleet, daemons: readonly Daemon[]): Promise<Reading> {
  const { rows } = await fleet.database.query(`
    select (select coalesce(sum(calls), 0) from pg_stat_statements
              where query not like '%pg_stat_statements%' and query not like 'set %') as statements,
           (select coalesce(sum(calls), 0) from pg_stat_statements where query ilike 'commit%') as commits,
           pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal`)
  let rpcCalls = 0
  for (const daemon of daemons) rpcCalls += await rpcCallsOf(daemon)
  return {
    daemonMs: daemonsMs(daemons),
    postgresMs: fleet.postgresMs(),
    statements: Number(rows[0].statements),
    commits: Number(rows[0].commits),
    rpcCalls,
    walBytes: Number(rows[0].wal),
  }
}

/** Calls to the node and the relay since the daemon's start. */
export async function rpcCallsOf(daemon: Daemon): Promise<number> {
  const { text } = await daemon.request('GET', '/metrics')
  const lines = text.split('\n').filter((line) => /^svc_(rpc|provider)_calls_total\{/.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** The cost of each of `count` between two readings, less what the idle fleet used meanwhile. */
export function costBetween(before: Reading, after: Reading, count: number, idle: Reading = NOTHING): StepCost {
  const each = (of: keyof StepCost) => Math.max(0, after[of] - before[of] - idle[of]) / count
  return {
    daemonMs: each('daemonMs'),
    postgresMs: each('postgresMs'),
    statements: each('statements'),
    commits: each('commits'),
    rpcCalls: each('rpcCalls'),
    walBytes: each('walBytes'),
  }
}

export const NOTHING: Reading = { daemonMs: 0, postgresMs: 0, statements: 0, commits: 0, rpcCalls: 0, walBytes: 0 }
