/** Closes the accounts of a finished proposal, and returns their rent. Its approver is a multisig. */
import type { ProposalStep } from '../../../api/index.ts'
import { buildReclaim, VOTE_UNITS } from '../../../chain/programs/squads/index.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import type { Context } from '../../../context.ts'
import { conflict } from '../../../platform/errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { squadsProposalAddress, squadsTransactionAddress } from '../../../solana/squads/index.ts'
import type { Row } from '../../../store/schema.ts'
import { buildTransaction } from '../../building.ts'
import { requireSigner } from '../../signing/require-signer.ts'
import { readAndFollow } from '../follow-proposals.ts'
import type { DecisionInput } from '../types.ts'
import { placeOf } from './pinned.ts'
import { isEnded } from './proposal-state.ts'
import { answerStep } from './step-answer.ts'

export async function reclaimInSquads(
  context: Context,
  stored: Row<'proposals'>,
  input: DecisionInput,
): Promise<ProposalStep> {
  return answerStep(context, input, { operation: 'proposal.reclaim', row: stored }, async () => {
    const { row, read } = await readAndFollow(context, stored)
    const place = placeOf(row)
    if (row.reclaimed_at !== null) throw conflict(`The rent of the proposal ${row.id} was returned already`)
    if (!isEnded(row.status)) {
      throw conflict(`The proposal ${row.id} is ${row.status}: its rent returns once it is finished`, {
        details: { status: row.status },
      })
    }
    const { rentCollector } = read.multisig
    if (rentCollector === null) {
      throw conflict(
        `The multisig ${place.multisig} has no rent collector: let it set one in Squads, then reclaim the rent`,
      )
    }
    const payer =
      input.mode === 'signed' ? (await requireSigner(context)).address : (input.member ?? row.member ?? rentCollector)
    const addresses = [
      squadsProposalAddress(place.multisig, place.index),
      squadsTransactionAddress(place.multisig, place.index),
    ]
    const lamports = (await accountsAt(context.chain, addresses)).reduce(
      (sum, each) => sum + (each?.lamports ?? 0n),
      0n,
    )
    const built = await buildTransaction(context, {
      payer,
      requiredProgram: PROGRAMS.squads,
      fallbackUnits: VOTE_UNITS,
      build: (envelope) => buildReclaim({ ...envelope, ...place, rentCollector }),
    })
    return { row, built, returns: { lamports: String(lamports), to: rentCollector } }
  })
}
