/** The verbs of proposals that every kind has; a kind is who approves: a rule of the policy, or a multisig. */
import type { Api, ProposalStep } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { simulateDecoded } from '../../chain/sending/simulations.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { pageProposals, readDecisions } from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import { recordPage } from '../api-records.ts'
import { lookAtProposal } from './follow-proposals.ts'
import {
  type Decision,
  type DecisionInput,
  loadProposalRecord,
  proposalRecord,
  requireProposal,
} from './proposal-record.ts'
import { decideByRule } from './rule/decide.ts'
import { executeByRule } from './rule/execute.ts'
import { lookAtOutcome } from './rule/follow.ts'
import { reclaimInSquads } from './squads/reclaim.ts'
import { decideInSquads, executeInSquads } from './squads/steps.ts'
import { executionNow } from './squads/unchanged.ts'

type Proposals = Api['proposals']
type ProposalRow = Row<'proposals'>

interface ProposalKind {
  /** Returns the row as of now. */
  look(context: Context, row: ProposalRow): Promise<ProposalRow>
  /** What its execution would change now. */
  forecast(context: Context, row: ProposalRow): Promise<Result<Proposals['forecast']>>
  decide(context: Context, row: ProposalRow, input: DecisionInput, decision: Decision): Promise<ProposalStep>
  execute(context: Context, row: ProposalRow, input: DecisionInput): Promise<ProposalStep>
  /** Closes the accounts of a finished proposal, and returns their rent. */
  reclaim(context: Context, row: ProposalRow, input: DecisionInput): Promise<ProposalStep>
}

const KINDS: Record<ProposalRow['kind'], ProposalKind> = {
  rule: {
    look: async (context, row) => (await lookAtOutcome(context, row)) ?? row,
    async forecast({ chain }, row) {
      const simulated = await simulateDecoded(chain, decodeWireTransaction(row.message))
      const { err, logs, balance_changes, control_changes } = simulated
      return { failed: err === null ? null : { err, logs }, balance_changes, control_changes, changes: [] }
    },
    decide: decideByRule,
    execute: executeByRule,
    async reclaim(_, { id }) {
      throw badRequest(
        `The proposal ${id} waits for approvers of the policy, so it has no accounts and no rent to reclaim`,
      )
    },
  },
  squads: {
    look: (context, row) =>
      lookAtProposal(context, row).catch((error: unknown) => {
        context.log.warn({ err: error, proposal: row.id }, 'a proposal could not be read from the chain')
        return row
      }),
    async forecast(context, row) {
      const { forecast, changes, notCompared } = await executionNow(context, row)
      const { err, logs, balance_changes, control_changes } = forecast
      return {
        failed: err === null ? null : { err, logs: [...logs] },
        balance_changes,
        control_changes,
        changes,
        ...(notCompared === null ? {} : { not_compared: notCompared }),
      }
    },
    decide: decideInSquads,
    execute: executeInSquads,
    reclaim: reclaimInSquads,
  },
}

/** Proposals, newest first. */
export async function listProposals(
  { store }: Pick<Context, 'store'>,
  input: Input<Proposals['list']>,
): Promise<Result<Proposals['list']>> {
  const page = await pageProposals(store.db, input)
  const decisions = await readDecisions(
    store.db,
    page.rows.map(({ id }) => id),
  )
  return recordPage(page, (row) => proposalRecord(row, decisions.get(row.id) ?? []))
}

/** One proposal, as the chain shows it now, or as of the last look if the node fails. */
export async function getProposal(
  context: Context,
  { id }: Input<Proposals['get']>,
): Promise<Result<Proposals['get']>> {
  const { db } = context.store
  const row = await requireProposal(db, id)
  return loadProposalRecord(db, row.next_look_at === null ? row : await KINDS[row.kind].look(context, row))
}

export async function forecastProposal(
  context: Context,
  { id }: Input<Proposals['forecast']>,
): Promise<Result<Proposals['forecast']>> {
  const row = await requireProposal(context.store.db, id)
  return KINDS[row.kind].forecast(context, row)
}

/** The verb of one decision. */
export const decideProposal = (decision: Decision) => async (context: Context, input: Input<Proposals['approve']>) => {
  const row = await requireProposal(context.store.db, input.id)
  return KINDS[row.kind].decide(context, row, input, decision)
}

export async function executeProposal(context: Context, input: Input<Proposals['execute']>): Promise<ProposalStep> {
  const row = await requireProposal(context.store.db, input.id)
  return KINDS[row.kind].execute(context, row, input)
}

export async function reclaimProposal(context: Context, input: Input<Proposals['reclaim']>): Promise<ProposalStep> {
  const row = await requireProposal(context.store.db, input.id)
  return KINDS[row.kind].reclaim(context, row, input)
}
