/** Reconciles records with the chain: finds what other tools did to followed accounts. */
import { RECONCILE_EVERY_MS } from '../../src/following/reconciliation/rounds.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import type { WorkerDefinition } from './definition.ts'

export const chainReconciliationWorker: WorkerDefinition = {
  name: 'chain-reconciliation',
  schedule: { everyMs: RECONCILE_EVERY_MS },
  leaseMs: 60_000,
  tick: (context) => reconcileRecords(context, { signal: context.signal }),
}
