/**
 * Closes the accounts of a finished proposal, and the buffers that interrupted proposals of the same member left, and
 * returns their rent. Its approver is a multisig.
 */
import { createHash } from 'node:crypto'
import type { ProposalStep } from '../../../api/index.ts'
import {
  buildReclaim,
  CREATION_UNITS,
  type LeftBuffer,
  MOST_CLOSED_BUFFERS,
  readTransactionBuffers,
  VOTE_UNITS,
} from '../../../chain/programs/squads/index.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import type { Context } from '../../../context.ts'
import { type ApiError, badRequest } from '../../../platform/errors.ts'
import { isoTime } from '../../../platform/timing.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { compactMessage, squadsProposalAddress, squadsTransactionAddress } from '../../../solana/squads/index.ts'
import { plannedOf } from '../../../store/proposals/proposals.ts'
import { unpackMessage } from '../../../store/proposals/stored-message.ts'
import type { Row } from '../../../store/schema.ts'
import { buildTransaction } from '../../building.ts'
import { requireSigner, trySigner } from '../../signing/require-signer.ts'
import { readAndFollow } from '../follow-proposals.ts'
import type { DecisionInput } from '../proposal-record.ts'
import { SENDING_MS } from './creation.ts'
import { placeOf } from './pinned.ts'
import { isEnded, isUnsent, type ReadAccounts } from './proposal-state.ts'
import { answerStep } from './steps.ts'

/** Plans of a member that are compared with its buffers. */
const MOST_PLANS = 1_000

export async function reclaimInSquads(
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
