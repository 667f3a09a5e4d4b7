/** Takes one step of a run: checks some pools, claims what they hold, and stores its progress. */
import type { ScheduleRunReason, ScheduleTerms } from '../../api/fee-schedules.ts'
import { migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import { type Budget, takeCalls } from '../../following/budget.ts'
import { Overtaken } from '../../platform/errors.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import {
  type FeeScheduleClaimRow,
  type FeeScheduleRunRow,
  feeScheduleClaimsOf,
  moveFeeScheduleRun,
  openFeeScheduleClaim,
  poolsToClaim,
  type ScheduledPool,
} from '../../store/fees/fee-schedule-runs.ts'
import { type ChainPool, readPools } from '../pools/on-chain.ts'
import { readPolicyState } from '../signing/policy-state.ts'
import { requireCluster, trySigner } from '../signing/require-signer.ts'
import {
  claimShare,
  endShare,
  outcomeOfRow,
  type ScheduleServices,
  type ShareOutcome,
  skippedShare,
} from './claim-share.ts'
import { type ClaimableShare, claimableShares, LOCK_CALLS, POSITION_CALLS } from './claimable.ts'
import { termsOf } from './records.ts'
import { endRun, type RunEnd, SkipTally } from './runs.ts'

/** Pools that one step checks, and the calls for reading them with their configs and quotes. */
const POOLS_PER_STEP = 100
/** Takes one step of a run: checks some pools, claims what they hold, and stores its progress. */
export const STEP_CALLS = 6
/** Calls of a signed claim, from its reading to its first sending. */
const CLAIM_CALLS = 12
/** A run stops after this many refusals by the policy, because each is an entry of the audit log. */
const MOST_REFUSED = 100
/** After this many failures at one pool, over some minutes, the run skips it. */
const MOST_FAILURES = 6
const FIRST_WAIT_MS = 10_000
/** The longest wait between two steps of a run. */
export const LONGEST_STEP_WAIT_MS = FIRST_WAIT_MS * 2 ** (MOST_FAILURES - 1)

export interface StepSignals {
  /** Aborted when the step must end and write nothing more. */
  signal?: AbortSignal | undefined
  /** Aborted when nothing new may be started. */
  stopping?: AbortSignal | undefined
}

interface RunStep {
  services: ScheduleServices
  run: FeeScheduleRunRow
  terms: ScheduleTerms
  wallet: string
  budget: Budget
}

/**
 * Throws Overtaken when another process has the run, internal_error when the node fails. A failure at one pool is
 * stored in the run, and the pool is tried again later.
 */
export async function stepRun(
  services: ScheduleServices,
  run: FeeScheduleRunRow,
  budget: Budget,
  { signal, stopping }: StepSignals = {},
): Promise<void> {
  const { store, clock } = services
  const signer = await signerOrBlock(services)
  if ('reason' in signer) {
    const isBegun = run.pools > 0
    return endNow(services, run, { status: isBegun ? 'stopped' : 'skipped', reason: signer.reason })
  }
  const { genesis } = signer
  const terms = termsOf({ terms_json: run.terms_json ?? '{}' })
  const { approver } = terms
  const wallet = approver === null ? signer.wallet : vaultAddress(approver.multisig, approver.vault_index)
  const targets = await nextTargets(services, run, terms, genesis)
  if (targets.length === 0) return endNow(services, run, { status: 'done', reason: null })
  takeCalls(budget, Math.min(STEP_CALLS, budget.left))
  const chainPools = await readTargets(services, terms, targets)
  signal?.throwIfAborted()

  const step: RunStep = { services, run, terms, wallet, budget }
  const tally = new SkipTally(run)
  let [position, pools, failures, stop]: [number, number, number, RunEnd['reason']] = [
    run.position,
    run.pools,
    run.failures,
    null,
  ]
  let fault: unknown = null
  for (const [i, target] of targets.entries()) {
    if (stopping?.aborted || (budget.left === 0 && i > 0)) break
    const outcomes: ShareOutcome[] = []
    try {
      outcomes.push(...(await lookAtPool(step, target, chainPools[i] ?? null, i === 0 && failures >= MOST_FAILURES)))
    } catch (error) {
      fault = error
      break
    }
    signal?.throwIfAborted()
    for (const outcome of outcomes) {
      if ('skip' in outcome) tally.add(outcome.skip)
      if ('stop' in outcome) stop = outcome.stop
    }
    if (stop === null && tally.refused >= MOST_REFUSED) stop = 'policy'
    if (stop === 'signer_paused') break
    ;[position, pools, failures] = [target.place, pools + 1, 0]
    if (stop !== null) break
  }
  signal?.throwIfAborted()
  const wait = fault === null ? 0 : FIRST_WAIT_MS * 2 ** Math.min(failures, MOST_FAILURES - 1)
  if (fault !== null) failures++
  const changes = { position, pools, failures, ...tally.columns(), next_step_at: clock.now() + wait }
  const isMoved = await store.write(async (tx) => {
    const moved = await moveFeeScheduleRun(tx, run, changes)
    if (moved === null) return false
    return stop === null || endRun(services, tx, moved, { status: 'stopped', reason: stop })
  })
  if (!isMoved) throw new Overtaken(`Another process has taken over the run ${run.id}`)
  if (fault !== null) throw fault
}

async function endNow(services: ScheduleServices, run: FeeScheduleRunRow, end: RunEnd): Promise<void> {
  const isEnded = await services.store.write((tx) => endRun(services, tx, run, end))
  if (!isEnded) throw new Overtaken(`Another process has taken over the run ${run.id}`)
  services.log.info({ schedule: run.schedule_id, run: run.id, ...end }, 'a run of a fee schedule has ended')
}

