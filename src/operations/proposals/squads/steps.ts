/** The steps about a proposal of a multisig: decisions and the execution, each unsigned for the member or signed by the platform wallet. */
import type { ClosedBuffer, ProposalStep, TrackedResource } from '../../../api/index.ts'
import type { SignedOperation } from '../../../api/signed-operations.ts'
import { buildExecution, buildVote, EXECUTION_UNITS, VOTE_UNITS } from '../../../chain/programs/squads/index.ts'
import { chainTimeOf } from '../../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { SECOND_MS } from '../../../platform/timing.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { vaultAddress } from '../../../solana/squads/index.ts'
import type { Row } from '../../../store/schema.ts'
import { inEitherMode } from '../../act.ts'
import { fromJsonOrNull } from '../../api-records.ts'
import { type BuiltTransaction, buildTransaction } from '../../building.ts'
import { type Decision, type DecisionInput, loadProposalRecord } from '../proposal-record.ts'
import { executedOf, placeOf } from './pinned.ts'
import { memberWith, requireStoredPlan, type StoredPlan } from './stored-plan.ts'
import { forecastApproved, requireUnchanged } from './unchanged.ts'

const VOTES = {
  approved: { vote: 'approve', status: ['active'], operation: 'proposal.approve' },
  rejected: { vote: 'reject', status: ['active'], operation: 'proposal.reject' },
  cancelled: { vote: 'cancel', status: ['approved'], operation: 'proposal.cancel' },
} as const

/** Only an approval demands that the stored transaction is the planned one: anybody may stop another. */
export async function decideInSquads(
  context: Context,
  row: Row<'proposals'>,
  input: DecisionInput,
  decision: Decision,
): Promise<ProposalStep> {
  const { vote, status, operation } = VOTES[decision]
  return answerStep(context, input, { operation, row }, async () => {
    const plan = await requireStoredPlan(context, row, { status, isSame: decision === 'approved' })
    const member = await memberWith(context, plan, input, 'vote')
    if (plan.proposal[decision].includes(member)) {
      throw badRequest(`${member} has ${decision} the proposal ${row.id} already: another member has to`, {
        param: 'member',
      })
    }
    if (decision === 'approved') await forecastApproved(context, plan.row)
    const place = placeOf(row)
    const built = await buildTransaction(context, {
      payer: member,
      requiredProgram: PROGRAMS.squads,
      fallbackUnits: VOTE_UNITS,
      build: (envelope) => buildVote(vote, { ...envelope, ...place, member }),
    })
    return { row: plan.row, built }
  })
}

export async function executeInSquads(
  context: Context,
  row: Row<'proposals'>,
  input: DecisionInput,
): Promise<ProposalStep> {
  return answerStep(context, input, { operation: 'proposal.execute', row }, async () => {
    const plan = await requireStoredPlan(context, row, { status: ['approved'], isSame: true })
    const member = await memberWith(context, plan, input, 'execute')
    await requireUnlocked(context, plan)
    await requireUnchanged(context, plan.row)
    const executed = executedOf(plan.row)
    const built = await buildTransaction(context, {
      payer: member,
      requiredProgram: PROGRAMS.squads,
      fallbackUnits: EXECUTION_UNITS,
      build: (envelope) => buildExecution({ ...envelope, ...executed, member }),
      guardedWallets: [vaultAddress(executed.multisig, executed.vaultIndex)],
    })
    const tracked = fromJsonOrNull<TrackedResource>(row.tracked_resource_json) ?? undefined
    return { row: plan.row, built, tracked }
  })
}

/** Throws bad_request while the time lock of the multisig runs. */
async function requireUnlocked({ chain }: Context, { row, multisig, proposal }: StoredPlan): Promise<void> {
  if (multisig.timeLock === 0 || proposal.timestamp === null) return
  const [clock = null] = await accountsAt(chain, [CLOCK_SYSVAR])
  const { unixSeconds } = await chainTimeOf(clock)
  const from = Number(proposal.timestamp) + multisig.timeLock
  if (unixSeconds >= from) return
  const at = new Date(from * SECOND_MS).toISOString()
  throw badRequest(`The time lock of the multisig ends at ${at}: execute the proposal ${row.id} from then on`, {
    details: { reason: 'time_lock', executable_at: at },
    retryAfter: from - unixSeconds,
  })
}

interface Step {
  row: Row<'proposals'>
  built: BuiltTransaction
  tracked?: TrackedResource | undefined
  /** Lamports that return to an address. */
  returns?: { lamports: string; to: string }
  /** Buffers of the payer that are closed. */
  buffers?: ClosedBuffer[]
}

/**
 * `make` checks and builds. What has waited for approvals is checked again; what another earlier run of the request has
 * made is not.
 */
export async function answerStep(
  context: Context,
  { mode = 'unsigned' }: DecisionInput,
  { operation, row }: { operation: SignedOperation; row: Row<'proposals'> },
  make: () => Promise<Step>,
): Promise<ProposalStep> {
  const plan = async () => {
    const { built, tracked, returns, buffers } = await make()
    const summary = { ...(returns === undefined ? {} : { returns }), ...(buffers === undefined ? {} : { buffers }) }
    return { built, tracked, about: row.id, summary }
  }
  // The plan finds the member who pays.
  const answer = await inEitherMode(context, { mode, payer: '' }, operation, plan, {
    isCheckedAgain: true,
    more: async () => ({ proposal: await loadProposalRecord(context.store.db, row) }),
  })
  return answer as ProposalStep
}
