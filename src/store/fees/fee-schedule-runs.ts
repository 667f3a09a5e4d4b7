/** Storage of the runs of fee schedules and their claims, and the pools that a run looks at. */
import type { ExpressionBuilder } from 'kysely'
import type { ScheduleTerms } from '../../api/fee-schedules.ts'
import { inserting, insertingOnce, listing } from '../queries/records.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type FeeScheduleRunRow = Row<'fee_schedule_runs'>
export type FeeScheduleClaimRow = Row<'fee_schedule_claims'>

/** A second run of a period makes `write` fail with `Overtaken`; `insertPeriodRun` returns null for it. */
export const insertFeeScheduleRun = inserting('fee_schedule_runs')
export const insertPeriodRun = insertingOnce('fee_schedule_runs')
export const pageFeeScheduleRuns = listing('fee_schedule_runs', ['schedule_id'], {
  weights: { claims_json: 1, skipped_json: 1, terms_json: 1, metadata_json: 1 },
})

export async function findRunUnderWay(reader: Reader, scheduleId: string): Promise<FeeScheduleRunRow | null> {
  const runs = reader.selectFrom('fee_schedule_runs').selectAll().where('schedule_id', '=', scheduleId)
  return (await runs.where('status', '=', 'running').limit(1).executeTakeFirst()) ?? null
}

