/** Reconciles records with the chain by the projections of every resource. */
import type { Services } from '../../context.ts'
import { createBudget } from '../../following/budget.ts'
import { lookAtFinality } from '../../following/reconciliation/finality.ts'
import { RECONCILE_EVERY_MS, reconcile } from '../../following/reconciliation/rounds.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { hasRecords } from '../../store/following/recorded-resources.ts'
import { isAnyUnfinal } from '../../store/webhooks/unfinal.ts'
import { platformWallets } from '../ledger/known-addresses.ts'
import { PROJECTIONS } from '../projections.ts'

type ReconcileServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** Calls of one round on the embedded chain, where they cost nothing. */
const EMBEDDED_CALLS = 2_000
/** Fewer calls would not suffice for each step of a round. */
const LEAST_CALLS = 5

/**
 * Runs one round within the configured calls per minute. With 0 it only finishes transactions that were found before,
 * because deliveries of final events wait for them. Throws internal_error when the node fails.
 */
export async function reconcileRecords(
  services: ReconcileServices,
  { signal, calls, pageSize }: { signal?: AbortSignal; calls?: number; pageSize?: number } = {},
): Promise<void> {
  const callsPerMinute = services.config.values['reconciliation.calls-per-minute']
  if (callsPerMinute === 0) return endWhatWasFound(services)
  if (await hasNothingToReconcile(services)) return
  const perRound = callsPerRound(services, callsPerMinute)
  if (calls === undefined && perRound === 0) return
  const options = {
    signal,
    calls: calls ?? perRound,
    callsPerMinute,
    ...(pageSize === undefined ? {} : { pageSize }),
  }
  const booked = new Set(await platformWallets(services))
  await reconcile({ ...services, projections: PROJECTIONS, booked }, options)
}

/**
 * Returns the most calls of a round at this time. If the calls per minute are too few for all rounds, rounds are
 * rarer.
 */
function callsPerRound({ chain, clock }: ReconcileServices, callsPerMinute: number): number {
  if (chain.cluster.kind === 'embedded') return EMBEDDED_CALLS
  const calls = Math.floor((callsPerMinute * RECONCILE_EVERY_MS) / MINUTE_MS)
  if (calls >= LEAST_CALLS) return calls
  const every = Math.ceil((LEAST_CALLS * MINUTE_MS) / callsPerMinute / RECONCILE_EVERY_MS)
  return Math.floor(clock.now() / RECONCILE_EVERY_MS) % every === 0 ? LEAST_CALLS : 0
}

async function endWhatWasFound(services: ReconcileServices): Promise<void> {
  if (!(await isAnyUnfinal(services.store.db))) return
  const genesis = await services.chain.genesisHash()
  await lookAtFinality({ ...services, projections: PROJECTIONS }, { genesis, budget: createBudget(LEAST_CALLS - 1) })
}

/** A new installation makes no calls, and does not open its embedded chain, until it has something to follow. */
async function hasNothingToReconcile({ store, config }: ReconcileServices): Promise<boolean> {
  const { 'gold.mint': mint, 'nfts.cosign-collections': collections } = config.values
  return mint === undefined && collections.length === 0 && !(await hasRecords(store.db))
}
