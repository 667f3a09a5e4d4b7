/** Reports, by table, how many rows were removed because they were old or because the audit log was cut. */
import { channel } from 'node:diagnostics_channel'
import type { Tables } from '../schema.ts'

/** Tables whose old rows are removed; of `transactions` only the bytes are removed, of `proposals` the requests. */
export const PRUNED_TABLES = [
  'assets',
  'audit_entries',
  'events',
  'fee_schedule_runs',
  'holder_snapshots',
  'idempotency_keys',
  'merkle_blobs',
  'pay_requests',
  'proposals',
  'rate_hits',
  'refreshed_messages',
  'signings',
  'transactions',
  'webhook_deliveries',
  'webhook_queue',
] as const satisfies readonly (keyof Tables)[]
export type PrunedTable = (typeof PRUNED_TABLES)[number]

/** Rows that one committed step removed. */
export interface RemovedRows {
  table: PrunedTable
  rows: number
}

const removals = channel('svc.removed-rows')

export const publishRemovedRows = (removed: RemovedRows): void => removals.publish(removed)

/** Receives every step's rows until the returned function is called. */
export function onRemovedRows(act: (removed: RemovedRows) => void): () => void {
  const listener = (message: unknown) => act(message as RemovedRows)
  removals.subscribe(listener)
  return () => removals.unsubscribe(listener)
}