/** Returns the next pools by their places. The place of a named pool is its index in the list. */
async function nextTargets(
  { store }: ScheduleServices,
  { position }: FeeScheduleRunRow,
  { filter }: ScheduleTerms,
  genesis: string,
): Promise<ScheduledPool[]> {
  const page = { genesis, after: position, limit: POOLS_PER_STEP }
  if (filter.pools === undefined) return poolsToClaim(store.db, filter, page)
  return filter.pools
    .map((address, i) => ({ place: i + 1, address, migrated_to: null }))
    .slice(position, position + POOLS_PER_STEP)
}

/** If a curve and its migrated pool are both named, the curve represents both. */
async function readTargets(
  { chain }: ScheduleServices,
  { filter }: ScheduleTerms,
  targets: readonly ScheduledPool[],
): Promise<(ChainPool | 'twice' | null)[]> {
  const named = filter.pools ?? targets.map(({ address }) => address)
  const read = await readPools(chain, named)
  const byAddress = new Map(named.map((address, i) => [address, read[i] ?? null]))
  if (filter.pools === undefined) return targets.map(({ address }) => byAddress.get(address) ?? null)
  const migrated = new Set<string>()
  for (const pool of read) {
    if (pool?.type === 'dbc' && pool.pool.isMigrated) migrated.add(await migratedPoolAddress(pool.pool))
  }
  return targets.map(({ address }) => (migrated.has(address) ? 'twice' : (byAddress.get(address) ?? null)))
}

/** Claims what a pool holds. With `isGivenUp`, the remaining claims are recorded as errors. */
async function lookAtPool(
  { services, run, terms, wallet, budget }: RunStep,
  target: ScheduledPool,
  chainPool: ChainPool | 'twice' | null,
  isGivenUp: boolean,
): Promise<ShareOutcome[]> {
  if (chainPool === 'twice') return []
  const [kind = 'dbc'] = terms.kinds
  const whole: ClaimableShare = { kind, address: target.address, owner: wallet, quote: 0n, isAny: false }
  if (chainPool === null) return [skippedShare(whole, 'error', 'there is no pool at this address')]
  if (terms.kinds.includes('damm_v2')) takeCalls(budget, Math.min(POSITION_CALLS, budget.left))
  if (terms.kinds.includes('vesting')) takeCalls(budget, Math.min(LOCK_CALLS, budget.left))
  const shares = await claimableShares(services.chain, terms, { target, chainPool, wallet }).catch((error) => {
    if (isGivenUp) return null
    throw error
  })
  if (shares === null) return [skippedShare(whole, 'error', GIVEN_UP)]
  if (shares.length === 0) return []
  const addresses = [...new Set(shares.map(({ address }) => address))]
  const begun = await feeScheduleClaimsOf(services.store.db, run.id, addresses)
  const rowOf = ({ address, kind }: ClaimableShare) =>
    begun.find((row) => row.pool_address === address && row.kind === kind)
  const isBelow = begun.length === 0 && worthOf(shares, wallet) < BigInt(terms.threshold)
  const outcomes: ShareOutcome[] = []
  for (const share of shares) {
    const outcome = outcomeWithoutClaim(share, rowOf(share), wallet, isBelow)
    if (outcome === null) takeCalls(budget, Math.min(CLAIM_CALLS, budget.left))
    outcomes.push(
      outcome ?? (isGivenUp ? await giveUp(services, run, share) : await claimShare(services, run, terms, share)),
    )
    if (outcomes.some((each) => 'stop' in each)) break
  }
  return outcomes
}

const GIVEN_UP = 'it failed several times (see the log); the next period tries it again'

async function giveUp(
  services: ScheduleServices,
  run: FeeScheduleRunRow,
  share: ClaimableShare,
): Promise<ShareOutcome> {
  const key = { run_id: run.id, pool_address: share.address, kind: share.kind }
  const row = await services.store.write((tx) => openFeeScheduleClaim(tx, key))
  return outcomeOfRow(row) ?? endShare(services, row, skippedShare(share, 'error', GIVEN_UP))
}

const worthOf = (shares: readonly ClaimableShare[], wallet: string) =>
  shares.reduce((sum, share) => (signerOf(share) === wallet ? sum + share.quote : sum), 0n)

const signerOf = ({ owner, delegate = owner }: ClaimableShare): string => delegate

/** The outcome of a share that is known without the signer; null if it must be claimed. */
function outcomeWithoutClaim(
  share: ClaimableShare,
  row: FeeScheduleClaimRow | undefined,
  wallet: string,
  isBelow: boolean,
): ShareOutcome | null {
  if (row !== undefined) return outcomeOfRow(row)
  if (signerOf(share) !== wallet) return skippedShare(share, 'not_owner')
  if (!share.isAny) return skippedShare(share, 'nothing_to_claim')
  return isBelow ? skippedShare(share, 'below_threshold') : null
}

/** Throws internal_error when the node fails. */
async function signerOrBlock(
  services: ScheduleServices,
): Promise<{ wallet: string; genesis: string } | { reason: ScheduleRunReason }> {
  const signer = await trySigner(services)
  if (signer === null) return { reason: 'no_signer' }
  const { policy } = await readPolicyState(services.store.db, services.clock, signer.address)
  if (policy.paused) return { reason: 'signer_paused' }
  const genesis = await services.chain.genesisHash()
  // The node has answered, so only a signer of another cluster is refused here.
  const isOurs = await requireCluster(services).then(
    () => true,
    () => false,
  )
  return isOurs ? { wallet: signer.address, genesis } : { reason: 'other_cluster' }
}
