/** Reconciles records with the chain by the projections of every resource. */
import type { Services } from '../../context.ts'
import { RECONCILE_EVERY_MS, reconcile } from '../../following/reconciliation/rounds.ts'
import { hasRecords } from '../../store/recorded-resources.ts'
import { MINUTE_MS } from '../../timing.ts'
import { PROJECTIONS } from '../projections.ts'

type ReconcileServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** Calls of one round on the embedded chain, where they cost nothing. */
const EMBEDDED_CALLS = 2_000
/** With fewer, no round would have a call for each of its steps. */
const LEAST_CALLS = 5

/** Runs one round within the configured calls per minute, of which 0 is none. Throws internal_error when the node fails. */
export async function reconcileRecords(
  services: ReconcileServices,
  { signal, calls, pageSize }: { signal?: AbortSignal; calls?: number; pageSize?: number } = {},
): Promise<void> {
  const callsPerMinute = services.config.values['reconciliation.calls-per-minute']
  if (callsPerMinute === 0 || (await hasNothingToReconcile(services))) return
  const isEmbedded = services.chain.cluster.kind === 'embedded'
  const perRound = isEmbedded
    ? EMBEDDED_CALLS
    : Math.max(LEAST_CALLS, Math.floor((callsPerMinute * RECONCILE_EVERY_MS) / MINUTE_MS))
  const options = {
    ...{ signal, calls: calls ?? perRound, callsPerMinute },
    ...(pageSize === undefined ? {} : { pageSize }),
  }
  await reconcile({ ...services, projections: PROJECTIONS }, options)
}

/** A new installation asks no node, and does not open its embedded chain, before it has something to look after. */
async function hasNothingToReconcile({ store, config }: ReconcileServices): Promise<boolean> {
  const { 'gold.mint': mint, 'nfts.cosign-collections': collections } = config.values
  return mint === undefined && collections.length === 0 && !(await hasRecords(store.db))
}
