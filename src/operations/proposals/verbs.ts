/** The verbs of proposals that every kind has; a kind is who approves: a rule of the policy, or a multisig. */

import { createHash } from 'node:crypto'
import type { Api, ProposalStep } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildReclaim,
  CREATION_UNITS,
  type LeftBuffer,
  MOST_CLOSED_BUFFERS,
  readTransactionBuffers,
  VOTE_UNITS,
} from '../../chain/programs/squads/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { simulateDecoded } from '../../chain/sending/simulations.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { isoTime } from '../../platform/timing.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { compactMessage, squadsProposalAddress, squadsTransactionAddress } from '../../solana/squads/index.ts'
import { pageProposals, plannedOf, readDecisions, unpackMessage } from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import { recordPage } from '../api-records.ts'
import { buildTransaction } from '../building.ts'
import { requireSigner, trySigner } from '../signing/require-signer.ts'
import { lookAtProposal, readAndFollow } from './follow-proposals.ts'
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
import { SENDING_MS } from './squads/creation.ts'
import { placeOf } from './squads/pinned.ts'
import { isEnded, isUnsent, type ReadAccounts } from './squads/proposal-state.ts'
import { answerStep, decideInSquads, executeInSquads } from './squads/steps.ts'
import { executionNow } from './squads/unchanged.ts'

/** Plans of a member that are compared with its buffers. */
const MOST_PLANS = 1_000

async function reclaimInSquads(
  context: Context,
  stored: Row<'proposals'>,
  input: DecisionInput,
): Promise<ProposalStep> {
  return answerStep(context, input, { operation: 'proposal.reclaim', row: stored }, async () => {
    const { row, read } = await readAndFollow(context, stored)
    const { multisig, index } = placeOf(row)
    const open = openFault(row, read)
    const rentCollector = open === null ? read.multisig.rentCollector : null
    const payer =
      input.mode === 'signed' ? (await requireSigner(context)).address : (input.member ?? row.member ?? rentCollector)
    const buffers = payer === null ? [] : await findBuffers(context, row, payer)
    const left = buffers.filter(({ filling }) => filling === null).slice(0, MOST_CLOSED_BUFFERS)
    if (payer === null || (open !== null && left.length === 0)) throw fillingFault(buffers) ?? open
    const built = await buildTransaction(context, {
      payer,
      requiredProgram: PROGRAMS.squads,
      fallbackUnits: left.length === 0 ? VOTE_UNITS : CREATION_UNITS,
      build: (envelope) =>
        buildReclaim({
          ...envelope,
          multisig,
          index,
          rentCollector,
          buffers: left.map(({ buffer_index }) => buffer_index),
        }),
    })
    return {
      row,
      built,
      ...(rentCollector === null
        ? {}
        : { returns: { lamports: await readReclaimableRent(context, row), to: rentCollector } }),
      ...(left.length === 0 ? {} : { buffers: left.map(({ filling: _, ...buffer }) => buffer) }),
    }
  })
}

/** Why the accounts of the proposal itself cannot be closed; null if they can. */
function openFault({ id, status, reclaimed_at }: Row<'proposals'>, { multisig }: ReadAccounts): ApiError | null {
  if (reclaimed_at !== null) return badRequest(`The rent of the proposal ${id} was returned already`)
  if (isUnsent(status)) {
    return badRequest(`The proposal ${id} is not on the chain, and no buffer is left that can be closed`, {
      details: { status },
    })
  }
  if (!isEnded(status)) {
    return badRequest(`The proposal ${id} is ${status}: its rent returns once it is finished`, { details: { status } })
  }
  if (multisig.rentCollector !== null) return null
  return badRequest(
    `The multisig ${multisig.address} has no rent collector: let it set one in Squads, then reclaim the rent`,
  )
}

async function readReclaimableRent({ chain }: Context, row: Row<'proposals'>): Promise<string> {
  const { multisig, index } = placeOf(row)
  const accounts = await accountsAt(chain, [
    squadsProposalAddress(multisig, index),
    squadsTransactionAddress(multisig, index),
  ])
  return String(accounts.reduce((sum, each) => sum + (each?.lamports ?? 0n), 0n))
}

interface OwnBuffer {
  address: string
  buffer_index: number
  lamports: string
  /** The plan that may still fill it, and until when, in Unix milliseconds. */
  filling: { id: string; until: number | null } | null
}

/** The buffers of a member in the multisig of the row. A plan that is on its way needs its buffer. */
async function findBuffers(context: Context, row: Row<'proposals'>, member: string): Promise<OwnBuffer[]> {
  const { chain, store } = context
  const { multisig } = placeOf(row)
  const found = (await readTransactionBuffers(chain, multisig, member)).flatMap((buffer, buffer_index) =>
    buffer === null ? [] : [{ ...buffer, buffer_index }],
  )
  if (found.length === 0) return []
  const isPlatform = (await trySigner(context))?.address === member
  const planned = await plannedOf(store.db, { genesis: row.genesis, multisig, member }, MOST_PLANS)
  return found.map((buffer) => ({
    address: buffer.address,
    buffer_index: buffer.buffer_index,
    lamports: String(buffer.lamports),
    filling: fillingOf(context, buffer, { planned, isPlatform }),
  }))
}

/** What a member has signed can land for minutes; what the platform wallet does goes on for as long as it is planned. */
function fillingOf(
  { clock }: Context,
  { hash }: LeftBuffer,
  { planned, isPlatform }: { planned: Awaited<ReturnType<typeof plannedOf>>; isPlatform: boolean },
): OwnBuffer['filling'] {
  const plan = planned.find(
    ({ created_at, stored_message }) =>
      (isPlatform || created_at + SENDING_MS > clock.now()) &&
      stored_message !== null &&
      createHash('sha256')
        .update(compactMessage(unpackMessage(stored_message)))
        .digest('hex') === hash,
  )
  return plan === undefined ? null : { id: plan.id, until: isPlatform ? null : plan.created_at + SENDING_MS }
}

function fillingFault(buffers: readonly OwnBuffer[]): ApiError | null {
  const buffer = buffers.find(({ filling }) => filling !== null)
  if (!buffer?.filling) return null
  const { address, filling } = buffer
  const when = filling.until === null ? 'has ended' : `is given up, at ${isoTime(filling.until)}`
  return badRequest(
    `The buffer ${address} is filled for the proposal ${filling.id}: run its command again to finish it, or reclaim the rent once it ${when}`,
    { details: { buffer: address, proposal: filling.id } },
  )
}

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
