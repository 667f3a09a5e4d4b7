/** Proposals, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { decisionsOf, pageProposals } from '../../store/proposals/proposals.ts'
import { recordPage } from '../api-records.ts'
import { proposalRecord } from './proposal-record.ts'

type ListProposalsRoute = Api['proposals']['list']

export async function listProposals(
  { store }: Pick<Context, 'store'>,
  input: Input<ListProposalsRoute>,
): Promise<Result<ListProposalsRoute>> {
  const page = await pageProposals(store.db, input)
  const decisions = await decisionsOf(
    store.db,
    page.rows.map(({ id }) => id),
  )
  return recordPage(page, (row) => proposalRecord(row, decisions.get(row.id) ?? []))
}
