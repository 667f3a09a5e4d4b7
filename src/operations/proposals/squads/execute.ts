/** Executes an approved proposal. Its approver is a multisig. */
import type { ProposalStep, TrackedResource } from '../../../api/index.ts'
import { buildExecution, EXECUTION_UNITS } from '../../../chain/programs/squads/index.ts'
import { chainTimeOf } from '../../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { SECOND_MS } from '../../../platform/timing.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { Row } from '../../../store/schema.ts'
import { fromJsonOrNull } from '../../api-records.ts'
import { buildTransaction } from '../../building.ts'
import type { DecisionInput } from '../types.ts'
import { executedOf } from './pinned.ts'
import { answerStep } from './step-answer.ts'
import { memberWith, requireStoredPlan, type StoredPlan } from './stored-plan.ts'
import { requireUnchanged } from './unchanged.ts'

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
