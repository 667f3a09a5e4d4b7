/** Proposes an unsigned transaction, which no route here has built, to a multisig. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { decodeTransaction } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { placeAddresses } from '../../solana/squads/index.ts'
import { transactionWords } from './squads/act-words.ts'
import { tableAddresses } from './squads/creation.ts'
import { proposeRequest } from './squads/propose-request.ts'
import { commitProposed } from './squads/proposed-answer.ts'

type CreateProposalRoute = Api['proposals']['create']

export async function createProposal(
  context: Context,
  { approver, transaction, tracked_resource, mode }: Input<CreateProposalRoute>,
): Promise<Result<CreateProposalRoute>> {
  const { message } = decodeTransaction(transaction, 'transaction')
  // A table that cannot be read refuses the proposal below.
  const loaded = await tableAddresses(context, message.lookups).catch(() => null)
  const asked = {
    approver,
    isSigned: mode === 'signed',
    operation: 'POST /v2/proposals',
    what: transactionWords(
      `A transaction of ${message.instructions.length} instructions`,
      { message, places: loaded === null ? new Map() : placeAddresses(message, loaded) },
      new Map([[message.keys[0] ?? '', 'this vault']]),
    ),
    request: null,
    subject: null,
  }
  const own = { ...context, commit: commitProposed(context) }
  const proposed = await proposeRequest(own, asked, async () => ({
    transaction,
    ...(tracked_resource === undefined ? {} : { tracked_resource }),
  }))
  return proposed as unknown as Result<CreateProposalRoute>
}
