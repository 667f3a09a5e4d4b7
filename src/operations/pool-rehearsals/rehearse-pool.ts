/** Rehearses a launch and all later steps on a copy of the cluster in memory. Nothing is signed, sent or stored. */
import { BENEFICIARIES_OF, type Beneficiary, type FeeClaimKind } from '../../api/fee-claims.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { copyChain } from '../../chain/copied-chain.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import type { Context } from '../../context.ts'
import { internal, Overloaded } from '../../platform/errors.ts'
import { rejectLate } from '../../platform/timing.ts'
import { PROGRAMS, type Program } from '../../solana/programs.ts'
import { planClaim } from '../fee-claims/plan-claim.ts'
import { platformWallet } from '../platform-wallet.ts'
import { prepareLaunch } from '../pools/create-pool.ts'
import { launchImage } from '../pools/launch-terms.ts'
import { curveNamed, type NamedCurve } from '../pools/presets.ts'
import { requireFreeTicker } from '../pools/tickers.ts'
import { curveOnCopy, launchSteps } from './launch-steps.ts'
import { migrationSteps, tradeSteps } from './market-steps.ts'
import { openRehearsal, type Rehearsal, StoppedRehearsal } from './rehearsal.ts'
import { rehearsalReport } from './report.ts'

type RehearsePoolRoute = Api['pools']['rehearse']
type RehearsalInput = Input<RehearsePoolRoute>

/** A rehearsal takes a second or two. A longer one is waiting for a node. */
const TIME_LIMIT_MS = 60_000
/** Most waiting rehearsals. One runs at a time, because its thread takes tens of megabytes. */
const MAX_WAITING = 4
const BUSY_RETRY_SECONDS = 10

const tookTooLong = () =>
  internal(`The rehearsal was ended after ${TIME_LIMIT_MS / 1000} seconds: the RPC node answers slowly`)

let lastRehearsal: Promise<unknown> = Promise.resolve()
let waitingRehearsals = 0

export async function rehearsePool(context: Context, input: RehearsalInput): Promise<Result<RehearsePoolRoute>> {
  if (waitingRehearsals > MAX_WAITING) {
    throw new Overloaded(
      `${waitingRehearsals} rehearsals are waiting, and only one runs at a time: try again later`,
      BUSY_RETRY_SECONDS,
    )
  }
  waitingRehearsals++
  const before = lastRehearsal
  // A rehearsal that waits forever must not block the others.
  const own = before.then(() => {
    const late = new AbortController()
    const end = () => {
      const error = tookTooLong()
      late.abort(error)
      return error
    }
    return rejectLate(TIME_LIMIT_MS, rehearseAlone(context, input, late.signal), end)
  })
  lastRehearsal = own.catch(() => undefined)
  try {
    return await own
  } finally {
    waitingRehearsals--
  }
}

async function rehearseAlone(
  context: Context,
  input: RehearsalInput,
  late: AbortSignal,
): Promise<Result<RehearsePoolRoute>> {
  const signal = AbortSignal.any([context.ending, late])
  // Checks that need no copy come before the copy is made.
  await launchImage(input, context.config)
  await requireFreeTicker(context, input)
  const programs: Program[] = [PROGRAMS.tokenMetadata, PROGRAMS.dammV2, ...(input.type === 'dbc' ? [PROGRAMS.dbc] : [])]
  for (const program of programs) await requireProgram(context.chain, program)
  const named = await curveNamed(context.config, input.preset)
  if (input.type === 'dbc' && named.preset.locked_vesting !== undefined) programs.push(PROGRAMS.lock)
  const copy = await copyChain({ source: context.chain, config: context.config, programs, signal })
  try {
    const onCopy: Context = { ...context, chain: copy.chain, dryRun: true }
    const { launch } = await prepareLaunch(onCopy, input)
    const rehearsal = await openRehearsal(onCopy, copy, { input, launch })
    await runThrough(rehearsal, named)
    return await rehearsalReport(rehearsal, named)
  } finally {
    copy.close()
  }
}

/** Runs step by step. If a step that later steps need fails, the rehearsal ends and the report says so. */
async function runThrough(rehearsal: Rehearsal, named: NamedCurve): Promise<void> {
  try {
    await launchSteps(rehearsal)
    await claimSteps(rehearsal, ['dbc'])
    await migrationSteps(rehearsal)
    await tradeSteps(rehearsal, named.curve.thresholdLamports)
    await claimSteps(rehearsal, ['surplus', 'migration_fee', 'leftover', 'pool_creation_fee', 'damm_v2'])
    await rehearsal.advancePast(named.preset)
    await claimSteps(rehearsal, ['vesting'])
  } catch (error) {
    if (!(error instanceof StoppedRehearsal)) throw error
  }
}

// Rehearses the claims of partner and creator, with the same plans as the requests.

const KIND_LABELS: Readonly<Record<FeeClaimKind, string>> = {
  dbc: 'trading fees',
  surplus: 'surplus',
  migration_fee: 'migration fee',
  leftover: 'leftover',
  pool_creation_fee: 'pool creation fee',
  damm_v2: 'fees of positions',
  vesting: 'vested tokens',
}

/** Each beneficiary pays for its own claim. */
async function claimSteps(rehearsal: Rehearsal, kinds: readonly FeeClaimKind[]): Promise<void> {
  const { context, input, launch } = rehearsal
  for (const kind of kinds) {
    if (input.type === 'damm_v2' && kind !== 'damm_v2') continue
    const payers = new Set<string>()
    for (const beneficiary of BENEFICIARIES_OF[kind]) {
      const payer = await resolveClaimer(rehearsal, beneficiary)
      // A wallet that is both has already claimed all of its positions.
      if (kind === 'damm_v2' && payers.has(payer)) continue
      payers.add(payer)
      const label = `${beneficiary} claims ${KIND_LABELS[kind]}`
      await rehearsal.run(
        { stage: 'claim', label, claim: { kind, beneficiary } },
        async () =>
          (await planClaim(context, { address: launch.address, kind, beneficiary, splits: undefined }, payer)).built,
      )
    }
  }
}

async function resolveClaimer(rehearsal: Rehearsal, beneficiary: Beneficiary): Promise<string> {
  const { context, input } = rehearsal
  if (beneficiary === 'creator') return input.creator
  return input.type === 'damm_v2' ? platformWallet(context) : (await curveOnCopy(rehearsal)).feeClaimer
}