/** Returns runs whose next step is due, the one that has waited longest first. */
export function dueFeeScheduleRuns(reader: Reader, now: number, limit: number): Promise<FeeScheduleRunRow[]> {
  return reader
    .selectFrom('fee_schedule_runs')
    .selectAll()
    .where('next_step_at', '<=', now)
    .orderBy('next_step_at')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

type OfSchedule = ExpressionBuilder<Tables & { s: Tables['fee_schedules'] }, 's'>

/** The number of the last run of the schedule `s` that has ended. */
export const lastEndedRun = ({ selectFrom }: Pick<OfSchedule, 'selectFrom'>) =>
  selectFrom('fee_schedule_runs as ended')
    .select(({ fn }) => fn.max('ended.seq').as('seq'))
    .whereRef('ended.schedule_id', '=', 's.id')
    .where('ended.status', '!=', 'running')

type RunChanges = Partial<Omit<FeeScheduleRunRow, 'seq' | 'id' | 'schedule_id' | 'scheduled_at'>>

/**
 * Changes a current run that is still at the place where it was read, and returns it; null if another process was
 * first.
 */
export async function moveFeeScheduleRun(
  tx: Tx,
  { id, position }: Pick<FeeScheduleRunRow, 'id' | 'position'>,
  changes: RunChanges,
): Promise<FeeScheduleRunRow | null> {
  const moved = tx
    .updateTable('fee_schedule_runs')
    .set(changes)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('position', '=', position)
  return (await moved.returningAll().executeTakeFirst()) ?? null
}

const addClaimRow = insertingOnce('fee_schedule_claims')

/** Returns the claim of a pool in a run: the existing one or a new one. */
export async function openFeeScheduleClaim(
  tx: Tx,
  key: Pick<FeeScheduleClaimRow, 'run_id' | 'pool_address' | 'kind'>,
): Promise<FeeScheduleClaimRow> {
  const added = await addClaimRow(tx, { ...key, state: 'open' })
  if (added !== null) return added
  return tx
    .selectFrom('fee_schedule_claims')
    .selectAll()
    .where('run_id', '=', key.run_id)
    .where('pool_address', '=', key.pool_address)
    .where('kind', '=', key.kind)
    .executeTakeFirstOrThrow()
}

export function feeScheduleClaimsOf(
  reader: Reader,
  runId: string,
  pools: readonly string[],
): Promise<FeeScheduleClaimRow[]> {
  return reader
    .selectFrom('fee_schedule_claims')
    .selectAll()
    .where('run_id', '=', runId)
    .where('pool_address', 'in', pools)
    .execute()
}

/** Changes an open claim. Returns false if it has ended or another process has bound another signing to it. */
export async function changeFeeScheduleClaim(
  tx: Tx,
  { seq, signing_id }: Pick<FeeScheduleClaimRow, 'seq' | 'signing_id'>,
  changes: Partial<Omit<FeeScheduleClaimRow, 'seq' | 'run_id' | 'pool_address' | 'kind'>>,
): Promise<boolean> {
  const open = tx.updateTable('fee_schedule_claims').set(changes).where('seq', '=', seq).where('state', '=', 'open')
  const bound = signing_id === null ? open.where('signing_id', 'is', null) : open.where('signing_id', '=', signing_id)
  return (await bound.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Returns a current run and locks its row until the commit, so that ending it must wait. */
export async function lockRunUnderWay(tx: Tx, id: string): Promise<FeeScheduleRunRow | null> {
  const runs = tx.updateTable('fee_schedule_runs').set({ id }).where('id', '=', id).where('status', '=', 'running')
  return (await runs.returningAll().executeTakeFirst()) ?? null
}

/** Stores the claims of a run. The caller has locked its row. */
export async function storeRunClaims(
  tx: Tx,
  id: string,
  claims: Pick<FeeScheduleRunRow, 'claimed' | 'claims_json'>,
): Promise<void> {
  await tx.updateTable('fee_schedule_runs').set(claims).where('id', '=', id).execute()
}

/** A pool to look at: its place, its launch curve, and its pool after the migration. */
export interface ScheduledPool {
  place: number
  address: string
  migrated_to: string | null
}

/**
 * Returns the launches of one chain after a place that match a filter without named pools. The migrated pool of a
 * launch belongs to that launch.
 */
export async function poolsToClaim(
  reader: Reader,
  { preset, creator, status }: ScheduleTerms['filter'],
  { genesis, after, limit }: { genesis: string; after: number; limit: number },
): Promise<ScheduledPool[]> {
  let launches = reader
    .selectFrom('pools')
    .select(['seq as place', 'address', 'migrated_to'])
    .where('seq', '>', after)
    .where('genesis', '=', genesis)
    .where('dbc_pool', 'is', null)
  launches =
    status === undefined
      ? launches.where('status', '!=', 'pending').where('status', '!=', 'failed')
      : launches.where('status', '=', status)
  if (creator !== undefined) launches = launches.where('creator', '=', creator)
  if (preset !== undefined) launches = launches.where('preset', '=', preset)
  return launches.orderBy('seq').limit(limit).execute()
}

/** Deletes up to `limit` rows of runs that ended before `before`, with their claims. Returns their number. */
export async function pruneFeeScheduleRuns(tx: Tx, before: number, limit: number) {
  const old = await tx
    .selectFrom('fee_schedule_runs')
    .select(['seq', 'id'])
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(limit)
    .execute()
  let [used, removed] = [0, 0]
  for (const { seq, id } of old) {
    const claims = tx
      .selectFrom('fee_schedule_claims')
      .select('seq')
      .where('run_id', '=', id)
      .limit(limit - used)
    const { numDeletedRows } = await tx
      .deleteFrom('fee_schedule_claims')
      .where('seq', 'in', claims)
      .executeTakeFirstOrThrow()
    used += Number(numDeletedRows)
    // The run is deleted in this step or a later one, when no claim refers to it.
    if (used >= limit) break
    await tx.deleteFrom('fee_schedule_runs').where('seq', '=', seq).execute()
    used++
    removed++
  }
  return { used: used >= limit ? limit : used, removed }
}

/** Schedules the next step of a run, unless another step has moved it since it was read. */
export async function postponeFeeScheduleRun(
  tx: Tx,
  { id, next_step_at }: Pick<FeeScheduleRunRow, 'id' | 'next_step_at'>,
  next: number,
): Promise<void> {
  const runs = tx.updateTable('fee_schedule_runs').set({ next_step_at: next }).where('id', '=', id)
  await runs.where('status', '=', 'running').where('next_step_at', '=', next_step_at).execute()
}
