/** One proposal, as the chain shows it now, or as of the last look if the node fails. */
import type { Api, Proposal } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { decisionsOf, findProposal } from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { requireRecord } from '../api-records.ts'
import { lookAtProposal } from './follow-proposals.ts'
import { proposalRecord } from './proposal-record.ts'
import { lookAtOutcome } from './rule/outcome.ts'

type GetProposalRoute = Api['proposals']['get']

export async function getProposal(
  context: Context,
  { id }: Input<GetProposalRoute>,
): Promise<Result<GetProposalRoute>> {
  const { store, log } = context
  const row = await requireProposal(store.db, id)
  if (row.next_look_at === null) return recordOf(store.db, row)
  if (row.kind === 'rule') return recordOf(store.db, (await lookAtOutcome(context, row)) ?? row)
  const seen = await lookAtProposal(context, row).catch((error: unknown) => {
    log.warn({ err: error, proposal: id }, 'a proposal could not be read from the chain')
    return row
  })
  return recordOf(store.db, seen)
}

/** Returns the row of a proposal. Throws not_found without one. */
export async function requireProposal(reader: Reader, id: string): Promise<Row<'proposals'>> {
  return requireRecord(await findProposal(reader, id), 'proposal', id)
}

/** Returns the record of a row, with its decisions. */
export async function recordOf(reader: Reader, row: Row<'proposals'>): Promise<Proposal> {
  return proposalRecord(row, (await decisionsOf(reader, [row.id])).get(row.id) ?? [])
}
