/** The workers of a daemon: what each does, how often, and how long it may take. */
import { RECONCILE_EVERY_MS } from '../../src/following/reconciliation/rounds.ts'
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import { repairMoments } from '../../src/operations/clock-repair.ts'
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import { followGoldLocks } from '../../src/operations/gold-locks/follow-gold-locks.ts'
import { LEDGER_ROUND_MS, writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { followPayRequests } from '../../src/operations/pay-requests/follow-pay-requests.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { watchPrograms } from '../../src/operations/programs/watch-programs.ts'
import { followProposals } from '../../src/operations/proposals/follow-proposals.ts'
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import { followRaises } from '../../src/operations/raises/follow-raises.ts'
import { freeUnsignedClaims, settleSponsoredClaims } from '../../src/operations/sponsorships/settle-sponsored-claims.ts'
import { correctTransactions, followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { nextTransactionCheck } from '../../src/store/transactions/transactions.ts'
import { attentionNoticesWorker, attentionWorker, processAttentionWorker, recordCheckWorker } from './attention.ts'
import type { WorkerContext, WorkerDefinition } from './definition.ts'
import { housekeepingWorker } from './housekeeping.ts'

/** Delivers events to webhook subscriptions within seconds. */
export const webhookDeliveryWorker: WorkerDefinition = {
  name: 'webhook-delivery',
  schedule: { everyMs: 1_000 },
  // Short, because nothing is delivered until the lease of a hanging daemon has expired.
  leaseMs: 8_000,
  // Long, because the end of a tick has to wait for every current delivery.
  deadlineMs: 600_000,
  tick: (context) => deliverRound(context, context),
}

const WATCH_EVERY_MS = 2_000
/** Checks within this time, as of a cluster whose blocks are final in less than a second, do not wait for the next tick. */
const SOON_MS = 1_000
/** Least time between two ticks. */
const LEAST_WAIT_MS = 100

const isFirstOfMinute = (now: number) => Math.floor(now / WATCH_EVERY_MS) % (MINUTE_MS / WATCH_EVERY_MS) === 0

/** Follows proposals and submitted transactions: queries their status, resends them, and proves that they landed or expired. */
export const transactionWatcherWorker: WorkerDefinition = {
  name: 'transaction-watcher',
  schedule: { everyMs: WATCH_EVERY_MS },
  leaseMs: 8_000,
  async tick(context) {
    try {
      await followProposals(context, context.signal)
    } finally {
      // A proposal that cannot be read delays no transaction.
      await watchTransactions(context)
    }
  },
}

async function watchTransactions(context: WorkerContext): Promise<void> {
  await followTransactions(context, { signal: context.signal })
  const now = context.clock.now()
  if (isFirstOfMinute(now)) await correctTransactions(context)
  const next = await nextTransactionCheck(context.store.db, now)
  if (next !== null && next - now <= SOON_MS) context.again?.(Math.max(LEAST_WAIT_MS, next - now))
}

/** Follows pools (live, full, migrated or failed) and sends their migration if the setting allows it. */
export const poolMigrationWorker: WorkerDefinition = {
  name: 'pool-migration',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  tick: (context) => followPools(context, context),
}

/** Follows airdrops: reports full claims and changes by other tools, and settles sponsored claims. */
export const airdropFullyClaimedWorker: WorkerDefinition = {
  name: 'airdrop-fully-claimed',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  async tick(context) {
    await settleSponsoredClaims(context, context.signal)
    await followAirdrops(context, context.signal)
    await freeUnsignedClaims(context, context.signal)
  },
}

/** Reports when gold can be unlocked, by the chain's clock, and detects gold that was unlocked with other tools. */
export const goldUnlockEligibleWorker: WorkerDefinition = {
  name: 'gold-unlock-eligible',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  tick: (context) => followGoldLocks(context, context.signal),
}

/** Reconciles records with the chain: finds what other tools did to followed accounts. */
const chainReconciliationWorker: WorkerDefinition = {
  name: 'chain-reconciliation',
  schedule: { everyMs: RECONCILE_EVERY_MS },
  leaseMs: 60_000,
  tick: (context) => reconcileRecords(context, { signal: context.signal }),
}

/** Writes the ledger: what final transactions moved, read from the chain. */
export const ledgerWorker: WorkerDefinition = {
  name: 'ledger',
  schedule: { everyMs: LEDGER_ROUND_MS },
  leaseMs: 60_000,
  async tick(context) {
    await writeLedger(context, { signal: context.signal })
  },
}

/** Claims fees by the schedules: handles each period once, and continues unfinished runs. */
export const feeSchedulesWorker: WorkerDefinition = {
  name: 'fee-schedules',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  // Allows for a round of claims with a slow node.
  deadlineMs: 300_000,
  tick: (context) => runFeeSchedules(context, context),
}

/** Follows raises, and settles those of the platform wallet that are left to it. */
export const raisesWorker: WorkerDefinition = {
  name: 'raises',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  // Allows for a round of settlements with a slow node.
  deadlineMs: 300_000,
  tick: (context) => followRaises(context, context),
}

/** Finds the payments of pay requests on chain. */
export const payRequestsWorker: WorkerDefinition = {
  name: 'pay-requests',
  schedule: { everyMs: 2_000 },
  leaseMs: 8_000,
  tick: (context) => followPayRequests(context, context.signal),
}

/** Corrects, at the start and once a minute, timestamps that a clock set ahead has written to the database. */
export const clockRepairWorker: WorkerDefinition = {
  name: 'clock-repair',
  schedule: { everyMs: 60_000 },
  leaseMs: 60_000,
  async tick({ metrics, ...context }) {
    const repaired = await repairMoments(context, context.signal)
    for (const [what, count] of repaired) metrics.clockFault(what, count)
  },
}

/** Looks which builds of its programs the cluster runs, and tries new ones in a process of their own. */
export const programWatchWorker: WorkerDefinition = {
  name: 'program-watch',
  schedule: { everyMs: 5 * MINUTE_MS, offsetMs: 2 * MINUTE_MS },
  leaseMs: MINUTE_MS,
  // Fetching new builds and their trial.
  deadlineMs: 10 * MINUTE_MS,
  async tick(context) {
    const { chain, signal, stopping } = context
    // To look at it would open it.
    if (chain.isUnused()) return
    await watchPrograms(context, { signal: AbortSignal.any([signal, stopping]) })
  },
}

/** Ends proposals of rules that have expired, and executes those that were approved when a process ended. */
const ruleProposalsWorker: WorkerDefinition = {
  name: 'rule-proposals',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  // Allows for launches of several transactions with a slow node.
  deadlineMs: 300_000,
  tick: (context) => followRuleProposals(context, context),
}

export const WORKERS = [
  webhookDeliveryWorker,
  transactionWatcherWorker,
  poolMigrationWorker,
  airdropFullyClaimedWorker,
  goldUnlockEligibleWorker,
  chainReconciliationWorker,
  ledgerWorker,
  feeSchedulesWorker,
  payRequestsWorker,
  raisesWorker,
  housekeepingWorker,
  clockRepairWorker,
  programWatchWorker,
  ruleProposalsWorker,
  attentionWorker,
  attentionNoticesWorker,
  processAttentionWorker,
  recordCheckWorker,
]
